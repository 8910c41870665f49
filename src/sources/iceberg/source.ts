import { unreadable, type Cursor, type Poll } from '../../core/asset/poll.ts';
import type { PollOptions, Source, TableRef } from '../source.ts';
import {
  BrokenFile,
  FIRST_READ_LIMIT,
  foreignCursor,
  MovedOn,
  NothingThere,
  unlessUnreadable,
  untilStill,
  whyUnreadable,
} from '../trouble.ts';
import { fromCursor, type Memory } from './cursor.ts';
import { findCurrent } from './find.ts';
import { glance, isQuiet } from './glance.ts';
import { look, type Question } from './look.ts';
import { isMetadataFile, metadataName } from './names.ts';
import { TableReader } from './reader.ts';

/**
 * Reads Iceberg tables by their metadata files alone (facts: facts/formats.md, 2; the Iceberg specification; tables that engines wrote).
 * The location is the table's folder or, as a catalog names it, its current metadata file. Requests of a poll on a table at rest: for a
 * metadata file 1 (its size and time); for a folder QUICK 1 (a listing), FULL that, the hint and the file read last. A metadata file is
 * read again only when its name, size or time changed.
 */
export const createIcebergSource = (): Source => ({ format: 'iceberg', poll, detect, isReadable });

async function poll(table: TableRef, cursor: Cursor | null, options: PollOptions = {}): Promise<Poll> {
  options.signal?.throwIfAborted();
  const memory = cursor === null ? null : fromCursor(cursor);
  if (memory === undefined) return foreignCursor(cursor);
  const reader = new TableReader(table, options.signal);
  try {
    if (options.depth === 'QUICK' && cursor !== null && memory !== null && (await isQuiet(reader, memory.files)))
      return { ...known(memory), outcome: { kind: 'NONE' }, cursor, schema: null };
    const firstReadLimit = options.firstReadLimit ?? FIRST_READ_LIMIT;
    const question = { branch: table.branch ?? 'main', cursor, memory, firstReadLimit };
    return await untilStill(() => lookOnce(reader, question));
  } catch (error) {
    return refuse(cursor, memory, error);
  }
}

async function lookOnce(reader: TableReader, question: Question): Promise<Poll> {
  const { cursor, memory } = question;
  const seen = await glance(reader, memory?.files ?? null);
  // A schema too large to be remembered is read again, so that every FULL poll can tell it.
  if (seen.still && cursor !== null && memory?.schema) return { ...known(memory), outcome: { kind: 'NONE' }, cursor };
  return look(reader, seen, question);
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

/** Words for what stood in the way. */
function refuse(cursor: Cursor | null, memory: Memory | null, error: unknown): Poll {
  const { reason, retryable } = whyUnreadable(error);
  return {
    ...unreadable(cursor, reason, retryable),
    ...(memory === null ? {} : known(memory)),
    problems: [],
  };
}

async function detect(table: TableRef): Promise<boolean> {
  const reader = new TableReader(table, undefined);
  return unlessUnreadable(async () => {
    if (isMetadataFile(reader.location))
      return /metadata\.json/i.test(reader.location) && (await reader.stat(reader.location)) !== null;
    const entries = (await reader.list(`${reader.location}/metadata`)) ?? [];
    return entries.some((entry) => entry.kind === 'file' && metadataName(entry.name) !== null);
  });
}

/** Engines read a version exactly while the current metadata file lists it. */
async function isReadable(table: TableRef, snapshotId: string): Promise<boolean> {
  if (!/^-?\d{1,20}$/.test(snapshotId)) return false;
  const reader = new TableReader(table, undefined);
  try {
    const { metadata } = await findCurrent(reader, await glance(reader, null), null);
    return metadata.snapshots.has(snapshotId);
  } catch (error) {
    if (error instanceof NothingThere || error instanceof BrokenFile || error instanceof MovedOn) return false;
    throw error;
  }
}
