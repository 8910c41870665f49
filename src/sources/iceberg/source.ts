import { unreadable, type Cursor, type Poll } from '../../core/asset/poll.ts';
import { FilesError } from '../../files/files.ts';
import type { PollOptions, Source, TableRef } from '../source.ts';
import { fromCursor, type Memory } from './cursor.ts';
import { findCurrent } from './find.ts';
import { glance, isQuiet } from './glance.ts';
import { look, type Question } from './look.ts';
import { BrokenFile } from './metadata.ts';
import { isMetadataFile, metadataName, trimmed } from './names.ts';
import { MovedOn, NothingThere, TableReader } from './reader.ts';

/**
 * Reads Iceberg tables by their metadata files alone (facts: facts/formats.md, 2; the Iceberg specification; tables that engines wrote).
 * The location is the table's folder or, as a catalog names it, its current metadata file. Requests of a poll on a table at rest: for a
 * metadata file 1 (its size and time); for a folder QUICK 1 (a listing), FULL that, the hint and the file read last. A metadata file is
 * read again only when its name, size or time changed.
 */
export const createIcebergSource = (): Source => ({ format: 'iceberg', poll, detect, isReadable });

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
  const reader = new TableReader(table, options.signal);
  try {
    if (options.depth === 'QUICK' && cursor !== null && memory !== null && (await isQuiet(reader, memory.files)))
      return { ...known(memory), outcome: { kind: 'NONE' }, cursor, schema: null };
    const firstReadLimit = options.firstReadLimit ?? FIRST_READ_LIMIT;
    return await lookUntilStill(reader, { branch: table.branch ?? 'main', cursor, memory, firstReadLimit });
  } catch (error) {
    return refuse(cursor, memory, error);
  }
}

async function lookUntilStill(reader: TableReader, question: Question): Promise<Poll> {
  const { cursor, memory } = question;
  for (let left = LOOKS; ; left--) {
    try {
      const seen = await glance(reader, memory?.files ?? null);
      // A schema too large to be remembered is read again, so that every FULL poll can tell it.
      if (seen.still && cursor !== null && memory?.schema)
        return { ...known(memory), outcome: { kind: 'NONE' }, cursor };
      return await look(reader, seen, question);
    } catch (error) {
      if (!(error instanceof MovedOn) || left === 1) throw error;
    }
  }
}

/** What the memory says of a table whose files have not changed. */
const known = (memory: Memory): Omit<Poll, 'outcome' | 'cursor'> => ({
  commits: [],
  head: memory.head?.id ?? null,
  dataHead: memory.dataHead,
  tags: Object.fromEntries(memory.tags),
  tagChanges: [],
  schema: memory.schema,
  newSchemas: [],
  tableId: memory.tableId,
  problems: memory.problems,
});

/** Words for what stood in the way; throws what is nobody's expectation. */
function refuse(cursor: Cursor | null, memory: Memory | null, error: unknown): Poll {
  const answer = (reason: string, retryable: boolean): Poll => ({
    ...unreadable(cursor, reason, retryable),
    ...(memory === null ? {} : known(memory)),
    problems: [],
  });
  if (error instanceof FilesError) return answer(error.message, error.retryable);
  if (error instanceof NothingThere) return answer(error.message, true);
  if (error instanceof BrokenFile) return answer(`${error.message}; it is read again at the next poll.`, true);
  if (error instanceof MovedOn) return answer(`The table changes faster than it can be read (${error.message}).`, true);
  throw error;
}

async function detect(table: TableRef): Promise<boolean> {
  const reader = new TableReader(table, undefined);
  try {
    if (isMetadataFile(table.location))
      return /metadata\.json/i.test(table.location) && (await reader.stat(table.location)) !== null;
    const entries = (await reader.list(`${trimmed(table.location)}/metadata`)) ?? [];
    return entries.some((entry) => entry.kind === 'file' && metadataName(entry.name) !== null);
  } catch (error) {
    if (error instanceof FilesError) return false;
    throw error;
  }
}

/** Engines read a version exactly while the current metadata file lists it. */
async function isReadable(table: TableRef, snapshotId: string): Promise<boolean> {
  if (!/^\d{1,20}$/.test(snapshotId)) return false;
  const reader = new TableReader(table, undefined);
  try {
    const { metadata } = await findCurrent(reader, await glance(reader, null), null);
    return metadata.snapshots.has(snapshotId);
  } catch (error) {
    if (error instanceof NothingThere || error instanceof BrokenFile || error instanceof MovedOn) return false;
    throw error;
  }
}
