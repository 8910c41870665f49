import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadFiles, loadSource, type Source, type TableRef } from '../src/compose/sources.ts';
import type { Cursor, Poll } from '../src/core/asset/poll.ts';
import { type Benchmark, type Measure, type Settings, spread, timed } from './measure.ts';
import { metadataText, snapshotText } from './tables-iceberg.ts';
import { tableWriter } from './tables.ts';

const ROUNDS = 20;
const GOAL_MS = 50;
/** The product's own (semantics.md 3). */
const FIRST_READ_LIMIT = 1_000;

/** A table with a long history. */
interface Long {
  readonly format: string;
  readonly versions: number;
  /** What the promise is about: how long a poll takes, or how long it holds up all else. */
  readonly promise: 'took' | 'held';
  readonly lay: (folder: string, versions: number) => void;
  /** The bare thing that a reader cannot do without. */
  readonly limit: { readonly what: string; readonly work: (folder: string) => unknown };
}

const layCommits =
  (format: string) =>
  (folder: string, versions: number): void => {
    const writer = tableWriter(format);
    writer.create(folder);
    for (let id = 2; id <= versions; id += 1) writer.commit(folder, id);
  };

/** Only the newest metadata file: each of those before it would be as large. */
const layIceberg = (folder: string, versions: number): void => {
  const snapshots = Array.from({ length: versions }, (_, at) => snapshotText(folder, at + 1));
  mkdirSync(join(folder, 'metadata'), { recursive: true });
  writeFileSync(join(folder, 'metadata', `v${versions}.metadata.json`), metadataText(folder, snapshots));
};

const newestMetadata = (folder: string): string => {
  const versions = readdirSync(join(folder, 'metadata')).map((name) => Number(/^v(\d+)/.exec(name)?.[1] ?? 0));
  return join(folder, 'metadata', `v${Math.max(...versions)}.metadata.json`);
};

const LONG: readonly Long[] = [
  {
    format: 'iceberg',
    versions: 70_000,
    promise: 'held',
    lay: layIceberg,
    limit: {
      what: 'JSON.parse of the file at once',
      work: (folder) => JSON.parse(readFileSync(newestMetadata(folder), 'utf8')) as unknown,
    },
  },
  {
    format: 'delta',
    versions: 100_000,
    promise: 'took',
    lay: layCommits('delta'),
    limit: { what: 'a bare listing of the log', work: (folder) => readdirSync(join(folder, '_delta_log')) },
  },
  {
    format: 'hudi',
    versions: 10_000,
    promise: 'took',
    lay: layCommits('hudi'),
    limit: { what: 'a bare listing of the timeline', work: (folder) => readdirSync(join(folder, '.hoodie')) },
  },
];

/** One table of each format with a long history: a first look, looks at rest, and looks after a commit; each with the longest that it held up all else. */
export const long: Benchmark = {
  summary: 'tables with long histories: Iceberg 70,000 snapshots, Delta 100,000 versions, Hudi 10,000 instants',
  run: async (settings) => {
    const measures: Measure[] = [];
    for (const table of LONG) measures.push(...(await measureOne(table, settings)));
    return measures;
  },
};

const measureOne = async (table: Long, { folder, count, say }: Settings): Promise<readonly Measure[]> => {
  const [location, versions] = [join(folder, table.format), count ?? table.versions];
  say(`writing a ${table.format} table with ${versions} versions`);
  table.lay(location, versions);
  const [source, files] = [await loadSource(table.format), await loadFiles(location)];
  if (source === undefined || files === undefined) throw new Error(`${table.format} cannot be read.`);
  const ask = asking(source, { location, branch: null, files });
  const first = await ask(null, 'FULL', 'NEW');
  const looks = { 'first look': [first], QUICK: [] as Look[], FULL: [] as Look[], 'after a commit': [] as Look[] };
  let { cursor } = first;
  for (let i = 0; i < ROUNDS; i += 1) looks.QUICK.push(await ask(cursor, 'QUICK', 'NONE'));
  for (let i = 0; i < ROUNDS; i += 1) looks.FULL.push(await ask(cursor, 'FULL', 'NONE'));
  const writer = tableWriter(table.format);
  for (let i = 1; i <= (table.promise === 'held' ? 3 : ROUNDS); i += 1) {
    writer.commit(location, versions + i);
    const look = await ask(cursor, 'QUICK', 'NEW');
    cursor = look.cursor;
    looks['after a commit'].push(look);
  }
  const limit = { what: table.limit.what, ...spread([await timed(() => table.limit.work(location))]) };
  const size =
    table.promise === 'held'
      ? [`The metadata file has ${Math.round(statSync(newestMetadata(location)).size / 1e6)} MB.`]
      : [];
  return Object.entries(looks).map(([depth, seen]) => ({
    ...measure(table, versions, depth, seen, limit),
    notes: size,
  }));
};

interface Look {
  readonly took: number;
  readonly held: Held;
  readonly cursor: Cursor | null;
}

/** The longest that the event loop stood still, ms: by the clock, and in processor time of its thread, which is the same where nobody else wants the processor. */
interface Held {
  readonly wall: number;
  readonly cpu: number;
}

const threadMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Lets the event loop turn as fast as it can, until told to stop, and watches the pauses between two turns. */
const watchLoop = (): (() => Held) => {
  let held: Held = { wall: 0, cpu: 0 };
  let [at, cpuAt] = [performance.now(), threadMs()];
  const look = (): void => {
    const [now, cpuNow] = [performance.now(), threadMs()];
    held = { wall: Math.max(held.wall, now - at), cpu: Math.max(held.cpu, cpuNow - cpuAt) };
    [at, cpuAt] = [now, cpuNow];
  };
  const beat = (): void => {
    look();
    next = setImmediate(beat);
  };
  let next = setImmediate(beat);
  return () => {
    look();
    clearImmediate(next);
    return held;
  };
};

/** Polls once, and stops the benchmark where the answer is not the expected one. */
const asking =
  (source: Source, ref: TableRef) =>
  async (cursor: Cursor | null, depth: 'QUICK' | 'FULL', expected: Poll['outcome']['kind']): Promise<Look> => {
    const stop = watchLoop();
    const from = performance.now();
    const poll = await source.poll(ref, cursor, { depth, firstReadLimit: FIRST_READ_LIMIT });
    const took = performance.now() - from;
    const held = stop();
    const { kind } = poll.outcome;
    if (kind !== expected) throw new Error(`A ${source.format} poll said ${kind} instead of ${expected}.`);
    return { took, held, cursor: poll.cursor };
  };

const measure = (
  { format, promise }: Long,
  versions: number,
  depth: string,
  looks: readonly Look[],
  limit: Measure['limit'],
): Measure => {
  const took = spread(looks.map((look) => look.took));
  const [wall, cpu] = [looks.map(({ held }) => held.wall), looks.map(({ held }) => held.cpu)].map(spread);
  const result = { ...took, 'held max': wall?.max ?? 0, 'held max, processor': cpu?.max ?? 0 };
  const name = `long: ${format}, ${versions} versions, ${depth}`;
  if (promise === 'held') {
    const goal = `holds up all else no longer than ${GOAL_MS} ms of processor time`;
    return { name, goal, unit: 'ms', result, limit, ok: result['held max, processor'] < GOAL_MS };
  }
  const promised = depth !== 'first look';
  const [goal, ok] = promised ? [`median < ${GOAL_MS} ms`, took.median < GOAL_MS] : [null, null];
  return { name, goal, unit: 'ms', result, limit, ok };
};
