// The page: what it knows, what it shows of it, and what a person can do on it.
import { assetsCard, findUsable, needsSearch } from './assets.js';
import { become, glyph, h, keepingPlace, letIn, watchPointer } from './dom.js';
import { healthOf } from './health.js';
import { readLog, scrollToEnd } from './log.js';
import { clockTime, command, howLongAgo, told, took } from './parts.js';
import { runsCard } from './runs.js';
import { follow, get, keepToken, Refusal, takeToken, token } from './server.js';
import { say, speak, spoken } from './words.js';
import { isOpen, workflowsCard } from './workflows.js';

/** @typedef {import('../contract/common.ts').ProjectBody} Project */
/** @typedef {import('../contract/assets.ts').AssetDetailsBody} AssetDetails */
/** @typedef {import('./assets.js').Asset} Asset */
/** @typedef {import('./assets.js').Usable} Usable */
/** @typedef {import('./assets.js').Version} Version */
/** @typedef {import('./workflows.js').Workflow} Workflow */
/** @typedef {import('./workflows.js').Why} Why */
/** @typedef {import('./runs.js').Run} Run */
/** @typedef {import('./runs.js').RunTasks} RunTasks */
/** @typedef {import('./log.js').Log} Log */

const ALL = Object.freeze(['assets', 'groups', 'workflows', 'runs']);
const MANY_WHYS = 30;
const RUNS = 25;
const MOST_RUNS = 500;
const GAP_MS = 250;
const HIDDEN_GAP_MS = 10_000;
const LOST_MS = 10_000;
const WIDTH = 3;

/** What the page knows. Replaced piece by piece, shown by `render`. */
const state = {
  /** @type {'SIGN' | 'READING' | 'READ'} */
  stage: 'READING',
  wrong: false,
  /** @type {readonly Project[]} */
  projects: [],
  /** @type {string | null} */
  project: null,
  /** @type {readonly Asset[]} */
  assets: [],
  /** @type {Map<string, Usable>} */
  usable: new Map(),
  /** @type {readonly Workflow[]} */
  workflows: [],
  /** @type {Map<number, Why>} */
  whys: new Map(),
  /** @type {readonly Run[]} */
  runs: [],
  hasMore: false,
  /** @type {Map<number, RunTasks>} */
  tasks: new Map(),
  /** What waiting tasks of open runs wait for. @type {Map<number, readonly import('./workflows.js').Group[]>} */
  taskWhys: new Map(),
  filter: '',
  all: false,
  runLimit: RUNS,
  /** @type {Set<string>} */
  toggled: new Set(),
  /** @type {Set<number>} */
  openRuns: new Set(),
  /** @type {Log | null} */
  log: null,
  /** @type {'LIVE' | 'CROWDED' | 'LOST'} */
  live: 'LOST',
  lostSince: Date.now(),
  /** @type {string | null} */
  problem: null,
};

// ---- What is shown

const root = document.documentElement;
const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

const render = () =>
  keepingPlace(() => {
    become(byId('top'), h('header', { class: 'top', id: 'top' }, top()));
    become(byId('main'), h('main', { id: 'main', tabindex: -1 }, content()));
    const { count } = healthOf(state);
    document.title = `${count > 0 ? `● ${count} – ` : ''}${state.project === null ? '' : `${state.project} – `}Sluice`;
  });

const top = () => {
  const dark = root.dataset['theme'] === 'dark';
  const theme = say(dark ? 'toLight' : 'toDark');
  const live = state.live === 'LIVE';
  return [
    h('a', { class: 'skip', href: '#main' }, say('skip')),
    h('span', { class: 'brand' }, glyph('gate'), 'Sluice'),
    state.project !== null && [h('span', { class: 'sep', 'aria-hidden': 'true' }, '/'), projectChoice()],
    h('span', { class: 'rest' }),
    state.stage === 'READ' &&
      h('span', { class: live ? 'live' : 'live not', role: 'status' }, say(live ? 'live' : 'notLive')),
    h(
      'button',
      {
        class: 'tool',
        type: 'button',
        'data-do': 'language',
        lang: spoken() === 'en' ? 'zh-CN' : 'en',
        'aria-label': say('toChineseLabel'),
      },
      say('toChinese'),
    ),
    h(
      'button',
      { class: 'tool', type: 'button', 'data-do': 'theme', 'aria-label': theme, title: theme },
      glyph(dark ? 'sun' : 'moon'),
    ),
  ];
};

const projectChoice = () => {
  if (state.projects.length < 2) return h('b', {}, state.project);
  const choices = state.projects.map(({ name }) =>
    h('option', { value: name, selected: name === state.project }, name),
  );
  return h('select', { id: 'project', 'aria-label': say('project') }, choices);
};

const content = () => {
  if (state.stage === 'SIGN') return signForm();
  if (state.stage === 'READING') return h('p', { class: 'dim' }, say('loading'));
  const { verdict, numbers } = healthOf(state);
  const nothing = state.assets.length === 0 && state.workflows.length === 0;
  return [
    trouble(),
    h(
      'div',
      { class: 'head', 'data-key': 'head' },
      h('h1', { 'aria-live': 'polite' }, verdict),
      numbers !== null && h('p', {}, numbers),
    ),
    nothing
      ? h(
          'section',
          { class: 'card', 'data-key': 'empty' },
          h(
            'p',
            { class: 'empty' },
            told('declare', { command: command('sluice apply -f FILE') }),
            ' ',
            say('otherwise'),
          ),
        )
      : h('div', { class: 'lists', 'data-key': 'lists' }, assetsCard(state), workflowsCard(state), runsCard(state)),
  ];
};

/** What keeps the page from being true. */
const trouble = () => {
  const text =
    state.problem !== null
      ? say('failed', { detail: state.problem })
      : state.live === 'CROWDED'
        ? say('polling')
        : state.live === 'LOST' && Date.now() - state.lostSince > LOST_MS
          ? say('lost', { time: clockTime(new Date(state.lostSince).toISOString()) })
          : null;
  return text !== null && h('p', { class: 'bar', role: 'status', 'data-key': 'bar' }, text);
};

const signForm = () =>
  h(
    'form',
    { class: 'card sign', id: 'sign', 'data-key': 'sign' },
    h('h1', {}, say('signTitle')),
    h('p', {}, told('signText', { file: command('admin.token'), command: command('sluice open') })),
    h('label', { for: 'token' }, say('token')),
    h(
      'div',
      { class: 'row' },
      h('input', {
        id: 'token',
        type: 'password',
        autocomplete: 'off',
        required: true,
        'aria-describedby': state.wrong ? 'wrong' : null,
        'aria-invalid': state.wrong ? 'true' : null,
      }),
      h('button', { class: 'btn main', type: 'submit' }, say('signIn')),
    ),
    state.wrong && h('p', { class: 'wrong', id: 'wrong', role: 'alert' }, say('signWrong')),
  );

// ---- What is read

const wanted = new Set();
let reading = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Reads these kinds soon, however often it is asked; what is read already is not read twice at once. @param {readonly string[]} kinds */
const want = (kinds, ms = 0) => {
  for (const kind of kinds) wanted.add(kind);
  if (reading || wanted.size === 0 || state.stage === 'SIGN') return;
  clearTimeout(timer);
  timer = setTimeout(() => void read(), ms);
};

const read = async () => {
  const kinds = new Set(wanted);
  wanted.clear();
  reading = true;
  const start = performance.now();
  const first = state.stage === 'READING';
  try {
    await readKinds(kinds);
    Object.assign(state, { stage: 'READ', problem: null });
  } catch (error) {
    failed(error, kinds);
  }
  reading = false;
  render();
  if (first && state.stage === 'READ') openAddressedLog();
  // A server with much to tell is asked less often.
  want([], document.hidden ? HIDDEN_GAP_MS : Math.max(GAP_MS, 5 * (performance.now() - start)));
};

/** @param {unknown} error @param {ReadonlySet<unknown>} kinds */
const failed = (error, kinds) => {
  if (!(error instanceof Refusal)) throw error;
  if (error.status === 401) {
    Object.assign(state, { stage: 'SIGN', wrong: token() !== null });
    keepToken(null);
  } else if (error.status === 0) {
    // No answer: the stream finds that out too, and asks for all when it is back.
    if (state.stage === 'READING') setTimeout(() => want(ALL), LOST_MS / 5);
  } else {
    state.problem = error.message;
    for (const kind of kinds) wanted.add(kind);
    setTimeout(() => want([]), LOST_MS);
  }
};

const projectPath = () => `/projects/${encodeURIComponent(state.project ?? '')}`;

/** @template T @param {string} path @returns {Promise<readonly T[]>} */
const items = async (path) => /** @type {{ items: readonly T[] }} */ (await get(projectPath() + path)).items;

/** @param {ReadonlySet<unknown>} kinds */
const readKinds = async (kinds) => {
  if (state.project === null || kinds.has('workflows')) await readProjects();
  if (state.project === null) return;
  if (kinds.has('assets')) await readAssets();
  if (kinds.has('workflows')) state.workflows = await items('/workflow-definitions');
  if (kinds.has('groups')) await readWhys();
  if (kinds.has('runs')) await readRuns();
  if (kinds.has('runs') || kinds.has('groups')) await readTaskWhys();
};

const readProjects = async () => {
  state.projects = /** @type {{ items: readonly Project[] }} */ (await get('/projects')).items;
  const named = new URLSearchParams(location.hash.slice(1)).get('project') ?? state.project;
  const found = state.projects.find(({ name }) => name === named) ?? state.projects[0];
  state.project = found?.name ?? null;
};

/** @type {Map<string, number>} */
const searched = new Map();

const readAssets = async () => {
  state.assets = await items('/assets');
  const search = state.assets.filter((asset) => needsSearch(asset) && searched.get(asset.key) !== asset.state.version);
  await atMost(search.slice(0, MANY_WHYS), async ({ key, state: { version } }) => {
    const path = `/assets/${encodeURIComponent(key)}`;
    const asset = /** @type {AssetDetails} */ (await get(projectPath() + path));
    /** @type {readonly Version[]} */
    const versions = await items(`${path}/versions?limit=100`);
    state.usable.set(key, findUsable(asset, versions));
    searched.set(key, version);
  });
};

/** Why of the workflows whose tree is shown; of few workflows, of all. */
const readWhys = async () => {
  const shown = state.workflows.filter(
    (workflow) => workflow.groups.length > 0 && (state.workflows.length <= MANY_WHYS || isOpen(state, workflow)),
  );
  await atMost(shown, async ({ code }) => {
    state.whys.set(code, await get(`${projectPath()}/workflow-definitions/${code}/why`));
  });
};

const readRuns = async () => {
  const page = /** @type {{ items: readonly Run[], nextCursor: string | null }} */ (
    await get(`${projectPath()}/workflow-instances?limit=${state.runLimit}`)
  );
  state.runs = page.items;
  state.hasMore = page.nextCursor !== null && state.runLimit < MOST_RUNS;
  const open = state.runs.filter(({ id }) => state.openRuns.has(id));
  await atMost(open, async ({ id }) => {
    state.tasks.set(id, await get(`${projectPath()}/workflow-instances/${id}/tasks`));
  });
};

const readTaskWhys = async () => {
  const waiting = state.runs
    .filter(({ id }) => state.openRuns.has(id))
    .flatMap((run) =>
      (state.tasks.get(run.id)?.tasks ?? []).filter((task) => task.waiting).map((task) => ({ run, task })),
    );
  await atMost(waiting, async ({ run, task }) => {
    const path = `/workflow-definitions/${run.workflowDefinitionCode}/tasks/${encodeURIComponent(task.name)}/why`;
    const why = /** @type {import('../contract/task-why.ts').TaskWhyBody} */ (await get(projectPath() + path));
    const found = why.waiting.find(({ taskInstanceId }) => taskInstanceId === task.id);
    state.taskWhys.set(task.id, found?.groups ?? []);
  });
};

/** Few at a time: a browser opens six connections to one server, and other tabs need some. @template T @param {readonly T[]} each @param {(one: T) => Promise<void>} work */
const atMost = async (each, work) => {
  const rest = each.values();
  const lane = async () => {
    for (const one of rest) await work(one);
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
};

// ---- What a person can do

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
  document.addEventListener('visibilitychange', () => !document.hidden && want(ALL));
};

/** @param {string} name */
const changeProject = (name) => {
  closeLog();
  Object.assign(state, { project: name, assets: [], workflows: [], runs: [], stage: 'READING', runLimit: RUNS });
  state.openRuns.clear();
  history.replaceState(null, '', `${location.pathname}#project=${encodeURIComponent(name)}`);
  render();
  want(ALL);
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
  want(ALL);
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
begin();
// When each table was looked at last changes without news; without a stream everything does.
setInterval(() => want(state.live === 'LIVE' ? [] : ALL), 10_000);
setInterval(() => want(['assets']), 30_000);
setInterval(tick, 1_000);
addEventListener('hashchange', () => {
  if (location.hash.includes('token=')) {
    takeToken();
    begin();
  }
});
