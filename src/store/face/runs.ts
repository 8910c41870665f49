import type { AssetKey } from '../../core/asset/key.ts';
import type { Pin, Version } from '../../core/asset/version.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Parameter, TaskDefinition, WorkflowDefinition } from '../../core/workflow/definition.ts';
import type { RunOperation } from '../../core/workflow/plan.ts';
import type { TaskDependType, TaskRun, WorkflowRun } from '../../core/workflow/run.ts';
import type { WaitingGroup } from '../../core/workflow/task-wait.ts';
import type { Page, PageRequest } from './common.ts';

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
   * Ends the waits whose time is up, each in a transaction of its own. The groups are evaluated once more: if one is ready it releases the
   * attempt. Otherwise the task's `onTimeout` decides: the attempt fails, goes on without pins, or is reported as late, once, and waits on.
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

export interface TaskEnding {
  readonly state: 'SUCCESS' | 'FAILURE' | 'KILL';
  readonly exitCode: number | null;
  readonly reason: string | null;
  readonly endedAt: EpochMs;
  /** What a SUCCESS gives to the tasks behind it; absent: nothing. */
  readonly outputs?: readonly Parameter[];
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
