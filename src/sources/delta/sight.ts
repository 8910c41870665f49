import { NothingThere } from '../trouble.ts';
import type { Memory } from './cursor.ts';
import type { LogFiles } from './layout.ts';
import type { LogReader } from './reader.ts';

/** What a look found in the log's folder. */
export interface Sight {
  /** All of the log, or what in it is newer than the cursor. */
  readonly log: LogFiles;
  readonly whole: boolean;
  /** Versions in it, ascending, the cursor's included if it stands. */
  readonly ids: readonly bigint[];
  readonly folder: Memory['folder'];
}

/** How many commits are probed for one by one before a listing is cheaper. */
const PROBES = 8;

/**
 * Looks for what has come after the cursor. null: nothing, and nothing else has changed. Where folders have times, a table at rest costs a
 * probe for the next commit, a look at the cursor's and at the folder, however long the log; elsewhere one listing from the cursor on.
 */
export async function glance(reader: LogReader, memory: Memory): Promise<Sight | null> {
  const { head, state } = memory;
  const listed = memory.folder === 'UNTOLD';
  const [stands, grew] = await Promise.all([reader.stands(head), listed ? false : reader.exists(head.id + 1n)]);
  if (!stands || (grew && state === null)) return wholeLog(reader, memory);
  if (grew) return (await probe(reader, memory)) ?? listAfter(reader, memory);
  if (!listed && memory.folder !== 'LIST' && (await reader.folderTime()) === memory.folder) return null;
  const sight = await listAfter(reader, memory);
  return listed && isAtRest(sight) ? null : sight;
}

/** The listing shows nothing after the cursor. */
const isAtRest = ({ log, ids }: Sight): boolean => ids.length === 1 && log.checkpoints.length === 0;

/** The commits after the cursor by probing; null: there are many. What else is in the log is left to the next look. */
async function probe(reader: LogReader, { head }: Memory): Promise<Sight | null> {
  const ids = [head.id, ...(await reader.probe(head.id, PROBES))];
  return ids.length > PROBES
    ? null
    : { log: { ...NOTHING, versions: ids.slice(1) }, whole: false, ids, folder: 'LIST' };
}

const NOTHING: LogFiles = { versions: [], checkpoints: [], checksums: new Set(), tooLarge: [] };

async function listAfter(reader: LogReader, { head, folder: before }: Memory): Promise<Sight> {
  const folder = before === 'UNTOLD' ? before : ((await reader.folderTime()) ?? 'UNTOLD');
  const log = (await reader.log(head.id)) ?? NOTHING;
  const ids = [head.id, ...log.versions];
  return {
    log,
    whole: false,
    ids: before === 'UNTOLD' && ids.length === 1 ? ids : await complete(reader, ids),
    folder,
  };
}

export async function wholeLog(reader: LogReader, memory: Memory | null): Promise<Sight> {
  const folder = (await reader.folderTime()) ?? 'UNTOLD';
  const log = await reader.log(null);
  if (log === null || log.versions.length === 0) throw await nothingThere(reader, memory, log);
  return { log, whole: true, ids: await complete(reader, log.versions), folder };
}

/** A listing may lack what has just been written, or the last file: what stands after its end is added. */
async function complete(reader: LogReader, ids: readonly bigint[]): Promise<readonly bigint[]> {
  return [...ids, ...(await reader.probe(ids.at(-1) ?? -1n, Number.MAX_SAFE_INTEGER))];
}

export async function nothingThere(
  reader: LogReader,
  memory: Memory | null,
  log: LogFiles | null,
): Promise<NothingThere> {
  const { table } = reader.layout;
  const [tooLarge] = log?.tooLarge ?? [];
  if (tooLarge !== undefined)
    return new NothingThere(`The log of ${table} holds ${tooLarge}, a version that no table can have, and no other.`);
  if (log?.checkpoints.length)
    return new NothingThere(`The log of ${table} holds checkpoints but no commit: its commits were removed by hand.`);
  if (memory !== null)
    return new NothingThere(`The folder ${table} holds no Delta log any more: the table was dropped or moved.`);
  if (log !== null) return new NothingThere(`The log of ${table} holds no commit: the table is not created yet.`);
  return (await reader.names(table)) === null
    ? new NothingThere(`The folder ${table} does not exist: check the location.`)
    : new NothingThere(`The folder ${table} is not a Delta table: it has no _delta_log.`);
}
