// What a person can do on the page, and what goes on by itself.
import { letIn, watchPointer } from './dom.js';
import { readLog, scrollToEnd } from './log.js';
import { howLongAgo, took } from './parts.js';
import { MOST_RUNS, onceRead, projectPath, want, wantAll } from './read.js';
import { follow, keepToken, Refusal, takeToken, token } from './server.js';
import { byId, render } from './show.js';
import { FEW_RUNS, LOST_MS, state } from './state.js';
import { speak, spoken } from './words.js';

const root = document.documentElement;

/** @param {string} name @param {string} value */
const remember = (name, value) => {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage is switched off: it holds until the page is closed.
  }
};

/** @template T @param {Set<T>} set @param {T} value */
const toggle = (set, value) => void (set.delete(value) || set.add(value));

/** @type {Readonly<Record<string, (...words: string[]) => void>>} */
const ACTIONS = {
  theme: () => {
    root.dataset['theme'] = root.dataset['theme'] === 'dark' ? 'light' : 'dark';
    remember('sluice.theme', root.dataset['theme']);
  },
  language: () => {
    speak(spoken() === 'en' ? 'zh-CN' : 'en');
    root.lang = spoken();
    remember('sluice.language', spoken());
  },
  why: (code = '') => {
    toggle(state.toggled, `why ${code}`);
    want(['groups']);
  },
  did: (...group) => toggle(state.toggled, `did ${group.join(' ')}`),
  run: (id = '') => {
    toggle(state.openRuns, Number(id));
    if (state.log?.runId === Number(id)) closeLog();
    want(['runs']);
    writeAddress();
  },
  log: (run = '', task = '') => {
    const open = state.log?.taskId === Number(task);
    closeLog();
    if (!open) openLog(Number(run), Number(task));
    writeAddress();
  },
  'log-end': scrollToEnd,
  'let-in': (list = '') => letIn(list),
  all: () => void (state.all = true),
  clear: () => {
    state.filter = '';
    /** @type {HTMLInputElement} */ (byId('find')).value = '';
  },
  more: () => {
    state.runLimit = Math.min(MOST_RUNS, state.runLimit * 4);
    want(['runs']);
  },
};

let logReader = new AbortController();

const closeLog = () => {
  logReader.abort();
  state.log = null;
};

/** @param {number} runId @param {number} taskId */
const openLog = (runId, taskId) => {
  const task = state.tasks.get(runId)?.history.find(({ id }) => id === taskId);
  if (task === undefined) return;
  const { name, attempt } = task;
  const log = { taskId, runId, name, attempt, unread: 0, finished: false, leftOut: 0, empty: false };
  state.log = log;
  logReader = new AbortController();
  const { signal } = logReader;
  // A server that does not answer is found out by the stream; a log that is refused stays as it is.
  readLog(projectPath(), log, signal, render).catch((error) => {
    if (!(error instanceof Refusal)) throw error;
    if (signal.aborted || error.status === 401) return;
    setTimeout(
      () => !signal.aborted && state.log === log && (closeLog(), openLog(runId, taskId), render()),
      LOST_MS / 5,
    );
  });
};

/** What is open stands in the address, so that it can be kept and sent. */
const writeAddress = () => {
  const open = [...state.openRuns].join(',');
  const parts = [
    state.projects.length > 1 && `project=${encodeURIComponent(state.project ?? '')}`,
    open !== '' && `run=${open}`,
    state.log !== null && `log=${state.log.taskId}`,
  ].filter(Boolean);
  history.replaceState(null, '', `${location.pathname}${parts.length === 0 ? '' : `#${parts.join('&')}`}`);
};

const readAddress = () => {
  const ids = new URLSearchParams(location.hash.slice(1)).get('run')?.split(',').map(Number) ?? [];
  for (const id of ids.filter((each) => each > 0)) state.openRuns.add(id);
};

/** The log that the address names; its run must stand there too. */
const openAddressedLog = () => {
  const taskId = Number(new URLSearchParams(location.hash.slice(1)).get('log'));
  const [runId] = [...state.tasks].find(([, { history: all }]) => all.some(({ id }) => id === taskId)) ?? [];
  if (runId !== undefined) openLog(runId, taskId);
};

const listen = () => {
  document.addEventListener('click', ({ target }) => {
    const element = target instanceof Element ? target.closest('[data-do]') : null;
    const [name = '', ...words] = element?.getAttribute('data-do')?.split(' ') ?? [];
    if (element === null) return;
    ACTIONS[name]?.(...words);
    render();
    if (name === 'run' && element.classList.contains('link'))
      byId(`run-${words[0]}`)?.scrollIntoView({ block: 'nearest' });
  });
  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.id !== 'find') return;
    state.filter = target.value;
    render();
  });
  document.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLSelectElement && target.id === 'project') changeProject(target.value);
  });
  document.addEventListener('submit', (event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (byId('token'));
    keepToken(field.value.trim());
    field.value = '';
    begin();
  });
  document.addEventListener('visibilitychange', () => !document.hidden && wantAll());
};

/** @param {string} name */
const changeProject = (name) => {
  closeLog();
  Object.assign(state, { project: name, assets: [], workflows: [], runs: [], stage: 'READING', runLimit: FEW_RUNS });
  state.openRuns.clear();
  history.replaceState(null, '', `${location.pathname}#project=${encodeURIComponent(name)}`);
  render();
  wantAll();
};

// ---- What goes on by itself

/** @param {import('./server.js').News} news */
const hear = ({ kinds, live }) => {
  if (live !== undefined && live !== state.live) {
    Object.assign(state, { live, lostSince: Date.now() });
    render();
  }
  want(kinds);
};

/** Keeps times true without moving anything. */
const tick = () => {
  if (document.hidden) return;
  for (const time of document.querySelectorAll('time[data-ago]'))
    write(time, howLongAgo(time.getAttribute('datetime') ?? ''));
  for (const span of document.querySelectorAll('[data-since]'))
    write(span, took(span.getAttribute('data-since') ?? '', null));
  if (state.live === 'LOST' && Date.now() - state.lostSince > LOST_MS && document.querySelector('.bar') === null)
    render();
};

/** @param {Element} element @param {string} text */
const write = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

let follows = false;

const begin = () => {
  if (token() === null) {
    Object.assign(state, { stage: 'SIGN', wrong: false });
    return render();
  }
  Object.assign(state, { stage: 'READING', wrong: false });
  wantAll();
  if (follows) return;
  follows = true;
  void follow(hear).finally(() => {
    follows = false;
    want(['runs']); // asks once more, and so learns that the token is not known
  });
};

speak(root.lang === 'zh-CN' ? 'zh-CN' : 'en');
takeToken();
readAddress();
watchPointer();
listen();
onceRead(openAddressedLog);
begin();
// When each table was looked at last changes without news; without a stream everything does.
setInterval(() => state.live !== 'LIVE' && wantAll(), 10_000);
setInterval(() => want(['assets']), 30_000);
setInterval(tick, 1_000);
addEventListener('hashchange', () => {
  if (location.hash.includes('token=')) {
    takeToken();
    begin();
  }
});
