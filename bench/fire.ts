import { join } from 'node:path';
import type { Poll } from '../src/core/asset/poll.ts';
import type { ScanTarget, Store, TaskOffer } from '../src/store/store.ts';
import { openBenchStore } from './bench-store.ts';
import { plainTable } from './database.ts';
import { assetAt, declaration, workflowOn } from './declare.ts';
import { type Benchmark, type Measure, median, percentiles, type Settings, timed } from './measure.ts';

const COUNT = 1_000;
const WARM_UP = 50;

/**
 * What stands between a poll and a process, through the store's face alone: record a commit, evaluate the group, launch the run, dispatch the
 * task. Each fire is followed (not measured) by the task's start and end, as a worker reports them, so that the database grows as it
 * does in life. Limit: as many single-row commits to the same kind of database, equally forced to the disk.
 */
export const fire: Benchmark = {
  summary: 'record + evaluate + launch + dispatch through the store alone, beside plain commits',
  run: async (settings) => {
    const commits = { told: 0 };
    let writing = false;
    const store = await openBenchStore(join(settings.folder, 'fire.db'), (sql, when) => {
      if (when === 'BEFORE') return;
      if (/^(insert|update|delete)\b/i.test(sql)) writing = true;
      if (sql !== 'COMMIT') return;
      if (writing) commits.told += 1; // one that wrote nothing forces nothing to the disk
      writing = false;
    });
    try {
      const asset = assetAt(settings.format, settings.folder, 1);
      const workflow = workflowOn('w', [asset], 'echo done');
      await store.definitions.apply(declaration({ assets: [asset], workflows: [workflow] }), {
        dryRun: false,
        strict: false,
      });
      return await fires(store, commits, settings);
    } finally {
      await store.close();
    }
  },
};

const PARTS = ['record', 'evaluate', 'launch', 'dispatch'] as const;
type Parts = Record<(typeof PARTS)[number], number>;

const fires = async (
  store: Store,
  commits: { told: number },
  { folder, count, say }: Settings,
): Promise<readonly Measure[]> => {
  let target = await firstRead(store);
  const seen: Parts[] = [];
  const plain: number[] = [];
  const limit = await plainTable(join(folder, 'plain.db'));
  const perFire: number[] = [];
  for (let id = 2; id < 2 + WARM_UP + (count ?? COUNT); id += 1) {
    const before = commits.told;
    const fired = await fireOnce(store, target, id);
    perFire.push(commits.told - before);
    target = fired.target;
    await finish(store, fired.offer);
    const alone = await limit.commit(median(perFire));
    if (id < 2 + WARM_UP) continue;
    seen.push(fired.parts);
    plain.push(alone);
    if (id % 200 === 0) say(`${id} fires`);
  }
  await limit.close();
  return [report(seen, plain, `${median(perFire)} ${limit.name} commits`)];
};

/** The table is read for the first time, so that the next commit counts as new. */
const firstRead = async (store: Store): Promise<ScanTarget> => {
  const [target] = await store.assets.scanTargets();
  if (target === undefined) throw new Error('The asset of the benchmark is not registered.');
  return record(store, target, 1);
};

const record = async (store: Store, target: ScanTarget, id: number): Promise<ScanTarget> => {
  const now = BigInt(Date.now());
  const receipt = await store.assets.recordPoll(target.asset.key, target.revision, pollOf(id), {
    startedAt: now,
    recordedAt: now,
  });
  return receipt.target;
};

const fireOnce = async (store: Store, from: ScanTarget, id: number) => {
  let target = from;
  let offers: readonly TaskOffer[] = [];
  const parts: Parts = {
    record: await timed(async () => {
      target = await record(store, from, id);
    }),
    evaluate: await timed(() => store.groups.evaluateDue(200)),
    launch: await timed(() => store.runs.launch(50)),
    dispatch: await timed(async () => {
      offers = await store.runs.dispatch(100);
    }),
  };
  const [offer] = offers;
  if (offer === undefined || offers.length > 1)
    throw new Error(`Commit ${id} started ${offers.length} tasks; it must start one.`);
  return { target, offer, parts };
};

const finish = async (store: Store, { taskRun: { id, fence } }: TaskOffer): Promise<void> => {
  await store.runs.taskStarted(id, fence, BigInt(Date.now()), 'bench', 1);
  await store.runs.taskEnded(id, fence, { state: 'SUCCESS', exitCode: 0, reason: null, endedAt: BigInt(Date.now()) });
};

/** What a source answers when one commit has been added. */
const pollOf = (id: number): Poll => ({
  outcome: { kind: 'NEW' },
  commits: [
    {
      snapshotId: String(id),
      operation: 'APPEND',
      dataChange: true,
      commitTime: BigInt(Date.now()),
      watermark: null,
      schemaId: '0',
      addedRecords: 3n,
      totalRecords: 3n * BigInt(id),
    },
  ],
  cursor: { v: 1, head: String(id) },
  head: String(id),
  dataHead: String(id),
  tags: {},
  tagChanges: [],
  schema: null,
  newSchemas: [],
  tableId: null,
  problems: [],
});

const report = (seen: readonly Parts[], plain: readonly number[], what: string): Measure => {
  const sums = seen.map((parts) => PARTS.reduce((sum, part) => sum + parts[part], 0));
  const parts = PARTS.map((part) => [`${part} p50`, percentiles(seen.map((each) => each[part])).p50]);
  return {
    name: 'fire',
    goal: null,
    unit: 'ms',
    result: { ...percentiles(sums), ...Object.fromEntries(parts) },
    limit: { what, ...percentiles(plain) },
    ok: null,
  };
};
