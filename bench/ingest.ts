import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { StatedEvent } from '../src/core/asset/event.ts';
import { keepHeapSmall } from '../src/runtime/heap.ts';
import type { Store } from '../src/store/store.ts';
import { openBenchStore } from './bench-store.ts';
import { plainTable } from './database.ts';
import { eventsOf, type Shape } from './ingest-shape.ts';
import { type Benchmark, type Measure, percentiles, type Settings, timed } from './measure.ts';

const SHAPE: Shape = { assets: 10_000, conditions: 100_000 };
const EVENTS = 100_000;
/** Who push at the same time, each about tables of its own. */
const WRITERS = 3;
/** The most that one request carries. */
const BATCH = 1_000;
const TOLD_EVERY = 20_000;
/** The resolver's own. */
const EVALUATED_AT_ONCE = 200;
const GOAL = 5_000;
const GOAL_MB = 500;

/**
 * Pushed events through the store's face: three writers send requests of 1,000 events about tables of their own, and one loop evaluates what they
 * touch, as the server's API and resolver do side by side. The clock stops when everything is recorded and nothing is left to evaluate. Limit: the rows of the events
 * alone, put into the same kind of database in as many transactions.
 */
export const ingest: Benchmark = {
  summary: `${EVENTS} pushed events recorded and evaluated, ${SHAPE.assets} assets, ${SHAPE.conditions} conditions`,
  run: async (settings) => {
    const { folder, count, say } = settings;
    keepHeapSmall(); // as `sluice server` does
    const file = join(folder, 'ingest.db');
    const shape = count === null ? SHAPE : { assets: 1_000, conditions: 10_000 };
    say(`declaring ${shape.conditions} conditions`);
    const setup = join(import.meta.dirname, 'ingest-setup.ts');
    execFileSync(process.execPath, [setup, file, JSON.stringify(shape)], { stdio: ['ignore', 'ignore', 'inherit'] });
    const store = await openBenchStore(file);
    try {
      await evaluateAll(store); // the groups' first trees
      return [await measure(store, shape, settings)];
    } finally {
      await store.close();
    }
  },
};

const measure = async (store: Store, shape: Shape, { folder, count, say }: Settings): Promise<Measure> => {
  const wanted = count ?? EVENTS;
  const each = Math.ceil(wanted / WRITERS);
  const writers = Array.from({ length: WRITERS }, (_, writer) => requestsOf(shape, writer, each));
  const seen = { evaluated: 0, fired: 0, recorded: 0, recordMs: [] as number[], megabytes: 0, done: false };
  const cpu = process.cpuUsage();
  const wall = await timed(async () => {
    const recording = Promise.all(writers.map((requests) => record(store, requests, seen, say)));
    await Promise.all([recording.finally(() => (seen.done = true)), evaluate(store, seen)]);
  });
  const { user, system } = process.cpuUsage(cpu);
  const plain = await plainTable(join(folder, 'plain.db'));
  const plainRate = Math.round(wanted / ((await plain.fill(wanted, BATCH)) / 1000));
  await plain.close();
  const rate = Math.round(seen.recorded / (wall / 1000));
  const goal = count === null ? `> ${GOAL} events/s, RSS < ${GOAL_MB} MB` : null;
  return {
    name: 'ingest',
    goal,
    unit: 'events/s',
    result: {
      rate,
      'evaluations/s': Math.round(seen.evaluated / (wall / 1000)),
      fires: seen.fired,
      'request p50, ms': percentiles(seen.recordMs).p50,
      'request p99, ms': percentiles(seen.recordMs).p99,
      'processor, s': Number(((user + system) / 1e6).toFixed(1)),
      'RSS, MB': Math.round(seen.megabytes),
    },
    limit: { what: `${wanted} event rows put into ${plain.name}, ${BATCH} in a transaction`, rate: plainRate },
    ok: goal === null ? null : rate >= GOAL && seen.megabytes < GOAL_MB,
  };
};

/** Made as they are sent, so that they are not in the memory that is measured. */
function* requestsOf(shape: Shape, writer: number, wanted: number): Generator<readonly StatedEvent[]> {
  const events = eventsOf(shape, writer, WRITERS);
  for (let made = 0; made < wanted; made += BATCH)
    yield Array.from({ length: Math.min(BATCH, wanted - made) }, () => events.next().value as StatedEvent);
}

interface Seen {
  evaluated: number;
  recorded: number;
  fired: number;
  readonly recordMs: number[];
  megabytes: number;
  done: boolean;
}

const record = async (
  store: Store,
  requests: Iterable<readonly StatedEvent[]>,
  seen: Seen,
  say: Settings['say'],
): Promise<void> => {
  for (const events of requests) {
    const took = await timed(async () => {
      const receipts = await store.assets.recordStated(events);
      const bad = receipts.find(({ status }) => status !== 'ACCEPTED');
      if (bad !== undefined) throw new Error(`An event was not accepted: ${bad.problem?.detail ?? bad.status}.`);
    });
    seen.recordMs.push(took);
    seen.megabytes = Math.max(seen.megabytes, process.memoryUsage.rss() / 2 ** 20);
    const before = seen.recorded;
    seen.recorded += events.length;
    if (Math.floor(before / TOLD_EVERY) < Math.floor(seen.recorded / TOLD_EVERY)) say(`${seen.recorded} events`);
  }
};

/** Until everything is recorded and nothing is due any more. */
const evaluate = async (store: Store, seen: Seen): Promise<void> => {
  for (;;) {
    const done = seen.done;
    const reports = await store.groups.evaluateDue(EVALUATED_AT_ONCE);
    seen.evaluated += reports.length;
    seen.fired += reports.filter(({ fired }) => fired !== null).length;
    if (reports.length === 0 && done) return;
    if (reports.length === 0) await new Promise((resolve) => setImmediate(resolve));
  }
};

const evaluateAll = async (store: Store): Promise<void> => {
  while ((await store.groups.evaluateDue(EVALUATED_AT_ONCE)).length > 0);
};
