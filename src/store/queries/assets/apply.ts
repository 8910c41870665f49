import { assetName, type AssetKey } from '../../../core/asset/key.ts';
import type { Asset, AssetState } from '../../../core/asset/state.ts';
import type { PlanLine } from '../../../core/declaration/declaration.ts';
import { SluiceError } from '../../../core/errors.ts';
import { canonical } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { Tx } from '../../engine.ts';
import { findAssetRow } from './load.ts';
import { assetColumns, assetOf, stateColumns } from './rows.ts';
import { fixBaselines } from '../groups/baselines.ts';
import { noteChanges } from '../groups/queue.ts';

/** Registers or updates an asset. Throws BAD_FILE where another project owns it. */
export const saveAsset = async (tx: Tx, project: Row<'t_ds_project'>, declared: Asset): Promise<PlanLine> => {
  const row = await findAssetRow(tx, declared.key);
  const line = { kind: 'ASSET', name: declared.key } as const;
  if (row === undefined) {
    await insertAsset(tx, project, declared);
    return {
      ...line,
      action: 'CREATE',
      details: [declared.location === null ? 'lives from pushed events' : `at ${declared.location}`],
    };
  }
  await refuseForeign(tx, row, project);
  const before = assetOf(row);
  const changed = FIELDS.filter((field) => canonical(before[field]) !== canonical(declared[field]));
  if (changed.length === 0) return { ...line, action: 'UNCHANGED', details: [] };
  await tx.db
    .updateTable('t_ds_asset')
    .set({ ...assetColumns(declared), update_time: tx.now })
    .where('id', '=', row.id)
    .execute();
  await touchState(tx, row);
  if (before.location !== declared.location) await moveTable(tx, row);
  await noteChanges(tx, [row.asset_hash]);
  tx.hint('ASSETS');
  return { ...line, action: 'UPDATE', details: changed.map((field) => change(field, before[field], declared[field])) };
};

const FIELDS = [
  'location',
  'description',
  'pushMode',
  'onGap',
  'onRollback',
  'onRecreate',
  'schemaPolicy',
  'requiredChecks',
  'pollIntervalMs',
] as const satisfies readonly (keyof Asset)[];

const change = (field: string, before: unknown, now: unknown): string =>
  `${field}: ${shown(before)} becomes ${shown(now)}`;
const shown = (value: unknown): string =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0) ? 'none' : String(value);

const refuseForeign = async (tx: Tx, row: Row<'t_ds_asset'>, project: Row<'t_ds_project'>): Promise<void> => {
  if (row.project_code === project.code) return;
  const owner = await tx.db
    .selectFrom('t_ds_project')
    .select('name')
    .where('code', '=', row.project_code)
    .executeTakeFirstOrThrow();
  throw new SluiceError(
    'BAD_FILE',
    `The asset ${row.asset_key} belongs to project ${owner.name}: leave it out of the assets of project ${project.name}, whose workflows may name it all the same.`,
  );
};

/** What decisions look at changed: whoever remembers the asset must read it again. */
const touchState = async (tx: Tx, row: Row<'t_ds_asset'>): Promise<void> => {
  await tx.db
    .updateTable('t_ds_asset_state')
    .set((e) => ({ version: e('version', '+', 1n) }))
    .where('asset_id', '=', row.id)
    .execute();
};

/** A scan of the old place that is under way must not be recorded; what the new place shows is compared with the old cursor. */
const moveTable = async (tx: Tx, row: Row<'t_ds_asset'>): Promise<void> => {
  await tx.dialect.lockRow(tx.db, 't_ds_asset_state', 'asset_id', row.id);
  await tx.db
    .updateTable('t_ds_asset_event_consumer_offset')
    .set((e) => ({ revision: e('revision', '+', 1n) }))
    .where('asset_id', '=', row.id)
    .execute();
};

const insertAsset = async (tx: Tx, project: Row<'t_ds_project'>, asset: Asset): Promise<void> => {
  const name = assetName(asset.key);
  const hash = tx.sha256(asset.key);
  const id = await tx.dialect.insertForId(tx.db, 't_ds_asset', {
    asset_key: asset.key,
    asset_hash: hash,
    project_code: project.code,
    storage_format: name.format,
    catalog_name: name.catalog,
    database_name: name.database,
    table_name: name.table,
    branch_name: name.branch,
    ...assetColumns(asset),
    create_time: tx.now,
    update_time: tx.now,
  });
  const state = {
    asset_id: id,
    asset_key: asset.key,
    ...stateColumns(freshState(asset.key, tx.now)),
    update_time: tx.now,
  };
  await tx.db.insertInto('t_ds_asset_state').values(state).execute();
  const offset = { source_type: 'POLL', consumer_group: 'default', asset_id: id, asset_key: asset.key };
  await tx.db
    .insertInto('t_ds_asset_event_consumer_offset')
    .values({ ...offset, failures: 0n, waiting: 0n, revision: 0n })
    .execute();
  const row = await findAssetRow(tx, asset.key);
  if (asset.location === null && row !== undefined) await fixBaselines(tx, row);
  await noteChanges(tx, [hash]);
  tx.hint('ASSETS');
};

/** Of an asset about which nothing is known yet. */
const freshState = (assetKey: AssetKey, now: bigint): AssetState => ({
  assetKey,
  epoch: 1,
  lastOrdinal: 0,
  latest: null,
  latestData: null,
  watermark: null,
  latestTag: null,
  qualityStatus: 'UNKNOWN',
  schemaStatus: 'UNKNOWN',
  schemaId: null,
  acceptedSchemaId: null,
  backfillStatus: 'NONE',
  backfillSince: null,
  backfillUntil: null,
  cdcStatus: 'UNKNOWN',
  health: 'NEVER_READ',
  healthReason: null,
  healthSince: now,
  tableId: null,
  version: 0,
});
