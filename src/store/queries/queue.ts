import type { EpochMs } from '../../core/time.ts';
import type { Tx } from '../engine.ts';

/** Queues groups for evaluation at `due`, or earlier where they are queued for earlier already. */
export const enqueue = async (tx: Tx, groupIds: readonly bigint[], due: EpochMs): Promise<void> => {
  if (groupIds.length === 0) return;
  await enqueueQuietly(tx, groupIds, due);
  tx.hint('GROUPS');
};

/** The same without a hint: for an evaluation that nobody waits for. It is found when the resolver looks next. */
export const enqueueQuietly = async (tx: Tx, groupIds: readonly bigint[], due: EpochMs): Promise<void> => {
  const rows = groupIds.map((id) => ({ group_id: id, due_time: due }));
  const fresh = await tx.dialect.insertIgnore(tx.db, 't_ds_asset_evaluation_queue', rows);
  if (fresh < rows.length)
    await tx.db
      .updateTable('t_ds_asset_evaluation_queue')
      .set({ due_time: due })
      .where('group_id', 'in', groupIds)
      .where('due_time', '>', due)
      .execute();
};

/** Queues every group that names the asset. */
export const enqueueAsset = async (tx: Tx, assetHash: string): Promise<void> => {
  const rows = await tx.db
    .selectFrom('t_ds_asset_dependency')
    .select('group_id')
    .where('asset_hash', '=', assetHash)
    .orderBy('group_id')
    .execute();
  await enqueue(
    tx,
    rows.map((row) => row.group_id),
    tx.now,
  );
};

/** Queues every group of a workflow: its release state changed, or a run of it ended. */
export const enqueueWorkflow = async (tx: Tx, workflowCode: bigint): Promise<void> => {
  const rows = await tx.db
    .selectFrom('t_ds_asset_dependency_group')
    .select('id')
    .where('workflow_definition_code', '=', workflowCode)
    .orderBy('id')
    .execute();
  await enqueue(
    tx,
    rows.map((row) => row.id),
    tx.now,
  );
};
