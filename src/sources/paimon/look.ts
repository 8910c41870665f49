import type { Cursor, Outcome, Poll } from '../../core/asset/poll.ts';
import { brief } from '../brief.ts';
import { BrokenFile, MovedOn, NothingThere } from '../trouble.ts';
import { newestWithData, readCommit, readCommits, type ReadCommit, type ReadCommits } from './commits.ts';
import { toCursor, type Memory, type SeenSnapshot } from './cursor.ts';
import { decide, firstHole, type Missing, type Verdict } from './decide.ts';
import type { Numbered } from './layout.ts';
import type { TableReader } from './reader.ts';
import { viewSchemas, type SchemaView } from './schemas.ts';
import type { Snapshot } from './snapshot.ts';
import { NO_TAGS, readTags, tagChanges, type TagView } from './tags.ts';
import { withUnlistedSchemas, withUnlistedSnapshots } from './unlisted.ts';

type Settled = Exclude<Verdict, { readonly kind: 'READ' | 'VANISHED' }>;

/**
 * One whole look at a table: three listings, what they may have missed, then what they show to be needed. Throws NothingThere, BrokenFile, MovedOn, FilesError.
 * `cursor` and `memory` are the same thing, null at the first look.
 */
export async function look(
  reader: TableReader,
  cursor: Cursor | null,
  memory: Memory | null,
  firstReadLimit: number,
): Promise<Poll> {
  const [snapshots, schemaFiles, tagFiles] = await Promise.all([
    reader.numbered('snapshot-'),
    reader.numbered('schema-'),
    reader.tags(),
  ]);
  if (!snapshots?.ids.length && !schemaFiles?.ids.length) throw await nothingThere(reader, memory, snapshots);
  const ids = await withUnlistedSnapshots(reader, snapshots, memory);
  const schemaIds = await withUnlistedSchemas(reader, schemaFiles, memory);
  const schemas = await viewSchemas(reader, schemaIds, memory, firstReadLimit);
  const verdict = await settle(reader, memory, ids, schemas.anotherTable);
  const fresh = memory === null ? verdict.fresh.slice(-firstReadLimit) : verdict.fresh;
  const read = await readCommits(reader, fresh);
  if (read.stoppedBy !== null && (read.commits.length === 0 || verdict.kind !== 'FORWARD'))
    throw new BrokenFile(read.stoppedBy);
  if (verdict.kind === 'FORWARD') await confirm(reader, memory, ids, read);
  const tags = await readTags(tagFiles, {
    tags: memory?.tags ?? NO_TAGS.tags,
    stamps: memory?.tagStamps ?? NO_TAGS.stamps,
  });
  return report(reader, { cursor, memory, ids, snapshots, schemas, verdict, read, tags });
}

async function nothingThere(
  reader: TableReader,
  memory: Memory | null,
  snapshots: Numbered | null,
): Promise<NothingThere> {
  const { root, table } = reader.layout;
  const what = root === table ? `The folder ${table}` : `The branch at ${root}`;
  if (snapshots?.tooLarge.length) return new NothingThere(tooLarge(snapshots.tooLarge));
  if (memory !== null)
    return new NothingThere(`${what} holds neither snapshots nor a schema any more: the table was dropped or moved.`);
  return (await reader.list(root)) === null
    ? new NothingThere(
        `${what} does not exist: check the location${root === table ? '' : ' and the name of the branch'}.`,
      )
    : new NothingThere(`${what} is not a Paimon table: it holds neither snapshots nor a schema.`);
}

const seenOf = (snapshot: Snapshot): SeenSnapshot => ({
  id: snapshot.id,
  fingerprint: snapshot.fingerprint,
  timeMillis: snapshot.timeMillis,
});

/** Asks `decide` and reads what it asks for, until it can tell. */
async function settle(
  reader: TableReader,
  memory: Memory | null,
  ids: readonly bigint[],
  anotherTable: boolean,
): Promise<Settled> {
  const remembered = { head: memory?.head ?? null, known: memory?.known ?? new Map<bigint, string>() };
  const snapshots = new Map<bigint, SeenSnapshot>();
  for (;;) {
    const verdict = decide(remembered, { ids, snapshots, anotherTable });
    if (verdict.kind === 'VANISHED')
      throw new NothingThere(
        `The table at ${reader.layout.root} has lost all its snapshots: it is being dropped, or is damaged.`,
      );
    if (verdict.kind !== 'READ') return verdict;
    const snapshot = await reader.snapshot(verdict.id);
    if (snapshot === null) throw new MovedOn(`snapshot-${verdict.id}`);
    snapshots.set(verdict.id, seenOf(snapshot));
  }
}

/**
 * What was read goes on from the cursor only if the cursor's snapshot still stands after it was read, and if what the listing did not
 * show is really not there (a listing is no moment in time).
 */
async function confirm(
  reader: TableReader,
  memory: Memory | null,
  ids: readonly bigint[],
  read: ReadCommits,
): Promise<void> {
  if (memory === null || read.commits.length === 0) return;
  const hole = holeIn(memory, read.commits);
  if (hole !== null && (await reader.exists(reader.layout.snapshot(hole.from))))
    throw new MovedOn(`snapshot-${hole.from}`);
  const { head } = memory;
  if (head === null || !ids.includes(head.id)) return;
  const now = await reader.again(head.id);
  if (now?.fingerprint !== head.fingerprint) throw new MovedOn(`snapshot-${head.id}`);
}

const holeIn = (memory: Memory, commits: readonly ReadCommit[]): Missing | null =>
  firstHole(
    memory.head?.id ?? 0n,
    commits.map(({ snapshot }) => snapshot.id),
  );

interface Findings {
  readonly cursor: Cursor | null;
  readonly memory: Memory | null;
  readonly ids: readonly bigint[];
  readonly snapshots: Numbered | null;
  readonly schemas: SchemaView;
  readonly verdict: Settled;
  readonly read: ReadCommits;
  readonly tags: TagView;
}

async function report(reader: TableReader, findings: Findings): Promise<Poll> {
  const { cursor, memory, schemas, verdict, read, tags } = findings;
  const restored = verdict.kind === 'REWOUND' && verdict.to !== null ? await readCommit(reader, verdict.to) : null;
  const next = await remember(reader, findings, restored);
  const moved = toCursor(next);
  return {
    outcome: outcomeOf(findings, restored),
    commits: read.commits.map(({ commit }) => commit),
    cursor: cursor !== null && JSON.stringify(moved) === JSON.stringify(cursor) ? cursor : moved,
    head: next.head?.id.toString() ?? null,
    dataHead: next.dataHead?.toString() ?? null,
    tags: Object.fromEntries([...tags.tags].map(([tag, id]) => [tag, id.toString()])),
    tagChanges: tagChanges(memory?.tags ?? NO_TAGS.tags, tags.tags),
    schema: schemas.current?.table ?? null,
    newSchemas: schemas.fresh.map((schema) => schema.table),
    tableId: null,
    problems: problemsOf(findings),
  };
}

function outcomeOf({ memory, verdict, read }: Findings, restored: ReadCommit | null): Outcome {
  if (verdict.kind === 'RECREATED') return { kind: 'RECREATED' };
  if (verdict.kind === 'REWOUND')
    return { kind: 'ROLLBACK', to: verdict.to?.toString() ?? null, restored: restored?.commit ?? null };
  if (read.commits.length === 0) return { kind: 'NONE' };
  const hole = memory === null ? null : holeIn(memory, read.commits);
  return hole === null ? { kind: 'NEW' } : { kind: 'GAP', from: hole.from.toString(), to: hole.to.toString() };
}

async function remember(reader: TableReader, findings: Findings, restored: ReadCommit | null): Promise<Memory> {
  const { memory, schemas, verdict, read, tags } = findings;
  const last = read.commits.at(-1)?.snapshot ?? restored?.snapshot;
  const kept = verdict.kind === 'FORWARD' ? (memory?.head ?? null) : null;
  return {
    head: last === undefined ? kept : seenOf(last),
    dataHead: await dataHeadOf(reader, findings),
    known: new Map([...keptMarks(memory, verdict), ...[restored, ...read.commits].flatMap(markOf)]),
    tags: tags.tags,
    tagStamps: tags.stamps,
    firstSchema: schemas.first,
    lastSchema: schemas.last,
  };
}

const markOf = (read: ReadCommit | null): [bigint, string][] =>
  read === null ? [] : [[read.snapshot.id, read.snapshot.fingerprint]];

/** Of what was known before, what is still true. */
function keptMarks(memory: Memory | null, verdict: Settled): readonly [bigint, string][] {
  if (verdict.kind === 'RECREATED') return [];
  const marks = [...(memory?.known ?? [])];
  return verdict.kind === 'FORWARD' ? marks : marks.filter(([id]) => verdict.to !== null && id <= verdict.to);
}

/** The newest readable snapshot with new data: among what is new, else the one known, else (a rewind took it) found by going back. */
async function dataHeadOf(reader: TableReader, { memory, ids, verdict, read }: Findings): Promise<bigint | null> {
  const fresh = read.commits.findLast(({ commit }) => commit.dataChange);
  if (fresh !== undefined) return fresh.snapshot.id;
  if (verdict.kind === 'RECREATED') return null;
  const upTo = verdict.kind === 'FORWARD' ? memory?.head?.id : verdict.to;
  const known = memory?.dataHead;
  if (upTo === null || upTo === undefined || known === null || known === undefined) return null;
  if (known <= upTo) return ids.includes(known) ? known : null;
  return newestWithData(
    reader,
    ids.filter((id) => id <= upTo),
  );
}

const tooLarge = (names: readonly string[]): string =>
  `${names.join(', ')}: no snapshot can have an id above 9223372036854775807, so ${names.length === 1 ? 'it is' : 'they are'} ignored; remove what put ${names.length === 1 ? 'it' : 'them'} there.`;

function problemsOf({ memory, snapshots, schemas, verdict, read, tags }: Findings): readonly string[] {
  const problems: string[] = [];
  if (snapshots?.tooLarge.length) problems.push(tooLarge(snapshots.tooLarge));
  if (snapshots?.stray.length) problems.push(`Ignored beside the snapshots: ${brief(snapshots.stray)}.`);
  const idsWhere = (test: (read: ReadCommit) => boolean): readonly string[] =>
    read.commits.filter(test).map(({ snapshot }) => snapshot.id.toString());
  const schemaless = idsWhere((commit) => commit.schemaless);
  if (schemaless.length > 0)
    problems.push(`The schema of snapshot ${brief(schemaless)} is missing, so default options are assumed for it.`);
  const guessed = idsWhere((commit) => commit.guessed);
  if (guessed.length > 0)
    problems.push(`The manifests of snapshot ${brief(guessed)} cannot be read, so it counts as new data.`);
  if (read.stoppedBy !== null) problems.push(`${read.stoppedBy}; it and what follows is read again at the next poll.`);
  problems.push(...rewindProblems(memory, verdict, read), ...schemas.problems, ...tags.problems);
  return problems;
}

/** What a rewind or a re-creation cannot tell by its outcome alone. */
function rewindProblems(memory: Memory | null, verdict: Settled, read: ReadCommits): readonly string[] {
  if (verdict.kind === 'FORWARD') return [];
  if (verdict.kind === 'REWOUND' && verdict.to === null)
    return [`The history was rewound to a snapshot before ${memory?.head?.id ?? 'the first'} that has expired since.`];
  const last = verdict.kind === 'REWOUND' ? (verdict.to ?? 0n) : 0n;
  const hole = firstHole(
    last,
    read.commits.map(({ snapshot }) => snapshot.id),
  );
  return hole === null ? [] : [`Snapshots ${hole.from} to ${hole.to} expired before they were read.`];
}
