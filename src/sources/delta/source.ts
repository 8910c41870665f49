import { unreadable, type Cursor, type Poll } from '../../core/asset/poll.ts';
import type { PollOptions, Source, TableRef } from '../source.ts';
import { FIRST_READ_LIMIT, foreignCursor, unlessUnreadable, untilStill, whyUnreadable } from '../trouble.ts';
import { fromCursor, type Memory } from './cursor.ts';
import { look } from './look.ts';
import { LogReader } from './reader.ts';
import { atRest, remembered } from './report.ts';

/**
 * Reads Delta tables by their log alone (facts: facts/formats.md, 4, and tables that Delta engines wrote). `_last_checkpoint` is never read.
 * Requests of a poll on a table at rest: QUICK 1 (a probe for the next commit); FULL 3 (that probe, the cursor's commit, the time of the
 * log's folder), on stores without folder times 2 (the cursor's commit, a listing from it on); tables that a catalog manages 2 more.
 */
export const createDeltaSource = (): Source => ({ format: 'delta', poll, detect, isReadable });

async function poll(table: TableRef, cursor: Cursor | null, options: PollOptions = {}): Promise<Poll> {
  options.signal?.throwIfAborted();
  const memory = cursor === null ? null : fromCursor(cursor);
  if (memory === undefined) return foreignCursor(cursor);
  if (table.branch !== null && table.branch !== 'main')
    return refuse(cursor, memory, `Delta tables have no branches: leave out ${table.branch}.`, false);
  const { firstReadLimit = FIRST_READ_LIMIT } = options;
  try {
    if (options.depth === 'QUICK' && memory !== null && !(await hasGrown(table, memory, options)))
      return await resting(table, cursor, memory, options);
    return await untilStill(() => look(new LogReader(table, options.signal), cursor, memory, firstReadLimit));
  } catch (error) {
    const { reason, retryable } = whyUnreadable(error);
    return refuse(cursor, memory, reason, retryable);
  }
}

const hasGrown = (table: TableRef, { head }: Memory, { signal }: PollOptions): Promise<boolean> =>
  new LogReader(table, signal).exists(head.id + 1n);

/** Nothing new by the probe alone; only where a catalog has the last word are its staged commits looked at too. */
async function resting(table: TableRef, cursor: Cursor | null, memory: Memory, { signal }: PollOptions): Promise<Poll> {
  return { ...(await atRest(new LogReader(table, signal), cursor, memory)), schema: null };
}

const refuse = (cursor: Cursor | null, memory: Memory | null, reason: string, retryable: boolean): Poll => ({
  ...unreadable(cursor, reason, retryable),
  ...(memory === null ? {} : { ...remembered(memory), schema: null, problems: [] }),
});

async function detect(table: TableRef): Promise<boolean> {
  const reader = new LogReader(table, undefined);
  return unlessUnreadable(async () => {
    if (await reader.exists(0n)) return true;
    const log = await reader.log(null);
    return log !== null && (log.versions.length > 0 || log.checkpoints.length > 0);
  });
}

async function isReadable(table: TableRef, snapshotId: string): Promise<boolean> {
  if (!/^(?:0|[1-9]\d{0,18})$/.test(snapshotId)) return false;
  return new LogReader(table, undefined).exists(BigInt(snapshotId));
}
