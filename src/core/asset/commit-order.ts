import type { AssetKey } from './key.ts';
import type { Commit } from './version.ts';

const isNumber = (id: string): boolean => /^\d+$/.test(id);

/** Formats whose ids count up within one incarnation of a table (facts/formats.md, 0: Paimon and Delta). */
export const hasNumericIds = (asset: AssetKey, id: string): boolean => /^(paimon|delta):/.test(asset) && isNumber(id);

const sign = (difference: bigint): number => (difference < 0n ? -1 : Number(difference > 0n));

/** Order of two numeric ids; 0 where one of them is not a number. */
export const compareIds = (a: string, b: string): number =>
  isNumber(a) && isNumber(b) ? sign(BigInt(a) - BigInt(b)) : 0;

/** How two commits of one table are ordered: by what, and how (negative: a is older). */
export interface CommitOrder {
  readonly by: 'ID' | 'SEQUENCE' | 'TIME';
  readonly order: number;
}

/** The table's own order as far as pushes tell it (semantics.md, 2): numeric ids, else sequence numbers, else commit time. */
export const compareCommits = (asset: AssetKey, a: Commit, b: Commit): CommitOrder => {
  if (hasNumericIds(asset, a.snapshotId) && isNumber(b.snapshotId)) {
    return { by: 'ID', order: compareIds(a.snapshotId, b.snapshotId) };
  }
  if (a.sequenceNumber !== undefined && b.sequenceNumber !== undefined) {
    return { by: 'SEQUENCE', order: sign(a.sequenceNumber - b.sequenceNumber) };
  }
  return { by: 'TIME', order: sign(a.commitTime - b.commitTime) };
};
