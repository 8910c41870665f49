// Before the first paint, so that no page flashes in the other theme: what this browser chose here before, else what its owner prefers.
(() => {
  const root = document.documentElement;
  const kept = (/** @type {string} */ name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null; // storage is switched off
    }
  };
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset['theme'] = kept('sluice.theme') ?? (dark ? 'dark' : 'light');
  root.lang = kept('sluice.language') ?? (navigator.language.startsWith('zh') ? 'zh-CN' : 'en');
})();
