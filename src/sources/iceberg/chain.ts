import type { SnapshotEntry } from './metadata.ts';

type Listed = ReadonlyMap<string, SnapshotEntry>;

/** The way from a snapshot back through its parents. */
export interface Chain {
  /** Oldest first, the one it ended at not included. */
  readonly entries: readonly SnapshotEntry[];
  /** The one that ended it. */
  readonly met: SnapshotEntry | null;
  /** A parent that is not listed any more; null where the way ended at `met` or at a snapshot without a parent. */
  readonly missing: string | null;
}

/** Goes back until `ends` holds or there is no parent left. A circle of parents (only a damaged file has one) is a missing parent. */
export function chainFrom(snapshots: Listed, head: string, ends: (entry: SnapshotEntry) => boolean): Chain {
  const down: SnapshotEntry[] = [];
  for (let id: string | null = head; id !== null; ) {
    const entry: SnapshotEntry | undefined = snapshots.get(id);
    if (entry === undefined || down.length > snapshots.size) return { entries: down.reverse(), met: null, missing: id };
    if (ends(entry)) return { entries: down.reverse(), met: entry, missing: null };
    down.push(entry);
    id = entry.parent;
  }
  return { entries: down.reverse(), met: null, missing: null };
}

/** The newest `limit` entries from `head` back, oldest first. */
export function newestOf(snapshots: Listed, head: string, limit: number): readonly SnapshotEntry[] {
  let left = limit;
  return chainFrom(snapshots, head, () => left-- <= 0).entries;
}
