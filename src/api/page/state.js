// All that the page knows.

/** @typedef {import('../contract/common.ts').ProjectBody} Project */
/** @typedef {import('./assets.js').Asset} Asset */
/** @typedef {import('./assets.js').Usable} Usable */
/** @typedef {import('./workflows.js').Workflow} Workflow */
/** @typedef {import('./workflows.js').Why} Why */
/** @typedef {import('./runs.js').Run} Run */
/** @typedef {import('./runs.js').RunTasks} RunTasks */
/** @typedef {import('./log.js').Log} Log */

/** How many runs are shown at first. */
export const FEW_RUNS = 25;

/** After so long without news the page says since when it is not true any more. */
export const LOST_MS = 10_000;

/** What the page knows. Replaced piece by piece, shown by show.js. */
export const state = {
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
  runLimit: FEW_RUNS,
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
