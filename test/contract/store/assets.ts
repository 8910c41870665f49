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
  group,
  key,
  poll,
  project,
  record,
  stated,
  workflow,
} from './support.ts';
import { withStore } from './with-store.ts';

const registered = (store: Store) => apply(store, project({ assets: [asset(ORDERS), asset(PAYMENTS)] }));

const versions = async (store: Store) =>
  (await store.assets.versions(ORDERS, { limit: 500 })).items.map(
    (v) => `${v.ordinal} ${v.epoch}:${v.snapshotId} ${v.status}`,
  );

export const assetSuite = (backend: Backend): void => {
  describe('recording polls', () => {
    test(
      'versions, state, events and the cursor are written together',
      withStore(backend, async ({ store, clock }) => {
        await registered(store);
        const receipt = await commits(store, ORDERS, 1, 2);
        expect(receipt.kind).toBe('RECORDED');
        expect(receipt.events.map((event) => event.eventType)).toEqual(['SNAPSHOT_COMMITTED', 'SNAPSHOT_COMMITTED']);
        expect(receipt.target).toMatchObject({
          cursor: { v: 1, head: '2' },
          revision: 1,
          failures: 0,
          mustRecord: false,
        });
        const details = await store.assets.get(ORDERS);
        expect(details.state).toMatchObject({
          lastOrdinal: 2,
          latest: { snapshotId: '2', ordinal: 2, epoch: 1 },
          health: 'OK',
        });
        expect(details).toMatchObject({ project: 'shop', lastScanAt: clock.now() });
        expect((await store.assets.events({ key: ORDERS }, {})).items.map((event) => event.snapshotId)).toEqual([
          '2',
          '1',
        ]);
      }),
    );

    test(
      'a scan that another one overtook changes nothing',
      withStore(backend, async ({ store, clock }) => {
        await registered(store);
        const [target] = await store.assets.scanTargets([ORDERS]);
        await commits(store, ORDERS, 1);
        const times = { startedAt: clock.now(), recordedAt: clock.now() };
        const late = await store.assets.recordPoll(ORDERS, target?.revision ?? -1, poll([commit(1), commit(2)]), times);
        expect(late).toMatchObject({ kind: 'STALE', events: [], target: { revision: 1, cursor: { head: '1' } } });
        expect(await versions(store)).toEqual(['1 1:1 LIVE']);
      }),
    );

    test(
      'the same commits again are no new versions and no new events',
      withStore(backend, async ({ store }) => {
        await registered(store);
        await commits(store, ORDERS, 1, 2);
        expect((await commits(store, ORDERS, 1, 2)).events).toEqual([]);
        expect(await versions(store)).toEqual(['2 1:2 LIVE', '1 1:1 LIVE']);
      }),
    );

    test(
      '64-bit ids and counts come back as they went in',
      withStore(backend, async ({ store }) => {
        await registered(store);
        const big = commit('9223372036854775807', {
          addedRecords: -9_007_199_254_740_993n,
          totalRecords: 9_223_372_036_854_775_807n,
          watermark: 9_007_199_254_740_993n,
          sequenceNumber: 9_007_199_254_740_995n,
          partitions: ['dt=2026-11-30'],
          readAs: '20261130120000001',
          backfill: true,
          pendingData: true,
        });
        await record(store, ORDERS, poll([big]));
        expect((await store.assets.versions(ORDERS, {})).items[0]).toMatchObject(big);
        expect((await store.assets.get(ORDERS)).state.watermark).toBe(9_007_199_254_740_993n);
        const [event] = (await store.assets.events({ eventType: 'SNAPSHOT_COMMITTED' }, {})).items;
        expect(event).toMatchObject({ snapshotId: '9223372036854775807', deltaRecordCount: -9_007_199_254_740_993n });
      }),
    );

    test(
      'a rollback withdraws what it undid, however much',
      withStore(backend, async ({ store }) => {
        await registered(store);
        await commits(store, ORDERS, ...Array.from({ length: 450 }, (_, i) => i + 1));
        const back = commit(3);
        await record(store, ORDERS, poll([commit(4)], { outcome: { kind: 'ROLLBACK', to: '3', restored: back } }));
        const all = await versions(store);
        expect(all.slice(0, 3)).toEqual(['452 2:4 LIVE', '451 2:3 LIVE', '450 1:450 WITHDRAWN']);
        expect(all.filter((line) => line.endsWith('WITHDRAWN'))).toHaveLength(447);
      }),
    );

    test(
      'a table made anew begins a new epoch with the same ids',
      withStore(backend, async ({ store }) => {
        await registered(store);
        await commits(store, ORDERS, 1, 2);
        await record(store, ORDERS, poll([commit(1)], { outcome: { kind: 'RECREATED' } }));
        expect(await versions(store)).toEqual(['3 2:1 LIVE', '2 1:2 WITHDRAWN', '1 1:1 WITHDRAWN']);
      }),
    );

    test(
      'failures are counted until a poll succeeds, and the cursor stays',
      withStore(backend, async ({ store }) => {
        await registered(store);
        await commits(store, ORDERS, 1);
        const bad = poll([], {
          outcome: { kind: 'UNREADABLE', reason: 'no answer', retryable: true },
          cursor: { v: 1, head: '1' },
        });
        await record(store, ORDERS, bad);
        expect((await record(store, ORDERS, bad)).target).toMatchObject({ failures: 2, cursor: { head: '1' } });
        expect((await store.assets.get(ORDERS)).state).toMatchObject({ health: 'UNREADABLE' });
        expect((await commits(store, ORDERS, 2)).target.failures).toBe(0);
      }),
    );

    test(
      'idle polls only move the time of the last scan',
      withStore(backend, async ({ store, clock }) => {
        await registered(store);
        await commits(store, ORDERS, 1);
        const before = await store.assets.scanTargets();
        await store.assets.recordIdle([
          { key: ORDERS, at: clock.now() + 7n },
          { key: PAYMENTS, at: clock.now() + 9n },
        ]);
        expect(await store.assets.scanTargets()).toEqual(before);
        expect((await store.assets.list(null)).map((row) => row.lastScanAt)).toEqual([
          clock.now() + 7n,
          clock.now() + 9n,
        ]);
      }),
    );

    test(
      'tags, moved and deleted ones, count their occurrences',
      withStore(backend, async ({ store }) => {
        await registered(store);
        await record(
          store,
          ORDERS,
          poll([commit(1)], { tags: { done: '1' }, tagChanges: [{ tag: 'done', snapshotId: '1', before: null }] }),
        );
        expect((await store.assets.get(ORDERS)).tags).toEqual({ done: '1' });
        await record(
          store,
          ORDERS,
          poll([], { tags: {}, tagChanges: [{ tag: 'done', snapshotId: null, before: '1' }] }),
        );
        expect((await store.assets.get(ORDERS)).tags).toEqual({});
        await record(
          store,
          ORDERS,
          poll([], { tags: { done: '1' }, tagChanges: [{ tag: 'done', snapshotId: '1', before: null }] }),
        );
        const events = (await store.assets.events({ key: ORDERS }, {})).items.map((event) => event.eventType);
        expect(events.filter((type) => type.startsWith('TAG'))).toEqual(['TAG_CREATED', 'TAG_DELETED', 'TAG_CREATED']);
        expect((await store.assets.versions(ORDERS, {})).items[0]?.tags).toEqual(['done']);
      }),
    );
  });

  describe('recording statements', () => {
    const quality = (more: Parameters<typeof stated>[1]) => stated(ORDERS, { checkName: 'rows', ...more });

    test(
      'each on its own feet: a bad one loses no other',
      withStore(backend, async ({ store }) => {
        await registered(store);
        await commits(store, ORDERS, 1);
        const receipts = await store.assets.recordStated([
          quality({ snapshotId: '1', eventId: 'a' }),
          stated(key('delta://nobody/knows'), { eventId: 'b' }),
          quality({ snapshotId: '1', eventId: 'a' }),
          quality({ snapshotId: '1', eventId: 'c', eventType: 'QUALITY_CHECK_FAILED' }),
        ]);
        expect(receipts.map((receipt) => receipt.status)).toEqual(['ACCEPTED', 'REJECTED', 'DUPLICATE', 'ACCEPTED']);
        expect(receipts[1]?.problem?.code).toBe('UNKNOWN_ASSET');
        expect((await store.assets.get(ORDERS)).verdicts.map(({ status, snapshotId }) => [snapshotId, status])).toEqual(
          [['1', 'FAILED']],
        );
      }),
    );

    test(
      'without an id a statement is always a new one',
      withStore(backend, async ({ store }) => {
        await registered(store);
        await commits(store, ORDERS, 1);
        for (const eventType of ['QUALITY_CHECK_PASSED', 'QUALITY_CHECK_FAILED', 'QUALITY_CHECK_PASSED'] as const)
          expect((await store.assets.recordStated([quality({ snapshotId: '1', eventType })]))[0]?.status).toBe(
            'ACCEPTED',
          );
        expect((await store.assets.events({ key: ORDERS }, {})).items).toHaveLength(4);
      }),
    );

    test(
      'a verdict for a version that is not known yet is kept',
      withStore(backend, async ({ store, clock }) => {
        await registered(store);
        await commits(store, ORDERS, 1);
        await store.assets.recordStated([quality({ snapshotId: '2' })]);
        clock.advance(1_000);
        await commits(store, ORDERS, 2);
        expect((await store.assets.versions(ORDERS, {})).items.map((v) => [v.snapshotId, v.quality])).toEqual([
          ['2', 'PASSED'],
          ['1', 'UNKNOWN'],
        ]);
      }),
    );

    test(
      'a verdict without a version waits for a scan begun after the check, even one that finds nothing',
      withStore(backend, async ({ store, clock }) => {
        await registered(store);
        clock.advance(3_600_000);
        await commits(store, ORDERS, 1);
        clock.advance(3_600_000);
        await store.assets.recordStated([quality({ startedAt: clock.now() })]);
        expect((await store.assets.scanTargets([ORDERS]))[0]?.mustRecord).toBe(true);
        clock.advance(3_600_000);
        expect((await record(store, ORDERS, poll([]))).target.mustRecord).toBe(false);
        expect((await store.assets.versions(ORDERS, {})).items.map((v) => v.quality)).toEqual(['PASSED']);
      }),
    );

    test(
      'the verdict of a compaction holds for the whole cut, over the edges of a page',
      withStore(backend, async ({ store }) => {
        await registered(store);
        await record(
          store,
          ORDERS,
          poll([commit(1), commit(2, { dataChange: false, operation: 'COMPACT' }), commit(3)]),
        );
        await store.assets.recordStated([quality({ snapshotId: '2' })]);
        const first = await store.assets.versions(ORDERS, { limit: 2 });
        const second = await store.assets.versions(ORDERS, { limit: 2, cursor: first.nextCursor });
        expect([...first.items, ...second.items].map((v) => [v.snapshotId, v.quality])).toEqual([
          ['3', 'UNKNOWN'],
          ['2', 'PASSED'],
          ['1', 'PASSED'],
        ]);
      }),
    );

    test(
      'a pushed commit asks for a look, is confirmed by the table, or given up after three',
      withStore(backend, async ({ store }) => {
        await registered(store);
        await commits(store, ORDERS, 1);
        const hints: string[] = [];
        store.onHint((hint) => hints.push(hint));
        const pushed = (snapshotId: string) => stated(ORDERS, { eventType: 'SNAPSHOT_COMMITTED', snapshotId });
        await store.assets.recordStated([pushed('2'), pushed('99')]);
        expect(hints).toContain('SCANS');
        const statuses = async () =>
          (await store.assets.events({ key: ORDERS }, {})).items
            .filter((e) => e.sourceType === 'PUSH')
            .map((e) => [e.snapshotId, e.status]);
        expect(await statuses()).toEqual([
          ['99', 'HINT'],
          ['2', 'HINT'],
        ]);
        expect((await commits(store, ORDERS, 2)).target.mustRecord).toBe(true);
        expect(await statuses()).toEqual([
          ['99', 'HINT'],
          ['2', 'CONFIRMED'],
        ]);
        await record(store, ORDERS, poll([]));
        expect((await record(store, ORDERS, poll([]))).target.mustRecord).toBe(false);
        expect(await statuses()).toEqual([
          ['99', 'UNCONFIRMED'],
          ['2', 'CONFIRMED'],
        ]);
      }),
    );

    test(
      'where the table cannot be read, what is pushed is recorded',
      withStore(backend, async ({ store }) => {
        const pushed = key('custom://feeds/clicks');
        await apply(store, project({ assets: [asset(pushed, { location: null, pushMode: 'TRUST' })] }));
        const event = stated(pushed, {
          eventType: 'SNAPSHOT_COMMITTED',
          snapshotId: 'x1',
          sequenceNumber: 1n,
          commitTime: 5n,
        });
        expect((await store.assets.recordStated([event, event])).map((receipt) => receipt.status)).toEqual([
          'ACCEPTED',
          'DUPLICATE',
        ]);
        expect((await store.assets.get(pushed)).state.latest?.snapshotId).toBe('x1');
        expect(await store.assets.scanTargets()).toEqual([]);
      }),
    );
  });

  describe('lists', () => {
    test(
      'pages go through everything once, newest first',
      withStore(backend, async ({ store }) => {
        await registered(store);
        await commits(store, ORDERS, ...Array.from({ length: 23 }, (_, i) => i + 1));
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const page: Awaited<ReturnType<Store['assets']['versions']>> = await store.assets.versions(ORDERS, {
            limit: 5,
            cursor,
          });
          seen.push(...page.items.map((v) => v.snapshotId));
          cursor = page.nextCursor;
        } while (cursor !== null);
        expect(seen).toEqual(Array.from({ length: 23 }, (_, i) => String(23 - i)));
      }),
    );

    test(
      'a limit or a cursor that nobody gave is refused',
      withStore(backend, async ({ store }) => {
        for (const page of [{ limit: 0 }, { limit: 501 }, { limit: 1.5 }, { cursor: 'nonsense' }])
          await expect(store.assets.events({}, page)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
      }),
    );

    test(
      'events by project, key and type',
      withStore(backend, async ({ store }) => {
        await registered(store);
        const other = key('delta://crm/customers');
        await apply(store, project({ project: 'crm', assets: [asset(other)] }));
        await commits(store, ORDERS, 1);
        await commits(store, other, 1, 2);
        const count = async (filter: Parameters<Store['assets']['events']>[0]) =>
          (await store.assets.events(filter, {})).items.length;
        expect(await count({ project: 'crm' })).toBe(2);
        expect(await count({ key: ORDERS })).toBe(1);
        expect(await count({ eventType: 'SNAPSHOT_COMMITTED' })).toBe(3);
        expect(await count({ eventType: 'ROLLED_BACK' })).toBe(0);
        await expect(count({ project: 'nobody' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      }),
    );

    test(
      'who depends on an asset, and an unknown one',
      withStore(backend, async ({ store }) => {
        await registered(store);
        await apply(store, project({ workflows: [workflow('w', { groups: [group('g', [condition(ORDERS)])] })] }));
        expect((await store.assets.get(ORDERS)).consumers).toEqual([{ workflow: 'w', group: 'g' }]);
        await expect(store.assets.get(key('delta://no/such'))).rejects.toMatchObject({ code: 'UNKNOWN_ASSET' });
      }),
    );

    test(
      'a changed asset is updated, its location makes a scan under way stale',
      withStore(backend, async ({ store, clock }) => {
        await registered(store);
        const [target] = await store.assets.scanTargets([ORDERS]);
        const plan = await apply(
          store,
          project({ assets: [asset(ORDERS, { location: '/elsewhere', requiredChecks: ['rows'] })] }),
        );
        expect(plan.lines[0]).toMatchObject({ action: 'UPDATE', name: ORDERS });
        const times = { startedAt: clock.now(), recordedAt: clock.now() };
        expect(await store.assets.recordPoll(ORDERS, target?.revision ?? -1, poll([commit(1)]), times)).toMatchObject({
          kind: 'STALE',
        });
        expect((await store.assets.get(ORDERS)).asset).toEqual(
          asset(ORDERS, { location: '/elsewhere', requiredChecks: ['rows'] }),
        );
      }),
    );
  });
};
