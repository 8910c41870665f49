import type { Pin, Pins, Version } from '../../../core/asset/version.ts';
import type { TaskDefinition } from '../../../core/workflow/definition.ts';
import { big, num, pinsOf } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { View } from '../../engine.ts';
import { assetOf, versionOf } from '../assets/rows.ts';
import { cutBegin, nextCut } from '../assets/cut-rows.ts';
import { definitionAt } from '../workflows/definitions.ts';

/** The waiting attempt that a group releases. */
export interface TaskOwner {
  readonly taskRunId: bigint;
  readonly runId: bigint;
  readonly task: TaskDefinition;
  /** The run's own pins: such an asset is tested at its pin alone. */
  readonly pins: Pins;
}

export const taskOwner = async (view: View, taskRunId: bigint): Promise<TaskOwner> => {
  const row = await view.db
    .selectFrom('t_ds_task_instance as attempt')
    .innerJoin('t_ds_workflow_instance as run', 'run.id', 'attempt.workflow_instance_id')
    .select([
      'attempt.task_code',
      'run.id as run_id',
      'run.pins_json as run_pins',
      'run.workflow_definition_code as code',
      'run.workflow_definition_version as version',
    ])
    .where('attempt.id', '=', taskRunId)
    .executeTakeFirstOrThrow();
  const workflow = await definitionAt(view, row.code, row.version);
  const task = workflow.tasks.find(({ code }) => code === num(row.task_code));
  if (task === undefined) throw new Error(`Attempt ${taskRunId} waits in a task that its workflow does not have.`);
  return { taskRunId, runId: row.run_id, task, pins: pinsOf(row.run_pins) };
};

/** Versions before the pin's cut that are looked at too: they carry the watermark on. */
const BEFORE = 100;
const MOST = 1_000;

/** What is known of the pinned version: its whole cut, and a few versions before it, oldest first. */
export const pinnedVersions = async (view: View, asset: Row<'t_ds_asset'>, pin: Pin): Promise<readonly Version[]> => {
  const policy = assetOf(asset);
  const begin = await cutBegin(view, asset.id, policy, pin.ordinal);
  const end = await nextCut(view, asset.id, policy, pin.ordinal);
  const query = view.db
    .selectFrom('t_ds_asset_version')
    .selectAll()
    .where('asset_id', '=', asset.id)
    .where('status', '!=', 'WITHDRAWN')
    .where('ordinal', '>=', big(Math.max(0, begin - BEFORE)));
  const rows = await (end === null ? query : query.where('ordinal', '<', big(end)))
    .orderBy('ordinal')
    .limit(MOST)
    .execute();
  return rows.map((row) => versionOf(row, policy.key));
};
