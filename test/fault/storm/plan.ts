import { join } from 'node:path';

/** What runs in the storm: tables, workflows, and what must come of them. */

/** A table that is written to disk and polled. */
export interface WrittenTable {
  readonly key: string;
  readonly format: 'paimon' | 'delta' | 'iceberg' | 'hudi';
}

const written = (format: WrittenTable['format'], name: string): WrittenTable => ({
  key: `${format}://storm/${name}`,
  format,
});

export const ORDERS = written('paimon', 'orders');
export const PAYMENTS = written('delta', 'payments');
export const CLICKS = written('iceberg', 'clicks');
export const REFUNDS = written('hudi', 'refunds');
/** Written one version at a time: the next one when a task has begun on the one before. */
export const STEPS = written('paimon', 'steps');
/** Only tasks wait for it. Written until the last of them has gone on. */
export const TICKS = written('delta', 'ticks');
export const WRITTEN: readonly WrittenTable[] = [ORDERS, PAYMENTS, CLICKS, REFUNDS, STEPS, TICKS];

/** Tables without a location: they live from what is pushed (TRUST). */
export const STATED = 'paimon://storm/stated'; // ordered by their ids
export const SENT = 'iceberg://storm/sent'; // ids without order, far beyond 2^53; ordered by sequenceNumber
export const TURNS = 'delta://storm/turns'; // one version at a time, as STEPS
const PUSHED: readonly string[] = [STATED, SENT, TURNS];

export const PROJECT_NAME = 'storm';
export const CHECK = 'rows';

/** Attempts of a task that nobody steers: how each ends. */
type Course = readonly ('SUCCESS' | 'FAILURE')[];

export interface PlannedTask {
  readonly name: string;
  readonly type: 'SHELL' | 'ASSET_SENSOR';
  readonly dependsOn: readonly string[];
  readonly course: Course;
  /** What each failed attempt exits with. */
  readonly failsWith: number;
  /** What it waits for before it runs. */
  readonly waits: { readonly assetKey: string; readonly baseline: 'LAST_SUCCESS' | 'RUN_START' | 'NONE' } | null;
  /** bash, after the beginning was noted. */
  readonly body: string;
}

export interface PlannedMember {
  readonly assetKey: string;
  readonly passed?: true;
}

export interface PlannedGroup {
  readonly name: string;
  readonly advance: 'ALL' | 'ANY';
  readonly whileRunning: 'WAIT' | 'PARALLEL';
  readonly members: readonly PlannedMember[];
  /** Its table waits for it, so that every version is one run. */
  readonly lockstep: boolean;
}

export interface PlannedWorkflow {
  readonly name: string;
  readonly groups: readonly PlannedGroup[];
  /** What runs by hand read. */
  readonly inputs: readonly string[];
  readonly tasks: readonly PlannedTask[];
  readonly ends: 'SUCCESS' | 'FAILURE';
  /** People stop, pause and resume its runs. */
  readonly steered: boolean;
}

const nameOf = (assetKey: string): string => assetKey.slice(assetKey.lastIndexOf('/') + 1);

const task = (name: string, ...dependsOn: readonly string[]): PlannedTask => ({
  name,
  type: 'SHELL',
  dependsOn,
  course: ['SUCCESS'],
  failsWith: 0,
  waits: null,
  body: '',
});

/** Longer than a server lives. */
const LONG = { body: 'sleep 2.6' };
/** As long as some servers live, from 0.5 to 2.4 s by the run. */
const VARIED = { body: 'sleep $((SLUICE_RUN_ID % 3)).$((SLUICE_RUN_ID % 5 + 1))' };

const group = (name: string, ...members: readonly (string | PlannedMember)[]): PlannedGroup => ({
  name,
  advance: 'ALL',
  whileRunning: 'WAIT',
  members: members.map((member) => (typeof member === 'string' ? { assetKey: member } : member)),
  lockstep: false,
});

const workflow = (
  name: string,
  groups: readonly PlannedGroup[],
  tasks: readonly PlannedTask[],
  more: Partial<PlannedWorkflow> = {},
): PlannedWorkflow => ({ name, groups, tasks, inputs: [], ends: 'SUCCESS', steered: false, ...more });

export const BY_HAND = 'by_hand';

export const WORKFLOWS: readonly PlannedWorkflow[] = [
  workflow('chain', [group('g', ORDERS.key)], [task('read'), task('write', 'read'), task('publish', 'write')], {
    steered: true,
  }),
  workflow(
    'beside',
    [{ ...group('g', PAYMENTS.key), whileRunning: 'PARALLEL' }],
    [{ ...task('long'), ...LONG }, task('short')],
  ),
  workflow(
    'diamond',
    [group('g', ORDERS.key, PAYMENTS.key)],
    [
      task('split'),
      { ...task('left', 'split'), course: ['FAILURE', 'SUCCESS'], failsWith: 1, body: '[ $SLUICE_ATTEMPT -gt 1 ]' },
      { ...task('right', 'split'), ...VARIED },
      task('join', 'left', 'right'),
    ],
    { steered: true },
  ),
  workflow(
    'any',
    [{ ...group('g', CLICKS.key, REFUNDS.key, STATED), advance: 'ANY' }],
    [{ ...task('first'), ...VARIED }, task('second', 'first')],
  ),
  workflow('checked', [group('g', { assetKey: PAYMENTS.key, passed: true })], [task('only')]),
  workflow('either', [group('a', STATED), group('b', SENT)], [task('only')]),
  workflow(
    'waits',
    [group('g', STATED, SENT)],
    [
      task('before'),
      { ...task('wait', 'before'), type: 'ASSET_SENSOR', waits: { assetKey: TICKS.key, baseline: 'RUN_START' } },
      task('after', 'wait'),
    ],
    { steered: true },
  ),
  workflow(
    'waits_next',
    [group('g', REFUNDS.key)],
    [
      { ...task('wait'), type: 'ASSET_SENSOR', waits: { assetKey: TICKS.key, baseline: 'LAST_SUCCESS' } },
      task('after', 'wait'),
    ],
  ),
  workflow(
    'fails',
    [group('g', CLICKS.key)],
    [
      { ...task('breaks'), course: ['FAILURE', 'FAILURE'], failsWith: 3, body: 'exit 3' },
      { ...task('never', 'breaks'), course: [] },
    ],
    { ends: 'FAILURE' },
  ),
  workflow('step_by_step', [{ ...group('g', STEPS.key), lockstep: true }], [task('only')]),
  workflow('turn_by_turn', [{ ...group('g', TURNS), lockstep: true }], [task('only')]),
  workflow(
    BY_HAND,
    [],
    [
      task('prepare'),
      { ...task('long', 'prepare'), ...LONG, waits: { assetKey: TICKS.key, baseline: 'NONE' } },
      task('done', 'long'),
    ],
    { inputs: [ORDERS.key], steered: true },
  ),
];

/** What tasks note of what they read: table=version, of all tables that the run may be pinned to. */
const readsOf = (workflow: PlannedWorkflow): string => {
  const keys = [
    ...workflow.groups.flatMap(({ members }) => members.map(({ assetKey }) => assetKey)),
    ...workflow.inputs,
  ];
  return [...new Set(keys)].map((key) => `${key}=$SLUICE_ASSET_${nameOf(key).toUpperCase()}_SNAPSHOT_ID`).join(',');
};

/** A line when it begins and one when it ends, each written at once: lines of tasks that run side by side do not mix. */
const scriptOf = (ledger: string, workflow: PlannedWorkflow, { body }: PlannedTask): string =>
  [
    `note() { printf '%s|%s|%s|%s|%s|%s|%s\\n' "$1" "$SLUICE_RUN_ID" "$SLUICE_TASK" "$SLUICE_TASK_INSTANCE_ID" "$SLUICE_ATTEMPT" "$SLUICE_FENCE" "$2" >>"${ledger}"; }`,
    `note start "$SLUICE_TRIGGER_KEY|${readsOf(workflow)}"`,
    `trap 'note end "$?"' EXIT`,
    body,
  ].join('\n');

const waitOf = (waits: NonNullable<PlannedTask['waits']>) => ({
  groups: [{ group: 'w', all: [{ assetKey: waits.assetKey }] }],
  baseline: waits.baseline,
});

const declareTask = (ledger: string, workflow: PlannedWorkflow, planned: PlannedTask) => {
  const { name, type, dependsOn, waits, course } = planned;
  const wait = waits === null ? {} : waitOf(waits);
  const head = { name, type, dependsOn };
  if (type === 'ASSET_SENSOR') return { ...head, params: wait };
  const retry = course.length > 1 ? { failRetryTimes: course.length - 1, failRetryIntervalSeconds: 0 } : {};
  return { ...head, ...wait, ...retry, params: { rawScript: scriptOf(ledger, workflow, planned) } };
};

const declareGroup = ({ name, advance, whileRunning, members }: PlannedGroup) => ({
  group: name,
  advance,
  whileRunning,
  all: members.map(({ assetKey, passed }) => ({ assetKey, ...(passed ? { qualityStatus: 'PASSED' } : {}) })),
});

export const tableFolder = (warehouse: string, { key }: WrittenTable): string => join(warehouse, nameOf(key));

/** The apply file of all this. */
export const declarationOf = (warehouse: string, ledger: string) => ({
  apiVersion: 'sluice/v1',
  project: PROJECT_NAME,
  assets: [
    ...WRITTEN.map((table) => ({ key: table.key, location: tableFolder(warehouse, table) })),
    ...PUSHED.map((key) => ({ key, pushMode: 'TRUST' })),
  ],
  workflows: WORKFLOWS.map((one) => ({
    name: one.name,
    inputs: one.inputs,
    triggers: one.groups.map(declareGroup),
    tasks: one.tasks.map((planned) => declareTask(ledger, one, planned)),
  })),
});
