import { CLOCK_TOLERANCE } from '../../../core/asset/ingest/verdicts.ts';
import type { EpochMs } from '../../../core/time.ts';
import { big, bigOrNull, num } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { Tx, View } from '../../engine.ts';
import type { Consumed } from '../../facts-cache.ts';

export type { Consumed };

export const NOTHING: Consumed = { ref: null, schemaId: null, known: true };
export const UNDECIDED: Consumed = { ref: null, schemaId: null, known: false };

export const consumedOf = (row: Row<'t_ds_asset_dependency_consumed'>): Consumed => ({
  ref:
    row.epoch === null || row.ordinal === null || row.snapshot_id === null
      ? null
      : { epoch: num(row.epoch), ordinal: num(row.ordinal), snapshotId: row.snapshot_id },
  schemaId: row.schema_id,
  known: row.baseline_known === 1n,
});

const consumedColumns = (consumed: Consumed) => ({
  epoch: bigOrNull(consumed.ref?.epoch ?? null),
  ordinal: bigOrNull(consumed.ref?.ordinal ?? null),
  snapshot_id: consumed.ref?.snapshotId ?? null,
  schema_id: consumed.schemaId,
  baseline_known: consumed.known ? 1n : 0n,
});

const consumedAt = (version: Row<'t_ds_asset_version'> | undefined): Consumed =>
  version === undefined
    ? NOTHING
    : {
        ref: { epoch: num(version.epoch), ordinal: num(version.ordinal), snapshotId: version.snapshot_id },
        schemaId: version.schema_id,
        known: true,
      };

const versionsOf = (view: View, assetId: bigint) =>
  view.db
    .selectFrom('t_ds_asset_version')
    .selectAll()
    .where('asset_id', '=', assetId)
    .orderBy('ordinal', 'desc')
    .limit(1);

/** The version of this ordinal as consumed; nothing, where there is none. */
export const atOrdinal = async (view: View, assetId: bigint, ordinal: number): Promise<Consumed> =>
  consumedAt(await versionsOf(view, assetId).where('ordinal', '=', big(ordinal)).executeTakeFirst());

/** The baseline NEXT of an asset that has been read: the last recorded version. */
export const newestRecorded = async (view: View, assetId: bigint): Promise<Consumed> =>
  consumedAt(await versionsOf(view, assetId).executeTakeFirst());

/** The baseline "begin after this version"; undefined: no version of that id is recorded. */
export const afterVersion = async (view: View, assetId: bigint, snapshotId: string): Promise<Consumed | undefined> => {
  const version = await versionsOf(view, assetId).where('snapshot_id', '=', snapshotId).executeTakeFirst();
  return version === undefined ? undefined : consumedAt(version);
};

/**
 * The baseline of a member that came into force at `since`, before the table was first read: all versions up to the first one that was
 * committed after it (less the clock tolerance) count as old.
 */
export const beforeTime = async (view: View, assetId: bigint, since: EpochMs): Promise<Consumed> => {
  const first = await view.db
    .selectFrom('t_ds_asset_version')
    .select('ordinal')
    .where('asset_id', '=', assetId)
    .where('commit_time', '>=', since - CLOCK_TOLERANCE)
    .orderBy('ordinal')
    .limit(1)
    .executeTakeFirst();
  const older = versionsOf(view, assetId);
  return consumedAt(
    await (first === undefined ? older : older.where('ordinal', '<', first.ordinal)).executeTakeFirst(),
  );
};

/** Fixes the baselines that waited for the first successful read of the asset; whether there were any. */
export const fixBaselines = async (tx: Tx, asset: Row<'t_ds_asset'>): Promise<boolean> => {
  const waiting = await tx.db
    .selectFrom('t_ds_asset_dependency as dependency')
    .innerJoin('t_ds_asset_dependency_consumed as consumed', 'consumed.dependency_id', 'dependency.id')
    .selectAll('consumed')
    .select('dependency.group_id')
    .where('dependency.asset_hash', '=', asset.asset_hash)
    .where('consumed.baseline_known', '=', 0n)
    .execute();
  for (const row of waiting) {
    // A version that the table no longer lists is older than all that it lists, so everything counts as new.
    const consumed =
      row.begin_snapshot_id === null
        ? await beforeTime(tx, asset.id, row.begin_time)
        : ((await afterVersion(tx, asset.id, row.begin_snapshot_id)) ?? NOTHING);
    // Not over what a group has consumed meanwhile.
    await consumedUpdate(tx, row.dependency_id, consumed).where('baseline_known', '=', 0n).execute();
  }
  if (waiting.length > 0)
    await raiseRevisions(
      tx,
      waiting.map((row) => row.group_id),
    );
  return waiting.length > 0;
};

/** Whoever remembers the groups' members must read them again. */
export const raiseRevisions = async (tx: Tx, groupIds: readonly bigint[]): Promise<void> => {
  await tx.db
    .updateTable('t_ds_asset_dependency_group')
    .set((e) => ({ revision: e('revision', '+', 1n) }))
    .where(tx.dialect.among('id', groupIds))
    .execute();
};

const consumedUpdate = (tx: Tx, dependencyId: bigint, consumed: Consumed) =>
  tx.db
    .updateTable('t_ds_asset_dependency_consumed')
    .set({ ...consumedColumns(consumed), update_time: tx.now })
    .where('dependency_id', '=', dependencyId);

export const setConsumed = async (tx: Tx, dependencyId: bigint, consumed: Consumed): Promise<void> => {
  await consumedUpdate(tx, dependencyId, consumed).execute();
};

/** The same of many at once. */
export const setAllConsumed = async (tx: Tx, dependencyIds: readonly bigint[], consumed: Consumed): Promise<void> => {
  await tx.db
    .updateTable('t_ds_asset_dependency_consumed')
    .set({ ...consumedColumns(consumed), update_time: tx.now })
    .where(tx.dialect.among('dependency_id', dependencyIds))
    .execute();
};

export const insertConsumed = async (
  tx: Tx,
  dependencyId: bigint,
  consumed: Consumed,
  beginSnapshotId: string | null,
  since: EpochMs = tx.now,
): Promise<void> => {
  await tx.db
    .insertInto('t_ds_asset_dependency_consumed')
    .values({
      dependency_id: dependencyId,
      ...consumedColumns(consumed),
      begin_time: since,
      begin_snapshot_id: beginSnapshotId,
      update_time: tx.now,
    })
    .execute();
};
