import { chainFrom, newestOf, type Chain } from './chain.ts';
import type { SnapshotEntry } from './metadata.ts';

/** The branch's newest snapshot at the last poll. */
export interface SeenHead {
  readonly id: string;
  readonly sequence: bigint | null;
  readonly time: bigint;
  /** Rows in its data files; null if it did not say. */
  readonly rows: bigint | null;
}

/** What was there at the last poll. */
export interface Remembered {
  readonly tableId: string | null;
  readonly head: SeenHead | null;
  /** The newest ids of the branch's history then, oldest first, the head's last. */
  readonly known: readonly string[];
  /** Ids that were on the branch once and were taken off it again. */
  readonly withdrawn: readonly string[];
}

/** How a snapshot without a parent begins. */
export interface Root {
  readonly operation: string;
  /** Rows that were there before it, by its own summary; null if that does not say. */
  readonly rowsBefore: bigint | null;
}

/** What is there now. */
export interface Seen {
  readonly tableId: string | null;
  /** null: the branch has no snapshot. */
  readonly head: string | null;
  readonly snapshots: ReadonlyMap<string, SnapshotEntry>;
  readonly root: (entry: SnapshotEntry) => Root;
  /** Of a table never seen before, at most so many of the newest snapshots are fresh. */
  readonly limit: number;
}

/** `fresh` are the snapshots that the cursor has not seen on this branch, oldest first. */
export type Verdict =
  | { readonly kind: 'FORWARD'; readonly fresh: readonly SnapshotEntry[] }
  /** Snapshots between the cursor and the first fresh one expired; `missing` is the last of them, if its id is known. */
  | { readonly kind: 'GAP'; readonly fresh: readonly SnapshotEntry[]; readonly missing: string | null }
  /** `to`: what the branch went back to, null if nothing of it is known; `restored` is its entry, if it is still listed. */
  | {
      readonly kind: 'REWOUND';
      readonly to: string | null;
      readonly restored: SnapshotEntry | null;
      readonly fresh: readonly SnapshotEntry[];
    }
  | { readonly kind: 'RECREATED'; readonly fresh: readonly SnapshotEntry[] };

/**
 * What happened to the branch since the cursor. Pure. Snapshots are linked by their parents alone; sequence numbers, times and row counts
 * are asked only where expiry has cut the links (facts/formats.md, 2.2).
 */
export function decide(memory: Remembered, seen: Seen): Verdict {
  const { head } = seen;
  const all = (): readonly SnapshotEntry[] => (head === null ? [] : newestOf(seen.snapshots, head, seen.limit));
  if (isAnotherTable(memory.tableId, seen.tableId)) return { kind: 'RECREATED', fresh: all() };
  if (memory.head === null) return { kind: 'FORWARD', fresh: all() };
  // CREATE OR REPLACE keeps the table's id and leaves main without a snapshot.
  if (head === null) return { kind: 'RECREATED', fresh: [] };
  if (head === memory.head.id) return { kind: 'FORWARD', fresh: [] };
  return follow(memory, memory.head, seen, head);
}

export const isAnotherTable = (before: string | null, now: string | null): boolean =>
  before !== null && now !== null && before.toLowerCase() !== now.toLowerCase();

function follow(memory: Remembered, before: SeenHead, seen: Seen, head: string): Verdict {
  const { known, chain } = meet(memory, before, seen, head);
  if (chain.met?.id === before.id || chain.missing === before.id) return { kind: 'FORWARD', fresh: chain.entries };
  if (chain.met !== null) return rewound(memory, chain.met.id, chain.met, chain.entries);
  if (chain.missing !== null && known.has(chain.missing)) return rewound(memory, chain.missing, null, chain.entries);
  return unlinked(memory, before, seen, chain);
}

/** Goes back from the head to what was on the branch before: first by the ids remembered, then by all that the cursor's snapshot comes from. */
function meet(
  memory: Remembered,
  before: SeenHead,
  { snapshots }: Seen,
  head: string,
): { readonly known: ReadonlySet<string>; readonly chain: Chain } {
  const known = new Set([...memory.known, before.id]);
  const listed = snapshots.has(before.id);
  // Where the cursor's snapshot is gone, nothing older than it can tell more.
  const tooOld = (entry: SnapshotEntry): boolean => !listed && isNumberedBefore(entry, before);
  const chain = chainFrom(snapshots, head, (entry) => known.has(entry.id) || tooOld(entry));
  if (chain.met !== null || !listed) return { known, chain };
  for (const { id } of newestOf(snapshots, before.id, Number.POSITIVE_INFINITY)) known.add(id);
  return { known, chain: chainFrom(snapshots, head, (entry) => known.has(entry.id)) };
}

/**
 * Back to `to`, then on by `after`. What of that had been on the branch before and comes back is what it was rewound to; only what was never
 * there is fresh.
 */
function rewound(
  memory: Remembered,
  to: string | null,
  restored: SnapshotEntry | null,
  after: readonly SnapshotEntry[],
): Verdict {
  const withdrawn = new Set(memory.withdrawn);
  const back = after.findLastIndex((entry) => withdrawn.has(entry.id));
  const again = after[back];
  if (again === undefined) return { kind: 'REWOUND', to, restored, fresh: after };
  return { kind: 'REWOUND', to: again.id, restored: again, fresh: after.slice(back + 1) };
}

/** Nothing that is left links the branch with the cursor: expiry has cut the link, or there never was one. */
function unlinked(memory: Remembered, before: SeenHead, seen: Seen, chain: Chain): Verdict {
  const [oldest] = chain.entries;
  if (oldest === undefined) return { kind: 'GAP', fresh: [], missing: chain.missing };
  if (!isNewer(oldest, before)) {
    const older = chain.entries.findLastIndex((entry) => !isNewer(entry, before));
    const restored = chain.entries[older] ?? null;
    return rewound(memory, restored?.id ?? null, restored, chain.entries.slice(older + 1));
  }
  if (chain.missing !== null) return { kind: 'GAP', fresh: chain.entries, missing: chain.missing };
  return afterRoot(before, oldest, seen, chain.entries);
}

const isNumberedBefore = (entry: SnapshotEntry, before: SeenHead): boolean =>
  entry.sequence !== null && before.sequence !== null && entry.sequence < before.sequence;

/** By sequence number, which counts over all branches; by the writers' clocks where format version 1 has none. */
const isNewer = (entry: SnapshotEntry, before: SeenHead): boolean =>
  entry.sequence !== null && before.sequence !== null ? entry.sequence > before.sequence : entry.time > before.time;

/**
 * The oldest snapshot left has no parent and is newer than the cursor: the table was replaced (REPLACE TABLE AS SELECT keeps its id), or
 * an expiry has cut the link to an expired parent (PyIceberg's does). A replaced table begins with no rows, and the cursor's own snapshot,
 * while it is listed, cannot be an expired parent.
 */
function afterRoot(before: SeenHead, oldest: SnapshotEntry, seen: Seen, fresh: readonly SnapshotEntry[]): Verdict {
  const { operation, rowsBefore } = seen.root(oldest);
  if (seen.snapshots.has(before.id))
    return rowsBefore === null || rowsBefore === 0n
      ? { kind: 'RECREATED', fresh }
      : { kind: 'GAP', fresh, missing: null };
  if (rowsBefore === 0n && operation === 'overwrite') return { kind: 'RECREATED', fresh };
  const next = oldest.sequence !== null && before.sequence !== null && oldest.sequence === before.sequence + 1n;
  const fits = rowsBefore === null || before.rows === null || rowsBefore === before.rows;
  return next && fits ? { kind: 'FORWARD', fresh } : { kind: 'GAP', fresh, missing: null };
}
