import type { BlockCode, Condition, Leaf } from '../core/asset/condition.ts';
import type { RecordedEvent, StatedEvent } from '../core/asset/event.ts';
import type { PollTimes } from '../core/asset/ingest/effects.ts';
import type { AssetKey } from '../core/asset/key.ts';
import type { Cursor, Poll } from '../core/asset/poll.ts';
import type { Asset, AssetState, SchemaRecord, Verdict } from '../core/asset/state.ts';
import type { Pin, Pins, Version, VersionRef } from '../core/asset/version.ts';
import type { ApplyPlan, ProjectDeclaration } from '../core/declaration/declaration.ts';
import type { Problem } from '../core/result.ts';
import type { EpochMs } from '../core/time.ts';
import type { Parameter, TaskDefinition, TaskWait, WorkflowDefinition } from '../core/workflow/definition.ts';
import type { RunOperation } from '../core/workflow/plan.ts';
import type { TaskDependType, TaskRun, WorkflowRun } from '../core/workflow/run.ts';
import type { WaitingGroup } from '../core/workflow/task-wait.ts';

/**
 * The one door to the database. Every method is one whole transaction (or one read): it has happened entirely or not at all, and
 * what a comment says about dying in it holds for `kill -9` too. Time is the database's. Nobody outside holds a transaction open.
 * Lists take `limit` (1 to 500) and `cursor` (opaque, from the page before) and give newest first unless said otherwise.
 */
export interface Store {
  readonly definitions: DefinitionStore;
  readonly assets: AssetStore;
  readonly groups: GroupStore;
  readonly runs: RunStore;
  readonly idempotency: IdempotencyStore;
  readonly admin: AdminStore;
  /** Told after a commit that may give somebody work; only a hint: everything also works, slower, when it is lost. */
  onHint(listener: (hint: Hint) => void): void;
  close(): Promise<void>;
}

/**
 * ASSETS: what to scan changed. SCANS: a look at a table is asked for. GROUPS: evaluations are due. COMMANDS: runs to launch. TASKS: attempts to dispatch or kill. DEADLINES: the next end of a wait or of an attempt's time may be sooner. CHANGED_…: what
 * people look at is not what it was: states of assets, trees of groups, runs and their tasks; CHANGED: any of these, or what is declared.
 */
export type Hint =
  | 'ASSETS'
  | 'SCANS'
  | 'GROUPS'
  | 'COMMANDS'
  | 'TASKS'
  | 'DEADLINES'
  | 'CHANGED'
  | 'CHANGED_ASSETS'
  | 'CHANGED_GROUPS'
  | 'CHANGED_RUNS';

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

export interface PageRequest {
  readonly limit?: number;
  readonly cursor?: string | null;
}

export interface DefinitionStore {
  /**
   * Creates or updates what is declared, all or nothing; a workflow that did not change gets no new version. Fixes the baseline of each
   * new group member (semantics.md, 3) and keeps what groups of the same name (or renamedFrom) consumed. dryRun writes nothing.
   * Throws SluiceError BAD_FILE, WORKFLOW_CYCLE, GROUP_NEVER_WAITS, UNKNOWN_ASSET (strict only; otherwise a warning), CONFLICT where a
   * workflow is not at the version expected of it.
   */
  apply(declaration: ProjectDeclaration, options: ApplyOptions): Promise<ApplyPlan>;
  projects(): Promise<readonly { readonly code: number; readonly name: string }[]>;
  /** By name or code; project null: the only one that has it. Throws NOT_FOUND. */
  workflow(project: string | null, nameOrCode: string): Promise<WorkflowDefinition>;
  workflows(project: string | null): Promise<readonly WorkflowDefinition[]>;
  /** Newest first. Throws NOT_FOUND. */
  versions(code: number, page: PageRequest): Promise<Page<WorkflowVersion>>;
  /** The workflow as one of its versions had it. Throws NOT_FOUND. */
  version(code: number, version: number): Promise<WorkflowDefinition>;
  /** Offline, its groups do not fire; what arrives is kept, and `how` (CATCH_UP if not given) says what becomes of it online. Throws NOT_FOUND. */
  release(code: number, state: WorkflowDefinition['releaseState'], how?: Resume): Promise<WorkflowDefinition>;
  /** The workflow, its groups and what they consumed go; its runs stay. Throws NOT_FOUND, CONFLICT while it is online or a run is unfinished. */
  remove(code: number): Promise<void>;
}

export interface ApplyOptions {
  readonly dryRun: boolean;
  readonly strict: boolean;
  /** By workflow name: the version on which the declaration is built, 0 for one that must not be there yet. */
  readonly expect?: ReadonlyMap<string, number>;
}

export interface WorkflowVersion {
  readonly version: number;
  readonly description: string;
  readonly createTime: EpochMs;
}

/** An asset that can be scanned, and where to go on. */
export interface ScanTarget {
  readonly asset: Asset;
  readonly cursor: Cursor | null;
  /** Must come back with recordPoll: another scan that recorded in between makes it STALE. */
  readonly revision: number;
  /** Failed polls in a row. */
  readonly failures: number;
  /** Something waits for a scan, even one that finds nothing. */
  readonly wantsIdle: boolean;
  /** How often a look was asked for so far: each asking wants a scan that begins after it. */
  readonly asks: number;
}

export interface RecordReceipt {
  readonly kind: 'RECORDED' | 'STALE';
  readonly target: ScanTarget;
  /** New events, for the log and for people who watch. */
  readonly events: readonly RecordedEvent[];
}

export interface StatedReceipt {
  readonly status: 'ACCEPTED' | 'DUPLICATE' | 'REJECTED';
  readonly problem: Problem | null;
  readonly event: RecordedEvent | null;
}

/** An event as lists show it. */
export interface ListedEvent extends RecordedEvent {
  readonly id: number;
  /** How often it was told once more. */
  readonly duplicates: number;
}

/** An asset as lists show it. */
export type ListedAsset = Pick<AssetDetails, 'code' | 'asset' | 'state' | 'lastScanAt'>;

export interface AssetDetails {
  /** A number below 2^53, given once; an asset that is registered again gets another. */
  readonly code: number;
  readonly asset: Asset;
  readonly state: AssetState;
  readonly project: string;
  readonly lastScanAt: EpochMs | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly schemas: readonly SchemaRecord[];
  readonly verdicts: readonly Verdict[];
  /** Groups that name the asset: of the workflow, or of one of its tasks. */
  readonly consumers: readonly { readonly workflow: string; readonly group: string; readonly task?: string }[];
}

export interface VersionRow extends Version {
  readonly tags: readonly string[];
  readonly quality: 'UNKNOWN' | 'PASSED' | 'FAILED';
}

export interface AssetStore {
  /** All assets that have a location, to be scanned; with `keys` only those, with WANTED only those that wait for a scan. */
  scanTargets(keys?: readonly AssetKey[] | 'WANTED'): Promise<readonly ScanTarget[]>;
  /**
   * Events, versions, state, tags, schemas, verdicts, the cursor and the queue of groups to evaluate, in one transaction. If we die in it nothing
   * is recorded and the next scan finds the same again; if after it, the queue brings the evaluation.
   */
  recordPoll(key: AssetKey, revision: number, poll: Poll, times: PollTimes): Promise<RecordReceipt>;
  /** Polls that found nothing: only when they were. */
  recordIdle(polls: readonly { readonly key: AssetKey; readonly at: EpochMs }[]): Promise<void>;
  /** Statements in order, each on its own feet: a bad one loses no other. */
  recordStated(events: readonly StatedEvent[]): Promise<readonly StatedReceipt[]>;
  list(project: string | null): Promise<readonly ListedAsset[]>;
  /** The asset with this code. Throws UNKNOWN_ASSET. */
  keyOf(code: number): Promise<AssetKey>;
  /** Throws UNKNOWN_ASSET. */
  get(key: AssetKey): Promise<AssetDetails>;
  versions(key: AssetKey, page: PageRequest): Promise<Page<VersionRow>>;
  /** Lets a held asset go on, and has its groups evaluated. Throws UNKNOWN_ASSET, CONFLICT if it is not held. */
  release(key: AssetKey): Promise<AssetState>;
  /** Forgets the asset and all that is known of it. Throws UNKNOWN_ASSET, CONFLICT while a group waits for it. */
  remove(key: AssetKey): Promise<void>;
  /** The name of the project that owns each key; keys that nobody has registered are left out. */
  owners(keys: readonly AssetKey[]): Promise<ReadonlyMap<AssetKey, string>>;
  events(
    filter: { readonly project?: string; readonly key?: AssetKey; readonly eventType?: string },
    page: PageRequest,
  ): Promise<Page<ListedEvent>>;
}

/** What one evaluation decided; `fired` names the run that it made. */
export interface EvaluationReport {
  readonly workflow: string;
  readonly workflowCode: number;
  readonly group: string;
  readonly ready: boolean;
  readonly leaves: readonly Leaf[];
  readonly changed: boolean;
  readonly fired: { readonly runId: number; readonly triggerKey: string; readonly pins: Pins } | null;
  /** It was ready, but its trigger key had fired before. */
  readonly suppressed?: boolean;
  /** Set: the group is that of an attempt of this task, which waits. */
  readonly task: string | null;
  /** The attempt that it released. */
  readonly released: {
    readonly taskRunId: number;
    readonly runId: number;
    readonly triggerKey: string;
    readonly pins: Pins;
  } | null;
}

export interface GroupExplanation {
  readonly group: string;
  readonly paused: boolean;
  readonly ready: boolean;
  readonly leaves: readonly Leaf[];
  readonly conditions: readonly Condition[];
  readonly consumed: ReadonlyMap<AssetKey, VersionRef | null>;
  readonly lastFire: {
    readonly runId: number;
    readonly at: EpochMs;
    readonly triggerKey: string;
    readonly pins: Pins;
    readonly leaves: readonly Leaf[];
  } | null;
}

/** Why a workflow's groups have or have not fired, and what was told that changed nothing. */
export interface WorkflowExplanation {
  readonly groups: readonly GroupExplanation[];
  /** Fires whose trigger key came up once more and was not fired again, newest first, at most 10. */
  readonly suppressed: readonly TriggerRecord[];
  /** Events of the groups' assets that came too late, or that their table never showed, newest first, at most 10. */
  readonly ignored: readonly ListedEvent[];
}

/** An attempt that waits, and each of its groups as it is now. */
export interface WaitingAttempt {
  readonly runId: number;
  readonly taskRunId: number;
  readonly attempt: number;
  readonly since: EpochMs;
  /** When its time is up; null: never, or it was warned of already. */
  readonly deadline: EpochMs | null;
  readonly groups: readonly GroupExplanation[];
}

/** Why a task that waits has not gone on, in each run in which it waits, and why it last did. */
export interface TaskExplanation {
  readonly task: string;
  /** What it is declared to wait for; null: it starts as soon as the tasks before it have succeeded. */
  readonly wait: TaskWait | null;
  /** Newest first, at most 20; their number is `waitingCount`. */
  readonly waiting: readonly WaitingAttempt[];
  readonly waitingCount: number;
  readonly lastRelease: (NonNullable<GroupExplanation['lastFire']> & { readonly group: string }) | null;
}

/** What becomes of what arrived while a group could not fire. CATCH_UP: one run for all of it; SKIP: it counts as consumed. */
export type Resume = 'CATCH_UP' | 'SKIP';

export interface GroupStore {
  /**
   * Takes due groups from the queue and decides each in a transaction of its own: leaves, or trigger history + consumed versions + command + run
   * together. Dying before the commit leaves the group queued; a trigger key that exists fires nothing and is reported as not fired.
   */
  evaluateDue(limit: number): Promise<readonly EvaluationReport[]>;
  /** When the next queued evaluation is due; null: none. */
  nextDueAt(): Promise<EpochMs | null>;
  /** The tree of each group as it is now, without side effects. Throws NOT_FOUND. */
  explain(workflowCode: number): Promise<WorkflowExplanation>;
  /** The same of a waiting task. Throws NOT_FOUND. */
  explainTask(workflowCode: number, task: string): Promise<TaskExplanation>;
  /** The group fires no more until it is resumed; what arrives is kept. Throws NOT_FOUND. */
  pause(workflowCode: number, group: string): Promise<GroupExplanation>;
  /** Throws NOT_FOUND, CONFLICT where it is not paused. */
  resume(workflowCode: number, group: string, how: Resume): Promise<GroupExplanation>;
  triggerHistory(
    filter: { readonly project?: string; readonly workflowCode?: number; readonly runId?: number },
    page: PageRequest,
  ): Promise<Page<TriggerRecord>>;
}

export interface TriggerRecord {
  readonly id: number;
  readonly triggerKey: string;
  readonly workflowCode: number;
  readonly workflow: string;
  /** Set: it released this attempt of a waiting task. */
  readonly task: { readonly code: number; readonly taskRunId: number } | null;
  readonly group: string;
  readonly runId: number | null;
  readonly status: 'TRIGGERING' | 'SUCCESS' | 'FAILED' | 'SKIPPED';
  readonly pins: Pins;
  /** The tree that let it fire. */
  readonly leaves: readonly Leaf[];
  readonly createTime: EpochMs;
  /** How often the same key came up again without firing, and when last. */
  readonly suppressed: { readonly count: number; readonly at: EpochMs } | null;
}

/** A manual start. Pins that are not given are the newest versions that meet the per-version predicates of the workflow's groups and inputs. */
export interface StartRequest {
  readonly workflowCode: number;
  readonly params: Readonly<Record<string, string>>;
  readonly pins: ReadonlyMap<AssetKey, { readonly snapshotId: string } | { readonly tag: string }>;
  readonly consume: boolean;
  /** Names of tasks to start from; empty: all. */
  readonly startTasks: readonly string[];
  readonly taskDependType: TaskDependType;
  readonly idempotencyKey: string | null;
}

/** What is known of a pinned version when a task starts (semantics.md, 6). */
export interface PinFacts {
  readonly assetKey: AssetKey;
  readonly alias: string;
  readonly pin: Pin;
  readonly version: Version | null;
  readonly location: string | null;
  readonly previousSnapshotId: string | null;
  readonly incremental: boolean;
  readonly incrementalReason: string | null;
}

/** An attempt handed out: everything needed to start it. */
export interface TaskOffer {
  readonly run: WorkflowRun;
  readonly workflow: WorkflowDefinition;
  readonly task: TaskDefinition;
  readonly taskRun: TaskRun;
  readonly pins: readonly PinFacts[];
  /** What the tasks before it gave out; of two values of one name that of the task that ended later. */
  readonly upstream: readonly Parameter[];
}

export interface TaskEnding {
  readonly state: 'SUCCESS' | 'FAILURE' | 'KILL';
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly endedAt: EpochMs;
  /** What a SUCCESS gives to the tasks behind it; absent: nothing. */
  readonly outputs?: readonly Parameter[];
}

export interface RunDetails {
  readonly run: WorkflowRun;
  readonly workflow: string;
  readonly project: string;
  /** Newest attempt of each task in topological order; `history` all attempts. */
  readonly tasks: readonly TaskRun[];
  readonly history: readonly TaskRun[];
  /** By task run: the groups of attempts that wait, as they were evaluated last. Empty in lists. */
  readonly waiting: ReadonlyMap<number, readonly WaitingGroup[]>;
}

/** A wait whose time was up, and what became of the attempt. */
export interface TimedOutWait {
  readonly workflow: string;
  readonly task: string;
  readonly runId: number;
  readonly taskRunId: number;
  /** RELEASED: a group had become ready in the meantime. */
  readonly outcome: 'FAIL' | 'SUCCEED' | 'WARN' | 'RELEASED';
  readonly reason: string | null;
}

export interface RunStore {
  /** The run and its command in one transaction; the same idempotency key gives the same run. Throws BAD_PIN, NOT_FOUND, CONFLICT (offline). */
  start(request: StartRequest): Promise<{ readonly runId: number; readonly duplicate: boolean }>;
  /** Takes commands in order of priority and id: the command goes, the run is RUNNING and its first tasks are submitted, together. */
  launch(limit: number): Promise<readonly WorkflowRun[]>;
  /** Hands out submitted attempts that are due: DISPATCH and a new fence. Dying after it: `unfinished` brings them back. */
  dispatch(limit: number): Promise<readonly TaskOffer[]>;
  /** When the next submitted attempt is due (retry interval); null: none waits. */
  nextDispatchAt(): Promise<EpochMs | null>;
  /** DISPATCH -> RUNNING by compare-and-set on the fence; false: it is no longer this attempt's turn (kill what was started). */
  taskStarted(taskRunId: number, fence: number, at: EpochMs, host: string, pid: number | null): Promise<boolean>;
  /** Ends the attempt by compare-and-set on the fence and plans what follows (next tasks, retry, end of run) in the same transaction. */
  taskEnded(taskRunId: number, fence: number, ending: TaskEnding): Promise<boolean>;
  /** Attempts that are DISPATCH or RUNNING, with their offers: asked for after a restart, and by the reconciler. */
  unfinished(): Promise<readonly TaskOffer[]>;
  /** Attempts to kill: of runs being stopped, and those over their deadline (`timedOut`). */
  killable(): Promise<readonly { readonly taskRun: TaskRun; readonly timedOut: boolean }[]>;
  /** When the next running attempt is over its deadline; null: none has one. */
  nextDeadlineAt(): Promise<EpochMs | null>;
  /**
   * Attempts whose wait is over, each in a transaction of its own: looked at once more, and released if a group is ready; else they fail and
   * the plan goes on, go on without pins, or are said to be late, once.
   */
  expireWaits(limit: number): Promise<readonly TimedOutWait[]>;
  /** When the next wait is over; null: none ever is. */
  nextWaitDeadlineAt(): Promise<EpochMs | null>;
  /** What a person asked for. Throws NOT_FOUND, CONFLICT (says in which states it is allowed). repin: new pins for rerun and recover. */
  operate(runId: number, operation: RunOperation, options: { readonly repin: boolean }): Promise<WorkflowRun>;
  /** Plans unfinished runs again, for a start after a crash; harmless at any time. */
  advanceAll(): Promise<void>;
  get(runId: number): Promise<RunDetails>;
  /** The run that a task instance (any attempt) belongs to. Throws NOT_FOUND. */
  ofTask(taskRunId: number): Promise<RunDetails>;
  list(
    filter: { readonly project?: string; readonly workflowCode?: number; readonly state?: string },
    page: PageRequest,
  ): Promise<Page<RunDetails>>;
}

/** What was answered under which key: for a day, and across restarts. */
export interface IdempotencyStore {
  /**
   * Before a request is carried out. NEW: the key was free and is this request's now; SAME: the request was made before, with its answer if it
   * was given; OTHER: the key stands for another request. Dying after it: the same request is SAME without an answer, and may be carried out.
   */
  claim(
    key: string,
    request: string,
  ): Promise<{
    readonly kind: 'NEW' | 'SAME' | 'OTHER';
    readonly answer: { readonly status: number; readonly body: string } | null;
  }>;
  /** What is answered to the same request from now on. */
  keep(key: string, answer: { readonly status: number; readonly body: string }): Promise<void>;
  /** The request was refused: the key is as if it had never been sent. A key with an answer stays. */
  free(key: string): Promise<void>;
}

/** What a scrape of the metrics shows. */
export interface Sample {
  readonly now: EpochMs;
  readonly assets: readonly {
    readonly key: AssetKey;
    /** Of the newest version; null: there is none. */
    readonly commitTime: EpochMs | null;
    readonly watermark: EpochMs | null;
  }[];
  /** Groups whose evaluation is due, runs to launch, attempts that an executor has, attempts to hand out. */
  readonly evaluations: number;
  readonly commands: number;
  readonly running: number;
  readonly submitted: number;
  /** Attempts that wait for tables. */
  readonly waiting: number;
  /** Since when the evaluation that has been due longest is; null: none is due. */
  readonly evaluationDueAt: EpochMs | null;
  /** When the server that owns the work took it; null: none ever did. */
  readonly claimedAt: EpochMs | null;
  /** What holds groups of workflows up, of each unmet leaf one; of at most 10,000 groups. */
  readonly blocked: readonly {
    readonly workflowCode: number;
    readonly assetKey: AssetKey | null;
    readonly code: BlockCode;
  }[];
}

export interface AdminStore {
  schemaVersion(): Promise<{ readonly current: number; readonly newest: number }>;
  migrate(): Promise<readonly string[]>;
  /**
   * Before a server works on a database that others can reach: throws DATA_IN_USE, naming the server that has it, and holds it until this store
   * is closed or its process ends. Where the database is a file it does nothing: the data folder is locked.
   */
  takePresence(): Promise<void>;
  /** Becomes the owner: a new generation, checked by every transaction that a master makes. An older owner's transactions fail from then on. */
  claimOwnership(owner: string): Promise<number>;
  now(): Promise<EpochMs>;
  sample(): Promise<Sample>;
}
