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
  // However it is spelt: zh, zh-Hans, zh_CN, en-US …; undefined: none of the page's.
  const named = (/** @type {string} */ name) => {
    const [primary] = name
      .trim()
      .toLowerCase()
      .split(/[-_.@]/);
    return primary === 'zh' || primary === 'cmn' ? 'zh-CN' : primary === 'en' ? 'en' : undefined;
  };
  const asked = new URLSearchParams(location.search).get('lang') ?? '';
  const wanted = asked.trim() === '' ? [kept('sluice.language') ?? '', ...navigator.languages] : [asked];
  root.lang = wanted.map(named).find((language) => language !== undefined) ?? 'en';
})();
