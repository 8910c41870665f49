import { describe, expect, test } from 'vitest';
import type { StatedEvent } from '../../../src/core/asset/event.ts';
import type { AssetKey } from '../../../src/core/asset/key.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Backend } from './support.ts';
import {
  ORDERS,
  apply,
  asset,
  clock,
  commit,
  commits,
  condition,
  fires,
  group,
  key,
  poll,
  project,
  record,
  stated,
  workflow,
} from './support.ts';
import { withStore } from './with-store.ts';

export const FEED = key('custom://feeds/clicks');
export const TABLE = key('paimon://feeds/orders');

/** An asset that nobody reads, and a group that waits for it. */
export const trusted = (store: Store, assetKey: AssetKey, more: Parameters<typeof condition>[1] = {}) =>
  apply(
    store,
    project({
      assets: [asset(assetKey, { location: null, pushMode: 'TRUST' })],
      workflows: [workflow('w', { groups: [group('g', [condition(assetKey, more)])] })],
    }),
  );

/** One that Sluice reads itself. */
const verified = (store: Store) => apply(store, project({ assets: [asset(ORDERS)] }));

export const committed = (assetKey: AssetKey, snapshotId: string, more: Partial<StatedEvent> = {}): StatedEvent =>
  stated(assetKey, { eventType: 'SNAPSHOT_COMMITTED', commitKind: 'APPEND', snapshotId, ...more });

/** Pushes one event after the other, each in a request of its own, a millisecond apart; what became of each. */
export const push = async (store: Store, ...events: readonly StatedEvent[]) => {
  const statuses: string[] = [];
  for (const event of events) {
    clock.advance(1);
    const [receipt] = await store.assets.recordStated([event]);
    statuses.push(receipt?.status ?? 'NONE');
  }
  return statuses;
};

export const versions = async (store: Store, assetKey: AssetKey) =>
  (await store.assets.versions(assetKey, { limit: 500 })).items
    .map((v) => `${v.epoch}:${v.snapshotId}${v.status === 'LIVE' ? '' : ` ${v.status}`}`)
    .reverse();

/** Type, id and status of what is kept, oldest first. */
export const kept = async (store: Store, assetKey: AssetKey) =>
  (await store.assets.events({ key: assetKey }, { limit: 500 })).items
    .map((e) => `${e.eventType} ${e.snapshotId ?? ''} ${e.status}`)
    .reverse();

export const pushSuite = (backend: Backend): void => {
  describe('pushes of tables that are read (VERIFY)', () => {
    const told = async (store: Store) =>
      (await store.assets.events({ key: ORDERS }, {})).items
        .filter(({ sourceType }) => sourceType === 'PUSH')
        .map(({ eventType, status }) => `${eventType} ${status}`)
        .reverse();

    test(
      'a push makes no version: what is recorded is what the table says',
      withStore(backend, async ({ store }) => {
        await verified(store);
        await commits(store, ORDERS, 1);
        await push(store, committed(ORDERS, '2', { deltaRecordCount: 99n, watermark: 5n }));
        expect(await versions(store, ORDERS)).toEqual(['1:1']);
        expect((await store.assets.get(ORDERS)).state.watermark).toBeNull();
        await commits(store, ORDERS, 2);
        expect((await store.assets.versions(ORDERS, {})).items[0]?.addedRecords).toBe(10n);
        expect(await told(store)).toEqual(['SNAPSHOT_COMMITTED CONFIRMED']);
      }),
    );

    test(
      'each asking wants a look that begins after it; only these are given to whoever asks for them',
      withStore(backend, async ({ store }) => {
        await verified(store);
        await commits(store, ORDERS, 1);
        const asks = async () => (await store.assets.scanTargets('WANTED')).map((target) => target.scanRequests);
        expect(await asks()).toEqual([]);
        const hints: string[] = [];
        store.onHint((hint) => hints.push(hint));
        await push(store, committed(ORDERS, '2'));
        expect([await asks(), hints.includes('SCANS')]).toEqual([[1], true]);
        await push(store, committed(ORDERS, '3'));
        expect(await asks()).toEqual([2]);
        await commits(store, ORDERS, 2, 3);
        expect(await asks()).toEqual([]);
      }),
    );

    test(
      'a look that began before the push, or that could not read the table, says nothing against it',
      withStore(backend, async ({ store, clock: now }) => {
        await verified(store);
        await commits(store, ORDERS, 1);
        await push(store, committed(ORDERS, '9'));
        const unreadable = poll([], { outcome: { kind: 'UNREADABLE', reason: 'no answer', retryable: true } });
        for (let i = 0; i < 4; i += 1) await record(store, ORDERS, unreadable);
        for (let i = 0; i < 4; i += 1) {
          const [target] = await store.assets.scanTargets([ORDERS]);
          const times = { startedAt: now.now() - 60_000n, recordedAt: now.now() };
          await store.assets.recordPoll(ORDERS, target?.revision ?? -1, poll([]), times);
        }
        expect(await told(store)).toEqual(['SNAPSHOT_COMMITTED HINT']);
        for (let i = 0; i < 2; i += 1) await record(store, ORDERS, poll([]));
        expect(await told(store)).toEqual(['SNAPSHOT_COMMITTED HINT']);
        await record(store, ORDERS, poll([]));
        expect(await told(store)).toEqual(['SNAPSHOT_COMMITTED UNCONFIRMED']);
        expect((await store.assets.scanTargets('WANTED')).length).toBe(0);
      }),
    );

    test(
      'a known id with a later commit time asks for a look too, and is confirmed by a new epoch only',
      withStore(backend, async ({ store, clock: now }) => {
        await verified(store);
        await commits(store, ORDERS, 1, 2);
        const again = committed(ORDERS, '2', { commitTime: now.now() + 60_000n });
        expect(await push(store, committed(ORDERS, '2'), again)).toEqual(['DUPLICATE', 'ACCEPTED']);
        await record(store, ORDERS, poll([]));
        expect(await told(store)).toEqual(['SNAPSHOT_COMMITTED HINT']);
        const back = { kind: 'ROLLBACK', to: '1', restored: commit(1) } as const;
        await record(store, ORDERS, poll([commit(2)], { outcome: back }));
        expect(await told(store)).toEqual(['SNAPSHOT_COMMITTED CONFIRMED']);
      }),
    );

    test(
      'tags, schemas, watermarks and rewinds are told and shown like commits',
      withStore(backend, async ({ store }) => {
        await verified(store);
        await commits(store, ORDERS, 1);
        const say = (eventType: StatedEvent['eventType'], more: Partial<StatedEvent>) =>
          stated(ORDERS, { eventType, ...more });
        await push(
          store,
          say('TAG_CREATED', { tag: 'done', snapshotId: '1' }),
          say('SCHEMA_CHANGED', { schemaId: '7' }),
          say('WATERMARK_ADVANCED', { watermark: 500n }),
          say('ROLLED_BACK', { snapshotId: '1' }),
        );
        const tags = { tags: { done: '1' }, tagChanges: [{ tag: 'done', snapshotId: '1', before: null }] };
        await record(store, ORDERS, poll([commit(2, { watermark: 600n })], tags));
        expect(await told(store)).toEqual([
          'TAG_CREATED CONFIRMED',
          'SCHEMA_CHANGED HINT',
          'WATERMARK_ADVANCED CONFIRMED',
          'ROLLED_BACK HINT',
        ]);
        await record(store, ORDERS, poll([commit(3, { schemaId: '7' })]));
        expect((await told(store))[1]).toBe('SCHEMA_CHANGED CONFIRMED');
      }),
    );

    test(
      'the same push again is one piece of evidence',
      withStore(backend, async ({ store }) => {
        await verified(store);
        await commits(store, ORDERS, 1);
        expect(await push(store, committed(ORDERS, '2'), committed(ORDERS, '2'))).toEqual(['ACCEPTED', 'DUPLICATE']);
        expect(await told(store)).toHaveLength(1);
      }),
    );
  });

  describe('pushes that are taken as they are (TRUST)', () => {
    test(
      'numeric ids are ordered by id, however late an older one comes; it changes nothing and is kept as stale',
      withStore(backend, async ({ store }) => {
        await trusted(store, TABLE);
        const at = clock.now();
        expect(
          await push(
            store,
            committed(TABLE, '5', { commitTime: at }),
            committed(TABLE, '4', { commitTime: at - 50n }),
            committed(TABLE, '6', { commitTime: at + 50n }),
          ),
        ).toEqual(['ACCEPTED', 'ACCEPTED', 'ACCEPTED']);
        expect(await versions(store, TABLE)).toEqual(['1:5', '1:6']);
        expect(await kept(store, TABLE)).toEqual([
          'SNAPSHOT_COMMITTED 5 RECORDED',
          'SNAPSHOT_COMMITTED 4 IGNORED_STALE',
          'SNAPSHOT_COMMITTED 6 RECORDED',
        ]);
      }),
    );

    test(
      'other ids by sequence number, else by commit time',
      withStore(backend, async ({ store }) => {
        await trusted(store, FEED);
        const at = clock.now();
        await push(
          store,
          committed(FEED, 'b', { sequenceNumber: 2n, commitTime: at }),
          committed(FEED, 'a', { sequenceNumber: 1n, commitTime: at - 1n }),
          committed(FEED, 'c', { sequenceNumber: 3n, commitTime: at + 1n }),
          committed(FEED, 'd', { commitTime: at + 2n }),
          committed(FEED, 'too late', { commitTime: at - 2n }),
        );
        expect(await versions(store, FEED)).toEqual(['1:b', '1:c', '1:d']);
      }),
    );

    test(
      'a lower or known id with a later commit time, or another table id, is a rewind and not a duplicate',
      withStore(backend, async ({ store }) => {
        await trusted(store, TABLE);
        const at = clock.now();
        await push(store, committed(TABLE, '1', { commitTime: at, tableId: 'x' }));
        await push(store, committed(TABLE, '2', { commitTime: at + 1n, tableId: 'x' }));
        await push(store, committed(TABLE, '3', { commitTime: at + 2n, tableId: 'x' }));
        await push(store, committed(TABLE, '2', { commitTime: at + 3n, tableId: 'x' }));
        expect(await versions(store, TABLE)).toEqual(['1:1', '1:2 WITHDRAWN', '1:3 WITHDRAWN', '2:2']);
        await push(store, committed(TABLE, '1', { commitTime: at + 4n, tableId: 'y' }));
        expect((await versions(store, TABLE)).slice(-2)).toEqual(['2:2 WITHDRAWN', '3:1']);
        expect((await kept(store, TABLE)).filter((event) => /ROLLED_BACK|RECREATED/.test(event))).toEqual([
          'ROLLED_BACK 2 RECORDED',
          'RECREATED 1 RECORDED',
        ]);
        const late = committed(TABLE, '9', { commitTime: at + 2n, tableId: 'x' });
        await push(store, late);
        expect((await kept(store, TABLE)).at(-1)).toBe('SNAPSHOT_COMMITTED 9 IGNORED_STALE');
      }),
    );

    test(
      'a correction of dataChange to true re-evaluates; to false it never undoes a fire',
      withStore(backend, async ({ store }) => {
        await trusted(store, FEED);
        const one = (dataChange: boolean) => committed(FEED, 'x', { sequenceNumber: 1n, dataChange, commitTime: 5n });
        await push(store, one(false));
        expect(await fires(store)).toEqual([]);
        expect(await push(store, one(true))).toEqual(['ACCEPTED']);
        expect(await fires(store)).toHaveLength(1);
        expect(await push(store, one(false), one(true))).toEqual(['DUPLICATE', 'DUPLICATE']);
        expect(await fires(store)).toEqual([]);
      }),
    );

    test(
      'the same commit by poll and by push is one event, whichever came first',
      withStore(backend, async ({ store }) => {
        await apply(store, project({ assets: [asset(ORDERS, { pushMode: 'TRUST' })] }));
        await commits(store, ORDERS, 1);
        expect(await push(store, committed(ORDERS, '1'))).toEqual(['DUPLICATE']);
        expect(await push(store, committed(ORDERS, '2', { commitTime: clock.now() }))).toEqual(['ACCEPTED']);
        expect((await commits(store, ORDERS, 1, 2)).events).toEqual([]);
        expect(await versions(store, ORDERS)).toEqual(['1:1', '1:2']);
      }),
    );

    test(
      'a watermark only rises, and an event without one never clears it',
      withStore(backend, async ({ store }) => {
        await trusted(store, FEED);
        const mark = (watermark: bigint) => stated(FEED, { eventType: 'WATERMARK_ADVANCED', watermark });
        expect(await push(store, mark(500n), mark(400n), mark(500n))).toEqual(['ACCEPTED', 'DUPLICATE', 'DUPLICATE']);
        await push(store, committed(FEED, 'x', { sequenceNumber: 1n }));
        expect((await store.assets.get(FEED)).state.watermark).toBe(500n);
      }),
    );

    test(
      'what is stated is keyed by its event id alone: again, it is a duplicate, also of another type',
      withStore(backend, async ({ store }) => {
        await trusted(store, FEED);
        const lag = (eventType: StatedEvent['eventType'], eventId: string | null) =>
          stated(FEED, { eventType, eventId });
        expect(
          await push(
            store,
            lag('CDC_LAG_DETECTED', 'e1'),
            lag('CDC_LAG_RECOVERED', 'e1'),
            lag('CDC_LAG_RECOVERED', null),
            lag('CDC_LAG_DETECTED', null),
          ),
        ).toEqual(['ACCEPTED', 'DUPLICATE', 'ACCEPTED', 'ACCEPTED']);
        expect((await store.assets.get(FEED)).state.cdcStatus).toBe('LAGGING');
      }),
    );

    test(
      'a lagging CDC feed holds back the groups that ask for it, until it has caught up',
      withStore(backend, async ({ store }) => {
        await trusted(store, FEED, { cdcLag: 'RECOVERED' });
        await push(
          store,
          stated(FEED, { eventType: 'CDC_LAG_DETECTED' }),
          committed(FEED, 'x', { sequenceNumber: 1n }),
        );
        expect(await fires(store)).toEqual([]);
        await push(store, stated(FEED, { eventType: 'CDC_LAG_RECOVERED' }));
        expect(await fires(store)).toHaveLength(1);
      }),
    );

    test(
      'commits of an open backfill window trigger only groups that include them; a window nobody closes ends after a day',
      withStore(backend, async ({ store }) => {
        await apply(
          store,
          project({
            assets: [asset(FEED, { location: null, pushMode: 'TRUST' })],
            workflows: [
              workflow('plain', { groups: [group('g', [condition(FEED)])] }),
              workflow('all', { groups: [group('g', [condition(FEED, { backfill: 'INCLUDE' })])] }),
            ],
          }),
        );
        const started = async () => {
          await fires(store);
          const { items } = await store.runs.list({}, {});
          return items.map(({ workflow: name }) => name).sort();
        };
        const at = (id: string, sequence: bigint) =>
          committed(FEED, id, { sequenceNumber: sequence, commitTime: clock.now() + 1n });
        await push(store, stated(FEED, { eventType: 'BACKFILL_STARTED' }), at('x', 1n));
        expect(await started()).toEqual(['all']);
        await push(store, stated(FEED, { eventType: 'BACKFILL_COMPLETED' }));
        clock.advance(1_000);
        await push(store, at('y', 2n));
        expect(await started()).toEqual(['all', 'plain']);
        await push(store, stated(FEED, { eventType: 'BACKFILL_STARTED' }));
        expect((await store.assets.get(FEED)).state.backfillStatus).toBe('RUNNING');
        clock.advance(86_400_001);
        await push(store, at('z', 3n));
        expect((await store.assets.versions(FEED, {})).items.map((v) => v.backfill ?? false)).toEqual([
          false,
          false,
          true,
        ]);
      }),
    );

    test(
      'a verdict by startedAt binds to the version that was newest then; within the clock tolerance FAILED binds to both',
      withStore(backend, async ({ store }) => {
        await trusted(store, FEED);
        const begin = clock.now();
        const verdict = (eventType: StatedEvent['eventType'], minutes: number) =>
          stated(FEED, { eventType, checkName: 'rows', startedAt: begin + BigInt(minutes) * 60_000n });
        clock.advance(3_600_000 * 3);
        await push(
          store,
          committed(FEED, 'x', { sequenceNumber: 1n, commitTime: begin }),
          committed(FEED, 'y', { sequenceNumber: 2n, commitTime: begin + 3_600_000n }),
        );
        const quality = async () => (await store.assets.versions(FEED, {})).items.map((v) => v.quality).reverse();
        await push(store, verdict('QUALITY_CHECK_PASSED', 30));
        expect(await quality()).toEqual(['PASSED', 'UNKNOWN']);
        await push(store, verdict('QUALITY_CHECK_PASSED', 65));
        expect(await quality()).toEqual(['PASSED', 'UNKNOWN']);
        await push(store, verdict('QUALITY_CHECK_FAILED', 65));
        expect(await quality()).toEqual(['FAILED', 'FAILED']);
      }),
    );
  });
};
