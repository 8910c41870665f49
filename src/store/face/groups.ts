import type { Leaf } from '../../core/asset/condition.ts';
import type { Pins } from '../../core/asset/version.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Page, PageRequest } from './common.ts';
import type { Resume } from './definitions.ts';
import type { GroupExplanation, TaskExplanation, WorkflowExplanation } from './explanations.ts';
import type { TriggerRecord } from './triggers.ts';

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
