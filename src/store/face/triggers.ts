import type { Leaf } from '../../core/asset/condition.ts';
import type { Pins } from '../../core/asset/version.ts';
import type { EpochMs } from '../../core/time.ts';

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
