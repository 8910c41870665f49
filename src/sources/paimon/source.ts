import { unreadable, type Cursor, type Poll } from '../../core/asset/poll.ts';
import type { PollOptions, Source, TableRef } from '../source.ts';
import { FIRST_READ_LIMIT, foreignCursor, unlessUnreadable, untilStill, whyUnreadable } from '../trouble.ts';
import { fromCursor, type Memory } from './cursor.ts';
import { isPlainName } from './layout.ts';
import { look } from './look.ts';
import { TableReader } from './reader.ts';

/**
 * Reads Paimon tables by their metadata files alone (facts: facts/formats.md, 1, and tables that Paimon wrote). Hints (LATEST, EARLIEST)
 * are never read: listings and probes decide. Requests of a poll on a table at rest: QUICK 1 (a probe for the next snapshot);
 * FULL 3 listings, the cursor's snapshot, the first and the newest schema, and each tag (object stores whose listing tells stamps:
 * only changed tags).
 */
export const createPaimonSource = (): Source => ({ format: 'paimon', poll, detect, isReadable });

async function poll(table: TableRef, cursor: Cursor | null, options: PollOptions = {}): Promise<Poll> {
  options.signal?.throwIfAborted();
  const memory = cursor === null ? null : fromCursor(cursor);
  if (memory === undefined) return foreignCursor(cursor);
  if (table.branch !== null && !isPlainName(table.branch))
    return refuse(cursor, memory, `${table.branch} cannot be the name of a branch: leave out slashes.`, false);
  const { firstReadLimit = FIRST_READ_LIMIT } = options;
  try {
    if (options.depth === 'QUICK' && cursor !== null && memory !== null && (await isIdle(table, memory, options)))
      return { ...known(memory), outcome: { kind: 'NONE' }, cursor };
    return await untilStill(() => look(new TableReader(table, options.signal), cursor, memory, firstReadLimit));
  } catch (error) {
    const { reason, retryable } = whyUnreadable(error);
    return refuse(cursor, memory, reason, retryable);
  }
}

/** Nothing new that could be recorded; one request. */
async function isIdle(table: TableRef, memory: Memory, options: PollOptions): Promise<boolean> {
  const reader = new TableReader(table, options.signal);
  if (memory.head !== null) return !(await reader.exists(reader.layout.snapshot(memory.head.id + 1n)));
  const snapshots = await reader.numbered('snapshot-');
  return (snapshots?.ids.length ?? 0) === 0;
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
  return unlessUnreadable(async () => {
    return (await holds('schema-')) || (await holds('snapshot-'));
  });
}

async function isReadable(table: TableRef, snapshotId: string): Promise<boolean> {
  if (!/^[1-9]\d{0,18}$/.test(snapshotId)) return false;
  const reader = new TableReader(table, undefined);
  return reader.exists(reader.layout.snapshot(BigInt(snapshotId)));
}
