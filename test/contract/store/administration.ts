import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import type { Backend } from './support.ts';
import {
  ORDERS,
  PAYMENTS,
  apply,
  asset,
  commit,
  commits,
  condition,
  fires,
  group,
  poll,
  project,
  record,
  runAll,
  settle,
  task,
  workflow,
} from './support.ts';
import { withStore } from './with-store.ts';

const trade = workflow('trade', { groups: [group('g', [condition(ORDERS)])] });

const declared = async (store: Store, more: Parameters<typeof asset>[1] = {}): Promise<number> => {
  await apply(store, project({ assets: [asset(ORDERS, more)] }));
  await commits(store, ORDERS, 1);
  await apply(store, project({ workflows: [trade] }));
  await settle(store);
  return (await store.definitions.workflow(null, 'trade')).code;
};

/** What people change beside applying files. */
export const administrationSuite = (backend: Backend): void => {
  describe('workflows', () => {
    test(
      'offline, no group fires, and the tree says why; online again, what arrived meanwhile counts',
      withStore(backend, async ({ store }) => {
        const code = await declared(store);
        expect((await store.definitions.release(code, 'OFFLINE')).releaseState).toBe('OFFLINE');
        await commits(store, ORDERS, 2);
        expect(await fires(store)).toEqual([]);
        const [explained] = (await store.groups.explain(code)).groups;
        expect(explained?.leaves.map(({ code: why, actual }) => [why, actual])).toContainEqual([
          'BLOCKED_BY_PAUSED',
          'the workflow is offline',
        ]);
        await store.definitions.release(code, 'ONLINE');
        expect(await fires(store)).toHaveLength(1);
      }),
    );

    test(
      'online again with SKIP, what arrived meanwhile starts nothing, and what comes next does',
      withStore(backend, async ({ store }) => {
        const code = await declared(store);
        await store.definitions.release(code, 'OFFLINE');
        await commits(store, ORDERS, 2, 3);
        await store.definitions.release(code, 'ONLINE', 'SKIP');
        expect(await fires(store)).toEqual([]);
        await commits(store, ORDERS, 4);
        expect((await fires(store)).map(({ pins }) => pins.get(ORDERS)?.snapshotId)).toEqual(['4']);
        await runAll(store);
        await expect(store.definitions.release(code, 'ONLINE', 'SKIP')).rejects.toMatchObject({ code: 'CONFLICT' });
        await store.groups.pause(code, 'g'); // whose own pause keeps what arrives
        await store.definitions.release(code, 'OFFLINE');
        await commits(store, ORDERS, 5);
        await store.definitions.release(code, 'ONLINE', 'SKIP');
        await store.groups.resume(code, 'g', 'CATCH_UP');
        expect((await fires(store)).map(({ pins }) => pins.get(ORDERS)?.snapshotId)).toEqual(['5']);
      }),
    );

    test(
      'a paused group keeps what arrives and says why it waits; resumed, it makes one run for all of it, or with SKIP none',
      withStore(backend, async ({ store }) => {
        const code = await declared(store);
        expect(await store.groups.pause(code, 'g')).toMatchObject({ group: 'g', paused: true, ready: false });
        await commits(store, ORDERS, 2, 3);
        expect(await fires(store)).toEqual([]);
        const [group1] = (await store.groups.explain(code)).groups;
        expect(group1?.leaves.filter(({ met }) => !met).map((leaf) => leaf.code)).toEqual(['BLOCKED_BY_PAUSED']);
        await apply(store, project({ workflows: [{ ...trade, description: 'edited while paused' }] }));
        expect((await store.groups.pause(code, 'g')).paused).toBe(true);
        expect(await store.groups.resume(code, 'g', 'CATCH_UP')).toMatchObject({ paused: false, ready: true });
        expect((await fires(store)).map(({ pins }) => pins.get(ORDERS)?.snapshotId)).toEqual(['3']);
        await runAll(store);
        await settle(store);
        await store.groups.pause(code, 'g');
        await commits(store, ORDERS, 4);
        expect(await store.groups.resume(code, 'g', 'SKIP')).toMatchObject({ paused: false, ready: false });
        expect(await fires(store)).toEqual([]);
        await commits(store, ORDERS, 5);
        expect((await fires(store)).map(({ pins }) => pins.get(ORDERS)?.snapshotId)).toEqual(['5']);
        await expect(store.groups.resume(code, 'g', 'SKIP')).rejects.toMatchObject({ code: 'CONFLICT' });
        await expect(store.groups.pause(code, 'x')).rejects.toMatchObject({
          code: 'NOT_FOUND',
          message: expect.stringContaining('its groups are: g') as string,
        });
      }),
    );

    test(
      'versions as they were, newest first',
      withStore(backend, async ({ store }) => {
        const code = await declared(store);
        await apply(store, project({ workflows: [{ ...trade, description: 'new' }] }));
        const { items } = await store.definitions.versions(code, {});
        expect(items.map(({ version, description }) => [version, description])).toEqual([
          [2, 'new'],
          [1, ''],
        ]);
        expect((await store.definitions.version(code, 1)).description).toBe('');
        await expect(store.definitions.version(code, 3)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      }),
    );

    test(
      'a change made for another version is refused, and one that must be new if it is there',
      withStore(backend, async ({ store }) => {
        await declared(store);
        const change = project({ workflows: [{ ...trade, description: 'new' }] });
        const at = (version: number) =>
          store.definitions.apply(change, { dryRun: false, strict: false, expect: new Map([['trade', version]]) });
        await expect(at(0)).rejects.toMatchObject({ code: 'CONFLICT' });
        await expect(at(2)).rejects.toMatchObject({ code: 'CONFLICT' });
        await at(1);
        await expect(at(1)).rejects.toMatchObject({ code: 'CONFLICT' });
      }),
    );

    test(
      'removed only offline and without unfinished runs; its runs and triggers stay, and its name is free',
      withStore(backend, async ({ store }) => {
        const code = await declared(store);
        await commits(store, ORDERS, 2);
        const [fired] = await fires(store);
        await expect(store.definitions.remove(code)).rejects.toMatchObject({ code: 'CONFLICT' });
        await store.definitions.release(code, 'OFFLINE');
        await expect(store.definitions.remove(code)).rejects.toMatchObject({ code: 'CONFLICT' });
        await runAll(store);
        await store.definitions.remove(code);
        await expect(store.definitions.workflow(null, 'trade')).rejects.toMatchObject({ code: 'NOT_FOUND' });
        await commits(store, ORDERS, 3);
        expect(await fires(store)).toEqual([]);
        const run = await store.runs.get(fired?.runId ?? 0);
        expect([run.workflow, run.run.state]).toEqual(['trade', 'SUCCESS']);
        const { items } = await store.groups.triggerHistory({ project: 'shop' }, {});
        expect(items.map(({ workflow: name, runId }) => [name, runId])).toEqual([['trade', fired?.runId]]);
        await apply(store, project({ workflows: [trade] }));
        expect((await store.definitions.workflow(null, 'trade')).code).not.toBe(code);
      }),
    );
  });

  describe('assets', () => {
    test(
      'each has a code of its own, which is never given again',
      withStore(backend, async ({ store }) => {
        await apply(store, project({ assets: [asset(ORDERS), asset(PAYMENTS)] }));
        const { code } = await store.assets.get(PAYMENTS);
        expect(Number.isSafeInteger(code)).toBe(true);
        expect(await store.assets.keyOf(code)).toBe(PAYMENTS);
        expect((await store.assets.list('shop')).find((each) => each.asset.key === PAYMENTS)?.code).toBe(code);
        await store.assets.remove(PAYMENTS);
        await expect(store.assets.keyOf(code)).rejects.toMatchObject({ code: 'UNKNOWN_ASSET' });
        await apply(store, project({ assets: [asset(PAYMENTS)] }));
        expect((await store.assets.get(PAYMENTS)).code).toBeGreaterThan(code);
      }),
    );

    test(
      'a held asset goes on when a person lets it, and its groups with it',
      withStore(backend, async ({ store }) => {
        await declared(store, { onRollback: 'HOLD' });
        await expect(store.assets.release(ORDERS)).rejects.toMatchObject({ code: 'CONFLICT' });
        await record(store, ORDERS, poll([commit(2)], { outcome: { kind: 'ROLLBACK', to: null, restored: null } }));
        expect(await fires(store)).toEqual([]);
        expect((await store.assets.get(ORDERS)).state.health).toBe('HELD');
        expect((await store.assets.release(ORDERS)).health).toBe('OK');
        expect(await fires(store)).toHaveLength(1);
      }),
    );

    test(
      'an asset that a group waits for is not removed; one that nobody waits for goes with all that is known of it',
      withStore(backend, async ({ store }) => {
        await declared(store);
        await expect(store.assets.remove(ORDERS)).rejects.toMatchObject({
          code: 'CONFLICT',
          message: expect.stringContaining('group g of workflow trade') as string,
        });
        await apply(store, project({ workflows: [{ ...trade, groups: [] }] }));
        await store.assets.remove(ORDERS);
        await expect(store.assets.get(ORDERS)).rejects.toMatchObject({ code: 'UNKNOWN_ASSET' });
        await apply(store, project({ assets: [asset(ORDERS)] }));
        expect((await store.assets.versions(ORDERS, {})).items).toEqual([]);
        expect((await store.assets.events({}, {})).items).toEqual([]);
        await commits(store, ORDERS, 7);
        expect((await store.assets.get(ORDERS)).state).toMatchObject({ lastOrdinal: 1, epoch: 1 });
      }),
    );
  });

  describe('what a scrape of the metrics shows', () => {
    test(
      'what is due and since when, what runs, and what waits for a slot or for tables',
      withStore(backend, async ({ store, clock }) => {
        const sensor = task('wait', [], {
          type: 'ASSET_SENSOR',
          params: {},
          wait: {
            groups: [group('more', [condition(PAYMENTS)])],
            baseline: 'NONE',
            timeoutSeconds: null,
            onTimeout: 'FAIL',
            checkIntervalSeconds: null,
          },
        });
        const tasks = [task('a'), task('b'), sensor];
        await apply(store, project({ assets: [asset(ORDERS), asset(PAYMENTS)] }));
        await commits(store, ORDERS, 1);
        await record(store, PAYMENTS, poll([]));
        await apply(store, project({ workflows: [{ ...trade, tasks }] }));
        await settle(store);
        expect(await store.admin.sample()).toMatchObject({ evaluations: 0, evaluationDueAt: null, waiting: 0 });
        const { code: tradeCode } = await store.definitions.workflow(null, 'trade');
        expect((await store.admin.sample()).blocked).toEqual([
          { workflowCode: tradeCode, assetKey: ORDERS, code: 'BLOCKED_BY_SNAPSHOT' },
        ]);
        await commits(store, ORDERS, 2);
        const queuedAt = clock.now();
        clock.advance(5_000);
        expect(await store.admin.sample()).toMatchObject({ evaluations: 1, evaluationDueAt: queuedAt });
        expect(await fires(store)).toHaveLength(1);
        expect(await store.admin.sample()).toMatchObject({ evaluationDueAt: null, commands: 1 });
        await store.runs.launch(10);
        await store.runs.dispatch(1);
        expect(await store.admin.sample()).toMatchObject({ commands: 0, running: 1, submitted: 1, waiting: 1 });
        await store.admin.claimOwnership('again');
        expect((await store.admin.sample()).claimedAt).toBe(clock.now());
      }),
    );
  });

  describe('idempotency keys', () => {
    test(
      'one key, one request: its answer is kept, another body is refused, a refused one leaves the key free',
      withStore(backend, async ({ store }) => {
        const { idempotency } = store;
        expect(await idempotency.claim('k', 'a')).toEqual({ kind: 'NEW', answer: null });
        expect(await idempotency.claim('k', 'a')).toEqual({ kind: 'SAME', answer: null });
        expect((await idempotency.claim('k', 'b')).kind).toBe('OTHER');
        await idempotency.free('k');
        expect((await idempotency.claim('k', 'b')).kind).toBe('NEW');
        await idempotency.keep('k', { status: 201, body: '{}' });
        await idempotency.free('k');
        expect(await idempotency.claim('k', 'b')).toEqual({ kind: 'SAME', answer: { status: 201, body: '{}' } });
      }),
    );

    test(
      'a key is forgotten after a day',
      withStore(backend, async ({ store, clock }) => {
        await store.idempotency.claim('k', 'a');
        clock.advance(86_400_000);
        expect((await store.idempotency.claim('k', 'b')).kind).toBe('OTHER');
        clock.advance(1);
        expect((await store.idempotency.claim('k', 'b')).kind).toBe('NEW');
      }),
    );
  });

  describe('why', () => {
    test(
      'a version that was used says by which run, and one that was there before says so',
      withStore(backend, async ({ store }) => {
        const code = await declared(store);
        const actual = async () => (await store.groups.explain(code)).groups[0]?.leaves[0]?.actual;
        expect(await actual()).toBe('newest is 1, which was there when the group began');
        await commits(store, ORDERS, 2);
        const [fired] = await fires(store);
        expect(await actual()).toBe(`newest is 2, which run ${fired?.runId} has used`);
        await record(store, ORDERS, poll([commit(3, { dataChange: false, operation: 'COMPACT' })]));
        expect(await actual()).toMatch(
          new RegExp(`^newest is 3 \\(COMPACT, .*\\): no new data since 2, which run ${fired?.runId} has used$`),
        );
      }),
    );

    test(
      'the tree that let a run start is kept with it',
      withStore(backend, async ({ store }) => {
        await declared(store);
        await commits(store, ORDERS, 2);
        const [first] = await fires(store);
        await runAll(store);
        await commits(store, ORDERS, 3);
        await fires(store);
        const { items } = await store.groups.triggerHistory({ runId: first?.runId ?? 0 }, {});
        expect(items.map(({ leaves }) => leaves.map(({ met, needed }) => [met, needed]))).toEqual([
          [[true, 'a version newer than 1']],
        ]);
      }),
    );

    test(
      'what came up again and started nothing is counted with the first fire',
      withStore(backend, async ({ store, clock }) => {
        const code = await declared(store);
        await commits(store, ORDERS, 2);
        const [fired] = await fires(store);
        await runAll(store);
        await apply(store, project({ workflows: [{ ...trade, groups: [] }] }));
        clock.advance(5);
        const again = group('g', [condition(ORDERS)], { startFrom: { [ORDERS]: '1' } });
        await apply(store, project({ workflows: [{ ...trade, groups: [again] }] }));
        expect(await fires(store)).toEqual([]);
        const { suppressed } = await store.groups.explain(code);
        expect(suppressed.map(({ runId, suppressed: told }) => [runId, told])).toEqual([
          [fired?.runId, { count: 1, at: clock.now() }],
        ]);
      }),
    );
  });
};
