import type { Condition, Leaf } from '../../core/asset/condition.ts';
import type { AssetKey } from '../../core/asset/key.ts';
import type { Pins, VersionRef } from '../../core/asset/version.ts';
import type { EpochMs } from '../../core/time.ts';
import type { TaskWait } from '../../core/workflow/definition.ts';
import type { ListedEvent } from './assets.ts';
import type { TriggerRecord } from './triggers.ts';

/** Why a workflow's groups have or have not fired, and what was told that changed nothing. */
export interface WorkflowExplanation {
  readonly groups: readonly GroupExplanation[];
  /** Fires whose trigger key came up once more and was not fired again, newest first, at most 10. */
  readonly suppressed: readonly TriggerRecord[];
  /** Events of the groups' assets that came too late, or that their table never showed, newest first, at most 10. */
  readonly ignored: readonly ListedEvent[];
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
