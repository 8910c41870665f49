import type { Cursor, Poll } from '../../core/asset/poll.ts';
import { stateAt } from './base.ts';
import { commitTime, readFiles, tell, type Start } from './commits.ts';
import type { CommitFile } from './commit-file.ts';
import type { Memory } from './cursor.ts';
import { decide, passage, type Passage, type Present, type Verdict } from './decide.ts';
import { commitName, type LogFiles } from './layout.ts';
import { BrokenFile, MovedOn, NothingThere, type LogReader } from './reader.ts';
import { atRest, report } from './report.ts';

export type Settled = Extract<Verdict, { readonly fresh: readonly bigint[] }>;

/** What a look found in the log's folder. */
export interface Sight {
  /** All of the log, or what in it is newer than the cursor. */
  readonly log: LogFiles;
  /** Versions in it, ascending, the cursor's included if it stands. */
  readonly ids: readonly bigint[];
  readonly folder: Memory['folder'];
}

/**
 * One whole look at a table. Throws NothingThere, BrokenFile, MovedOn, FilesError. `cursor` and `memory` are the same thing, null at the
 * first look.
 */
export async function look(
  reader: LogReader,
  cursor: Cursor | null,
  memory: Memory | null,
  firstReadLimit: number,
): Promise<Poll> {
  const sight = memory === null ? await wholeLog(reader, null) : await glance(reader, memory);
  if (sight === null) return atRest(reader, cursor, memory);
  const verdict = await settle(reader, memory, sight);
  const start = startOf(memory, verdict);
  const way = passage(start.version, freshOf(memory, verdict, firstReadLimit), sight.log.checkpoints, isCleanedUp(memory, sight));
  await confirmHoles(reader, way);
  const read = await readFiles(reader, way.ids);
  const [first] = read.files;
  if (first === undefined && read.stoppedBy !== null) throw new BrokenFile(read.stoppedBy);
  if (first !== undefined) await confirm(reader, memory, verdict, sight, first);
  const told = await tell(reader, sight.log, read.files, await begin(reader, sight, start));
  return report(reader, { cursor, memory, sight, verdict, way, read, told });
}

/** How many commits are probed for one by one before a listing is cheaper. */
const PROBES = 8;

/**
 * Looks for what has come after the cursor. null: nothing, and nothing else has changed. Where folders have times, a table at rest costs a
 * probe for the next commit, a look at the cursor's and at the folder, however long the log; elsewhere one listing from the cursor on.
 */
async function glance(reader: LogReader, memory: Memory): Promise<Sight | null> {
  const { head } = memory;
  const listed = memory.folder === 'UNTOLD';
  const [stands, grew] = await Promise.all([reader.stands(head), listed ? false : reader.exists(head.id + 1n)]);
  if (!stands) return wholeLog(reader, memory);
  if (grew) return (await probe(reader, memory)) ?? listAfter(reader, memory);
  if (!listed && memory.folder !== 'LIST' && (await reader.folderTime()) === memory.folder) return null;
  return listAfter(reader, memory);
}

/** The commits after the cursor by probing; null: there are many. What else is in the log is left to the next look. */
async function probe(reader: LogReader, { head }: Memory): Promise<Sight | null> {
  const ids = [head.id, ...(await reader.probe(head.id, PROBES))];
  if (ids.length > PROBES) return null;
  return { log: { ...NOTHING, versions: ids.slice(1) }, ids, folder: 'LIST' };
}

const NOTHING: LogFiles = { versions: [], checkpoints: [], checksums: new Set(), tooLarge: [] };

async function listAfter(reader: LogReader, { head, folder: before }: Memory): Promise<Sight> {
  const folder = before === 'UNTOLD' ? before : ((await reader.folderTime()) ?? 'UNTOLD');
  const log = (await reader.log(head.id)) ?? NOTHING;
  return { log, ids: await complete(reader, [head.id, ...log.versions]), folder };
}

async function wholeLog(reader: LogReader, memory: Memory | null): Promise<Sight> {
  const folder = (await reader.folderTime()) ?? 'UNTOLD';
  const log = await reader.log(null);
  if (log === null || log.versions.length === 0) throw await nothingThere(reader, memory, log);
  return { log, ids: await complete(reader, log.versions), folder };
}

/** A listing may lack what has just been written, or the last file: what stands after its end is added. */
async function complete(reader: LogReader, ids: readonly bigint[]): Promise<readonly bigint[]> {
  const last = ids.at(-1) ?? 0n;
  return [...ids, ...(await reader.probe(last, Number.MAX_SAFE_INTEGER))];
}

async function nothingThere(reader: LogReader, memory: Memory | null, log: LogFiles | null): Promise<NothingThere> {
  const { table } = reader.layout;
  if (log?.checkpoints.length)
    return new NothingThere(`The log of ${table} holds checkpoints but no commit: its commits were removed by hand.`);
  if (memory !== null)
    return new NothingThere(`The folder ${table} holds no Delta log any more: the table was dropped or moved.`);
  if (log !== null) return new NothingThere(`The log of ${table} holds no commit: the table is not created yet.`);
  return (await reader.names(table)) === null
    ? new NothingThere(`The folder ${table} does not exist: check the location.`)
    : new NothingThere(`The folder ${table} is not a Delta table: it has no _delta_log.`);
}

/** Asks `decide` and reads what it asks for, until it can tell. */
async function settle(reader: LogReader, memory: Memory | null, { log, ids }: Sight): Promise<Settled> {
  const commits = new Map<bigint, Present>();
  let sameTable: boolean | null = null;
  for (;;) {
    const verdict = decide(memory, { ids, commits, sameTable });
    switch (verdict.kind) {
      case 'READ':
        commits.set(verdict.id, await presentAt(reader, verdict.id));
        break;
      case 'IDENTIFY':
        sameTable = (await stateAt(reader, log, (ids.at(-1) ?? 0n) + 1n))?.tableId === memory?.state?.tableId;
        break;
      case 'VANISHED':
        throw await nothingThere(reader, memory, log);
      default:
        return verdict;
    }
  }
}

async function presentAt(reader: LogReader, id: bigint): Promise<Present> {
  const file = await reader.commit(id);
  if (file === null) throw new MovedOn(commitName(id));
  return { fingerprint: file.fingerprint, time: await commitTime(reader, file) };
}

/** Where the fresh commits go on. */
function startOf(memory: Memory | null, verdict: Settled): Start {
  if (memory === null || verdict.kind === 'RECREATED') return { version: null, state: null };
  if (verdict.kind === 'FORWARD') return { version: memory.head.id, state: memory.state };
  return { version: verdict.to, state: null };
}

/** After a rewind the state is that of the commit gone back to. */
const begin = async (reader: LogReader, { log }: Sight, start: Start): Promise<Start> =>
  start.version === null || start.state !== null
    ? start
    : { ...start, state: await stateAt(reader, log, start.version + 1n) };

/** A table read for the first time, or another in its place, may have a long history: the newest of it is enough. */
const freshOf = (memory: Memory | null, { kind, fresh }: Settled, limit: number): readonly bigint[] =>
  memory === null || kind === 'RECREATED' ? fresh.slice(-limit) : fresh;

/** The cursor's commit is not there any more, nor any before it. */
const isCleanedUp = (memory: Memory | null, { ids }: Sight): boolean =>
  memory !== null && (ids[0] ?? 0n) > memory.head.id;

/** What the listing did not show must really not be there: a listing is no moment in time. */
async function confirmHoles(reader: LogReader, { lost, barrier }: Passage): Promise<void> {
  for (const hole of barrier === null ? lost : [...lost, barrier])
    if (await reader.exists(hole.from)) throw new MovedOn(commitName(hole.from));
}

/**
 * What was read goes on from the cursor only if the cursor's commit still stands after it was read; without one, the first commit read
 * must: another table in the folder begins with the removal of all that was there.
 */
async function confirm(
  reader: LogReader,
  memory: Memory | null,
  { kind }: Settled,
  { ids }: Sight,
  first: CommitFile,
): Promise<void> {
  const byHead = memory !== null && kind === 'FORWARD' && ids.includes(memory.head.id);
  const seen = byHead
    ? memory.head
    : { id: first.version, fingerprint: first.fingerprint, size: 0, modifiedAt: null, time: 0n };
  if (!(await reader.stands(seen))) throw new MovedOn(commitName(seen.id));
}
