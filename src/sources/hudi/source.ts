import { unreadable, type Cursor, type Poll } from '../../core/asset/poll.ts';
import { FilesError } from '../../files/files.ts';
import type { PollOptions, Source, TableRef } from '../source.ts';
import {
  BrokenFile,
  FIRST_READ_LIMIT,
  foreignCursor,
  NothingThere,
  unlessUnreadable,
  untilStill,
  whyUnreadable,
} from '../trouble.ts';
import { fromCursor, glanceOf, type Glance, type Memory } from './cursor.ts';
import { completedInstant, isOlder, isVersion, readTimeline } from './instants.ts';
import { look } from './look.ts';
import { readEarliestKept } from './metadata.ts';
import { ordersByCompletion } from './properties.ts';
import { namesSince } from './past.ts';
import { pathIn, TableReader } from './reader.ts';
import { readConfig } from './timeline.ts';

/**
 * Reads Hudi tables by their timeline (facts: facts/formats.md, 3, and tables that Hudi 0.5 to 1.2 wrote). Requests of a poll on a table at
 * rest: QUICK 1 (the listing of the timeline; 2 or 3 where there is no version yet); FULL 3 (hoodie.properties, the listing, and the newest version that tells the schema).
 * Each new version costs 1 more, and all new ones together 1 (the time of the newest file). Archives are read only where versions may have
 * passed into them unseen.
 */
export const createHudiSource = (): Source => ({ format: 'hudi', poll, detect, isReadable });

async function poll(ref: TableRef, cursor: Cursor | null, options: PollOptions = {}): Promise<Poll> {
  options.signal?.throwIfAborted();
  const glance = options.depth === 'QUICK' && cursor !== null ? glanceOf(cursor) : undefined;
  const reader = new TableReader(ref, options.signal);
  try {
    if (glance !== undefined && isMain(ref) && (await isIdle(reader, glance)))
      return { ...known(glance), outcome: { kind: 'NONE' }, cursor };
  } catch (error) {
    if (glance === undefined || !(error instanceof FilesError)) throw error;
    return { ...unreadable(cursor, error.message, error.retryable), ...known(glance) };
  }
  return pollWhole(ref, cursor, options, reader);
}

const isMain = ({ branch }: TableRef): boolean => branch === null || branch === 'main';

async function pollWhole(
  ref: TableRef,
  cursor: Cursor | null,
  options: PollOptions,
  quick: TableReader,
): Promise<Poll> {
  const memory = cursor === null ? null : fromCursor(cursor);
  if (memory === undefined) return foreignCursor(cursor);
  if (!isMain(ref)) return refuse(cursor, memory, `A Hudi table has no branches: leave ${ref.branch} out.`, false);
  const { firstReadLimit = FIRST_READ_LIMIT } = options;
  const readers = [quick];
  const nextReader = (): TableReader => readers.pop() ?? new TableReader(ref, options.signal);
  try {
    return await untilStill(() => look(nextReader(), cursor, memory, firstReadLimit));
  } catch (error) {
    const { reason, retryable } = whyUnreadable(error);
    return refuse(cursor, memory, reason, retryable);
  }
}

/**
 * The versions in the timeline are those that were seen; one request. A table that had none is looked at whole: an upgrade may have moved
 * its timeline without a trace in the folder that is known.
 */
async function isIdle(reader: TableReader, { timeline, files, past }: Glance): Promise<boolean> {
  if (files.size === 0) return false;
  const all = await reader.earlyNames(timeline ?? '');
  const names = past === null ? all : namesSince(all, past);
  if (names === null) return false;
  let left = files.size;
  for (const name of names) {
    if (files.has(name)) left--;
    else if (isUnseenVersion(name)) return false;
  }
  return left === 0;
}

const isUnseenVersion = (name: string): boolean => {
  const instant = completedInstant('', name);
  return instant !== null && isVersion(instant);
};

/** What is remembered of a table that was not looked at. */
const known = ({ head, dataHead }: Pick<Glance, 'head' | 'dataHead'>): Omit<Poll, 'outcome' | 'cursor'> => ({
  commits: [],
  head,
  dataHead,
  tags: {},
  tagChanges: [],
  schema: null,
  newSchemas: [],
  tableId: null,
  problems: [],
});

const refuse = (cursor: Cursor | null, memory: Memory | null, reason: string, retryable: boolean): Poll => ({
  ...unreadable(cursor, reason, retryable),
  ...(memory === null ? {} : known({ head: memory.seen.at(-1)?.time ?? null, dataHead: memory.dataHead })),
});

async function detect(ref: TableRef): Promise<boolean> {
  const reader = new TableReader(ref, undefined);
  return unlessUnreadable(async () => {
    return (await reader.exists('hoodie.properties')) || (await reader.exists('hoodie.properties.backup'));
  });
}

/**
 * A version can be read as long as it stands in the active timeline and no clean has removed its files, or a savepoint keeps them. Three
 * requests, two where nothing was cleaned.
 */
async function isReadable(ref: TableRef, snapshotId: string): Promise<boolean> {
  const reader = new TableReader(ref, undefined);
  try {
    const config = await readConfig(reader, false);
    const folder = config.timeline ?? '';
    const names = (await reader.names(folder)) ?? [];
    const timeline = readTimeline([{ folder, names }], ordersByCompletion(config));
    if (!timeline.versions.some(({ time }) => time === snapshotId)) return false;
    const clean = timeline.cleans.at(-1);
    if (clean === undefined || timeline.savepoints.has(snapshotId)) return true;
    const bytes = await reader.read(pathIn(clean.folder, clean.file));
    const earliest = bytes === null ? null : await readEarliestKept(bytes).catch(() => null);
    return earliest === null || !isOlder(snapshotId, earliest);
  } catch (error) {
    if (error instanceof NothingThere || error instanceof BrokenFile) return false;
    throw error;
  }
}
