import { unreadable, type Cursor, type Poll } from '../../core/asset/poll.ts';
import { FilesError } from '../../files/files.ts';
import type { PollOptions, Source, TableRef } from '../source.ts';
import { fromCursor, type Memory } from './cursor.ts';
import { look } from './look.ts';
import { BrokenFile, LogReader, MovedOn, NothingThere } from './reader.ts';
import { atRest, remembered } from './report.ts';

/**
 * Reads Delta tables by their log alone (facts: facts/formats.md, 4, and tables that Delta engines wrote). `_last_checkpoint` is never read.
 * Requests of a poll on a table at rest: QUICK 1 (a probe for the next commit); FULL 3 (that probe, the cursor's commit, the time of the
 * log's folder), on stores without folder times 2 (the cursor's commit, a listing from it on); tables that a catalog manages 2 more.
 */
export const createDeltaSource = (): Source => ({ format: 'delta', poll, detect, isReadable });

/** semantics.md, 3: a first read records at most the newest 1,000 versions. */
const FIRST_READ_LIMIT = 1_000;
/** How often a table that changes under the reader is looked at anew within one poll. */
const LOOKS = 3;

async function poll(table: TableRef, cursor: Cursor | null, options: PollOptions = {}): Promise<Poll> {
  options.signal?.throwIfAborted();
  const memory = cursor === null ? null : fromCursor(cursor);
  if (memory === undefined)
    return unreadable(
      cursor,
      'What was remembered of the table is not of this version of Sluice: read the table anew.',
      false,
    );
  if (table.branch !== null && table.branch !== 'main')
    return refuse(cursor, memory, `Delta tables have no branches: leave out ${table.branch}.`, false);
  try {
    if (options.depth === 'QUICK' && memory !== null && !(await hasGrown(table, memory, options)))
      return await resting(table, cursor, memory, options);
    return await lookUntilStill(table, cursor, memory, options);
  } catch (error) {
    if (error instanceof FilesError) return refuse(cursor, memory, error.message, error.retryable);
    if (error instanceof NothingThere) return refuse(cursor, memory, error.message, true);
    if (error instanceof BrokenFile) return refuse(cursor, memory, `${error.message}; a writer may be at it.`, true);
    if (error instanceof MovedOn)
      return refuse(cursor, memory, `The table changes faster than it can be read (${error.message}).`, true);
    throw error;
  }
}

const hasGrown = (table: TableRef, { head }: Memory, { signal }: PollOptions): Promise<boolean> =>
  new LogReader(table, signal).exists(head.id + 1n);

/** Nothing new by the probe alone; only where a catalog has the last word are its staged commits looked at too. */
async function resting(table: TableRef, cursor: Cursor | null, memory: Memory, { signal }: PollOptions): Promise<Poll> {
  return { ...(await atRest(new LogReader(table, signal), cursor, memory)), schema: null };
}

async function lookUntilStill(
  table: TableRef,
  cursor: Cursor | null,
  memory: Memory | null,
  options: PollOptions,
): Promise<Poll> {
  for (let left = LOOKS; ; left--) {
    try {
      const limit = options.firstReadLimit ?? FIRST_READ_LIMIT;
      return await look(new LogReader(table, options.signal), cursor, memory, limit);
    } catch (error) {
      if (!(error instanceof MovedOn) || left === 1) throw error;
    }
  }
}

const refuse = (cursor: Cursor | null, memory: Memory | null, reason: string, retryable: boolean): Poll => ({
  ...unreadable(cursor, reason, retryable),
  ...(memory === null ? {} : { ...remembered(memory), schema: null, problems: [] }),
});

async function detect(table: TableRef): Promise<boolean> {
  const reader = new LogReader(table, undefined);
  try {
    if (await reader.exists(0n)) return true;
    const log = await reader.log(null);
    return log !== null && (log.versions.length > 0 || log.checkpoints.length > 0);
  } catch (error) {
    if (error instanceof FilesError) return false;
    throw error;
  }
}

async function isReadable(table: TableRef, snapshotId: string): Promise<boolean> {
  if (!/^(?:0|[1-9]\d{0,18})$/.test(snapshotId)) return false;
  return new LogReader(table, undefined).exists(BigInt(snapshotId));
}
