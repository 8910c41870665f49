import { carriesData } from '../../../core/asset/cuts.ts';
import type { VersionFacts } from '../../../core/asset/group.ts';
import type { SchemaRecord, TagRecord, Verdict } from '../../../core/asset/state.ts';
import type { Version } from '../../../core/asset/version.ts';
import { withBindings } from '../../../core/asset/version-facts.ts';
import { big, num } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { View } from '../../engine.ts';
import type { AssetFacts } from '../../facts-cache.ts';
import { chunks } from './load.ts';
import { assetOf, stateOf, tagOf, verdictOf, versionOf } from './rows.ts';

/** How many versions of each asset are read: nearly always a few suffice. */
export const NEWEST = 6;
export const MORE = 120;

/**
 * What decisions look at of many assets, by the hash of their key; those that nobody has registered are left out. `lock`: nobody else changes
 * them until the transaction ends. Reads of an asset only what changed since it was read last.
 */
export const factsOf = async (
  view: View,
  hashes: readonly string[],
  { lock, reach }: Wanted,
): Promise<ReadonlyMap<string, AssetFacts>> => {
  const found = new Map<string, AssetFacts>();
  for (const part of chunks([...new Set(hashes)])) await addFacts(view, part, { lock, reach }, found);
  return found;
};

/** `lock`: for a change, whose transaction remembers itself what it leaves behind. `reach`: so many versions at least, unless there are fewer. */
interface Wanted {
  readonly lock: boolean;
  readonly reach: number;
}

const addFacts = async (
  view: View,
  hashes: readonly string[],
  { lock, reach }: Wanted,
  found: Map<string, AssetFacts>,
): Promise<void> => {
  const ids = await idsOf(view, hashes);
  const versions = await versionsOf(view, [...ids.values()], lock);
  const stale: { readonly hash: string; readonly id: bigint }[] = [];
  const removed: string[] = [];
  for (const [hash, id] of ids) {
    const known = view.facts.get(hash);
    const version = versions.get(id);
    if (version === undefined) {
      if (known?.row.id === id) removed.push(hash);
      continue;
    }
    const isGood = known !== undefined && known.row.id === id && big(known.state.version) === version;
    if (isGood && (known.whole || known.reach >= reach)) found.set(hash, known);
    else stale.push({ hash, id });
  }
  for (const [hash, facts] of await read(
    view,
    stale.map(({ id }) => id),
    reach,
  )) {
    // Whoever locks may have written already: what is read then is not committed yet.
    if (!lock) view.facts.set(hash, facts);
    found.set(hash, facts);
  }
  // Perhaps registered anew since, with another id.
  for (const hash of removed) view.facts.delete(hash);
  if (removed.length > 0) await addFacts(view, removed, { lock, reach }, found);
};

const idsOf = async (view: View, hashes: readonly string[]): Promise<ReadonlyMap<string, bigint>> => {
  const ids = new Map<string, bigint>();
  const unknown: string[] = [];
  for (const hash of hashes) {
    const known = view.facts.get(hash);
    if (known === undefined) unknown.push(hash);
    else ids.set(hash, known.row.id);
  }
  for (const row of await assetIds(view, unknown)) ids.set(row.asset_hash, row.id);
  return ids;
};

const assetIds = async ({ db, dialect }: View, hashes: readonly string[]) =>
  hashes.length === 0
    ? []
    : db.selectFrom('t_ds_asset').select(['id', 'asset_hash']).where(dialect.among('asset_hash', hashes)).execute();

/** The versions of the assets' states, by which what was read before is known to be good. */
const versionsOf = async (
  { db, dialect }: View,
  ids: readonly bigint[],
  lock: boolean,
): Promise<ReadonlyMap<bigint, bigint>> => {
  if (ids.length === 0) return new Map();
  const all = db.selectFrom('t_ds_asset_state').select(['asset_id', 'version']);
  const query = all.where(dialect.among('asset_id', ids)).orderBy('asset_id');
  const rows = await (lock ? dialect.locking(query) : query).execute();
  return new Map(rows.map((row) => [row.asset_id, row.version]));
};

// Kept under the version of the state, so the state is read first: what comes in between makes the entry better than it says, never worse.
const read = async (
  view: View,
  ids: readonly bigint[],
  reach: number,
): Promise<readonly (readonly [string, AssetFacts])[]> => {
  if (ids.length === 0) return [];
  const { db, dialect } = view;
  const of = dialect.among('asset_id', ids);
  const states = await db.selectFrom('t_ds_asset_state').selectAll().where(of).execute();
  const rows = await db.selectFrom('t_ds_asset').selectAll().where(dialect.among('id', ids)).execute();
  const versions = byAsset(await newestVersions(view, ids, reach));
  const verdicts = byAsset(await newestVerdicts(view, ids, reach));
  const tags = byAsset(await db.selectFrom('t_ds_asset_tag').selectAll().where(of).orderBy('id').execute());
  const schemas = byAsset(await schemaRows(view, ids));
  const awaited = await awaitedOf(view, ids);
  const stateRows = new Map(states.map((row) => [row.asset_id, row]));
  return rows.flatMap((row): (readonly [string, AssetFacts])[] => {
    const state = stateRows.get(row.id);
    if (state === undefined) return [];
    const facts = assemble(row, state, {
      versions: versions.get(row.id) ?? [],
      verdicts: (verdicts.get(row.id) ?? []).map(verdictOf),
      tags: (tags.get(row.id) ?? []).map(tagOf),
      schemas: (schemas.get(row.id) ?? []).map(schemaHead),
      awaited: awaited(row.id),
      reach,
    });
    return [[row.asset_hash, facts]];
  });
};

interface Parts {
  readonly versions: readonly Row<'t_ds_asset_version'>[];
  readonly verdicts: readonly Verdict[];
  readonly tags: readonly TagRecord[];
  readonly schemas: readonly SchemaRecord[];
  readonly awaited: AssetFacts['awaited'];
  readonly reach: number;
}

const assemble = (row: Row<'t_ds_asset'>, stateRow: Row<'t_ds_asset_state'>, parts: Parts): AssetFacts => {
  const asset = assetOf(row);
  const versions = parts.versions.map((version) => versionOf(version, asset.key));
  return {
    row,
    asset,
    state: stateOf(stateRow),
    versions: withBindings(versions, parts),
    whole: num(stateRow.last_ordinal) <= parts.reach,
    reach: parts.reach,
    tags: parts.tags,
    schemas: parts.schemas,
    awaited: parts.awaited,
  };
};

const newest = ({ db, dialect }: View, ids: readonly bigint[], reach: number) =>
  db
    .selectFrom('t_ds_asset_state as state')
    .innerJoin('t_ds_asset_version as version', 'version.asset_id', 'state.asset_id')
    .where(dialect.among('state.asset_id', ids))
    .where((e) => e('version.ordinal', '>', e('state.last_ordinal', '-', big(reach))))
    .where('version.status', '!=', 'WITHDRAWN');

const newestVersions = (view: View, ids: readonly bigint[], reach: number) =>
  newest(view, ids, reach).selectAll('version').orderBy('version.asset_id').orderBy('version.ordinal').execute();

const newestVerdicts = (view: View, ids: readonly bigint[], reach: number) =>
  newest(view, ids, reach)
    .innerJoin('t_ds_asset_quality as quality', (join) =>
      join
        .onRef('quality.asset_id', '=', 'version.asset_id')
        .onRef('quality.epoch', '=', 'version.epoch')
        .onRef('quality.snapshot_id', '=', 'version.snapshot_id'),
    )
    .selectAll('quality')
    .orderBy('quality.id')
    .execute();

/** Verdicts that wait are rare; where there are more than these, each asset may await anything. */
const MOST_AWAITED = 1_000;

const awaitedOf = async (
  { db, dialect }: View,
  ids: readonly bigint[],
): Promise<(id: bigint) => AssetFacts['awaited']> => {
  const query = db.selectFrom('t_ds_asset_quality').select(['asset_id', 'snapshot_id']).where('waiting', '=', 1n);
  const rows = await query
    .where(dialect.among('asset_id', ids))
    .limit(MOST_AWAITED + 1)
    .execute();
  if (rows.length > MOST_AWAITED) return () => new Set([null]);
  const waiting = byAsset(rows);
  return (id) => new Set((waiting.get(id) ?? []).map((row) => row.snapshot_id));
};

const schemaRows = ({ db, dialect }: View, ids: readonly bigint[]) =>
  db
    .selectFrom('t_ds_asset_schema')
    .select(['asset_id', 'epoch', 'schema_id', 'status', 'decided_by', 'seen_time'])
    .where(dialect.among('asset_id', ids))
    .orderBy('id')
    .execute();

type SchemaHead = Pick<
  Row<'t_ds_asset_schema'>,
  'asset_id' | 'epoch' | 'schema_id' | 'status' | 'decided_by' | 'seen_time'
>;

const schemaHead = (row: SchemaHead): SchemaRecord => ({
  epoch: num(row.epoch),
  schemaId: row.schema_id,
  status: row.status as SchemaRecord['status'],
  decidedBy: row.decided_by as SchemaRecord['decidedBy'],
  changes: [],
  schema: null,
  seenAt: row.seen_time,
});

const byAsset = <R extends { readonly asset_id: bigint }>(rows: readonly R[]): ReadonlyMap<bigint, readonly R[]> => {
  const groups = new Map<bigint, R[]>();
  for (const row of rows) {
    const known = groups.get(row.asset_id);
    if (known === undefined) groups.set(row.asset_id, [row]);
    else known.push(row);
  }
  return groups;
};

/** What is new after a statement that undid nothing. */
export interface Growth {
  readonly state: AssetFacts['state'];
  readonly newVersions: readonly Version[];
  readonly verdicts: readonly Verdict[];
}

/** The facts after more was recorded. */
export const grown = (facts: AssetFacts, { state, newVersions, verdicts }: Growth): AssetFacts => {
  const fresh = withBindings(newVersions, { verdicts: [], tags: facts.tags, schemas: facts.schemas });
  const all = [...facts.versions, ...fresh];
  const kept = all.slice(-facts.reach).map((version): VersionFacts => {
    const its = verdicts.filter((verdict) => isOf(verdict, version));
    return its.length === 0 ? version : { ...version, verdicts: [...without(version.verdicts, its), ...its] };
  });
  return { ...facts, state, versions: kept, whole: facts.whole && kept.length === all.length };
};

const isOf = (verdict: Verdict, version: Version): boolean =>
  verdict.snapshotId === version.snapshotId && verdict.epoch === version.epoch;

const without = (verdicts: readonly Verdict[], replaced: readonly Verdict[]): readonly Verdict[] =>
  verdicts.filter(({ checkName }) => !replaced.some((other) => other.checkName === checkName));

/** Do the newest versions hold the whole newest cut, so that what is known of the newest rows follows from them? */
export const holdsNewestCut = ({ versions, whole, state, asset }: AssetFacts): boolean => {
  if (whole) return true;
  const oldest = versions[0]?.ordinal ?? Number.POSITIVE_INFINITY;
  return oldest <= (state.latestData?.ordinal ?? 0) && versions.some((version) => carriesData(version, asset));
};
