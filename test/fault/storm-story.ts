import type { Story } from './storm/story.ts';
import type { AttemptFact, Facts, RunFact, TriggerFact } from './storm/facts.ts';
import type { Line } from './storm/lines.ts';
import type { PlannedGroup, PlannedTask, PlannedWorkflow } from './storm/plan.ts';

/** A storm small enough to be written by hand, in which all is well. */

/** As a story, but open to be spoiled. */
type Open<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends object
    ? { -readonly [K in keyof T]: Open<T[K]> }
    : T;
export type Draft = Open<Story>;

const A = 'paimon://s/a';
const B = 'paimon://s/b';
const TICKS = 'delta://s/ticks';

const task = (name: string, more: Partial<PlannedTask> = {}): PlannedTask => ({
  name,
  type: 'SHELL',
  dependsOn: [],
  course: ['SUCCESS'],
  failsWith: 0,
  waits: null,
  body: '',
  ...more,
});

const group = (members: PlannedGroup['members'], more: Partial<PlannedGroup> = {}): PlannedGroup => ({
  name: 'g',
  advance: 'ALL',
  whileRunning: 'WAIT',
  members,
  lockstep: false,
  ...more,
});

const workflow = (name: string, more: Partial<PlannedWorkflow>): PlannedWorkflow => ({
  name,
  groups: [],
  inputs: [],
  tasks: [task('only')],
  ends: 'SUCCESS',
  steered: false,
  ...more,
});

const workflows: readonly PlannedWorkflow[] = [
  workflow('one', {
    groups: [group([{ assetKey: A }], { lockstep: true })],
    tasks: [task('flaky', { course: ['FAILURE', 'SUCCESS'], failsWith: 1 }), task('next', { dependsOn: ['flaky'] })],
  }),
  workflow('two', {
    groups: [group([{ assetKey: B, passed: true }], { advance: 'ANY' })],
    tasks: [task('wait', { type: 'ASSET_SENSOR', waits: { assetKey: TICKS, baseline: 'RUN_START' } })],
  }),
  workflow('hand', { inputs: [A] }),
];

const trigger = (
  id: number,
  name: string,
  code: number,
  runId: number,
  pins: TriggerFact['pins'],
  at: number,
): TriggerFact => {
  const [[key, version] = ['', '']] = Object.entries(pins);
  return {
    id,
    key: `workflow_${code}_group_g_${key}=1:${version}`,
    workflow: name,
    workflowCode: code,
    group: 'g',
    status: 'SUCCESS',
    runId,
    task: null,
    pins,
    at,
  };
};

const run = (fire: TriggerFact): RunFact => ({
  id: fire.runId ?? 0,
  workflow: fire.workflow,
  state: 'SUCCESS',
  group: fire.group,
  triggerKey: fire.key,
  idempotencyKey: null,
  pins: fire.pins,
  startedAt: fire.at,
});

const attempt = (id: number, runId: number, name: string, more: Partial<AttemptFact> = {}): AttemptFact => ({
  id,
  runId,
  name,
  attempt: 1,
  fence: 1,
  state: 'SUCCESS',
  valid: true,
  exitCode: 0,
  reason: null,
  pins: null,
  ...more,
});

const failed = (id: number, runId: number, name: string): AttemptFact =>
  attempt(id, runId, name, { state: 'FAILURE', valid: false, exitCode: 1 });

const fires = [
  trigger(1, 'one', 1, 1, { [A]: '2' }, 3_000),
  trigger(2, 'one', 1, 2, { [A]: '4' }, 6_000),
  trigger(3, 'two', 2, 3, { [B]: '2' }, 4_000),
];

const release: TriggerFact = {
  ...trigger(4, 'two', 2, 3, { [TICKS]: '2' }, 9_000),
  key: `workflow_2_taskdef_5_instance_7_group_w_${TICKS}=1:2`,
  group: 'w',
  task: { code: 5, instanceId: 7 },
};

const byHand: RunFact = {
  id: 4,
  workflow: 'hand',
  state: 'SUCCESS',
  group: null,
  triggerKey: null,
  idempotencyKey: 'key-1',
  pins: { [A]: '4' },
  startedAt: 7_000,
};

const runs = [...fires.map(run), byHand];

const attempts: readonly AttemptFact[] = [
  failed(2, 1, 'flaky'),
  attempt(3, 1, 'flaky', { attempt: 2 }),
  attempt(1, 1, 'next'),
  failed(5, 2, 'flaky'),
  attempt(4, 2, 'flaky', { attempt: 2 }),
  attempt(6, 2, 'next'),
  attempt(7, 3, 'wait', { exitCode: null, pins: { [TICKS]: '2' } }),
  attempt(8, 4, 'only'),
];

/** One after the other, as they stand above; a sensor has no process. */
const lines = (): readonly Line[] =>
  attempts
    .filter(({ name }) => name !== 'wait')
    .flatMap(({ id, runId, name, attempt: nth, fence, exitCode }): Line[] => {
      const of = runs.find((one) => one.id === runId);
      const head = { runId, task: name, instanceId: id, attempt: nth, fence };
      return [
        { ...head, what: 'start', exitCode: null, triggerKey: of?.triggerKey ?? '', reads: of?.pins ?? {} },
        { ...head, what: 'end', exitCode, triggerKey: '', reads: {} },
      ];
    });

const COMMITS: Story['chronicle']['commits'] = {
  [A]: ['1', '2', '3', '4'].map((snapshotId) => ({ snapshotId, data: snapshotId !== '3' })),
  [B]: ['1', '2', '3'].map((snapshotId) => ({ snapshotId, data: true })),
  [TICKS]: ['1', '2'].map((snapshotId) => ({ snapshotId, data: true })),
};

const verdict = (snapshotId: string, passed: boolean) => ({
  eventId: `rows-${snapshotId}`,
  assetKey: B,
  snapshotId,
  passed,
});
const verdicts = [verdict('2', true), verdict('3', false)];

const versions = Object.entries(COMMITS).flatMap(([assetKey, commits]) =>
  commits.map(({ snapshotId, data }, i) => ({
    assetKey,
    epoch: 1,
    ordinal: i + 1,
    snapshotId,
    data,
    status: 'LIVE',
    recordedAt: assetKey === TICKS ? 8_000 + i : 1_000 + 1_500 * i,
  })),
);

const event = (assetKey: string, snapshotId: string, more: Partial<Facts['events'][number]> = {}) => ({
  assetKey,
  type: 'SNAPSHOT_COMMITTED',
  status: 'RECORDED',
  snapshotId,
  eventId: null,
  ...more,
});

const facts = (): Facts => ({
  versions,
  heads: Object.entries(COMMITS).map(([assetKey, commits]) => ({
    assetKey,
    snapshotId: commits.at(-1)?.snapshotId ?? null,
    dataSnapshotId: commits.at(-1)?.snapshotId ?? null,
  })),
  events: [
    ...versions.map(({ assetKey, snapshotId }) => event(assetKey, snapshotId)),
    event(A, '4', { status: 'CONFIRMED' }),
    ...verdicts.map(({ assetKey, snapshotId, eventId, passed }) =>
      event(assetKey, snapshotId, { type: `QUALITY_CHECK_${passed ? 'PASSED' : 'FAILED'}`, eventId }),
    ),
  ],
  verdicts: verdicts.map(({ assetKey, snapshotId, passed }) => ({
    assetKey,
    snapshotId,
    check: 'rows',
    status: passed ? 'PASSED' : 'FAILED',
    waiting: false,
  })),
  triggers: [...fires, release],
  runs,
  attempts,
  consumed: [
    { workflow: 'one', group: 'g', assetKey: A, snapshotId: '4' },
    { workflow: 'two', group: 'g', assetKey: B, snapshotId: '2' },
  ],
  left: { commands: 0, changes: 0, evaluations: 0, waitingGroups: 0, wantedScans: 0 },
  lines: lines(),
  processes: [],
});

export const goodStory = (): Draft =>
  structuredClone({
    workflows,
    chronicle: {
      commits: COMMITS,
      before: { [A]: 1, [B]: 1, [TICKS]: 1 },
      verdicts,
      hints: [{ assetKey: A, snapshotId: '4' }],
      starts: ['key-1'],
      steered: [],
    },
    facts: facts(),
  } satisfies Story) as unknown as Draft;
