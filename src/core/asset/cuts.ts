import type { Asset } from './state.ts';
import type { Version } from './version.ts';

/**
 * Does this version show a batch reader other rows than what was recorded before it? A restored head does where the asset asks for it
 * (TRIGGER), and after HOLD, once a person has let it go on: better one run too many than stale results.
 */
export const carriesData = (version: Version, asset: Pick<Asset, 'onRollback'>): boolean => {
  switch (version.origin) {
    case 'COMMIT':
      return version.dataChange;
    case 'AFTER_GAP':
      return true;
    case 'RESTORED':
      return asset.onRollback !== 'IGNORE';
  }
};

/** A data version and the no-data versions after it: the same rows (semantics.md, 1). Never split. */
export interface Cut<V extends Version = Version> {
  /** The version that brought the rows; null: it is not among those given (the versions go on an older cut). */
  readonly data: V | null;
  /** Oldest first, `data` included; never empty. */
  readonly versions: readonly V[];
}

/** Groups versions, oldest first and none withdrawn, into cuts, oldest first. */
export const cutsOf = <V extends Version>(
  versions: readonly V[],
  asset: Pick<Asset, 'onRollback'>,
): readonly Cut<V>[] => {
  const cuts: { data: V | null; versions: V[] }[] = [];
  for (const version of versions) {
    const open = cuts.at(-1);
    if (carriesData(version, asset)) cuts.push({ data: version, versions: [version] });
    else if (open === undefined) cuts.push({ data: null, versions: [version] });
    else open.versions.push(version);
  }
  return cuts;
};
