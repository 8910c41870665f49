import type { RecordedEvent } from '../../core/asset/event.ts';
import type { Effects } from '../../core/asset/ingest.ts';
import type { Verdict } from '../../core/asset/state.ts';
import { big } from '../codecs.ts';
import type { Row } from '../database.ts';
import type { Tx } from '../engine.ts';
import { type AssetRecord, chunks } from './asset-load.ts';
import { eventRow, schemaRow, stateColumns, tagRow, verdictRow, versionRow } from './asset-rows.ts';
import { enqueueAsset } from './queue.ts';

/** Writes what an input changes; the events that were not known yet. */
export const writeEffects = async (
  tx: Tx,
  record: AssetRecord,
  effects: Effects,
): Promise<readonly RecordedEvent[]> => {
  const { row, state } = record;
  await writeState(tx, record, effects);
  await withdraw(tx, row.id, state.lastOrdinal, effects);
  await writeVersions(tx, row.id, effects);
  await releaseWaiting(tx, row.id, effects);
  await writeVerdicts(tx, row.id, effects);
  await writeSchemasAndTags(tx, row.id, effects);
  const events = await writeEvents(tx, row, effects.events);
  if (effects.touchesGroups) await enqueueAsset(tx, row.asset_hash);
  if (events.length > 0 || effects.state.version !== state.version) tx.hint('CHANGED_ASSETS');
  return events;
};

/** Compare-and-set on the state's version. The row is locked, so losing it means that somebody wrote around the store. */
const writeState = async (tx: Tx, { row, state }: AssetRecord, effects: Effects): Promise<void> => {
  if (effects.state.version === state.version) return;
  const result = await tx.db
    .updateTable('t_ds_asset_state')
    .set({ ...stateColumns(effects.state), update_time: tx.now })
    .where('asset_id', '=', row.id)
    .where('version', '=', big(state.version))
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n)
    throw new Error(`The state of ${row.asset_key} was changed by another writer in the middle of a transaction.`);
};

const withdraw = async (tx: Tx, assetId: bigint, lastOrdinal: number, effects: Effects): Promise<void> => {
  const versions = tx.db.updateTable('t_ds_asset_version').where('asset_id', '=', assetId);
  if (effects.withdrawnAfter !== null)
    await versions
      .set({ status: 'WITHDRAWN' })
      .where('ordinal', '>', big(effects.withdrawnAfter))
      .where('ordinal', '<=', big(lastOrdinal))
      .execute();
  for (const status of ['WITHDRAWN', 'EXPIRED'] as const) {
    const ordinals = [...effects.versionStatus].filter(([, to]) => to === status).map(([ordinal]) => big(ordinal));
    for (const part of chunks(ordinals)) await versions.set({ status }).where('ordinal', 'in', part).execute();
  }
};

const writeVersions = async (tx: Tx, assetId: bigint, { newVersions, nowDataChange }: Effects): Promise<void> => {
  const rows = newVersions.map((version) => versionRow(version, assetId));
  const written = await tx.dialect.insertIgnore(tx.db, 't_ds_asset_version', rows);
  if (written !== rows.length)
    throw new Error(`A version of ${newVersions[0]?.assetKey} was about to be recorded twice.`);
  for (const ordinals of chunks(nowDataChange.map(big)))
    await tx.db
      .updateTable('t_ds_asset_version')
      .set({ data_change: 1n })
      .where('asset_id', '=', assetId)
      .where('ordinal', 'in', ordinals)
      .execute();
};

const writeVerdicts = async (tx: Tx, assetId: bigint, { verdicts, boundVerdicts }: Effects): Promise<void> => {
  for (const verdict of boundVerdicts) await removeWaiting(tx, assetId, verdict);
  const known = await knownVersions(tx, assetId, verdicts);
  for (const verdict of verdicts) {
    const row = verdictRow(verdict, assetId, !known.has(`${verdict.epoch}:${verdict.snapshotId}`));
    const { status, check_time, started_at, check_run_id, waiting } = row;
    if (verdict.snapshotId === null) await tx.db.insertInto('t_ds_asset_quality').values(row).execute();
    else
      await tx.dialect.upsert(tx.db, 't_ds_asset_quality', row, ['asset_id', 'epoch', 'snapshot_id', 'check_name'], {
        status,
        check_time,
        started_at,
        check_run_id,
        waiting,
      });
  }
};

/** Which of the versions that the verdicts name are recorded, as "epoch:id". */
const knownVersions = async (tx: Tx, assetId: bigint, verdicts: readonly Verdict[]): Promise<ReadonlySet<string>> => {
  const known = new Set<string>();
  for (const ids of chunks(verdicts.map((verdict) => verdict.snapshotId).filter((id) => id !== null))) {
    const query = tx.db
      .selectFrom('t_ds_asset_version')
      .select(['epoch', 'snapshot_id'])
      .where('asset_id', '=', assetId);
    for (const row of await query.where('snapshot_id', 'in', ids).execute())
      known.add(`${row.epoch}:${row.snapshot_id}`);
  }
  return known;
};

/** Verdicts that came before their version wait no longer. */
const releaseWaiting = async (tx: Tx, assetId: bigint, { newVersions, state }: Effects): Promise<void> => {
  for (const versions of chunks(newVersions))
    await tx.db
      .updateTable('t_ds_asset_quality')
      .set({ waiting: 0n })
      .where('asset_id', '=', assetId)
      .where('waiting', '=', 1n)
      .where('epoch', '=', big(state.epoch))
      .where(
        'snapshot_id',
        'in',
        versions.map((version) => version.snapshotId),
      )
      .execute();
};

const removeWaiting = async (tx: Tx, assetId: bigint, verdict: Verdict): Promise<void> => {
  await tx.db
    .deleteFrom('t_ds_asset_quality')
    .where('asset_id', '=', assetId)
    .where('epoch', '=', big(verdict.epoch))
    .where('snapshot_id', verdict.snapshotId === null ? 'is' : '=', verdict.snapshotId)
    .where('check_name', '=', verdict.checkName)
    .where('check_time', '=', verdict.at)
    .where('status', '=', verdict.status)
    .execute();
};

const writeSchemasAndTags = async (tx: Tx, assetId: bigint, { schemas, tags }: Effects): Promise<void> => {
  for (const record of schemas) {
    const row = schemaRow(record, assetId);
    const { asset_id: _asset, epoch: _epoch, schema_id: _schema, ...set } = row;
    await tx.dialect.upsert(tx.db, 't_ds_asset_schema', row, ['asset_id', 'epoch', 'schema_id'], set);
  }
  for (const record of tags) {
    const row = tagRow(record, assetId);
    const { asset_id: _asset, tag: _tag, ...set } = row;
    await tx.dialect.upsert(tx.db, 't_ds_asset_tag', row, ['asset_id', 'tag'], set);
  }
};

const writeEvents = async (
  tx: Tx,
  asset: Row<'t_ds_asset'>,
  events: readonly RecordedEvent[],
): Promise<readonly RecordedEvent[]> => {
  if (events.length === 0) return [];
  const byHash = new Map(events.map((event) => [tx.sha256(event.dedupKey), event]));
  const known = await countKnown(tx, [...byHash.keys()]);
  const fresh = [...byHash].filter(([hash]) => !known.has(hash));
  await tx.dialect.insertIgnore(
    tx.db,
    't_ds_asset_event',
    fresh.map(([hash, event]) => eventRow(event, hash, asset)),
  );
  return fresh.map(([, event]) => event);
};

/** Which of these events are recorded already; each such repetition is counted. */
export const countKnown = async (tx: Tx, hashes: readonly string[]): Promise<ReadonlySet<string>> => {
  const known = new Set<string>();
  for (const part of chunks(hashes)) {
    const rows = await tx.db
      .selectFrom('t_ds_asset_event')
      .select('dedup_hash')
      .where('dedup_hash', 'in', part)
      .execute();
    if (rows.length === 0) continue;
    for (const row of rows) known.add(row.dedup_hash);
    await tx.db
      .updateTable('t_ds_asset_event')
      .set((e) => ({ duplicate_count: e('duplicate_count', '+', 1n) }))
      .where(
        'dedup_hash',
        'in',
        rows.map((row) => row.dedup_hash),
      )
      .execute();
  }
  return known;
};
