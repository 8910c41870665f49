import type { Cursor, Poll } from '../core/asset/poll.ts';
import type { Files } from '../files/files.ts';

/** The formats whose tables Sluice reads itself. */
export type TableFormat = 'paimon' | 'iceberg' | 'hudi' | 'delta';

/** A table to read: its root (or, Iceberg from a catalog, its current metadata file), one branch of it, and how bytes are read. */
export interface TableRef {
  readonly location: string;
  /** null is the main branch. */
  readonly branch: string | null;
  readonly files: Files;
}

export type { Cursor, Poll };

export interface PollOptions {
  /** At most this many newest commits are read by a first poll (semantics.md, 3: 1,000). Ignored with a cursor. */
  readonly firstReadLimit?: number;
  /**
   * FULL (default): everything. QUICK: only whether there is a commit after the cursor's, one request where there is none; then
   * rewinds, re-creations, tags and schemas wait for the next FULL poll and `schema` is null. Where there is a commit, and with no
   * cursor, QUICK is FULL, so that nothing is ever recorded on half a look.
   */
  readonly depth?: 'QUICK' | 'FULL';
  readonly signal?: AbortSignal;
}

/**
 * Reads a table's own metadata. Stateless: everything it knows comes from the files and the cursor. Never throws for what a table
 * looks like: a table in any state gets an outcome. Throws only if the signal aborts.
 */
export interface Source {
  readonly format: TableFormat;
  /** cursor null: from the beginning of the readable history. An idle poll costs what facts/formats.md section 0 says. */
  poll(table: TableRef, cursor: Cursor | null, options?: PollOptions): Promise<Poll>;
  /** Does the folder look like a table of this format? Costs at most two requests. */
  detect(table: TableRef): Promise<boolean>;
  /** Can this version still be read now? One request where a version has a file of its own; else what a FULL poll without a cursor reads first. */
  isReadable(table: TableRef, snapshotId: string): Promise<boolean>;
}
