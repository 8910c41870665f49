import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { NOTHING_STATED, type StatedEvent } from '../src/core/asset/event.ts';
import type { Store, TaskOffer } from '../src/store/store.ts';
import { openBenchStore } from './bench-store.ts';
import { type Benchmark, type Figures, type Measure, percentiles, timed } from './measure.ts';
import { residentMB, withServer } from './server.ts';
import type { Counted } from './statement-counter.ts';
import { SOLO, SOLO_KEY, TASKS_EACH } from './waiting-shape.ts';

const COUNT = 100_000;
/** The server's own start is over by then. */
const SETTLE_SECONDS = 10;
const IDLE_SECONDS = 60;
const RELEASES = 200;
const WARM_UP = 20;
const GOAL_PERCENT = 1;
const GOAL_QUERIES = 1;
const GOAL_FACTOR = 2;

/**
 * 100,000 tasks that wait for 1,000 tables, each with a deadline. Idle: a real server on that database, its processor time and the SQL statements that it
 * executes (transaction control aside) over a minute in which nothing happens; limit: the same server with none waiting. Release: an event of one
 * more table releases the one task that waits for it: recorded, evaluated and handed out through the store alone; limit: the same with none waiting.
 */
export const waiting: Benchmark = {
  summary: `${COUNT} waiting tasks: what they cost while nothing happens, and what releasing one costs`,
  run: async (settings) => {
    const { folder, count, say } = settings;
    const many = count ?? COUNT;
    const idle: Record<'none' | 'many', Figures> = { none: {}, many: {} };
    const release: Record<'none' | 'many', Figures> = { none: {}, many: {} };
    for (const [which, tasks] of [
      ['none', 0],
      ['many', many],
    ] as const) {
      const data = join(folder, `data-${tasks}`);
      const file = join(data, 'sluice.db');
      mkdirSync(data);
      setUp(file, tasks);
      say(`${tasks} tasks wait; idle for ${SETTLE_SECONDS + IDLE_SECONDS} s`);
      idle[which] = await idleServer(data);
      say(`${tasks} tasks wait; releasing one more, ${RELEASES} times`);
      release[which] = await releases(file);
    }
    return report(many, count === null, idle, release);
  },
};

const setUp = (file: string, tasks: number): void => {
  const script = join(import.meta.dirname, 'waiting-setup.ts');
  execFileSync(process.execPath, [script, file, String(tasks)], { stdio: ['ignore', 'ignore', 'inherit'] });
};

const idleServer = (data: string): Promise<Figures> => {
  const counts = `${data}.counts`;
  const preload = join(import.meta.dirname, 'statement-counter.ts');
  return withServer(data, { preload, env: { BENCH_COUNTS: counts } }, async ({ pid }) => {
    await pause(SETTLE_SECONDS * 1_000);
    const before = await counted(pid, counts);
    const seconds =
      (await timed(async () => {
        await pause(IDLE_SECONDS * 1_000);
      })) / 1_000;
    const after = await counted(pid, counts);
    return {
      'processor, %': Number((((after.processorMs - before.processorMs) / 1_000 / seconds) * 100).toFixed(2)),
      'queries/s': Number(((after.statements - before.statements) / seconds).toFixed(2)),
      'RSS, MB': Math.round(await residentMB(pid)),
    };
  });
};

const counted = async (pid: number, file: string): Promise<Counted> => {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file)) await pause(5);
  return JSON.parse(readFileSync(file, 'utf8')) as Counted;
};

const releases = async (file: string): Promise<Figures> => {
  const store = await openBenchStore(file);
  try {
    const { code } = await store.definitions.workflow(null, SOLO);
    const seen: number[] = [];
    for (let n = 1; n <= WARM_UP + RELEASES; n += 1) {
      const took = await releaseOne(store, code, n);
      if (n > WARM_UP) seen.push(took);
    }
    return percentiles(seen);
  } finally {
    await store.close();
  }
};

/** A run that waits, then the event, its evaluation and the task's turn, which are what is timed. */
const releaseOne = async (store: Store, workflowCode: number, n: number): Promise<number> => {
  const request = { params: {}, pins: new Map(), consume: false, startTasks: [], idempotencyKey: null };
  await store.runs.start({ ...request, workflowCode, taskDependType: 'TASK_POST' });
  await store.runs.launch(1);
  await store.groups.evaluateDue(200);
  let offers: readonly TaskOffer[] = [];
  const took = await timed(async () => {
    await store.assets.recordStated([commit(n)]);
    await store.groups.evaluateDue(200);
    offers = await store.runs.dispatch(100);
  });
  const [offer] = offers;
  if (offer === undefined || offers.length > 1 || offer.taskRun.pins.get(SOLO_KEY)?.snapshotId !== String(n))
    throw new Error(`Commit ${n} released ${offers.length} tasks; it must release one, on that version.`);
  const { id, fence } = offer.taskRun;
  const ending = { state: 'SUCCESS', exitCode: 0, reason: null, endedAt: BigInt(Date.now()) } as const;
  await store.runs.taskStarted(id, fence, BigInt(Date.now()), 'bench', null);
  await store.runs.taskEnded(id, fence, ending);
  return took;
};

const commit = (n: number): StatedEvent => ({
  assetKey: SOLO_KEY,
  eventType: 'SNAPSHOT_COMMITTED',
  sourceType: 'PUSH',
  ...NOTHING_STATED,
  snapshotId: String(n),
  commitKind: 'APPEND',
  commitTime: BigInt(Date.now()),
  sequenceNumber: BigInt(n),
  dataChange: true,
});

type Both = Readonly<Record<'none' | 'many', Figures>>;

const report = (many: number, whole: boolean, idle: Both, release: Both): readonly Measure[] => {
  const tasks = Math.ceil(many / TASKS_EACH) * TASKS_EACH;
  const [percent, queries] = [Number(idle.many['processor, %']), Number(idle.many['queries/s'])];
  const factor = Number(release.many['p50']) / Number(release.none['p50']);
  return [
    {
      name: `waiting: ${tasks} tasks, idle`,
      goal: whole ? `< ${GOAL_PERCENT} % of a core, < ${GOAL_QUERIES} query/s` : null,
      unit: '%',
      result: idle.many,
      limit: { what: 'the same server with no waiting task', ...idle.none },
      ok: whole ? percent < GOAL_PERCENT && queries < GOAL_QUERIES : null,
    },
    {
      name: `waiting: ${tasks} tasks, releasing one`,
      goal: whole ? `p50 < ${GOAL_FACTOR} x that with none waiting` : null,
      unit: 'ms',
      result: { ...release.many, factor: Number(factor.toFixed(2)) },
      limit: { what: 'the same with no other waiting task', ...release.none },
      ok: whole ? factor < GOAL_FACTOR : null,
    },
  ];
};
