import { SluiceError } from '../../../core/errors.ts';
import type { AssetKey } from '../../../core/asset/key.ts';
import type { AssetHistory, AssetState, Verdict } from '../../../core/asset/state.ts';
import type { Version } from '../../../core/asset/version.ts';
import { big } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { View } from '../../engine.ts';
import { assetOf, schemaOf, stateOf, tagOf, verdictOf, versionOf } from './rows.ts';

/** The newest versions that ingesting looks at, and the waiting verdicts it may bind. */
const NEWEST_VERSIONS = 200;
const WAITING_VERDICTS = 1_000;
/** Ids in one `IN (…)`. */
const IN_CHUNK = 1_000;

export interface AssetRecord {
  readonly row: Row<'t_ds_asset'>;
  readonly state: AssetState;
  readonly offset: Row<'t_ds_asset_event_consumer_offset'>;
}

export const chunks = <T>(items: readonly T[], size = IN_CHUNK): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));

export const findAssetRow = async (view: View, key: AssetKey): Promise<Row<'t_ds_asset'> | undefined> =>
  view.db.selectFrom('t_ds_asset').selectAll().where('asset_hash', '=', view.sha256(key)).executeTakeFirst();

export const unknownAsset = (key: AssetKey): SluiceError =>
  new SluiceError(
    'UNKNOWN_ASSET',
    `No asset ${key} is registered: declare it in a file and apply that, or correct the key.`,
  );

export const assetRow = async (view: View, key: AssetKey): Promise<Row<'t_ds_asset'>> => {
  const row = await findAssetRow(view, key);
  if (row === undefined) throw unknownAsset(key);
  return row;
};

/** Does it stand in the database what the table holds? One that nobody can read has no more to tell than what was pushed. */
export const wasRead = async (view: View, asset: Row<'t_ds_asset'>): Promise<boolean> => {
  if (asset.location === null) return true;
  const query = view.db
    .selectFrom('t_ds_asset_event_consumer_offset')
    .select('first_read_time')
    .where('asset_id', '=', asset.id);
  return ((await query.executeTakeFirst())?.first_read_time ?? null) !== null;
};

/**
 * The asset, if it is registered, with its state locked: what is being recorded of it has either been committed, and is seen from here on, or will
 * see what this transaction writes. So no version falls between a new member of a group and the queue.
 */
export const lockIfKnown = async (view: View, key: AssetKey): Promise<Row<'t_ds_asset'> | undefined> => {
  const row = await findAssetRow(view, key);
  if (row === undefined) return undefined;
  await view.dialect.lockRow(view.db, 't_ds_asset_state', 'asset_id', row.id);
  return findAssetRow(view, key);
};

/** The asset with its state and offset, locked against other writers. Throws UNKNOWN_ASSET. */
export const lockAsset = async (view: View, key: AssetKey): Promise<AssetRecord> => {
  const row = await assetRow(view, key);
  await view.dialect.lockRow(view.db, 't_ds_asset_state', 'asset_id', row.id);
  const state = await view.db
    .selectFrom('t_ds_asset_state')
    .selectAll()
    .where('asset_id', '=', row.id)
    .executeTakeFirst();
  const offset = await view.db
    .selectFrom('t_ds_asset_event_consumer_offset')
    .selectAll()
    .where('asset_id', '=', row.id)
    .executeTakeFirst();
  if (state === undefined || offset === undefined) throw unknownAsset(key); // removed while we waited for its lock
  return { row, state: stateOf(state), offset };
};

/** What an input names, so that it is loaded however old it is. */
export interface Named {
  readonly snapshotIds: readonly string[];
  /** Where a rollback went to: looked up in every epoch. */
  readonly rollbackTo: string | null;
  /** The input may speak of versions of some time ago. */
  readonly looksBack: boolean;
}

export const loadHistory = async (view: View, record: AssetRecord, named: Named): Promise<AssetHistory> => {
  const { row, state } = record;
  const tags = await tagsOf(view, row.id);
  // The newest tag is that of the newest tagged version, which may be older than the newest data.
  const looksBack = named.looksBack || tags.some((tag) => !tag.deleted);
  const versions = await historyVersions(view, record, { ...named, looksBack });
  return {
    asset: assetOf(row),
    state,
    versions,
    verdicts: await verdictsFor(view, row.id, versions),
    schemas: await schemasOf(view, row.id, state.epoch - 1),
    tags,
  };
};

const historyVersions = async (view: View, { row, state }: AssetRecord, named: Named): Promise<readonly Version[]> => {
  if (state.lastOrdinal === 0) return [];
  const all = view.db.selectFrom('t_ds_asset_version').selectAll().where('asset_id', '=', row.id);
  const from = named.looksBack ? 0 : (state.latestData?.ordinal ?? 0);
  const live = all.where('status', '=', 'LIVE').orderBy('ordinal', 'desc');
  const found = [...(await live.where('ordinal', '>=', big(from)).limit(NEWEST_VERSIONS).execute())];
  for (const ids of chunks(named.snapshotIds))
    found.push(...(await all.where('epoch', '=', big(state.epoch)).where('snapshot_id', 'in', ids).execute()));
  if (named.rollbackTo !== null)
    found.push(...(await live.where('snapshot_id', '=', named.rollbackTo).limit(1).execute()));
  const byOrdinal = new Map(found.map((version) => [version.ordinal, versionOf(version, state.assetKey)]));
  return [...byOrdinal.values()].sort((a, b) => a.ordinal - b.ordinal);
};

/** The verdicts of these versions, and those that wait for a scan or for a version that is not known yet. */
const verdictsFor = async (view: View, assetId: bigint, versions: readonly Version[]): Promise<readonly Verdict[]> => {
  const waiting = await view.db
    .selectFrom('t_ds_asset_quality')
    .selectAll()
    .where('asset_id', '=', assetId)
    .where('waiting', '=', 1n)
    .orderBy('id', 'desc')
    .limit(WAITING_VERDICTS)
    .execute();
  const known = await verdictsOf(view, assetId, versions);
  return [...waiting.map(verdictOf), ...known];
};

export const verdictsOf = async (
  view: View,
  assetId: bigint,
  versions: readonly Version[],
): Promise<readonly Verdict[]> => {
  const wanted = new Set(versions.map((version) => `${version.epoch}:${version.snapshotId}`));
  const found: Verdict[] = [];
  for (const ids of chunks(versions.map((version) => version.snapshotId))) {
    const query = view.db.selectFrom('t_ds_asset_quality').selectAll().where('asset_id', '=', assetId);
    found.push(...(await query.where('snapshot_id', 'in', ids).execute()).map(verdictOf));
  }
  return found.filter((verdict) => wanted.has(`${verdict.epoch}:${verdict.snapshotId}`));
};

export const schemasOf = async (view: View, assetId: bigint, fromEpoch: number) =>
  (
    await view.db
      .selectFrom('t_ds_asset_schema')
      .selectAll()
      .where('asset_id', '=', assetId)
      .where('epoch', '>=', big(fromEpoch))
      .orderBy('id')
      .execute()
  ).map(schemaOf);

/** Deleted tags too. */
export const tagsOf = async (view: View, assetId: bigint) =>
  (await view.db.selectFrom('t_ds_asset_tag').selectAll().where('asset_id', '=', assetId).orderBy('id').execute()).map(
    tagOf,
  );
