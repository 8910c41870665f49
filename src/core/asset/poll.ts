import type { TableSchema } from './schema/schema.ts';
import type { Commit } from './version.ts';

/**
 * What a source must remember to tell new commits, rewinds, re-creations and expiry apart. Plain JSON, made and understood by one
 * source only; `v` is its own layout number. Ids in it are strings.
 */
export type Cursor = { readonly v: number } & { readonly [key: string]: unknown };

/** What happened since the cursor (semantics.md, 1). */
export type Outcome =
  | { readonly kind: 'NEW' }
  | { readonly kind: 'NONE' }
  /** History expired before it was read; from and to are the ids that are missing, null where the format has no countable ids. */
  | { readonly kind: 'GAP'; readonly from: string | null; readonly to: string | null }
  /** Rewound to a commit (null: to before the first). `restored` is that commit again, if it can still be read. */
  | { readonly kind: 'ROLLBACK'; readonly to: string | null; readonly restored: Commit | null }
  | { readonly kind: 'RECREATED' }
  | { readonly kind: 'BEHIND'; readonly reason: string }
  | { readonly kind: 'UNREADABLE'; readonly reason: string; readonly retryable: boolean };

/** A tag made, moved or deleted since the cursor. */
export interface TagChange {
  readonly tag: string;
  /** null: deleted. */
  readonly snapshotId: string | null;
  /** What it named before; null: it is new. */
  readonly before: string | null;
}

export interface Poll {
  readonly outcome: Outcome;
  /** Commits that the cursor had not seen, oldest first: after a rewind or a re-creation those written since; after a gap those readable. */
  readonly commits: readonly Commit[];
  /** Where to go on; equal to the cursor given when the table was unreadable. null: nothing has been read yet. */
  readonly cursor: Cursor | null;
  /** Newest commit's id, and the newest readable one with dataChange; null if none. On UNREADABLE what was known before. */
  readonly head: string | null;
  readonly dataHead: string | null;
  /** All tags now: name → snapshotId. */
  readonly tags: Readonly<Record<string, string>>;
  readonly tagChanges: readonly TagChange[];
  /** The table's current schema; null if there is none or it could not be read. */
  readonly schema: TableSchema | null;
  /** Schemas that appeared since the cursor, in the table's order (the current one included). */
  readonly newSchemas: readonly TableSchema[];
  /** The table's own identity where the format has one (Iceberg table-uuid, Delta metaData.id). */
  readonly tableId: string | null;
  /** What is odd about the table, in plain words for people; the poll succeeded nevertheless. */
  readonly problems: readonly string[];
}

/** A poll that could not read the table: nothing new, the cursor stays, the reason is for people. */
export const unreadable = (cursor: Cursor | null, reason: string, retryable: boolean): Poll => ({
  outcome: { kind: 'UNREADABLE', reason, retryable },
  commits: [],
  cursor,
  head: null,
  dataHead: null,
  tags: {},
  tagChanges: [],
  schema: null,
  newSchemas: [],
  tableId: null,
  problems: [],
});
