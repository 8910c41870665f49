import { createHash } from 'node:crypto';
import type { Condition } from '../../../src/core/asset/condition.ts';
import { NOTHING_STATED, type StatedEvent } from '../../../src/core/asset/event.ts';
import type { DependencyGroup } from '../../../src/core/asset/group.ts';
import { type AssetKey, parseAssetKey } from '../../../src/core/asset/key.ts';
import type { Poll } from '../../../src/core/asset/poll.ts';
import type { Asset } from '../../../src/core/asset/state.ts';
import type { Commit } from '../../../src/core/asset/version.ts';
import type { ProjectDeclaration, WorkflowDeclaration } from '../../../src/core/declaration/declaration.ts';
import type { EpochMs } from '../../../src/core/time.ts';
import type { RecordReceipt, StartRequest, Store, TaskEnding, TaskOffer } from '../../../src/store/store.ts';

/** How one database is opened for the suite: `open` may be called again on the same database, as a second or a restarted server does. */
export interface Backend {
  readonly name: string;
  /** Can a second store be opened on the same database? */
  readonly shared: boolean;
  make(): Promise<Database>;
}

export interface Database {
  open(options?: OpenOptions): Promise<Store>;
  drop(): Promise<void>;
}

export interface OpenOptions {
  readonly onStatement?: (sql: string, when: 'BEFORE' | 'AFTER') => void;
  readonly onProblem?: (what: string, error: unknown) => void;
}

/** The time that the database under test takes for now. */
export const START: EpochMs = 1_790_000_000_000n;
export const clock = {
  time: START,
  now: (): EpochMs => clock.time,
  advance: (ms: number): void => {
    clock.time += BigInt(ms);
  },
};

let nonces = 0;
export const nonce = (): string => `nonce-${++nonces}`;
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const key = (text: string): AssetKey => {
  const parsed = parseAssetKey(text);
  if (!parsed.ok) throw new Error(parsed.problem.detail);
  return parsed.value;
};

export const ORDERS = key('paimon://ods/orders');
export const PAYMENTS = key('paimon://ods/payments');

export const asset = (assetKey: AssetKey, more: Partial<Asset> = {}): Asset => ({
  key: assetKey,
  location: `/warehouse/${assetKey.replace(/^\w+:\/\//, '')}`,
  description: '',
  pushMode: 'VERIFY',
  onGap: 'CONTINUE',
  onRollback: 'IGNORE',
  onRecreate: 'CONTINUE',
  schemaPolicy: 'AUTO',
  requiredChecks: [],
  pollIntervalMs: null,
  ...more,
});

export const condition = (assetKey: AssetKey, more: Partial<Condition> = {}): Condition => ({
  assetKey,
  alias: assetKey.split('/').at(-1) ?? 'asset',
  snapshotRequired: true,
  minSnapshotId: null,
  operations: [],
  dataChangeOnly: true,
  qualityStatus: null,
  qualityChecks: [],
  schemaStatus: null,
  schemaChanged: false,
  watermarkGte: null,
  tag: null,
  minAddedRecords: null,
  maxAgeSeconds: null,
  ...more,
});

export const group = (
  name: string,
  conditions: readonly Condition[],
  more: Partial<DependencyGroup> = {},
): DependencyGroup => ({
  name,
  renamedFrom: null,
  advance: 'ALL',
  consume: 'LATEST',
  whileRunning: 'WAIT',
  startFrom: 'NEXT',
  minIntervalSeconds: null,
  quietSeconds: null,
  maxWaitSeconds: null,
  enabled: true,
  conditions,
  ...more,
});

type TaskDeclaration = WorkflowDeclaration['tasks'][number];

export const task = (
  name: string,
  dependsOn: readonly string[] = [],
  more: Partial<TaskDeclaration> = {},
): TaskDeclaration => ({
  name,
  description: '',
  type: 'SHELL',
  params: { rawScript: `echo ${name}` },
  localParams: [],
  dependsOn,
  flag: 'YES',
  failRetryTimes: 0,
  failRetryIntervalSeconds: 0,
  timeoutSeconds: null,
  inputs: [],
  outputs: [],
  wait: null,
  ...more,
});

export const workflow = (name: string, more: Partial<WorkflowDeclaration> = {}): WorkflowDeclaration => ({
  name,
  description: '',
  releaseState: 'ONLINE',
  timezone: 'UTC',
  globalParams: [],
  failureStrategy: 'CONTINUE',
  inputs: [],
  groups: [],
  tasks: [task('load')],
  ...more,
});

export const project = (more: Partial<ProjectDeclaration> = {}): ProjectDeclaration => ({
  project: 'shop',
  assets: [],
  workflows: [],
  ...more,
});

export const apply = (store: Store, declaration: ProjectDeclaration) =>
  store.definitions.apply(declaration, { dryRun: false, strict: false });

/** Commit `id` of a table, one minute after the one before. */
export const commit = (id: number | string, more: Partial<Commit> = {}): Commit => ({
  snapshotId: String(id),
  operation: 'APPEND',
  dataChange: true,
  commitTime: clock.time,
  watermark: null,
  schemaId: '0',
  addedRecords: 10n,
  totalRecords: null,
  ...more,
});

export const poll = (commits: readonly Commit[], more: Partial<Poll> = {}): Poll => ({
  outcome: { kind: commits.length === 0 ? 'NONE' : 'NEW' },
  commits,
  cursor: { v: 1, head: commits.at(-1)?.snapshotId ?? null },
  head: commits.at(-1)?.snapshotId ?? null,
  dataHead: commits.findLast((each) => each.dataChange)?.snapshotId ?? null,
  tags: {},
  tagChanges: [],
  schema: null,
  newSchemas: [],
  tableId: null,
  problems: [],
  ...more,
});

/** Records a poll as a scanner does, one millisecond after what came before. */
export const record = async (store: Store, assetKey: AssetKey, given: Poll): Promise<RecordReceipt> => {
  clock.advance(1);
  const [target] = await store.assets.scanTargets([assetKey]);
  if (target === undefined) throw new Error(`${assetKey} is no scan target.`);
  return store.assets.recordPoll(assetKey, target.revision, given, { startedAt: clock.time, recordedAt: clock.time });
};

export const commits = (store: Store, assetKey: AssetKey, ...ids: (number | string)[]): Promise<RecordReceipt> =>
  record(store, assetKey, poll(ids.map((id) => commit(id))));

export const stated = (assetKey: AssetKey, more: Partial<StatedEvent>): StatedEvent => ({
  assetKey,
  eventType: 'QUALITY_CHECK_PASSED',
  sourceType: 'PUSH',
  ...NOTHING_STATED,
  ...more,
});

/** Evaluates until nothing is due; the reports of all that was evaluated. */
export const settle = async (store: Store) => {
  const reports = [];
  for (;;) {
    const some = await store.groups.evaluateDue(10);
    if (some.length === 0) return reports;
    reports.push(...some);
  }
};

/** The runs that evaluation started. */
export const fires = async (store: Store) => (await settle(store)).flatMap((report) => report.fired ?? []);

export const startRequest = (workflowCode: number, more: Partial<StartRequest> = {}): StartRequest => ({
  workflowCode,
  params: {},
  pins: new Map(),
  consume: false,
  startTasks: [],
  taskDependType: 'TASK_POST',
  idempotencyKey: null,
  ...more,
});

export const ending = (state: TaskEnding['state'] = 'SUCCESS'): TaskEnding => ({
  state,
  exitCode: state === 'SUCCESS' ? 0 : 1,
  reason: state === 'SUCCESS' ? null : 'it failed',
  endedAt: clock.time,
});

/** Starts and ends an offered attempt. */
export const finish = async (
  store: Store,
  offer: TaskOffer,
  state: TaskEnding['state'] = 'SUCCESS',
): Promise<boolean> => {
  const { id, fence } = offer.taskRun;
  await store.runs.taskStarted(id, fence, clock.time, 'host', 4711);
  return store.runs.taskEnded(id, fence, ending(state));
};

/** Launches, dispatches and ends everything until no run has anything to do. */
export const runAll = async (store: Store): Promise<void> => {
  for (;;) {
    const runs = await store.runs.launch(10);
    const offers = await store.runs.dispatch(10);
    if (runs.length + offers.length === 0) return;
    for (const offer of offers) await finish(store, offer);
  }
};

/** A migrated database with a store that owns it. */
export const ready = async (database: Database, options: OpenOptions = {}): Promise<Store> => {
  const store = await database.open(options);
  await store.admin.migrate();
  await store.admin.claimOwnership('test');
  return store;
};
