import { cell, head } from './assets.js';
import { glyph, h, inOrder, isRead } from './dom.js';
import { ago, badge, breakable, cardHead, chip, command, lasted, tableName, told } from './parts.js';
import { say } from './words.js';
import { fact, groupHead, tree, waitTree } from './workflows.js';

/** @typedef {import('../contract/workflows.ts').RunBody} Run */
/** @typedef {import('../contract/workflows.ts').TaskRunBody} TaskRun */
/** @typedef {import('../contract/workflows.ts').RunTasksBody} RunTasks */
/** @typedef {import('../contract/dependencies.ts').WhyBody} Why */
/** @typedef {import('./workflows.js').Group} Group */
/** @typedef {import('./log.js').Log} Log */

/**
 * @typedef {{
 *   readonly runs: readonly Run[],
 *   readonly hasMore: boolean,
 *   readonly tasks: ReadonlyMap<number, RunTasks>,
 *   readonly openRuns: ReadonlySet<number>,
 *   readonly assets: readonly import('./assets.js').Asset[],
 *   readonly taskWhys: ReadonlyMap<number, readonly Group[]>,
 *   readonly whys: ReadonlyMap<number, Why>,
 *   readonly log: Log | null,
 *   readonly workflows: readonly { readonly name: string }[],
 * }} State
 */

/** @param {State} state */
export const runsCard = (state) => {
  const { runs, hasMore, workflows } = state;
  const { shown, waiting } = inOrder('runs', runs, ({ id }) => String(id), isRead('runs'));
  const example = command(`sluice run ${workflows[0]?.name ?? 'WORKFLOW'}`);
  return h(
    'section',
    { class: 'card', id: 'runs', 'aria-labelledby': 'runs-title', 'data-key': 'runs' },
    cardHead('runs', 'runs', null, waiting),
    shown.length === 0 ? h('p', { class: 'empty' }, told('noRuns', { command: example })) : table(state, shown),
    hasMore &&
      h('div', { class: 'more' }, h('button', { class: 'btn', type: 'button', 'data-do': 'more' }, say('showMore'))),
  );
};

/** @param {State} state @param {readonly Run[]} runs */
const table = (state, runs) =>
  h(
    'table',
    { class: 'rows', role: 'table', 'aria-labelledby': 'runs-title' },
    h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        head('c-id', 'run'),
        head('', 'workflow'),
        head('c-state', 'state'),
        head('c-read', 'read'),
        head('', 'startedBy'),
        head('c-time', 'started'),
        head('c-took', 'took'),
      ),
    ),
    h(
      'tbody',
      { role: 'rowgroup' },
      runs.flatMap((run) => (state.openRuns.has(run.id) ? [row(run, true), inside(state, run)] : [row(run, false)])),
    ),
  );

/** @param {Run} run @param {boolean} open */
const row = (run, open) => {
  const pins = Object.entries(run.pins).map(([key, pin]) => chip(key, pin, { name: tableName(key) }));
  return h(
    'tr',
    { class: 'one', role: 'row', 'data-key': `run ${run.id}`, id: `run-${run.id}` },
    cell(
      {},
      h(
        'button',
        {
          class: 'toggle',
          type: 'button',
          'data-do': `run ${run.id}`,
          'aria-expanded': String(open),
          'aria-label': `${say('run')} ${run.id}`,
        },
        glyph('open'),
        `#${run.id}`,
      ),
    ),
    cell({ class: 'fill' }, h('b', {}, breakable(run.workflow))),
    cell({ 'data-lights': true }, badge(run.state)),
    cell({ class: 'whole' }, pins.length > 0 && h('span', { class: 'vers' }, pins)),
    cell({ class: 'dim', 'data-name': say('startedBy') }, startedBy(run)),
    cell({ class: 'dim', 'data-name': say('started') }, ago(run.startTime)),
    cell({ class: 'dim', 'data-name': say('took') }, lasted(run.startTime, run.endTime)),
  );
};

/** @param {Run} run */
const startedBy = ({ triggerGroup }) =>
  triggerGroup === null ? say('byPerson') : told('byGroup', { group: h('span', {}, breakable(triggerGroup)) });

/** @param {State} state @param {Run} run */
const inside = (state, run) => {
  const { tasks, whys, log } = state;
  const found = tasks.get(run.id);
  const params = Object.entries(run.params).map(([name, value]) => `${name}=${value}`);
  const fire = whys
    .get(run.workflowDefinitionCode)
    ?.groups.find(({ lastFire }) => lastFire?.runId === run.id)?.lastFire;
  return h(
    'tr',
    { class: 'inside', role: 'row', 'data-key': `inside ${run.id}` },
    cell(
      { colspan: 7 },
      h(
        'dl',
        { class: 'facts' },
        run.triggerKey !== null && fact('triggerKey', command(run.triggerKey)),
        params.length > 0 && fact('params', command(params.join(' '))),
      ),
      found === undefined ? h('p', { class: 'dim' }, say('loading')) : taskTable(run, found, log),
      found?.tasks.filter(({ waiting }) => waiting).map((task) => waits(state, task)),
      log !== null && log.runId === run.id && logPanel(log),
      fire && [h('p', { class: 'note' }, say('whyStarted')), tree([], fire.results, 'then')],
    ),
  );
};

/** What a waiting task waits for. @param {State} state @param {TaskRun} task */
const waits = ({ taskWhys, assets }, { id, name }) =>
  h(
    'div',
    { class: 'group', 'data-key': `waits ${id}` },
    h('p', { class: 'note' }, told('taskWaits', { task: h('b', {}, name) })),
    taskWhys
      .get(id)
      ?.map((group, i) => [groupHead(group, i), waitTree(assets, `task ${id} ${group.group}`, group, 'runs')]),
  );

/** All attempts, task by task in the order in which they run. @param {Run} run @param {RunTasks} tasks @param {Log | null} log */
const taskTable = (run, { tasks, history }, log) => {
  if (tasks.length === 0) return h('p', { class: 'dim' }, say('noTasks'));
  const attempts = tasks.flatMap((task) => {
    const earlier = history.filter(({ name, id }) => name === task.name && id !== task.id);
    return [...earlier.map((each) => taskRow(run, each, true, log)), taskRow(run, task, false, log)];
  });
  return h(
    'table',
    { class: 'rows', role: 'table', 'aria-label': `${say('run')} ${run.id}` },
    h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        head('', 'task'),
        head('c-time', 'type'),
        head('c-state', 'state'),
        head('c-try', 'attempt'),
        head('c-took', 'took'),
        head('c-exit', 'exit'),
        head('', 'reason'),
        head('c-ver', 'log'),
      ),
    ),
    h('tbody', { role: 'rowgroup' }, attempts),
  );
};

/** @param {Run} run @param {TaskRun} task @param {boolean} earlier @param {Log | null} log */
const taskRow = (run, task, earlier, log) => {
  const open = log?.taskId === task.id;
  const again = task.state === 'SUBMITTED_SUCCESS' && task.attempt > 1;
  const held = task.waiting ? 'WAITING' : again ? 'DELAY_EXECUTION' : null;
  const pins = Object.entries(task.pins).map(([key, pin]) => chip(key, pin, { name: tableName(key) }));
  return h(
    'tr',
    { class: earlier ? 'one earlier' : 'one', role: 'row', 'data-key': `task ${task.id}` },
    cell({ class: 'fill' }, h('b', {}, breakable(task.name))),
    cell({}, h('code', {}, task.type)),
    cell({ 'data-lights': true }, badge(held ?? task.state)),
    cell({ 'data-name': say('attempt') }, task.attempt),
    cell({ 'data-name': say('took') }, lasted(task.startTime, task.endTime)),
    cell({ 'data-name': say('exit') }, task.exitCode ?? '–'),
    cell({ class: 'whole' }, task.reason, pins.length > 0 && h('span', { class: 'vers' }, pins)),
    cell(
      {},
      task.startTime !== null &&
        h(
          'button',
          {
            class: 'btn',
            type: 'button',
            'data-do': `log ${run.id} ${task.id}`,
            'aria-expanded': String(open),
            'aria-label': `${say(open ? 'hideLog' : 'showLog')}: ${task.name}`,
          },
          say(open ? 'hideLog' : 'showLog'),
        ),
    ),
  );
};

/** @param {Log} log */
const logPanel = (log) => {
  const { taskId, runId, name, attempt, unread, finished, leftOut, empty } = log;
  const title = say('logOf', { task: name, attempt });
  const whole = command(`sluice logs ${runId} ${name} --attempt ${attempt}`);
  return h(
    'div',
    { class: 'log', 'data-key': `log ${taskId}` },
    h(
      'div',
      { class: 'log-head' },
      h('b', {}, title),
      h('span', { class: 'rest' }),
      unread > 0
        ? h('button', { class: 'btn', type: 'button', 'data-do': 'log-end' }, say('newLines', { n: unread }))
        : h('span', {}, say(finished ? 'ended' : 'following')),
    ),
    leftOut > 0 &&
      h(
        'div',
        { class: 'log-head' },
        h('span', {}, told('leftOut', { size: `${Math.ceil(leftOut / 1024)} KiB`, command: whole })),
      ),
    empty && h('div', { class: 'log-head' }, say(finished ? 'noOutput' : 'noOutputYet')),
    h('pre', {
      id: 'log-text',
      tabindex: 0,
      role: 'region',
      'aria-label': title,
      'data-own': 'log',
      'data-key': `text ${taskId}`,
    }),
  );
};
