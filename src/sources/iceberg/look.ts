import type { Cursor, Outcome, Poll, TagChange } from '../../core/asset/poll.ts';
import { brief } from '../brief.ts';
import { BrokenFile, NothingThere } from '../trouble.ts';
import { newestOf } from './chain.ts';
import { newestWithData, readCommit, readCommits, type History, type ReadCommit } from './commits.ts';
import { toCursor, WINDOW, type Memory } from './cursor.ts';
import { decide, isAnotherTable, type SeenHead, type Verdict } from './decide.ts';
import { findCurrent, type Found } from './find.ts';
import type { Glance } from './glance.ts';
import type { TableMetadata } from './metadata.ts';
import { nameOf } from './names.ts';
import type { TableReader } from './reader.ts';
import { viewSchemas, type SchemaView } from './schemas.ts';
import { countOf, rowsBefore, snapshotAt } from './snapshot.ts';

/** What one look is asked. `cursor` and `memory` are the same thing, null at the first look. */
export interface Question {
  readonly branch: string;
  readonly cursor: Cursor | null;
  readonly memory: Memory | null;
  readonly firstReadLimit: number;
}

/** Reads the current metadata file and tells what happened. Throws NothingThere, BrokenFile, MovedOn, FilesError. */
export async function look(reader: TableReader, glance: Glance, question: Question): Promise<Poll> {
  const { memory } = question;
  const found = await findCurrent(reader, glance, memory?.files ?? null);
  const { metadata } = found;
  const head = headOf(metadata, question.branch, memory);
  const verdict = verdictOf(metadata, head, question);
  const anotherTable = memory === null || isAnotherTable(memory.tableId, metadata.tableId);
  if (found.brokenAbove !== null && !isSafe(verdict, anotherTable))
    throw new BrokenFile(`${found.brokenAbove} is not whole, and ${nameOf(found.path)} before it holds nothing new`);
  const history: History = {
    metadata,
    named: (path) => reader.named(path, found.path, metadata.location),
  };
  const commits = await readCommits(history, verdict.fresh);
  const restored =
    verdict.kind === 'REWOUND' && verdict.restored !== null ? await readCommit(history, verdict.restored) : null;
  const schemas = await viewSchemas(metadata, anotherTable ? null : memory, question.firstReadLimit);
  const dataHead = await dataHeadOf(history, head, memory, verdict, commits);
  return report({ question, found, head, verdict, commits, restored, schemas, dataHead });
}

/** Below a newer file that cannot be read yet, only commits are told: that nothing is new, or was rewound, may be out of date. */
const isSafe = (verdict: Verdict, anotherTable: boolean): boolean =>
  verdict.fresh.length > 0 && (anotherTable || verdict.kind === 'FORWARD' || verdict.kind === 'GAP');

/** The branch's newest snapshot; null: it has none yet, which only main can be without. */
function headOf({ branches, tags, snapshots }: TableMetadata, branch: string, memory: Memory | null): string | null {
  const head = branches.get(branch);
  if (head === undefined && branch === 'main') return null;
  if (head === undefined && tags.has(branch)) throw new NothingThere(`${branch} is a tag of the table and no branch.`);
  if (head === undefined)
    throw new NothingThere(
      memory === null
        ? `The table has no branch ${branch}: check its name.`
        : `The table has no branch ${branch} any more: it was dropped.`,
    );
  if (!snapshots.has(head))
    throw new BrokenFile(`Branch ${branch} is at snapshot ${head}, which the metadata file does not list`);
  return head;
}

const NOTHING_YET = { tableId: null, head: null, known: [], withdrawn: [] };

function verdictOf(metadata: TableMetadata, head: string | null, { memory, firstReadLimit }: Question): Verdict {
  const { tableId, snapshots } = metadata;
  return decide(memory ?? NOTHING_YET, {
    tableId,
    head,
    snapshots,
    limit: memory === null ? Math.max(firstReadLimit, 1) : Number.POSITIVE_INFINITY,
    root: (entry) => {
      const snapshot = snapshotAt(metadata, entry);
      return { operation: snapshot.operation, rowsBefore: rowsBefore(snapshot) };
    },
  });
}

/** Among what is new, else the one known while it is there, else found by going back from the head. */
async function dataHeadOf(
  history: History,
  head: string | null,
  memory: Memory | null,
  verdict: Verdict,
  commits: readonly ReadCommit[],
): Promise<string | null> {
  const fresh = commits.findLast(({ commit }) => commit.dataChange);
  if (fresh !== undefined) return fresh.commit.snapshotId;
  if (head === null || verdict.kind === 'RECREATED') return null;
  const known = memory?.dataHead ?? null;
  const stands = verdict.kind === 'FORWARD' && known !== null && history.metadata.snapshots.has(known);
  return stands ? known : newestWithData(history, head);
}

interface Findings {
  readonly question: Question;
  readonly found: Found;
  readonly head: string | null;
  readonly verdict: Verdict;
  readonly commits: readonly ReadCommit[];
  readonly restored: ReadCommit | null;
  readonly schemas: SchemaView;
  readonly dataHead: string | null;
}

function report(findings: Findings): Poll {
  const { question, found, head, commits, schemas, dataHead } = findings;
  const { cursor, memory } = question;
  const { tags, tableId } = found.metadata;
  const problems = [...found.problems, ...problemsOf(findings)];
  const moved = toCursor(remember(findings, problems));
  return {
    outcome: outcomeOf(findings),
    commits: commits.map(({ commit }) => commit),
    cursor: cursor !== null && JSON.stringify(moved) === JSON.stringify(cursor) ? cursor : moved,
    head,
    dataHead,
    tags: Object.fromEntries(tags),
    tagChanges: tagChanges(memory?.tags ?? new Map(), tags),
    schema: schemas.current,
    newSchemas: schemas.fresh,
    tableId,
    problems,
  };
}

function outcomeOf({ verdict, restored }: Findings): Outcome {
  switch (verdict.kind) {
    case 'RECREATED':
      return { kind: 'RECREATED' };
    case 'REWOUND':
      return { kind: 'ROLLBACK', to: verdict.to, restored: restored?.commit ?? null };
    case 'GAP':
      return { kind: 'GAP', from: null, to: verdict.missing };
    case 'FORWARD':
      return { kind: verdict.fresh.length === 0 ? 'NONE' : 'NEW' };
  }
}

function remember(
  { question, found, head, verdict, schemas, dataHead }: Findings,
  problems: readonly string[],
): Memory {
  const { memory } = question;
  const { metadata } = found;
  const known = knownIds(metadata, head, verdict.kind === 'RECREATED' ? null : memory);
  const off = new Set([...(memory?.withdrawn ?? []), ...(memory?.known ?? [])]);
  for (const id of known) off.delete(id);
  const anotherTable = memory !== null && isAnotherTable(memory.tableId, metadata.tableId);
  const stillOn = verdict.kind === 'FORWARD' || verdict.kind === 'GAP';
  return {
    tableId: metadata.tableId ?? memory?.tableId ?? null,
    head: head === null ? null : seenHead(metadata, head),
    dataHead,
    known,
    withdrawn: anotherTable ? [] : stillOn ? (memory?.withdrawn ?? []).filter((id) => !known.includes(id)) : [...off],
    tags: metadata.tags,
    schema: schemas.current,
    schemaId: schemas.current.schemaId,
    lastSchema: schemas.lastSchema,
    schemaPrint: schemas.schemaPrint,
    files: found.files,
    problems,
  };
}

function seenHead(metadata: TableMetadata, id: string): SeenHead {
  const entry = metadata.snapshots.get(id);
  if (entry === undefined) throw new BrokenFile(`Snapshot ${id} is not listed`);
  return {
    id,
    sequence: entry.sequence,
    time: entry.time,
    rows: countOf(snapshotAt(metadata, entry), 'total-records'),
  };
}

/** The newest ids of the branch's history: as far as they are listed, and before them those remembered, which may have expired. */
function knownIds({ snapshots }: TableMetadata, head: string | null, memory: Memory | null): readonly string[] {
  if (head === null) return [];
  const chain = newestOf(snapshots, head, WINDOW);
  const ids = chain.map((entry) => entry.id);
  if (memory === null || ids.length === WINDOW) return ids;
  const link = [chain[0]?.id, chain[0]?.parent].map((id) => (id ? memory.known.indexOf(id) : -1));
  const [at = -1, below = -1] = link;
  const before = at !== -1 ? memory.known.slice(0, at) : below !== -1 ? memory.known.slice(0, below + 1) : memory.known;
  return [...before.filter((id) => !ids.includes(id)), ...ids].slice(-WINDOW);
}

/** Tags made, moved and deleted, by name. */
function tagChanges(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly TagChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names
    .map((tag) => ({ tag, snapshotId: after.get(tag) ?? null, before: before.get(tag) ?? null }))
    .filter((change) => change.snapshotId !== change.before);
}

const LONG_MAX = 2n ** 63n - 1n;
const NEWEST_FORMAT = 3;

function problemsOf({ question, found, verdict, commits }: Findings): readonly string[] {
  const problems: string[] = [];
  const { formatVersion, snapshots } = found.metadata;
  if (formatVersion > NEWEST_FORMAT)
    problems.push(`The table has format version ${formatVersion}; Sluice knows ${NEWEST_FORMAT} and reads it as that.`);
  const tooLarge = commits.map(({ commit }) => commit.snapshotId).filter((id) => BigInt(id) > LONG_MAX);
  if (tooLarge.length > 0)
    problems.push(`Snapshot ${brief(tooLarge)} has an id above 9223372036854775807, which Java engines refuse.`);
  const guessed = commits.filter((read) => read.guessed).map(({ commit }) => commit.snapshotId);
  if (guessed.length > 0)
    problems.push(
      `Snapshot ${brief(guessed)} does not say what it changed and its manifests cannot be read, so it counts as new data.`,
    );
  const [oldest] = verdict.fresh;
  const parent = oldest?.parent ?? null;
  if (question.memory === null && oldest !== undefined && parent !== null && !snapshots.has(parent))
    problems.push(`The history before snapshot ${oldest.id} has expired: what was written until then cannot be told.`);
  if (verdict.kind === 'REWOUND' && verdict.restored === null)
    problems.push('What the branch was rewound to has expired since.');
  return problems;
}
