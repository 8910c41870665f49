import type { SeenSnapshot } from './cursor.ts';

/** What is in the table's folder now, as far as it has been read. */
export interface Seen {
  /** Ids of all snapshot files, ascending. */
  readonly ids: readonly bigint[];
  /** Who stands at those ids that have been read so far. */
  readonly snapshots: ReadonlyMap<bigint, SeenSnapshot>;
  /** The lowest schema file is another than the cursor's: another table stands here. */
  readonly anotherTable: boolean;
}

/** What was there at the last poll. */
export interface Remembered {
  readonly head: SeenSnapshot | null;
  readonly known: ReadonlyMap<bigint, string>;
}

/** `fresh` are the ids that the cursor has not seen, ascending. */
export type Verdict =
  /** Nothing can be said before this snapshot has been read. */
  | { readonly kind: 'READ'; readonly id: bigint }
  | { readonly kind: 'FORWARD'; readonly fresh: readonly bigint[] }
  /** `to`: the snapshot that both histories share, null if none is left. */
  | { readonly kind: 'REWOUND'; readonly to: bigint | null; readonly fresh: readonly bigint[] }
  | { readonly kind: 'RECREATED'; readonly fresh: readonly bigint[] }
  /** There were snapshots and there is none, though it is the same table: it is being dropped, or damaged. */
  | { readonly kind: 'VANISHED' };

/**
 * What happened since the cursor. Pure; asks for one snapshot after the other (READ) until it can tell. Ids are only ever compared
 * within one incarnation of the table: Paimon gives the ids after a rewind, and those of a re-created table, a second time.
 */
export function decide(remembered: Remembered, seen: Seen): Verdict {
  const { head } = remembered;
  if (seen.anotherTable) return { kind: 'RECREATED', fresh: seen.ids };
  if (head === null) return { kind: 'FORWARD', fresh: seen.ids };
  if (seen.ids.length === 0) return { kind: 'VANISHED' };
  const shared = seen.ids.findLast((id) => id <= head.id);
  const grew = (seen.ids.at(-1) ?? 0n) > head.id;
  // The cursor's snapshot and all before it have expired. That a rewind hides behind it cannot be told from metadata.
  if (shared === undefined) return { kind: 'FORWARD', fresh: seen.ids };
  const now = seen.snapshots.get(shared);
  if (now === undefined) return { kind: 'READ', id: shared };
  const untouched = isKnown(remembered, head, now) && (shared === head.id || grew);
  return untouched
    ? { kind: 'FORWARD', fresh: seen.ids.filter((id) => id > head.id) }
    : rewound(remembered, head, seen);
}

/** Was this commit there at the last poll? By its fingerprint if that was kept, else by the writers' clocks. */
function isKnown({ known }: Remembered, head: SeenSnapshot, now: SeenSnapshot): boolean {
  const mark = now.id === head.id ? head.fingerprint : known.get(now.id);
  return mark === undefined ? now.timeMillis <= head.timeMillis : mark === now.fingerprint;
}

/** Goes back from the cursor to the newest snapshot that was there before. */
function rewound(remembered: Remembered, head: SeenSnapshot, seen: Seen): Verdict {
  for (const id of seen.ids.filter((candidate) => candidate <= head.id).reverse()) {
    const now = seen.snapshots.get(id);
    if (now === undefined) return { kind: 'READ', id };
    if (!isKnown(remembered, head, now)) continue;
    return { kind: 'REWOUND', to: id, fresh: seen.ids.filter((other) => other > id) };
  }
  // No rewind takes the first snapshot away, so one that is another proves another table even where no schema file says so.
  if (seen.ids[0] === 1n) return { kind: 'RECREATED', fresh: seen.ids };
  return { kind: 'REWOUND', to: null, fresh: seen.ids };
}

/** Ids that came and went unread, both included. */
export interface Missing {
  readonly from: bigint;
  readonly to: bigint;
}

/** The first hole in the ascending ids that follow `last`, if any: ids are continuous, so what lies in it has expired. */
export function firstHole(last: bigint, ids: readonly bigint[]): Missing | null {
  const at = ids.findIndex((id, index) => id !== (ids[index - 1] ?? last) + 1n);
  const beyond = ids[at];
  return beyond === undefined ? null : { from: (ids[at - 1] ?? last) + 1n, to: beyond - 1n };
}
