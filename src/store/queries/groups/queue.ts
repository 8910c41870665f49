import type { EpochMs } from '../../../core/time.ts';
import { insertMany } from '../../bulk.ts';
import type { Tx, View } from '../../engine.ts';
import { groupIdsOf } from './rows.ts';

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

/** Says that what decisions look at of these assets changed: every group that names one of them will be evaluated. */
export const noteChanges = async (tx: Tx, assetHashes: readonly string[]): Promise<void> => {
  if (assetHashes.length === 0) return;
  const rows = assetHashes.map((hash) => ({ asset_hash: hash, change_time: tx.now }));
  await insertMany(tx, 't_ds_asset_change', rows);
  tx.hint('GROUPS');
};

/**
 * Changes read at once; pages and assets turned into groups at once, which bound memory, statement and how long the master does nothing else.
 * The rest is found by the next look, at once.
 */
const PAGE = 10_000;
const MOST_PAGES = 10;
const MOST_ASSETS = 50_000;

/**
 * Turns changes into queued groups; were there any? Only the resolver does, and each change is seen once it is committed: a group that it queues
 * is decided by a later statement, which sees what was recorded with the change. As many are taken as there are, up to a bound: the more of them
 * come together, the fewer groups are decided twice.
 */
export const queueChanged = async (tx: Tx): Promise<boolean> => {
  const hashes = new Set<string>();
  let oldest: EpochMs | null = null;
  for (let page = 0, full = true; full && page < MOST_PAGES && hashes.size < MOST_ASSETS; page++) {
    const changes = await tx.db.selectFrom('t_ds_asset_change').selectAll().orderBy('id').limit(PAGE).execute();
    oldest ??= changes[0]?.change_time ?? null;
    for (const change of changes) hashes.add(change.asset_hash);
    await forget(
      tx,
      changes.map(({ id }) => id),
    );
    full = changes.length === PAGE;
  }
  // A change is due whatever time it bears: the clock may have been set back since.
  if (oldest !== null) await queueNaming(tx, [...hashes], oldest < tx.now ? oldest : tx.now);
  return oldest !== null;
};

/** When the change that has waited longest was recorded, or now, where the clock has been set back since; null: none waits. */
export const oldestChange = async (view: View): Promise<EpochMs | null> => {
  const query = view.db.selectFrom('t_ds_asset_change').select('change_time').orderBy('id').limit(1);
  const at = (await query.executeTakeFirst())?.change_time ?? null;
  return at !== null && at > view.now ? view.now : at;
};

/** These and no others: one with a lower id may be committed only now. */
const forget = async (tx: Tx, ids: readonly bigint[]): Promise<void> => {
  if (ids.length > 0) await tx.db.deleteFrom('t_ds_asset_change').where(tx.dialect.among('id', ids)).execute();
};

/** Queues every group that names one of the assets, by one statement, however many they are. */
const queueNaming = async (tx: Tx, assetHashes: readonly string[], due: EpochMs): Promise<void> => {
  const groups = tx.db
    .selectFrom('t_ds_asset_dependency')
    .select((e) => ['group_id', e.cast<bigint>(e.val(due), 'bigint').as('due_time')])
    .distinct()
    .where(tx.dialect.among('asset_hash', assetHashes))
    .orderBy('group_id');
  await tx.db
    .insertInto('t_ds_asset_evaluation_queue')
    .columns(['group_id', 'due_time'])
    .expression(groups)
    .onConflict((conflict) =>
      conflict
        .column('group_id')
        .doUpdateSet((e) => ({ due_time: e.ref('excluded.due_time') }))
        .whereRef('excluded.due_time', '<', 't_ds_asset_evaluation_queue.due_time'),
    )
    .execute();
};

/** Queues every group of a workflow: its release state changed, or a run of it ended. */
export const enqueueWorkflow = async (tx: Tx, workflowCode: bigint): Promise<void> =>
  enqueue(tx, await groupIdsOf(tx, workflowCode), tx.now);
