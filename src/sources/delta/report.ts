import type { Cursor, Outcome, Poll } from '../../core/asset/poll.ts';
import type { Commit } from '../../core/asset/version.ts';
import { brief } from '../brief.ts';
import { BrokenFile, MovedOn } from '../trouble.ts';
import { newestWithData, tell, type ReadFiles, type Start, type Told } from './commits.ts';
import type { CommitFile } from './commit-file.ts';
import { toCursor, type Memory, type SeenCommit } from './cursor.ts';
import type { Missing, Passage, Settled } from './decide.ts';
import type { LogReader } from './reader.ts';
import type { Sight } from './sight.ts';
import { stagedVersions } from './staged.ts';
import type { TableState } from './state.ts';

/** All that a look at a table found. */
interface Findings {
  readonly cursor: Cursor | null;
  readonly memory: Memory | null;
  readonly sight: Sight;
  readonly verdict: Settled;
  readonly way: Passage;
  readonly read: ReadFiles;
  readonly start: Start;
  readonly told: Told;
}

/** What the memory says of a table that was not looked at, or that has not changed. */
export const remembered = ({ head, dataHead, state }: Memory): Omit<Poll, 'outcome' | 'cursor'> => ({
  commits: [],
  head: head.id.toString(),
  dataHead: dataHead?.toString() ?? null,
  tags: {},
  tagChanges: [],
  schema: state?.schema ?? null,
  newSchemas: [],
  tableId: state?.tableId ?? null,
  problems: problemsOfState(state),
});

/** A table that has not changed since the cursor. */
export async function atRest(reader: LogReader, cursor: Cursor | null, memory: Memory): Promise<Poll> {
  const reason = await managedReason(reader, memory.state, memory.head.id);
  const outcome: Outcome = reason === null ? { kind: 'NONE' } : { kind: 'BEHIND', reason };
  return { ...remembered(memory), outcome, cursor };
}

export async function report(reader: LogReader, findings: Findings): Promise<Poll> {
  const { cursor, memory, told } = findings;
  const restored = await restoredCommit(reader, findings);
  const head = await headOf(reader, findings, restored);
  const behind = await behindReasons(reader, findings, head.id);
  const outcome = outcomeOf(findings, restored?.commit ?? null, behind);
  const next: Memory = {
    head,
    dataHead: await dataHeadOf(reader, findings),
    known: knownOf(findings, restored?.file ?? null),
    folder: behind.length > 0 || findings.read.stoppedBy !== null ? relisted(findings.sight) : findings.sight.folder,
    state: told.state,
  };
  const moved = toCursor(next);
  const said = outcome.kind === 'BEHIND' ? behind.slice(1) : behind;
  return {
    ...remembered(next),
    outcome,
    commits: told.commits,
    newSchemas: told.schemas,
    cursor: memory !== null && JSON.stringify(moved) === JSON.stringify(cursor) ? cursor : moved,
    problems: [...said, ...problemsOf(findings, outcome)],
  };
}

/** What is amiss must be seen again at the next look, so the folder is listed then whatever its time. */
const relisted = ({ folder }: Sight): Memory['folder'] => (folder === 'UNTOLD' ? folder : 'LIST');

/** The commit that a rewound table went back to. */
async function restoredCommit(
  reader: LogReader,
  { verdict, sight, start }: Findings,
): Promise<{ readonly file: CommitFile; readonly commit: Commit } | null> {
  if (verdict.kind !== 'REWOUND' || verdict.to === null) return null;
  const file = await reader.commit(verdict.to).catch((error: unknown) => {
    if (error instanceof BrokenFile) return null;
    throw error;
  });
  if (file === null) throw new MovedOn(`version ${verdict.to}`);
  const [commit] = (await tell(reader, sight.log, [file], { ...start, version: verdict.to - 1n })).commits;
  return commit === undefined ? null : { file, commit };
}

async function headOf(
  reader: LogReader,
  { memory, read, told }: Findings,
  restored: { readonly file: CommitFile; readonly commit: Commit } | null,
): Promise<SeenCommit> {
  const file = read.files.at(-1) ?? restored?.file;
  const time = told.commits.at(-1)?.commitTime ?? restored?.commit.commitTime;
  if (file !== undefined && time !== undefined) {
    const { version: id, fingerprint, size } = file;
    return { id, fingerprint, size, modifiedAt: await reader.timeOf(file), time };
  }
  if (memory === null) throw new MovedOn('the first commit');
  return memory.head;
}

const sameId = (a: TableState | null | undefined, b: TableState | null): boolean =>
  !a?.tableId || !b?.tableId || a.tableId === b.tableId;

function outcomeOf(findings: Findings, restored: Commit | null, behind: readonly string[]): Outcome {
  const { memory, verdict, told } = findings;
  if (verdict.kind === 'RECREATED') return { kind: 'RECREATED' };
  if (verdict.kind === 'REWOUND') return { kind: 'ROLLBACK', to: verdict.to?.toString() ?? null, restored };
  // CREATE OR REPLACE: the log goes on, the table is another.
  if (memory !== null && !sameId(memory.state, told.state)) return { kind: 'RECREATED' };
  const [hole] = lostOf(findings);
  if (hole !== undefined) return { kind: 'GAP', from: hole.from.toString(), to: hole.to.toString() };
  const [reason] = behind;
  if (reason !== undefined) return { kind: 'BEHIND', reason };
  return { kind: told.commits.length > 0 ? 'NEW' : 'NONE' };
}

/** The holes that lie before what was read. */
const lostOf = ({ way, read }: Findings): readonly Missing[] => {
  const last = read.files.at(-1)?.version ?? -1n;
  return way.lost.filter((hole) => hole.to < last);
};

const range = ({ from, to }: Missing): string => (from === to ? `Version ${from} is` : `Versions ${from} to ${to} are`);

/** Why there may be more than was read; none: what was read is all. */
async function behindReasons(reader: LogReader, findings: Findings, head: bigint): Promise<readonly string[]> {
  const { told, way, sight } = findings;
  const reasons: string[] = [];
  const managed = await managedReason(reader, told.state, head);
  if (managed !== null) reasons.push(managed);
  const { barrier } = way;
  if (barrier !== null) {
    const next = barrier.to + 1n;
    reasons.push(
      `${range(barrier)} missing from the log though ${next} is there, and no checkpoint bridges the hole: no engine reads on.`,
    );
  }
  const checkpoint = sight.log.checkpoints.at(-1)?.version ?? -1n;
  if (checkpoint > (sight.ids.at(-1) ?? -1n))
    reasons.push(
      `There is a checkpoint of version ${checkpoint}, but no commit of it: the commits up to it are missing from the log.`,
    );
  return reasons;
}

async function managedReason(reader: LogReader, state: TableState | null, head: bigint): Promise<string | null> {
  const feature = state?.managedBy ?? (state?.coordinator ? `coordinator ${state.coordinator}` : null);
  if (feature === null) return null;
  const staged = await stagedVersions(reader, head);
  const found =
    staged.length === 0
      ? ''
      : `; commits are staged for ${staged.length === 1 ? 'version' : 'versions'} ${brief(staged.map(String))}`;
  return `A catalog decides what is committed to this table (${feature}), and the files show only what it has published, up to version ${head}${found}.`;
}

/** Of what was known before what is still true, and what was read. */
function knownOf({ memory, verdict, read }: Findings, restored: CommitFile | null): ReadonlyMap<bigint, string> {
  const before = verdict.kind === 'RECREATED' ? [] : [...(memory?.known ?? [])];
  const kept = verdict.kind === 'REWOUND' ? before.filter(([id]) => verdict.to !== null && id <= verdict.to) : before;
  const files = restored === null ? read.files : [restored, ...read.files];
  return new Map([...kept, ...files.map(({ version, fingerprint }) => [version, fingerprint] as const)]);
}

/** The newest readable commit with new data: among what is new, else the one known, else (a rewind took it) found by going back. */
async function dataHeadOf(reader: LogReader, { memory, sight, verdict, read }: Findings): Promise<bigint | null> {
  const fresh = read.files.findLast(({ files }) => files.dataChange);
  if (fresh !== undefined) return fresh.version;
  const known = memory?.dataHead;
  if (verdict.kind === 'RECREATED' || known === null || known === undefined) return null;
  const upTo = verdict.kind === 'FORWARD' ? known : (verdict.to ?? -1n);
  if (known <= upTo) return (await reader.exists(known)) ? known : null;
  return newestWithData(
    reader,
    sight.ids.filter((id) => id <= upTo),
  );
}

function problemsOf(findings: Findings, outcome: Outcome): readonly string[] {
  const { read, sight, told } = findings;
  const lost = lostOf(findings).slice(outcome.kind === 'GAP' ? 1 : 0);
  const problems = lost.map((hole) => `${range(hole)} missing from the log.`);
  const { tooLarge } = sight.log;
  if (tooLarge.length > 0)
    problems.push(
      `Ignored, as no version can be above 9223372036854775807: ${brief(tooLarge)}; remove what is no commit.`,
    );
  if (read.stoppedBy !== null) problems.push(`${read.stoppedBy}; it and what follows is read again at the next poll.`);
  return [...problems, ...problemsOfState(told.state)];
}

function problemsOfState(state: TableState | null): readonly string[] {
  if (state === null)
    return ['Neither the commits nor a checkpoint tell the metadata of the table, so its id and schema are unknown.'];
  return state.schema === null ? ['No schema of the table can be read from its metadata.'] : [];
}
