import type { Cursor, Poll } from '../../core/asset/poll.ts';
import { BrokenFile, MovedOn } from '../trouble.ts';
import { stateAt } from './base.ts';
import { commitTime, readFiles, tell, type Start } from './commits.ts';
import type { CommitFile } from './commit-file.ts';
import type { Memory } from './cursor.ts';
import { decide, passage, type Passage, type Present, type Settled } from './decide.ts';
import { commitName } from './layout.ts';
import type { LogReader } from './reader.ts';
import { atRest, report } from './report.ts';
import { glance, nothingThere, wholeLog, type Sight } from './sight.ts';
import { keepingSchema } from './state.ts';

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
  if (sight === null && memory !== null) return atRest(reader, cursor, memory);
  if (sight === null) throw new MovedOn(reader.layout.log);
  const verdict = await settle(reader, memory, sight);
  // It was another log a moment ago: what of the new one is older than the cursor has not been looked at.
  if (verdict.kind !== 'FORWARD' && !sight.whole) throw new MovedOn(reader.layout.log);
  const way = wayOf(memory, sight, verdict, firstReadLimit);
  await confirmHoles(reader, way);
  const read = await readFiles(reader, way.ids);
  const [first] = read.files;
  if (first === undefined && read.stoppedBy !== null) throw new BrokenFile(read.stoppedBy);
  if (first !== undefined) await confirm(reader, memory, verdict, sight, first);
  const start = await startOf(reader, memory, sight, verdict, first);
  const told = await tell(reader, sight.log, read.files, start);
  return report(reader, { cursor, memory, sight, verdict, way, read, start, told });
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
      case 'FORWARD':
      case 'REWOUND':
      case 'RECREATED':
        return verdict;
    }
  }
}

async function presentAt(reader: LogReader, id: bigint): Promise<Present> {
  const file = await reader.commit(id);
  if (file === null) throw new MovedOn(commitName(id));
  return { fingerprint: file.fingerprint, time: await commitTime(reader, file) };
}

/** The cursor's commit is not there any more, nor any before it. */
const isCleanedUp = (memory: Memory | null, { ids }: Sight): boolean =>
  memory !== null && (ids[0] ?? 0n) > memory.head.id;

/**
 * The fresh versions that can be read. A table read for the first time, or another in its place, may have a long history: the newest of it
 * is enough.
 */
function wayOf(memory: Memory | null, sight: Sight, { kind, ...verdict }: Settled, limit: number): Passage {
  const { checkpoints } = sight.log;
  if (memory === null || kind === 'RECREATED') return passage(null, verdict.fresh.slice(-limit), checkpoints, false);
  const last = 'to' in verdict ? verdict.to : memory.head.id;
  return passage(last, verdict.fresh, checkpoints, isCleanedUp(memory, sight));
}

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

/** Where the fresh commits go on, and what the table was there: as remembered, or as the log tells. */
async function startOf(
  reader: LogReader,
  memory: Memory | null,
  sight: Sight,
  verdict: Settled,
  first: CommitFile | undefined,
): Promise<Start> {
  const before = verdict.kind === 'RECREATED' ? null : (memory?.state ?? null);
  const schema = before?.schema ?? null;
  const goesOn = memory !== null && verdict.kind === 'FORWARD' && !isCleanedUp(memory, sight);
  if (goesOn && (before !== null || first === undefined)) return { version: memory.head.id, state: before, schema };
  const from = first?.version ?? ('to' in verdict && verdict.to !== null ? verdict.to + 1n : 0n);
  if (from === 0n) return { version: -1n, state: null, schema };
  const told = keepingSchema(schema, await stateAt(reader, sight.log, from));
  return { version: goesOn ? memory.head.id : from - 1n, state: told ?? before, schema };
}
