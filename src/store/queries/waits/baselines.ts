import type { AssetKey } from '../../../core/asset/key.ts';
import type { Condition } from '../../../core/asset/condition.ts';
import type { VersionRef } from '../../../core/asset/version.ts';
import type { EpochMs } from '../../../core/time.ts';
import type { TaskWait, WorkflowDefinition } from '../../../core/workflow/definition.ts';
import type { TaskRun } from '../../../core/workflow/run.ts';
import { isTaskSuccess } from '../../../core/workflow/task-state.ts';
import { baselineOf, runStartAssets } from '../../../core/workflow/task-wait.ts';
import { big, num, parse, text } from '../../codecs.ts';
import type { Tx, View } from '../../engine.ts';
import { findAssetRow, wasRead } from '../assets/load.ts';
import { atOrdinal, beforeTime, type Consumed, NOTHING, newestRecorded, UNDECIDED } from '../groups/baselines.ts';
import type { RunRow } from '../runs/rows.ts';

/** Asset → its last ordinal when the run began, 0 before its first version; an asset that had not been read then is left out. */
type Ordinals = Readonly<Record<AssetKey, number>>;

/** How far the assets are that tasks with the baseline RUN_START ask for; null: none does. */
export const beginOrdinals = async (view: View, workflow: WorkflowDefinition): Promise<string | null> => {
  const keys = runStartAssets(workflow);
  if (keys.length === 0) return null;
  const ordinals: Record<AssetKey, number> = {};
  for (const key of keys) {
    const asset = await findAssetRow(view, key);
    if (asset !== undefined && (await wasRead(view, asset)))
      ordinals[key] = (await newestRecorded(view, asset.id)).ref?.ordinal ?? 0;
  }
  return text(ordinals);
};

/** Where one condition of a waiting attempt begins. `since`: what a first read of the table decides by, while `consumed` is not known. */
export interface Beginning {
  readonly consumed: Consumed;
  readonly since: EpochMs;
}

export const beginningOf = async (
  view: View,
  run: RunRow,
  taskCode: number,
  wait: TaskWait,
  condition: Condition,
): Promise<Beginning> => {
  // What the run has pinned is tested at its pin, whatever was consumed.
  const pinned = parse<Record<AssetKey, unknown>>(run.pins_json)[condition.assetKey] !== undefined;
  switch (pinned ? 'NONE' : baselineOf(wait, condition)) {
    case 'NONE':
      return { consumed: NOTHING, since: view.now };
    case 'LAST_SUCCESS':
      return { consumed: await consumedBefore(view, taskCode, condition.assetKey), since: view.now };
    case 'RUN_START':
      return { consumed: await sinceRunStart(view, run, condition.assetKey), since: run.start_time };
  }
};

/** What a task consumed of these assets in the newest runs that succeeded; a text: why nothing is known. */
export const consumedByTask = async (
  view: View,
  taskCode: number,
  keys: readonly AssetKey[],
): Promise<ReadonlyMap<AssetKey, VersionRef> | string> => {
  const known = new Map<AssetKey, VersionRef>();
  for (const key of keys) {
    const { ref } = await consumedBefore(view, taskCode, key);
    if (ref !== null) known.set(key, ref);
  }
  return known.size === 0 ? 'no earlier run in which this task read the table has succeeded' : known;
};

const consumedBefore = async (view: View, taskCode: number, key: AssetKey): Promise<Consumed> => {
  const row = await view.db
    .selectFrom('t_ds_task_dependency_consumed')
    .selectAll()
    .where('task_definition_code', '=', big(taskCode))
    .where('asset_hash', '=', view.sha256(key))
    .executeTakeFirst();
  if (row === undefined) return NOTHING;
  const ref = { epoch: num(row.epoch), ordinal: num(row.ordinal), snapshotId: row.snapshot_id };
  return { ref, schemaId: row.schema_id, known: true };
};

/** A table that was first read after the run began: what was committed since counts as new, as for a group (semantics.md, 3). */
const sinceRunStart = async (view: View, run: RunRow, key: AssetKey): Promise<Consumed> => {
  const asset = await findAssetRow(view, key);
  if (asset === undefined) return UNDECIDED;
  const ordinal = parse<Ordinals>(run.begin_ordinals_json ?? '{}')[key];
  if (ordinal !== undefined) return atOrdinal(view, asset.id, ordinal);
  return (await wasRead(view, asset)) ? beforeTime(view, asset.id, run.start_time) : UNDECIDED;
};

/** The run succeeded: what released its tasks is consumed. None goes back, so that a rerun of an old run brings nothing up again. */
export const noteConsumed = async (tx: Tx, run: RunRow, tasks: readonly TaskRun[]): Promise<void> => {
  for (const task of tasks) {
    if (!isTaskSuccess(task.state)) continue;
    for (const [key, pin] of task.pins) {
      const asset = await findAssetRow(tx, key);
      if (asset === undefined) continue;
      const { schemaId } = await atOrdinal(tx, asset.id, pin.ordinal);
      await raise(tx, {
        task_definition_code: big(task.taskCode),
        asset_hash: asset.asset_hash,
        asset_key: key,
        epoch: big(pin.epoch),
        ordinal: big(pin.ordinal),
        snapshot_id: pin.snapshotId,
        schema_id: schemaId,
        workflow_instance_id: run.id,
        update_time: tx.now,
      });
    }
  }
};

interface ConsumedRow {
  readonly task_definition_code: bigint;
  readonly asset_hash: string;
  readonly asset_key: AssetKey;
  readonly epoch: bigint;
  readonly ordinal: bigint;
  readonly snapshot_id: string;
  readonly schema_id: string | null;
  readonly workflow_instance_id: bigint;
  readonly update_time: bigint;
}

const raise = async (tx: Tx, row: ConsumedRow): Promise<void> => {
  if ((await tx.dialect.insertIgnore(tx.db, 't_ds_task_dependency_consumed', [row])) > 0) return;
  const { task_definition_code: task, asset_hash: asset, ...values } = row;
  await tx.db
    .updateTable('t_ds_task_dependency_consumed')
    .set(values)
    .where('task_definition_code', '=', task)
    .where('asset_hash', '=', asset)
    .where('ordinal', '<', row.ordinal)
    .execute();
};
