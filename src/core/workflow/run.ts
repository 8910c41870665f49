import type { Pins } from '../asset/version.ts';
import type { EpochMs } from '../time.ts';
import type { Parameter } from './definition.ts';
import type { RunState } from './run-state.ts';
import type { TaskState } from './task-state.ts';

/** How a run came to be; codes are DolphinScheduler's where it has one (facts/dolphinscheduler.md 2.1). */
export type CommandType =
  | 'START_PROCESS'
  | 'ASSET_EVENT_TRIGGER'
  | 'START_FAILURE_TASK_PROCESS'
  | 'RECOVER_SUSPENDED_PROCESS'
  | 'REPEAT_RUNNING';

/** Which part of the graph a run covers, seen from its start tasks. */
export type TaskDependType = 'TASK_POST' | 'TASK_PRE' | 'TASK_ONLY';

/** One workflow run (t_ds_workflow_instance). */
export interface WorkflowRun {
  readonly id: number;
  readonly workflowCode: number;
  readonly workflowVersion: number;
  readonly state: RunState;
  readonly commandType: CommandType;
  /** Task codes to start from; empty: all. */
  readonly startTasks: readonly number[];
  readonly taskDependType: TaskDependType;
  readonly failureStrategy: 'CONTINUE' | 'END';
  readonly params: Readonly<Record<string, string>>;
  readonly pins: Pins;
  readonly triggerGroup: string | null;
  readonly triggerKey: string | null;
  readonly scheduleTime: EpochMs | null;
  readonly startTime: EpochMs;
  readonly endTime: EpochMs | null;
  /** 1, then +1 with each rerun, recover or resume. */
  readonly runTimes: number;
}

/** One attempt of a task in a run (t_ds_task_instance). Only the newest attempt of a task is `valid`. */
export interface TaskRun {
  readonly id: number;
  readonly runId: number;
  readonly taskCode: number;
  readonly name: string;
  readonly type: string;
  readonly state: TaskState;
  /** 1, 2, 3 … over the run's life, reruns included. */
  readonly attempt: number;
  /** Attempts made since the task was last started by the plan or a person: what failRetryTimes counts. */
  readonly retryTimes: number;
  readonly valid: boolean;
  /** SUBMITTED_SUCCESS, and not to be handed out before one of the task's groups is ready or its time is up. */
  readonly waiting: boolean;
  /** What released it from waiting; empty: nothing did. The run's pins are its too, and win over these. */
  readonly pins: Pins;
  /** Rises whenever the attempt is handed out; an answer with a lower fence changes nothing. */
  readonly fence: number;
  /** Not before this instant (retry interval); null: at once. */
  readonly notBefore: EpochMs | null;
  readonly submitTime: EpochMs;
  readonly startTime: EpochMs | null;
  readonly endTime: EpochMs | null;
  /** When an attempt that waits or runs is over its limit. */
  readonly deadline: EpochMs | null;
  readonly exitCode: number | null;
  /** What it gave to the tasks behind it; only an attempt that succeeded gives anything. */
  readonly outputs: readonly Parameter[];
  /** Why it ended as it did, for people; null on plain success. */
  readonly reason: string | null;
}
