import type { RecordedEvent } from '../../../core/asset/event.ts';
import type { Effects } from '../../../core/asset/ingest/effects.ts';
import type { AssetState, Verdict } from '../../../core/asset/state.ts';
import type { Version } from '../../../core/asset/version.ts';
import { insertMany, upsertMany } from '../../bulk.ts';
import { big, num } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { Tx } from '../../engine.ts';
import { chunks } from './load.ts';
import { eventRow, schemaRow, stateColumns, tagRow, verdictRow, versionRow } from './rows.ts';
import { noteChanges } from '../groups/queue.ts';

/** What an input changes of one asset. */
export interface Change {
  readonly row: Row<'t_ds_asset'>;
  /** As it was before. */
  readonly state: AssetState;
  readonly effects: Effects;
  /** Versions that are known to be recorded. */
  readonly versions: readonly Version[];
  /** May a verdict wait for one of the new versions? */
  readonly awaitsVersion: boolean;
}

/** Another transaction recorded one of these versions, or an older one that was not looked at has its id. */
export class KnownVersion extends Error {}

/**
 * Writes what inputs change, of each asset once; the events that were not known yet. `unknown`: hashes of events that this transaction has looked
 * for already, and not found. Throws KnownVersion, after which the transaction must be undone.
 */
export const writeChanges = async (
  tx: Tx,
  changes: readonly Change[],
  unknown: ReadonlySet<string> = new Set(),
): Promise<readonly RecordedEvent[]> => {
  await writeStates(tx, changes);
  for (const { row, state, effects } of changes) await withdraw(tx, row.id, state.lastOrdinal, effects);
  await writeVersions(tx, changes);
  for (const { row, effects, awaitsVersion } of changes) {
    if (awaitsVersion) await releaseWaiting(tx, row.id, effects);
    if (effects.schemas.length + effects.tags.length > 0) await writeSchemasAndTags(tx, row.id, effects);
  }
  await writeVerdicts(tx, changes);
  const events = await writeEvents(tx, changes, unknown);
  const touched = changes.filter(({ effects }) => effects.touchesGroups);
  await noteChanges(
    tx,
    touched.map(({ row }) => row.asset_hash),
  );
  if (events.length > 0 || changes.some((change) => versionAfter(change) !== change.state.version))
    tx.hint('CHANGED_ASSETS');
  return events;
};

/** The state's version rises with everything that decisions look at, also where the state itself says what it said. */
export const versionAfter = ({ state, effects }: Change): number =>
  effects.state.version === state.version && effects.touchesGroups ? state.version + 1 : effects.state.version;

/** Compare-and-set on the state's version. The row is locked, so losing it means that somebody wrote around the store. */
const writeStates = async (tx: Tx, changes: readonly Change[]): Promise<void> => {
  const rows = changes
    .filter((change) => versionAfter(change) !== change.state.version)
    .map((change) => ({
      asset_id: change.row.id,
      asset_key: change.row.asset_key,
      ...stateColumns({ ...change.effects.state, version: versionAfter(change) }),
      update_time: tx.now,
    }));
  const overtaken = 'excluded.version = t_ds_asset_state.version + 1';
  const written = await upsertMany(tx, 't_ds_asset_state', rows, ['asset_id'], overtaken);
  if (written !== rows.length)
    throw new Error('The state of an asset was changed by another writer in the middle of a transaction.');
};

const withdraw = async (tx: Tx, assetId: bigint, lastOrdinal: number, effects: Effects): Promise<void> => {
  if (effects.withdrawnAfter === null && effects.versionStatus.size === 0) return;
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

const writeVersions = async (tx: Tx, changes: readonly Change[]): Promise<void> => {
  const rows = changes.flatMap(({ row, effects }) => effects.newVersions.map((version) => versionRow(version, row.id)));
  await insertMany(tx, 't_ds_asset_version', rows).catch((error: unknown) => {
    throw tx.dialect.isDuplicate(error)
      ? new KnownVersion('A version was about to be recorded twice.', { cause: error })
      : error;
  });
  for (const { row, effects } of changes.filter((change) => change.effects.nowDataChange.length > 0))
    for (const ordinals of chunks(effects.nowDataChange.map(big)))
      await tx.db
        .updateTable('t_ds_asset_version')
        .set({ data_change: 1n })
        .where('asset_id', '=', row.id)
        .where('ordinal', 'in', ordinals)
        .execute();
};

const writeVerdicts = async (tx: Tx, changes: readonly Change[]): Promise<void> => {
  for (const { row, effects } of changes)
    for (const verdict of effects.boundVerdicts) await removeWaiting(tx, row.id, verdict);
  const named = [];
  for (const change of changes) {
    const { row, effects } = change;
    if (effects.verdicts.length === 0) continue;
    const known = await knownVersions(tx, change);
    for (const verdict of effects.verdicts) {
      const written = verdictRow(verdict, row.id, !known.has(nameOf(verdict)));
      if (verdict.snapshotId !== null) named.push(written);
      else await tx.db.insertInto('t_ds_asset_quality').values(written).execute();
    }
  }
  await upsertMany(tx, 't_ds_asset_quality', named, ['asset_id', 'epoch', 'snapshot_id', 'check_name']);
};

/** Which of the versions that the verdicts name are recorded. */
const knownVersions = async (tx: Tx, change: Change): Promise<ReadonlySet<string>> => {
  const known = namesAtHand(change);
  const open = verdictsAhead(change).flatMap(({ snapshotId }) => snapshotId ?? []);
  for (const ids of chunks(open)) {
    const query = tx.db.selectFrom('t_ds_asset_version').select(['epoch', 'snapshot_id']);
    const rows = await query
      .where('asset_id', '=', change.row.id)
      .where(tx.dialect.among('snapshot_id', ids))
      .execute();
    for (const { epoch, snapshot_id: snapshotId } of rows) known.add(nameOf({ epoch: num(epoch), snapshotId }));
  }
  return known;
};

/** Verdicts that may have come before their version: it is none of those at hand. */
export const verdictsAhead = (change: Change): readonly Verdict[] => {
  if (change.effects.verdicts.length === 0) return [];
  const known = namesAtHand(change);
  return change.effects.verdicts.filter((verdict) => !known.has(nameOf(verdict)));
};

const namesAtHand = ({ versions, effects }: Change): Set<string> =>
  new Set([...versions, ...effects.newVersions].map(nameOf));

const nameOf = ({ epoch, snapshotId }: { readonly epoch: number; readonly snapshotId: string | null }): string =>
  JSON.stringify([epoch, snapshotId]);

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
  changes: readonly Change[],
  unknown: ReadonlySet<string>,
): Promise<readonly RecordedEvent[]> => {
  const byHash = new Map(
    changes.flatMap(({ row, effects }) => effects.events.map((event) => [tx.sha256(event.dedupKey), { event, row }])),
  );
  const open = [...byHash.keys()].filter((hash) => !unknown.has(hash));
  const known = await knownHashes(tx, open);
  await countAgain(tx, [...known]);
  const fresh = [...byHash].filter(([hash]) => !known.has(hash));
  await insertMany(
    tx,
    't_ds_asset_event',
    fresh.map(([hash, { event, row }]) => eventRow(event, hash, row)),
  );
  return fresh.map(([, { event }]) => event);
};

/** Which of these events are recorded already, by the hash of their dedup key. */
export const knownHashes = async (tx: Tx, hashes: readonly string[]): Promise<ReadonlySet<string>> => {
  if (hashes.length === 0) return new Set();
  const those = tx.db.selectFrom('t_ds_asset_event').select('dedup_hash');
  const rows = await those.where(tx.dialect.among('dedup_hash', hashes)).execute();
  return new Set(rows.map((row) => row.dedup_hash));
};

/** Counts that these events were told once more; those that are not recorded are left out. */
export const countAgain = async (tx: Tx, hashes: readonly string[]): Promise<void> => {
  const times = new Map<string, bigint>();
  for (const hash of hashes) times.set(hash, (times.get(hash) ?? 0n) + 1n);
  for (const count of new Set(times.values())) {
    const those = [...times].flatMap(([hash, its]) => (its === count ? hash : []));
    await tx.db
      .updateTable('t_ds_asset_event')
      .set((e) => ({ duplicate_count: e('duplicate_count', '+', count) }))
      .where(tx.dialect.among('dedup_hash', those))
      .execute();
  }
};
