import { unreadable, type Cursor, type Poll } from '../../core/asset/poll.ts';
import { FilesError } from '../../files/files.ts';
import type { PollOptions, Source, TableRef } from '../source.ts';
import { fromCursor, type Memory } from './cursor.ts';
import { isPlainName } from './layout.ts';
import { look, NothingThere } from './look.ts';
import { BrokenFile, MovedOn, TableReader } from './reader.ts';

/**
 * Reads Paimon tables by their metadata files alone (facts: facts/formats.md, 1, and tables that Paimon wrote). Hints (LATEST, EARLIEST)
 * are never read: listings and probes decide. Requests of a poll on a table at rest: QUICK 1 (a probe for the next snapshot);
 * FULL 3 listings, the cursor's snapshot, the first and the newest schema, and each tag (object stores whose listing tells stamps:
 * only changed tags).
 */
export const createPaimonSource = (): Source => ({ format: 'paimon', poll, detect, isReadable });

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
  if (table.branch !== null && !isPlainName(table.branch))
    return refuse(cursor, memory, `${table.branch} cannot be the name of a branch: leave out slashes.`, false);
  try {
    if (options.depth === 'QUICK' && cursor !== null && memory !== null && (await isIdle(table, memory, options)))
      return { ...known(memory), outcome: { kind: 'NONE' }, cursor };
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

/** Nothing new that could be recorded; one request. */
async function isIdle(table: TableRef, memory: Memory, options: PollOptions): Promise<boolean> {
  const reader = new TableReader(table, options.signal);
  if (memory.head !== null) return !(await reader.exists(reader.layout.snapshot(memory.head.id + 1n)));
  const snapshots = await reader.numbered('snapshot-');
  return (snapshots?.ids.length ?? 0) === 0;
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
      return await look(new TableReader(table, options.signal), cursor, memory, limit);
    } catch (error) {
      if (!(error instanceof MovedOn) || left === 1) throw error;
    }
  }
}

/** What the memory says of a table that was not looked at. */
const known = (memory: Memory): Omit<Poll, 'outcome' | 'cursor'> => ({
  commits: [],
  head: memory.head?.id.toString() ?? null,
  dataHead: memory.dataHead?.toString() ?? null,
  tags: Object.fromEntries([...memory.tags].map(([tag, id]) => [tag, id.toString()])),
  tagChanges: [],
  schema: null,
  newSchemas: [],
  tableId: null,
  problems: [],
});

const refuse = (cursor: Cursor | null, memory: Memory | null, reason: string, retryable: boolean): Poll => ({
  ...unreadable(cursor, reason, retryable),
  ...(memory === null ? {} : known(memory)),
});

async function detect(table: TableRef): Promise<boolean> {
  const reader = new TableReader(table, undefined);
  const holds = async (prefix: 'snapshot-' | 'schema-'): Promise<boolean> =>
    ((await reader.numbered(prefix))?.ids.length ?? 0) > 0;
  try {
    return (await holds('schema-')) || (await holds('snapshot-'));
  } catch (error) {
    if (error instanceof FilesError) return false;
    throw error;
  }
}

async function isReadable(table: TableRef, snapshotId: string): Promise<boolean> {
  if (!/^[1-9]\d{0,18}$/.test(snapshotId)) return false;
  const reader = new TableReader(table, undefined);
  return reader.exists(reader.layout.snapshot(BigInt(snapshotId)));
}
