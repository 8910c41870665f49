import type { Cursor, Outcome, Poll } from '../../core/asset/poll.ts';
import type { TableSchema } from '../../core/asset/schema/schema.ts';
import type { Commit } from '../../core/asset/version.ts';
import { brief } from '../brief.ts';
import { BrokenFile, MovedOn, NothingThere } from '../trouble.ts';
import type { Archive } from './archive.ts';
import { commitOf, readClock, type Clock } from './commits.ts';
import { entriesText, toCursor, type Memory, type SeenVersion } from './cursor.ts';
import { settle, type Settled } from './evidence.ts';
import { engineOrder, isOlder, type Instant, type Timeline } from './instants.ts';
import { ordersByCompletion, type TableConfig } from './properties.ts';
import { partNames, pastCount, type Past } from './past.ts';
import type { TableReader } from './reader.ts';
import { currentSchema, newSchemas, TRIES } from './schemas.ts';
import { readConfig, rememberedOf, seeTimeline } from './timeline.ts';
import { orBroken, unknownActions, VersionReader, type ReadVersion } from './versions.ts';

type Verdict = Exclude<Settled['verdict'], { readonly kind: 'VANISHED' }>;

/**
 * One whole look at a table: its properties and a listing, then what they show to be needed. Throws NothingThere, BrokenFile, MovedOn,
 * FilesError. `cursor` and `remembered` are the same thing, null at the first look.
 */
export async function look(
  reader: TableReader,
  cursor: Cursor | null,
  remembered: Memory | null,
  firstReadLimit: number,
): Promise<Poll> {
  const config = await readConfig(reader, remembered !== null);
  // Listed before the properties were read: the same table's only if those are as they were.
  if (remembered?.properties !== config.fingerprint) reader.forgetEarly();
  const { memory, timeline, names } = await seeTimeline(reader, config, remembered);
  const { verdict, archive } = await settle(reader, config, timeline, memory && rememberedOf(memory, config));
  if (verdict.kind === 'VANISHED' || verdict.kind === 'EXPIRED') await confirmSameTable(reader, config);
  if (verdict.kind === 'VANISHED')
    throw new NothingThere(`The timeline of ${reader.table} is empty now: the table is being dropped, or is damaged.`);
  const versions = new VersionReader(reader, config, timeline);
  const wanted = memory === null ? verdict.fresh.slice(-firstReadLimit) : verdict.fresh;
  const attempts = await versions.versions(wanted);
  const read = attempts.filter((attempt): attempt is ReadVersion => !(attempt instanceof BrokenFile));
  const broken = attempts.filter((attempt) => attempt instanceof BrokenFile);
  const missed = verdict.kind === 'RECREATED' ? [] : verdict.archived;
  const archived = missed.flatMap((instant) => fromArchive(archive, instant, versions));
  if (verdict.kind === 'FORWARD' && read.length + archived.length === 0)
    refuseBroken(memory, wanted, attempts, timeline);
  const ordered = [...archived, ...read].sort((a, b) => engineOrder(ordersByCompletion(config))(a.instant, b.instant));
  return report({
    reader,
    config,
    timeline,
    names,
    cursor,
    memory,
    verdict,
    archive,
    versions,
    wanted,
    read: ordered,
    broken,
  });
}

/** The properties were read before the timeline: a table that was made anew in between is not taken for one that lost its history. */
async function confirmSameTable(reader: TableReader, config: TableConfig): Promise<void> {
  const now = await readConfig(reader, true);
  if (now.fingerprint !== config.fingerprint) throw new MovedOn('hoodie.properties');
}

/**
 * Nothing could be read of what is new. That may be a writer at work, so that nothing can be said yet; but a version that could not be read
 * before either, and was followed by others, will not become whole: it is only told as a problem.
 */
function refuseBroken(
  memory: Memory | null,
  wanted: readonly Instant[],
  attempts: readonly (ReadVersion | BrokenFile)[],
  timeline: Timeline,
): void {
  const newest = timeline.versions.at(-1);
  for (const [at, instant] of wanted.entries()) {
    const attempt = attempts[at];
    const settled = memory?.unread.has(instant.key) === true && newest !== undefined && memory.keys.has(newest.key);
    if (attempt instanceof BrokenFile && !settled) throw attempt;
  }
}

const fromArchive = (archive: Archive | null, instant: Instant, versions: VersionReader): ReadVersion[] => {
  const version = archive?.versions.get(instant.key);
  return version === undefined ? [] : [versions.archived(version)];
};

interface Findings {
  readonly reader: TableReader;
  readonly config: TableConfig;
  readonly timeline: Timeline;
  readonly names: readonly string[] | null;
  readonly cursor: Cursor | null;
  readonly memory: Memory | null;
  readonly verdict: Verdict;
  readonly archive: Archive | null;
  readonly versions: VersionReader;
  /** Fresh versions of the timeline that were to be read. */
  readonly wanted: readonly Instant[];
  /** Those that were read, archived ones included, in the engine's order. */
  readonly read: readonly ReadVersion[];
  readonly broken: readonly BrokenFile[];
}

async function report(findings: Findings): Promise<Poll> {
  const { reader, config, timeline, cursor, verdict, versions, wanted, read } = findings;
  const memory = verdict.kind === 'RECREATED' ? null : findings.memory;
  const survivors = survivorsOf(findings);
  const clock = await readClock(reader, config, memory, wanted);
  const schema = await currentSchema(versions, config, timeline, { read, seen: survivors });
  const seen = seenNow(findings, survivors);
  const next: Omit<Memory, 'keys'> = {
    timeline: config.timeline,
    ...begun(timeline, memory),
    ...parted(findings, seen, memory?.past ?? null),
    unread: unread(timeline, seen),
    told: seen.length === 0 ? latestTold(read, memory, timeline) : null,
    properties: config.fingerprint,
    zone: clock.finding,
    newest: newestOf(read, clock, memory),
    dataHead: await dataHeadOf(findings, seen),
    schemaId: schema?.schemaId ?? null,
  };
  const moved = toCursor(next);
  const before = { schemaId: memory?.schemaId ?? null, survivors };
  return {
    outcome: await outcomeOf(findings, survivors, clock),
    commits: commitsOf(findings, survivors, clock, schema),
    cursor: cursor !== null && JSON.stringify(moved) === JSON.stringify(cursor) ? cursor : moved,
    head: seen.at(-1)?.time ?? null,
    dataHead: next.dataHead,
    tags: {},
    tagChanges: [],
    schema,
    newSchemas: newSchemas(read, schema, before, ordersByCompletion(config)),
    tableId: null,
    problems: problemsOf(findings, clock),
  };
}

/** Versions that were seen before and still stand, in the engine's order as it is now. */
function survivorsOf({ memory, verdict, timeline }: Findings): readonly SeenVersion[] {
  if (memory === null || verdict.kind === 'RECREATED') return [];
  const seen = new Map(memory.seen.map((version) => [version.key, version]));
  return timeline.versions.flatMap((instant) => {
    const version = seen.get(instant.key);
    if (version === undefined) return [];
    return [version.file === instant.file ? version : { ...version, ...instant }]; // an upgrade renames it
  });
}

/** Everything that stands in the timeline and has been read; at a first look also what was too old to be read. */
function seenNow(
  { memory, timeline, read, wanted }: Findings,
  survivors: readonly SeenVersion[],
): readonly SeenVersion[] {
  const known = new Map(survivors.map((version) => [version.key, version]));
  for (const { instant, judgement, schema } of read)
    known.set(instant.key, { ...instant, dataChange: judgement.dataChange, hasSchema: schema !== null });
  const wantedKeys = new Set(wanted.map(({ key }) => key));
  return timeline.versions.flatMap((instant) => {
    const version = known.get(instant.key);
    if (version !== undefined) return [version];
    return memory === null && !wantedKeys.has(instant.key) ? [{ ...instant, dataChange: null, hasSchema: true }] : [];
  });
}

/** What has begun, and what took back, in the past of a long timeline and since. */
function begun(timeline: Timeline, memory: Memory | null): Pick<Memory, 'takebacks' | 'pending'> {
  const until = memory?.past?.until ?? '';
  const before = (keys: ReadonlySet<string> | undefined): readonly string[] =>
    [...(keys ?? [])].filter((key) => key < until);
  return {
    takebacks: new Set([...before(memory?.takebacks), ...timeline.takebacks.map(({ time }) => time)]),
    pending: new Set([...before(memory?.pending), ...timeline.pending]),
  };
}

/** Versions as they are remembered: those of a long timeline's past only by the names of its files. */
function parted(
  { names, timeline }: Findings,
  seen: readonly SeenVersion[],
  past: Past | null,
): Pick<Memory, 'seen' | 'past'> {
  const count = names === null ? 0 : pastCount(seen, [...unread(timeline, seen)], TRIES);
  const until = seen[count]?.time;
  if (count === 0 || names === null || until === undefined) return { seen, past };
  const versions = [past?.versions ?? '', entriesText(seen.slice(0, count))].join(' ').trim();
  return { seen: seen.slice(count), past: { until, names: partNames(names, until).before, versions } };
}

/** The latest requested time of all that were told; at a first look, of all that was completed: what is in the archive then is history. */
function latestTold(read: readonly ReadVersion[], memory: Memory | null, timeline: Timeline): string | null {
  const before = memory === null ? [...timeline.cleans, ...timeline.takebacks] : memory.seen;
  return [...before, ...read.map(({ instant }) => instant)].reduce<string | null>(
    (latest, { time }) => (latest === null || isOlder(latest, time) ? time : latest),
    memory?.told ?? null,
  );
}

/** Completed versions that could not be read: should they be archived unread, the archive is asked for them. */
function unread({ versions }: Timeline, seen: readonly SeenVersion[]): ReadonlySet<string> {
  if (seen.length === versions.length) return new Set();
  const known = new Set(seen.map(({ key }) => key));
  return new Set(versions.map(({ key }) => key).filter((key) => !known.has(key)));
}

function newestOf(read: readonly ReadVersion[], clock: Clock, memory: Memory | null): bigint | null {
  const times = read.map(({ instant }) => clock.at(instant));
  return times.reduce<bigint | null>(
    (newest, at) => (newest === null || at > newest ? at : newest),
    memory?.newest ?? null,
  );
}

/** The newest version with new data: in the timeline, else in the archive. */
async function dataHeadOf(findings: Findings, seen: readonly SeenVersion[]): Promise<string | null> {
  for (const version of seen.toReversed()) {
    if (version.dataChange === true) return version.time;
    if (version.dataChange !== null) continue;
    const read = await findings.versions.version(version).catch(orBroken);
    if (read instanceof BrokenFile) return null;
    if (read.judgement.dataChange) return version.time;
  }
  const { verdict, memory, read } = findings;
  const archived = read.findLast(({ archived: gone, judgement }) => gone && judgement.dataChange)?.instant.time;
  if (archived !== undefined || verdict.kind === 'RECREATED') return archived ?? null;
  const lost = verdict.kind === 'REWOUND' && verdict.lost.some(({ time }) => time === memory?.dataHead);
  return lost ? null : (memory?.dataHead ?? null);
}

async function outcomeOf(findings: Findings, survivors: readonly SeenVersion[], clock: Clock): Promise<Outcome> {
  const { verdict, read, versions, memory } = findings;
  switch (verdict.kind) {
    case 'FORWARD':
      return { kind: read.length > 0 ? 'NEW' : 'NONE' };
    case 'RECREATED':
      return { kind: 'RECREATED' };
    case 'EXPIRED':
      return { kind: 'GAP', from: null, to: null };
    case 'REWOUND': {
      const lost = new Set(verdict.lost.map(({ key }) => key));
      const to = survivors.at(-1) ?? memory?.seen.findLast((version) => !lost.has(version.key));
      const version = survivors.includes(to as SeenVersion)
        ? await versions.version(to as SeenVersion).catch(orBroken)
        : null;
      const restored =
        version === null || version instanceof BrokenFile
          ? null
          : commitOf(version, clock, version.schema?.schemaId ?? null, null);
      return { kind: 'ROLLBACK', to: to?.time ?? null, restored };
    }
  }
}

/**
 * What is new, oldest first. Reading as of a version leaves out what was requested later, even where that was completed before: then
 * `readAs` names the latest requested so far.
 */
function commitsOf(
  { read, memory, verdict, timeline, wanted, config }: Findings,
  survivors: readonly SeenVersion[],
  clock: Clock,
  schema: TableSchema | null,
): readonly Commit[] {
  const lost = new Set(verdict.kind === 'REWOUND' ? verdict.lost.map(({ key }) => key) : []);
  const older = memory === null ? timeline.versions.slice(0, timeline.versions.length - wanted.length) : [];
  const standing = verdict.kind === 'RECREATED' ? [] : (memory?.seen ?? older).filter((seen) => !lost.has(seen.key));
  let latest = [...standing, ...survivors].reduce((time, seen) => (isOlder(time, seen.time) ? seen.time : time), '');
  const created = memory === null && config.createSchema !== null ? schema : null;
  let schemaId = verdict.kind === 'RECREATED' ? null : (memory?.schemaId ?? created?.schemaId ?? null);
  return read.map((version) => {
    const { time } = version.instant;
    schemaId = version.schema?.schemaId ?? schemaId;
    const readAs = isOlder(time, latest) ? latest : null;
    if (readAs === null) latest = time;
    return commitOf(version, clock, schemaId, readAs);
  });
}

function problemsOf({ read, broken, archive }: Findings, clock: Clock): readonly string[] {
  const problems = broken.map(({ message }) => `${message}; it is read again at the next poll.`);
  const archived = read.filter((version) => version.archived).map(({ instant }) => instant.time);
  if (archived.length > 0)
    problems.push(
      `${brief(archived)} had left the active timeline and ${archived.length === 1 ? 'was' : 'were'} found in the archive; a clean may have removed the files.`,
    );
  if (archive !== null && archive.incomplete !== null)
    problems.push(`${archive.incomplete}, so that versions in it may have been missed.`);
  const unknown = unknownActions(read);
  if (unknown.length > 0)
    problems.push(`Sluice does not know the action ${unknown.join(', ')} and judges it by what it wrote.`);
  if (clock.guessed && read.length > 0)
    problems.push('Nothing tells the time zone of the times in the timeline: they are taken for UTC.');
  return problems;
}
