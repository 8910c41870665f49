import type { SeenCommit } from './cursor.ts';
import type { Checkpoint } from './layout.ts';

/** Who stands under a version now. */
export type Present = Pick<SeenCommit, 'fingerprint' | 'time'>;

/** What is in the table's log now, as far as it has been read. */
export interface Seen {
  /** Versions whose commit file is there, ascending. */
  readonly ids: readonly bigint[];
  readonly commits: ReadonlyMap<bigint, Present>;
  /** Is the table's own id the remembered one? null: nobody has looked. */
  readonly sameTable: boolean | null;
}

/** What was there at the last poll. */
export interface Remembered {
  readonly head: Pick<SeenCommit, 'id' | 'time'>;
  readonly known: ReadonlyMap<bigint, string>;
}

/** `fresh` are the versions that the cursor has not seen, ascending. */
export type Verdict =
  /** Nothing can be said before this commit has been read, or the table's id. */
  | { readonly kind: 'READ'; readonly id: bigint }
  | { readonly kind: 'IDENTIFY' }
  | { readonly kind: 'FORWARD'; readonly fresh: readonly bigint[] }
  /** Commits were taken away, which no engine does. `to`: the last that both histories share, null if none is left. */
  | { readonly kind: 'REWOUND'; readonly to: bigint | null; readonly fresh: readonly bigint[] }
  /** The folder holds another log. */
  | { readonly kind: 'RECREATED'; readonly fresh: readonly bigint[] }
  /** There were commits and there is none. */
  | { readonly kind: 'VANISHED' };

export type Settled = Extract<Verdict, { readonly fresh: readonly bigint[] }>;

/**
 * What happened since the cursor. Pure; asks for one commit after the other (READ) until it can tell. Numbers alone prove nothing: a table
 * created again in the same folder begins at 0 again.
 */
export function decide(remembered: Remembered | null, seen: Seen): Verdict {
  const newest = seen.ids.at(-1);
  if (remembered === null) return { kind: 'FORWARD', fresh: seen.ids };
  if (newest === undefined) return { kind: 'VANISHED' };
  const { head, known } = remembered;
  const shared = seen.ids.findLast((id) => id <= head.id);
  // The cursor's commit and all before it have been cleaned up. Whether it is the same table its id must tell.
  if (shared === undefined) return { kind: 'FORWARD', fresh: seen.ids };
  const now = seen.commits.get(shared);
  if (now === undefined) return { kind: 'READ', id: shared };
  const untouched = known.get(shared) === now.fingerprint && (shared === head.id || newest > head.id);
  if (untouched) return { kind: 'FORWARD', fresh: seen.ids.filter((id) => id > head.id) };
  return rewound(remembered, seen);
}

/** Goes back from the cursor to the newest commit that was there before. */
function rewound({ head, known }: Remembered, seen: Seen): Verdict {
  const older = seen.ids.filter((id) => id <= head.id);
  const marked = older.filter((id) => known.has(id));
  const exact = lastWhere(marked, seen, (id, now) => known.get(id) === now.fingerprint);
  if (typeof exact === 'object') return exact;
  const match = marked[exact];
  if (match !== undefined && match !== 0n) return rewoundTo(match, seen);
  if (match === undefined && marked[0] === 0n) return { kind: 'RECREATED', fresh: seen.ids }; // the very first commit is another
  if (match === undefined && seen.sameTable === null) return { kind: 'IDENTIFY' };
  if (match === undefined && !seen.sameTable) return { kind: 'RECREATED', fresh: seen.ids };
  const unmarked = older.filter((id) => !known.has(id));
  const probable = lastWhere(unmarked, seen, (_, now) => now.time + CLOCKS_DIFFER <= head.time);
  return typeof probable === 'object' ? probable : rewoundTo(unmarked[probable] ?? match ?? null, seen);
}

/** ms by which writers' clocks may differ: what is younger than that is taken for new, so that nothing new is taken for old. */
const CLOCKS_DIFFER = 3_600_000n;

const rewoundTo = (to: bigint | null, seen: Seen): Verdict => ({
  kind: 'REWOUND',
  to,
  fresh: seen.ids.filter((id) => to === null || id > to),
});

/** The index of the last of these ascending ids for which the test holds, -1 if for none; it holds up to one and for none after. */
function lastWhere(
  ids: readonly bigint[],
  { commits }: Seen,
  test: (id: bigint, now: Present) => boolean,
): number | Extract<Verdict, { readonly kind: 'READ' }> {
  let [low, high] = [-1, ids.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const id = ids[middle] ?? 0n;
    const now = commits.get(id);
    if (now === undefined) return { kind: 'READ', id };
    if (test(id, now)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Versions that are not there, both included. */
export interface Missing {
  readonly from: bigint;
  readonly to: bigint;
}

/** Which of the fresh versions an engine could read, and what lies between them. */
export interface Passage {
  readonly ids: readonly bigint[];
  /** Holes that a checkpoint bridges, or that clean-up made: what was in them is lost. */
  readonly lost: readonly Missing[];
  /** The hole at which it ends: without a checkpoint behind it no engine gets past it. null: there is none. */
  readonly barrier: Missing | null;
}

/**
 * Walks the ascending ids. `last` is the version before them, null if they may begin anywhere; `cleanedUp`: its file is gone, so that what
 * lies between it and the first id was cleaned up.
 */
export function passage(
  last: bigint | null,
  ids: readonly bigint[],
  checkpoints: readonly Checkpoint[],
  cleanedUp: boolean,
): Passage {
  const bridge = checkpoints.at(-1)?.version ?? -1n;
  const lost: Missing[] = [];
  for (const [index, id] of ids.entries()) {
    const before = ids[index - 1] ?? last;
    if (before === null || id === before + 1n) continue;
    const hole = { from: before + 1n, to: id - 1n };
    const passable = bridge >= hole.to || (index === 0 && cleanedUp);
    if (!passable) return { ids: ids.slice(0, index), lost, barrier: hole };
    lost.push(hole);
  }
  return { ids, lost, barrier: null };
}
