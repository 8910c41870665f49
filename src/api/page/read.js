// What the page reads, and how often.
import { findUsable, needsSearch } from './assets.js';
import { get, keepToken, Refusal, token } from './server.js';
import { render } from './show.js';
import { LOST_MS, state } from './state.js';
import { isOpen } from './workflows.js';

/** @typedef {import('../contract/assets.ts').AssetDetailsBody} AssetDetails */
/** @typedef {import('./assets.js').Version} Version */
/** @typedef {import('./runs.js').Run} Run */
/** @typedef {import('./state.js').Project} Project */

const ALL = Object.freeze(['assets', 'groups', 'workflows', 'runs']);
const MANY_WHYS = 30;
const GAP_MS = 250;
const HIDDEN_GAP_MS = 10_000;
const WIDTH = 3;
export const MOST_RUNS = 500;

const wanted = new Set();
let reading = false;
let onFirst = () => {};
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Calls once the page has something to show. @param {() => void} call */
export const onceRead = (call) => void (onFirst = call);

/** Everything, soon. */
export const wantAll = () => want(ALL);

/** Reads these kinds soon, however often it is asked; what is read already is not read twice at once. @param {readonly string[]} kinds */
export const want = (kinds, ms = 0) => {
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
  if (first && state.stage === 'READ') onFirst();
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

export const projectPath = () => `/projects/${encodeURIComponent(state.project ?? '')}`;

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
