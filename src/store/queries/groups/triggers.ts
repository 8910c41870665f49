import type { Leaf } from '../../../core/asset/condition.ts';
import type { Pins } from '../../../core/asset/version.ts';
import { leavesJson, pinsJson } from '../../codecs.ts';
import type { Tx } from '../../engine.ts';

/** A fire as the trigger history keeps it. */
export interface NewTrigger {
  readonly key: string;
  readonly workflowCode: bigint;
  readonly group: string;
  readonly pins: Pins;
  /** The tree that was ready. */
  readonly leaves: readonly Leaf[];
  /** The waiting attempt that it releases; null: it starts a run. */
  readonly released: { readonly runId: bigint; readonly taskCode: bigint; readonly taskRunId: bigint } | null;
}

/** Writes a fire into the trigger history. False: its key has fired before, and nothing was written. */
export const recordTrigger = async (tx: Tx, trigger: NewTrigger): Promise<boolean> => {
  const { released } = trigger;
  const row = {
    trigger_key: trigger.key,
    workflow_definition_code: trigger.workflowCode,
    workflow_instance_id: released?.runId ?? null,
    task_definition_code: released?.taskCode ?? null,
    task_instance_id: released?.taskRunId ?? null,
    dependency_group: trigger.group,
    trigger_status: 'SUCCESS',
    pins_json: pinsJson(trigger.pins),
    leaves_json: leavesJson(trigger.leaves),
    create_time: tx.now,
    update_time: tx.now,
  };
  return (await tx.dialect.insertIgnore(tx.db, 't_ds_asset_trigger_history', [row])) > 0;
};
