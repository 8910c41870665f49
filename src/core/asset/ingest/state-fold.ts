import { compareIds, hasNumericIds } from '../commit-order.ts';
import { cutsOf } from '../cuts.ts';
import { qualityOf } from '../quality.ts';
import { newestAccepted, schemaStatusOf } from '../schema-records.ts';
import type { Asset, AssetState, SchemaRecord, TagRecord, Verdict } from '../state.ts';
import type { Version, VersionRef } from '../version.ts';

/** What the derived part of the state is computed from. */
export interface FoldInput {
  readonly asset: Asset;
  readonly state: AssetState;
  /** Live, oldest first. */
  readonly versions: readonly Version[];
  readonly verdicts: ReadonlyMap<string, Verdict>;
  readonly schemas: ReadonlyMap<string, SchemaRecord>;
  readonly tags: ReadonlyMap<string, TagRecord>;
}

const refOf = ({ snapshotId, epoch, ordinal }: Version): VersionRef => ({ snapshotId, epoch, ordinal });

// A restored head shows the rows that are there now, whether or not they count as new.
const showsData = (version: Version): boolean => version.dataChange || version.origin !== 'COMMIT';

/** Which of two tagged versions is newer, in the table's own order; 0: nothing says. */
const compareTagged = ({ asset, versions }: FoldInput, a: TagRecord, b: TagRecord): number => {
  if (a.epoch === b.epoch && hasNumericIds(asset.key, a.snapshotId)) return compareIds(a.snapshotId, b.snapshotId);
  const rank = (tag: TagRecord): number =>
    versions.findLast((version) => version.snapshotId === tag.snapshotId && version.epoch === tag.epoch)?.ordinal ?? 0;
  return rank(a) - rank(b);
};

/**
 * The newest live tag: the one on the newest version, of several there the one made last. By version first, so that tags seen together
 * in one late poll give the same answer as tags seen one by one.
 */
const latestTag = (input: FoldInput): string | null => {
  if (input.tags.size === 0) return null;
  const live = [...input.tags.values()].filter((tag) => !tag.deleted);
  const [newest] = live.sort((a, b) => {
    const byVersion = compareTagged(input, b, a);
    if (byVersion !== 0) return byVersion;
    if (a.at !== b.at) return a.at > b.at ? -1 : 1;
    return a.tag < b.tag ? 1 : -1;
  });
  return newest?.tag ?? null;
};

const latestQuality = ({ asset, versions, verdicts }: FoldInput) => {
  if (verdicts.size === 0) return qualityOf([], asset.requiredChecks);
  const cut = cutsOf(versions, asset).at(-1)?.versions ?? [];
  const inCut = new Set(cut.map((version) => JSON.stringify([version.epoch, version.snapshotId])));
  const held = [...verdicts.values()].filter((verdict) =>
    inCut.has(JSON.stringify([verdict.epoch, verdict.snapshotId])),
  );
  return qualityOf(held, asset.requiredChecks);
};

/** The state with everything that follows from versions, verdicts, schemas and tags computed afresh (semantics.md, 2: State). */
export const foldState = (input: FoldInput): AssetState => {
  const latest = input.versions.at(-1);
  const latestData = input.versions.findLast(showsData);
  return {
    ...input.state,
    latest: latest === undefined ? null : refOf(latest),
    latestData: latestData === undefined ? null : refOf(latestData),
    latestTag: latestTag(input),
    qualityStatus: latestQuality(input),
    schemaStatus: schemaStatusOf(input.schemas, latest),
    acceptedSchemaId: newestAccepted([...input.schemas.values()], input.state.epoch)?.schemaId ?? null,
  };
};
