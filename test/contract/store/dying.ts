import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import {
  type Backend,
  type Database,
  ORDERS,
  PAYMENTS,
  START,
  apply,
  asset,
  clock,
  commit,
  condition,
  ending,
  group,
  poll,
  project,
  ready,
  record,
  runAll,
  settle,
  stated,
  task,
  workflow,
} from './support.ts';

/** The second task waits for a table, so that its release is among the points at which a server dies. */
const forPayments = {
  groups: [group('pay', [condition(PAYMENTS)])],
  baseline: 'LAST_SUCCESS',
  timeoutSeconds: null,
  onTimeout: 'FAIL',
  checkIntervalSeconds: null,
} as const;

const DECLARED = project({
  assets: [asset(ORDERS), asset(PAYMENTS)],
  workflows: [
    workflow('w', {
      groups: [group('g', [condition(ORDERS, { qualityStatus: 'PASSED' })])],
      tasks: [task('a'), task('b', ['a'], { wait: forPayments })],
    }),
  ],
});

/** The main path, of which every step may be repeated: what a server does, and does again after it died. */
const work = async (store: Store): Promise<void> => {
  await record(store, ORDERS, poll([commit(1, { commitTime: START })]));
  await store.assets.recordStated([stated(ORDERS, { snapshotId: '1', checkName: 'rows', eventId: 'check-1' })]);
  await settle(store);
  await store.runs.advanceAll();
  for (const offer of await store.runs.unfinished())
    await store.runs.taskEnded(offer.taskRun.id, offer.taskRun.fence, ending());
  await runAll(store);
  await record(store, PAYMENTS, poll([commit(1, { commitTime: START })]));
  await settle(store);
  await runAll(store);
};

const prepared = async (database: Database): Promise<void> => {
  const store = await ready(database);
  await apply(store, DECLARED);
  for (const each of [ORDERS, PAYMENTS]) await record(store, each, poll([]));
  await settle(store);
  await store.close();
};

type Hook = (sql: string, when: 'BEFORE' | 'AFTER') => void;

/** Every so many statements one at which it dies; inside a transaction they are all alike. */
const STRIDE = 40;

/** Works with a store that is dead from the `nth` point on: from there it can neither write nor commit nor roll back. */
const workUntil = async (database: Database, nth: number): Promise<{ readonly died: boolean }> => {
  let points = 0;
  let statements = 0;
  const hook: Hook = (sql, when) => {
    if (when === 'BEFORE') statements += 1;
    if (/^commit$/i.test(sql) || (when === 'BEFORE' && statements % STRIDE === 0)) points += 1;
    if (points >= nth) throw new Error('killed');
  };
  const opened = { armed: false };
  const store = await database.open({ onStatement: (sql, when) => opened.armed && hook(sql, when) });
  await store.admin.claimOwnership('first');
  opened.armed = true;
  try {
    await work(store);
    return { died: false };
  } catch {
    return { died: true };
  } finally {
    opened.armed = false;
    await store.close();
  }
};

const facts = async (store: Store) => {
  const runs = await store.runs.list({}, {});
  const history = await store.groups.triggerHistory({}, {});
  return {
    runs: runs.items.map(({ run, tasks }) => [
      run.state,
      ...tasks.map((each) => `${each.name} ${each.state} ${each.attempt}`),
    ]),
    triggers: history.items.map((each) => [each.status, each.runId === runs.items[0]?.run.id]),
    versions: (await store.assets.versions(ORDERS, {})).items.map((version) => [
      version.ordinal,
      version.snapshotId,
      version.quality,
    ]),
    events: (await store.assets.events({}, {})).items.map((event) => event.eventType).toSorted(),
    commands: (await store.runs.launch(10)).length,
    leaves: (await store.groups.explain(1)).groups.flatMap((each) => each.leaves.map((leaf) => leaf.code)),
  };
};

const EXPECTED = {
  runs: [['SUCCESS', 'a SUCCESS 1', 'b SUCCESS 1']],
  triggers: [
    ['SUCCESS', true],
    ['SUCCESS', true],
  ],
  versions: [[1, '1', 'PASSED']],
  events: ['QUALITY_CHECK_PASSED', 'SNAPSHOT_COMMITTED', 'SNAPSHOT_COMMITTED'],
  commands: 0,
  leaves: ['BLOCKED_BY_SNAPSHOT'],
};

/** Dies before and after every commit of the main path, and inside its transactions; whoever comes next finishes it, once. */
export const dyingSuite = (backend: Backend): void => {
  describe('dying at any point of the main path', () => {
    test('loses nothing and does nothing twice', { timeout: 120_000 }, async () => {
      let points = 0;
      for (let died = true; died; points += 1) {
        clock.time = START;
        const database = await backend.make();
        await prepared(database);
        died = (await workUntil(database, points + 1)).died;
        const heir = await database.open();
        await heir.admin.claimOwnership('heir');
        await work(heir);
        expect(await facts(heir), `after dying at point ${points + 1}`).toEqual(EXPECTED);
        await heir.close();
        await database.drop();
      }
      expect(points).toBeGreaterThan(30);
    });
  });
};
