import { stat } from 'node:fs';
import { join } from 'node:path';
import { loadFiles, loadSource } from '../src/compose/sources.ts';
import { createReader } from '../src/master/table-reader.ts';
import { Scanner } from '../src/master/scanner.ts';
import { type Clock, systemClock } from '../src/runtime/clock.ts';
import { createLog } from '../src/runtime/log.ts';
import type { Store } from '../src/store/store.ts';
import { openBenchStore } from './bench-store.ts';
import { assetAt, type Declared, declaration } from './declare.ts';
import { type Benchmark, type Measure, type Settings, spread, timed } from './measure.ts';
import { tableWriter } from './tables.ts';

const TABLES = 10_000;
const ROUNDS = 7;
const GOAL_SECONDS = 2;
/** The product's own (cli/commands/server.ts): scans at once, and the longest that one may take. */
const WIDTH = 16;
const LIMIT_MS = 60_000;
/** The default interval of the configuration; a FULL look is due a minute after the one before. */
const INTERVAL_MS = 30_000;
const UNTIL_FULL_MS = 61_000;

/**
 * The server's own scanner over the server's own store, all tables due at once. Only its clock is moved on between the rounds, so that 30 s need not
 * pass: after 30 s a QUICK look is due, after 61 s a FULL one. A round ends when the scanner has nothing running and has written what it saw.
 */
export const scan: Benchmark = {
  summary: `${TABLES} idle local tables polled by the scanner, QUICK and FULL`,
  run: async (settings) => {
    const laid = layTables(settings);
    const store = await openBenchStore(join(settings.folder, 'scan.db'));
    try {
      await store.definitions.apply(declaration({ assets: laid.assets, workflows: [] }), {
        dryRun: false,
        strict: false,
      });
      return await rounds(store, laid.probes, settings);
    } finally {
      await store.close();
    }
  },
};

interface Laid {
  readonly assets: Declared['assets'];
  /** The file of each table that a poll cannot do without asking for. */
  readonly probes: readonly string[];
}

const layTables = ({ folder, format, count, say }: Settings): Laid => {
  const writer = tableWriter(format);
  const assets = Array.from({ length: count ?? TABLES }, (_, i) => assetAt(format, join(folder, 'warehouse'), i));
  say(`writing ${assets.length} tables`);
  for (const { location } of assets) writer.create(location);
  return { assets, probes: assets.map(({ location }) => writer.probe(location, 1)) };
};

const rounds = async (
  store: Store,
  probes: readonly string[],
  { count, say }: Settings,
): Promise<readonly Measure[]> => {
  const round = scannerRounds(store, probes.length);
  say('first look at each table');
  const first = await round(0);
  const took = { quick: [] as Took[], full: [] as Took[], stats: [] as Took[] };
  for (let i = 0; i < (count === null ? ROUNDS : 2); i += 1) {
    took.quick.push(await round(INTERVAL_MS));
    took.full.push(await round(UNTIL_FULL_MS));
    took.stats.push(await timedWithCpu(() => statAll(probes)));
  }
  const limit = { what: `${probes.length} stats, ${WIDTH} at once`, ...inSeconds(took.stats) };
  const goal = count === null ? `median < ${GOAL_SECONDS} s` : null;
  const measure = (depth: string, seen: readonly Took[]): Measure => {
    const result = inSeconds(seen);
    const ok = goal === null ? null : result.median < GOAL_SECONDS;
    return { name: `scan: ${probes.length} tables, ${depth}`, goal, unit: 's', result, limit, ok };
  };
  const notes = ['The first look at a table: all is read, recorded and committed, one table at a time.'];
  return [
    measure('QUICK', took.quick),
    {
      ...measure('FULL', took.full),
      goal: null,
      ok: null,
      notes: ['A table gets a FULL look once a minute, QUICK ones in between.'],
    },
    { ...measure('first look', [first]), goal: null, ok: null, notes },
  ];
};

/** Wall time, and processor time of the whole process (the threads that read files too): the steadier of the two on a busy machine. */
interface Took {
  readonly wall: number;
  readonly cpu: number;
}

const timedWithCpu = async (work: () => Promise<void>): Promise<Took> => {
  const before = process.cpuUsage();
  const wall = (await timed(work)) / 1000;
  const { user, system } = process.cpuUsage(before);
  return { wall, cpu: (user + system) / 1e6 };
};

const inSeconds = (took: readonly Took[]) => ({
  ...spread(took.map(({ wall }) => wall)),
  'processor median': spread(took.map(({ cpu }) => cpu)).median,
});

/** A round: the clock moves on by so many ms, everything due is scanned; what it took. */
const scannerRounds = (store: Store, tables: number): ((ms: number) => Promise<Took>) => {
  let ahead = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + ahead };
  let left = 0;
  let unread = 0;
  let done = (): void => {};
  const scanner = new Scanner({
    assets: store.assets,
    read: createReader({ sourceOf: loadSource, filesOf: loadFiles, clock, limitMs: LIMIT_MS }),
    clock,
    log: createLog({ level: 'error', destination: 'stderr', now: clock.now }),
    intervalMs: () => INTERVAL_MS,
    width: WIDTH,
    onRecorded: () => {},
    onScanned: (_key, { outcome }) => {
      if (outcome.kind === 'UNREADABLE') unread += 1;
      left -= 1;
      if (left === 0) done();
    },
  });
  const round = async (): Promise<void> => {
    const all = new Promise<void>((resolve) => {
      done = resolve;
    });
    await scanner.runOnce(new AbortController().signal);
    await all;
    await scanner.settle();
  };
  return async (ms) => {
    ahead += ms;
    left = tables;
    const took = await timedWithCpu(round);
    if (unread > 0) throw new Error(`${unread} tables could not be read.`);
    return took;
  };
};

/** The plain limit: whether each next commit is there, asked with nothing around it. */
const statAll = async (paths: readonly string[]): Promise<void> => {
  const left = [...paths];
  const asker = async (): Promise<void> => {
    for (let path = left.pop(); path !== undefined; path = left.pop()) await exists(path);
  };
  await Promise.all(Array.from({ length: WIDTH }, asker));
};

const exists = (path: string): Promise<boolean> =>
  new Promise((done) =>
    stat(path, { throwIfNoEntry: false }, (error, found) => done(error === null && found !== undefined)),
  );
