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
  const ids = [...new Set(groupIds)].sort((a, b) => (a < b ? -1 : 1)); // in one order, so that no two wait for each other
  const rows = ids.map((id) => ({ group_id: id, due_time: due }));
  await tx.dialect.insertOrLower(tx.db, 't_ds_asset_evaluation_queue', rows, 'group_id', 'due_time');
};

/** Queues every group that names the asset. */
export const enqueueAsset = (tx: Tx, assetHash: string): Promise<void> => enqueueAssets(tx, [assetHash]);

/** Queues every group that names one of the assets, by one statement, however many they are. */
export const enqueueAssets = async (tx: Tx, assetHashes: readonly string[]): Promise<void> => {
  if (assetHashes.length === 0) return;
  const groups = tx.db
    .selectFrom('t_ds_asset_dependency')
    .select((e) => ['group_id', e.cast<bigint>(e.val(tx.now), 'bigint').as('due_time')])
    .distinct()
    .where(tx.dialect.among('asset_hash', assetHashes))
    .orderBy('group_id');
  const queued = await tx.db
    .insertInto('t_ds_asset_evaluation_queue')
    .columns(['group_id', 'due_time'])
    .expression(groups)
    .onConflict((conflict) =>
      conflict
        .column('group_id')
        .doUpdateSet((e) => ({ due_time: e.ref('excluded.due_time') }))
        .whereRef('excluded.due_time', '<', 't_ds_asset_evaluation_queue.due_time'),
    )
    .executeTakeFirst();
  if ((queued.numInsertedOrUpdatedRows ?? 0n) > 0n) tx.hint('GROUPS');
};

/** Queues every group of a workflow: its release state changed, or a run of it ended. */
export const enqueueWorkflow = async (tx: Tx, workflowCode: bigint): Promise<void> => {
  const rows = await tx.db
    .selectFrom('t_ds_asset_dependency_group')
    .select('id')
    .where('workflow_definition_code', '=', workflowCode)
    .where('task_definition_code', '=', 0n)
    .orderBy('id')
    .execute();
  await enqueue(
    tx,
    rows.map((row) => row.id),
    tx.now,
  );
};
