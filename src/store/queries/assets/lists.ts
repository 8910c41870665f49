import { sql, type SqlBool } from 'kysely';
import { cutsOf } from '../../../core/asset/cuts.ts';
import type { AssetKey } from '../../../core/asset/key.ts';
import { SluiceError } from '../../../core/errors.ts';
import { qualityOf } from '../../../core/asset/quality.ts';
import type { Asset, QualityStatus, Verdict } from '../../../core/asset/state.ts';
import type { Version } from '../../../core/asset/version.ts';
import { big, num, waitOf } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { View } from '../../engine.ts';
import { pageOf, sliceOf } from '../../paging.ts';
import { RARE_EVENTS } from '../../rare-events.ts';
import type { AssetDetails, AssetStore, PageRequest, ScanTarget, VersionRow } from '../../store.ts';
import { assetRow, chunks, schemasOf, tagsOf, verdictsOf } from './load.ts';
import { assetOf, eventOf, stateOf, verdictOf, versionOf } from './rows.ts';
import { targetOf } from './record.ts';
import { cutBegin, nextCut } from './cut-rows.ts';
import { findProject } from '../workflows/projects.ts';

type Offset = Row<'t_ds_asset_event_consumer_offset'>;

const byAsset = <R extends { readonly asset_id: bigint }>(rows: readonly R[]): ReadonlyMap<bigint, R> =>
  new Map(rows.map((row) => [row.asset_id, row]));

export const scanTargets = async (
  view: View,
  keys: readonly AssetKey[] | 'WANTED' | undefined,
): Promise<readonly ScanTarget[]> => {
  if (keys === 'WANTED') return wantedTargets(view);
  const assets: Row<'t_ds_asset'>[] = [];
  const all = view.db.selectFrom('t_ds_asset').selectAll().where('location', 'is not', null).orderBy('id');
  if (keys === undefined) assets.push(...(await all.execute()));
  else
    for (const part of chunks(keys))
      assets.push(...(await all.where('asset_hash', 'in', part.map(view.sha256)).execute()));
  const offsets = byAsset(await offsetsOf(view, keys === undefined ? undefined : assets));
  return assets.flatMap((asset) => {
    const offset = offsets.get(asset.id);
    return offset === undefined ? [] : [targetOf(asset, offset)];
  });
};

const wantedTargets = async (view: View): Promise<readonly ScanTarget[]> => {
  const offsets = await view.db
    .selectFrom('t_ds_asset_event_consumer_offset')
    .selectAll()
    .where('waiting', '=', 1n)
    .execute();
  const of = new Map(offsets.map((offset) => [offset.asset_id, offset]));
  const assets = await view.db
    .selectFrom('t_ds_asset')
    .selectAll()
    .where('location', 'is not', null)
    .where(view.dialect.among('id', [...of.keys()]))
    .execute();
  return assets.flatMap((asset) => {
    const offset = of.get(asset.id);
    return offset === undefined ? [] : [targetOf(asset, offset)];
  });
};

const offsetsOf = async (view: View, assets: readonly Row<'t_ds_asset'>[] | undefined): Promise<readonly Offset[]> => {
  const all = view.db.selectFrom('t_ds_asset_event_consumer_offset').selectAll();
  if (assets === undefined) return all.execute();
  const found: Offset[] = [];
  for (const part of chunks(assets))
    found.push(
      ...(await all
        .where(
          'asset_id',
          'in',
          part.map((asset) => asset.id),
        )
        .execute()),
    );
  return found;
};

export const listAssets = async (view: View, project: string | null): ReturnType<AssetStore['list']> => {
  const code = project === null ? null : (await findProject(view, project)).code;
  const all = view.db.selectFrom('t_ds_asset').selectAll().orderBy('asset_key');
  const assets = await (code === null ? all : all.where('project_code', '=', code)).execute();
  const states = byAsset(await view.db.selectFrom('t_ds_asset_state').selectAll().execute());
  const offsets = byAsset(await offsetsOf(view, undefined));
  return assets.flatMap((asset) => {
    const state = states.get(asset.id);
    const lastScanAt = offsets.get(asset.id)?.last_scan_time ?? null;
    const code = num(asset.id);
    return state === undefined ? [] : [{ code, asset: assetOf(asset), state: stateOf(state), lastScanAt }];
  });
};

export const keyOfCode = async (view: View, code: number): Promise<AssetKey> => {
  const query = view.db.selectFrom('t_ds_asset').select('asset_key').where('id', '=', big(code));
  const row = await query.executeTakeFirst();
  if (row !== undefined) return row.asset_key as AssetKey;
  throw new SluiceError(
    'UNKNOWN_ASSET',
    `Name an asset by its key, or by a code that "sluice asset list" shows: none has the code ${code}.`,
  );
};

export const assetDetails = async (view: View, key: AssetKey): Promise<AssetDetails> => {
  const row = await assetRow(view, key);
  const state = await view.db
    .selectFrom('t_ds_asset_state')
    .selectAll()
    .where('asset_id', '=', row.id)
    .executeTakeFirstOrThrow();
  const project = await view.db
    .selectFrom('t_ds_project')
    .select('name')
    .where('code', '=', row.project_code)
    .executeTakeFirstOrThrow();
  const [offset] = await offsetsOf(view, [row]);
  const tags = (await tagsOf(view, row.id)).filter((tag) => !tag.deleted);
  return {
    code: num(row.id),
    asset: assetOf(row),
    state: stateOf(state),
    project: project.name,
    lastScanAt: offset?.last_scan_time ?? null,
    tags: Object.fromEntries(tags.map((tag) => [tag.tag, tag.snapshotId])),
    schemas: await schemasOf(view, row.id, 0),
    verdicts: await newestVerdicts(view, row.id),
    consumers: await consumersOf(view, row),
  };
};

/** Shown on an asset's page, newest first. */
const SHOWN_VERDICTS = 100;

const newestVerdicts = async (view: View, assetId: bigint): Promise<readonly Verdict[]> => {
  const query = view.db.selectFrom('t_ds_asset_quality').selectAll().where('asset_id', '=', assetId);
  const rows = await query.orderBy('check_time', 'desc').orderBy('id', 'desc').limit(SHOWN_VERDICTS).execute();
  return rows.map(verdictOf);
};

const consumersOf = async (view: View, asset: Row<'t_ds_asset'>): Promise<AssetDetails['consumers']> => [
  ...(await workflowConsumers(view, asset)),
  ...(await taskConsumers(view, asset)),
];

/** Waiting tasks as they are declared now. */
const taskConsumers = async (view: View, asset: Row<'t_ds_asset'>): Promise<AssetDetails['consumers']> => {
  const rows = await view.db
    .selectFrom('t_ds_task_definition as task')
    .innerJoin('t_ds_task_definition_log as log', (join) =>
      join.onRef('log.code', '=', 'task.code').onRef('log.version', '=', 'task.version'),
    )
    .innerJoin('t_ds_workflow_definition as workflow', 'workflow.code', 'task.workflow_definition_code')
    .select(['workflow.name as workflow', 'task.name as task', 'log.wait_json'])
    .where('log.wait_json', 'is not', null)
    .orderBy('workflow.name')
    .orderBy('task.name')
    .execute();
  return rows.flatMap(({ workflow, task, wait_json: wait }) =>
    (waitOf(wait)?.groups ?? [])
      .filter(({ conditions }) => conditions.some(({ assetKey }) => assetKey === asset.asset_key))
      .map(({ name }) => ({ workflow, group: name, task })),
  );
};

const workflowConsumers = async (view: View, asset: Row<'t_ds_asset'>): Promise<AssetDetails['consumers']> =>
  view.db
    .selectFrom('t_ds_asset_dependency as dependency')
    .innerJoin('t_ds_workflow_definition as workflow', 'workflow.code', 'dependency.workflow_definition_code')
    .select(['workflow.name as workflow', 'dependency.dependency_group as group'])
    .where('dependency.asset_hash', '=', asset.asset_hash)
    // Members of waiting attempts come and go with them.
    .where('dependency.task_definition_code', 'is', null)
    .orderBy('workflow.name')
    .orderBy('dependency.dependency_group')
    .execute();

export const listVersions = async (
  view: View,
  key: AssetKey,
  page: PageRequest,
): ReturnType<AssetStore['versions']> => {
  const row = await assetRow(view, key);
  const slice = sliceOf(page);
  const rows = await view.db
    .selectFrom('t_ds_asset_version')
    .selectAll()
    .where('asset_id', '=', row.id)
    .where('ordinal', '<', slice.below)
    .orderBy('ordinal', 'desc')
    .limit(slice.limit + 1)
    .execute();
  const versions = rows.map((version) => versionOf(version, key));
  const asset = assetOf(row);
  const quality = await qualities(view, row.id, asset, versions);
  const tags = (await tagsOf(view, row.id)).filter((tag) => !tag.deleted);
  const item = (version: Version): VersionRow => ({
    ...version,
    tags: tags
      .filter((tag) => tag.epoch === version.epoch && tag.snapshotId === version.snapshotId)
      .map((tag) => tag.tag),
    quality: quality.get(version.ordinal) ?? 'UNKNOWN',
  });
  return pageOf(versions, slice, (version) => big(version.ordinal), item);
};

/** The quality of each version's cut, by ordinal; that of a withdrawn version is its own. */
const qualities = async (
  view: View,
  assetId: bigint,
  asset: Asset,
  shown: readonly Version[],
): Promise<ReadonlyMap<number, QualityStatus>> => {
  const newest = shown[0];
  const oldest = shown.at(-1);
  if (newest === undefined || oldest === undefined) return new Map();
  const before = await nextCut(view, assetId, asset, newest.ordinal);
  const rows = await view.db
    .selectFrom('t_ds_asset_version')
    .selectAll()
    .where('asset_id', '=', assetId)
    .where('ordinal', '>=', big(await cutBegin(view, assetId, asset, oldest.ordinal)))
    .where('ordinal', '<', before === null ? big(Number.MAX_SAFE_INTEGER) : big(before))
    .orderBy('ordinal')
    .execute();
  const versions = rows.map((row) => versionOf(row, asset.key));
  const verdicts = await verdictsOf(view, assetId, versions);
  const ofVersion = (version: Version): readonly Verdict[] =>
    verdicts.filter((verdict) => verdict.epoch === version.epoch && verdict.snapshotId === version.snapshotId);
  const gone = versions.filter((version) => version.status === 'WITHDRAWN').map((version) => [version]);
  const cuts = cutsOf(
    versions.filter((version) => version.status !== 'WITHDRAWN'),
    asset,
  ).map((cut) => cut.versions);
  return new Map(
    [...gone, ...cuts].flatMap((cut) => {
      const quality = qualityOf(cut.flatMap(ofVersion), asset.requiredChecks);
      return cut.map((version) => [version.ordinal, quality] as const);
    }),
  );
};

export const ownersOf = async (view: View, keys: readonly AssetKey[]): ReturnType<AssetStore['owners']> => {
  const owners = new Map<AssetKey, string>();
  for (const part of chunks(keys)) {
    const rows = await view.db
      .selectFrom('t_ds_asset as asset')
      .innerJoin('t_ds_project as project', 'project.code', 'asset.project_code')
      .select(['asset.asset_key', 'project.name'])
      .where('asset.asset_hash', 'in', part.map(view.sha256))
      .execute();
    for (const row of rows) owners.set(row.asset_key as AssetKey, row.name);
  }
  return owners;
};

type EventFilter = Parameters<AssetStore['events']>[0];

export const listEvents = async (
  view: View,
  filter: EventFilter,
  page: PageRequest,
): ReturnType<AssetStore['events']> => {
  const slice = sliceOf(page);
  let query = view.db.selectFrom('t_ds_asset_event').selectAll().where('id', '<', slice.below);
  if (filter.project !== undefined)
    query = query.where('project_code', '=', (await findProject(view, filter.project)).code);
  if (filter.key !== undefined) query = query.where('asset_id', '=', (await assetRow(view, filter.key)).id);
  if (filter.eventType !== undefined) query = query.where('event_type', '=', filter.eventType);
  if ((filter.eventType ?? 'SNAPSHOT_COMMITTED') !== 'SNAPSHOT_COMMITTED')
    query = query.where(sql<SqlBool>`${sql.raw(RARE_EVENTS.others)}`);
  const rows = await query
    .orderBy('id', 'desc')
    .limit(slice.limit + 1)
    .execute();
  return pageOf(rows, slice, (row) => row.id, eventOf);
};
