import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StatedEvent } from '../../../src/core/asset/event.ts';
import type { AssetKey } from '../../../src/core/asset/key.ts';
import type { Store } from '../../../src/store/store.ts';
import { committed, FEED, kept, push, TABLE, trusted, versions } from './pushes.ts';
import type { Backend } from './support.ts';
import { apply, asset, clock, condition, fires, group, key, project, stated, workflow } from './support.ts';
import { withStore } from './with-store.ts';

export const statementSuite = (backend: Backend): void => {
  describe('many statements at once', () => {
    test(
      'a list gives what the same events give one by one, whatever is in it',
      withStore(backend, async ({ store }) => {
        const at = clock.now();
        const list = [
          committed(FEED, 'a', { sequenceNumber: 1n, commitTime: at, watermark: 10n }),
          committed(TABLE, '1', { commitTime: at }),
          committed(FEED, 'b', { sequenceNumber: 2n, commitTime: at + 1n }),
          stated(FEED, { snapshotId: 'b', checkName: 'rows', eventId: 'q1' }),
          stated(FEED, { snapshotId: 'b', checkName: 'rows', eventId: 'q1' }),
          stated(FEED, { snapshotId: 'later', checkName: 'rows' }),
          committed(FEED, 'later', { sequenceNumber: 3n, commitTime: at + 2n, dataChange: false }),
          committed(FEED, 'a', { sequenceNumber: 1n, commitTime: at }),
          committed(TABLE, '3', { commitTime: at + 1n }),
          committed(TABLE, '2', { commitTime: at + 5n }),
          stated(key('custom://nobody/knows'), {}),
          stated(FEED, { eventType: 'TAG_CREATED', tag: 'done', snapshotId: 'a', commitTime: at }),
          committed(FEED, 'c', { sequenceNumber: 4n, commitTime: at + 3n, schemaId: '2' }),
          stated(FEED, { eventType: 'HISTORY_GAP' }),
        ];
        const both = async (into: Store) => {
          await trusted(into, FEED);
          await apply(into, project({ assets: [asset(TABLE, { location: null, pushMode: 'TRUST' })] }));
        };
        const seen = async (from: Store) => ({
          feed: await versions(from, FEED),
          table: await versions(from, TABLE),
          qualities: (await from.assets.versions(FEED, {})).items.map((v) => v.quality),
          states: (await from.assets.list(null)).map(({ state: { version: _, ...state } }) => state),
          events: [(await kept(from, FEED)).sort(), (await kept(from, TABLE)).sort()],
        });
        await both(store);
        const together = (await store.assets.recordStated(list)).map(({ status }) => status);
        const afterList = await seen(store);
        const other = await backend.make();
        const second = await other.open();
        try {
          await second.admin.migrate();
          await second.admin.claimOwnership('second');
          await both(second);
          const alone: string[] = [];
          for (const event of list) alone.push((await second.assets.recordStated([event]))[0]?.status ?? '');
          expect(together).toEqual(alone);
          expect(afterList).toEqual(await seen(second));
        } finally {
          await second.close();
          await other.drop();
        }
        expect(together.filter((status) => status === 'REJECTED')).toHaveLength(2);
      }),
    );

    test(
      'whatever is said, and however it is cut into requests, it gives what the same gives one by one',
      withStore(backend, async ({ store }) => {
        const other = await backend.make();
        const second = await other.open();
        await second.admin.migrate();
        await second.admin.claimOwnership('second');
        let made = 0;
        const told = async (into: Store, assetKey: AssetKey, requests: readonly (readonly Said[])[]) => {
          await trusted(into, assetKey, { qualityStatus: 'PASSED' });
          const statuses: string[] = [];
          for (const said of requests)
            for (const { status } of await into.assets.recordStated(said.map((one) => statement(assetKey, one))))
              statuses.push(status);
          return { statuses, ...(await known(into, assetKey)) };
        };
        try {
          await fc.assert(
            fc.asyncProperty(fc.array(fc.array(SAID, { maxLength: 12 }), { maxLength: 3 }), async (requests) => {
              made += 1;
              const assetKey = key(`custom://feeds/f${made}`);
              const alone = requests.flat().map((one) => [one]);
              expect(await told(store, assetKey, requests)).toEqual(await told(second, assetKey, alone));
            }),
            { numRuns: 60, endOnFailure: true },
          );
        } finally {
          await second.close();
          await other.drop();
        }
      }),
      60_000,
    );

    test(
      'a known id told as if it were new, with a higher sequence number, is a rewind also in a list',
      withStore(backend, async ({ store }) => {
        await trusted(store, FEED);
        const at = clock.now();
        const ids = Array.from({ length: 20 }, (_, i) =>
          committed(FEED, `s${i}`, { sequenceNumber: BigInt(i), commitTime: at + BigInt(i) }),
        );
        await store.assets.recordStated(ids);
        const [again, next] = await store.assets.recordStated([
          committed(FEED, 's3', { sequenceNumber: 99n, commitTime: at + 99n }),
          committed(FEED, 's21', { sequenceNumber: 100n, commitTime: at + 100n }),
        ]);
        expect([again?.status, next?.status]).toEqual(['ACCEPTED', 'ACCEPTED']);
        expect((await versions(store, FEED)).slice(-2)).toEqual(['2:s3', '2:s21']);
      }),
    );

    for (const together of [true, false])
      test(
        `a verdict and a tag that are ahead of their version hold when it comes, for all its groups: in one request: ${together}`,
        withStore(backend, async ({ store }) => {
          const wants = { qualityStatus: 'PASSED', tag: 'done' } as const;
          const groups = ['g', 'h'].map((name) => group(name, [condition(FEED, wants)]));
          await apply(
            store,
            project({
              assets: [asset(FEED, { location: null, pushMode: 'TRUST' })],
              workflows: [workflow('w', { groups })],
            }),
          );
          await push(store, committed(FEED, 'a', { sequenceNumber: 1n, commitTime: 1n }));
          const said = [
            stated(FEED, { snapshotId: 'b', checkName: 'rows' }),
            stated(FEED, { eventType: 'TAG_CREATED', tag: 'done', snapshotId: 'b', commitTime: 2n }),
            committed(FEED, 'b', { sequenceNumber: 2n, commitTime: 2n }),
          ];
          if (together) await store.assets.recordStated(said);
          else await push(store, ...said);
          expect((await store.assets.get(FEED)).state.qualityStatus).toBe('PASSED');
          expect((await fires(store)).map(({ pins }) => pins.get(FEED)?.snapshotId)).toEqual(['b', 'b']);
        }),
      );

    test(
      'of statements about several assets that bear one event id the first counts, also where it is not the first to be taken',
      withStore(backend, async ({ store }) => {
        await trusted(store, FEED);
        await apply(store, project({ assets: [asset(TABLE, { location: null, pushMode: 'TRUST' })] }));
        const receipts = await store.assets.recordStated([
          committed(FEED, 'a', { sequenceNumber: 1n, commitTime: 1n }),
          stated(FEED, { eventType: 'CDC_LAG_DETECTED' }),
          stated(FEED, { eventType: 'PARTITION_DONE', partitionKey: 'p' }), // begins a part of its own
          stated(FEED, { eventType: 'BACKFILL_STARTED', eventId: 'e' }),
          stated(TABLE, { eventType: 'BACKFILL_STARTED', eventId: 'e' }),
          stated(TABLE, { eventType: 'CDC_LAG_DETECTED' }),
        ]);
        expect(receipts.map(({ status }) => (status === 'ACCEPTED' ? 1 : 0))).toEqual([1, 1, 1, 1, 0, 1]);
        const states = await Promise.all([FEED, TABLE].map((one) => store.assets.get(one)));
        expect(states.map(({ state }) => state.backfillStatus)).toEqual(['RUNNING', 'NONE']);
      }),
    );

    test(
      'verdicts whose names are alike when put behind one another are two, and a version may be called null',
      withStore(backend, async ({ store }) => {
        await trusted(store, FEED);
        await store.assets.recordStated([
          committed(FEED, 'a', { sequenceNumber: 1n, commitTime: 1n }),
          committed(FEED, 'a b', { sequenceNumber: 2n, commitTime: 2n }),
          committed(FEED, 'null', { sequenceNumber: 3n, commitTime: 3n }),
          stated(FEED, { snapshotId: 'a', checkName: 'b c' }),
          stated(FEED, { eventType: 'QUALITY_CHECK_FAILED', snapshotId: 'a b', checkName: 'c' }),
        ]);
        await store.assets.recordStated([stated(FEED, { startedAt: clock.now() + 60_000n, checkName: 'later' })]);
        const shown = (await store.assets.versions(FEED, {})).items.map((v) => `${v.snapshotId}: ${v.quality}`);
        expect(shown).toEqual(['null: UNKNOWN', 'a b: FAILED', 'a: PASSED']);
        clock.advance(120_000);
        await push(store, committed(FEED, 'd', { sequenceNumber: 4n, commitTime: clock.now() }));
        expect((await store.assets.get(FEED)).verdicts.filter(({ snapshotId }) => snapshotId === null)).toEqual([]);
      }),
    );

    if (backend.shared)
      test(
        'a request that comes again is answered in a few statements, however long it is',
        withStore(backend, async ({ store, database }) => {
          await trusted(store, FEED);
          await push(store, committed(FEED, 'a', { sequenceNumber: 1n, commitTime: 1n }));
          const verdict = (i: number) => stated(FEED, { snapshotId: 'a', checkName: `c${i % 3}`, eventId: `e${i}` });
          const request = Array.from({ length: 200 }, (_, i) => verdict(i));
          let statements = 0;
          const other = await database.open({ onStatement: (_, when) => (statements += when === 'BEFORE' ? 1 : 0) });
          await other.assets.recordStated(request);
          statements = 0;
          const again = await other.assets.recordStated([...request, verdict(500), ...request]);
          expect(again.flatMap(({ status }, i) => (status === 'ACCEPTED' ? i : []))).toEqual([200]);
          expect(statements).toBeLessThan(60);
          const events = (await other.assets.events({ key: FEED, eventType: 'QUALITY_CHECK_PASSED' }, { limit: 500 }))
            .items;
          expect(events.map(({ duplicates }) => duplicates)).toEqual([0, ...request.map(() => 2)]);
          await other.close();
        }),
      );

    if (backend.shared)
      test(
        'a verdict of a version that never comes makes the commits that do come no dearer',
        withStore(backend, async ({ store, database }) => {
          await trusted(store, FEED);
          let statements = 0;
          const other = await database.open({ onStatement: (_, when) => (statements += when === 'BEFORE' ? 1 : 0) });
          await push(other, committed(FEED, 'a', { sequenceNumber: 1n, commitTime: 1n }));
          await push(other, stated(FEED, { snapshotId: 'wrong', checkName: 'rows' }));
          statements = 0;
          const at = (i: number) => ({ sequenceNumber: BigInt(i + 2), commitTime: BigInt(i + 2) });
          const commits = Array.from({ length: 200 }, (_, i) => committed(FEED, `b${i}`, at(i)));
          const receipts = await other.assets.recordStated(commits);
          expect(receipts.filter(({ status }) => status === 'ACCEPTED')).toHaveLength(200);
          expect(statements).toBeLessThan(60);
          expect((await other.assets.get(FEED)).state.lastOrdinal).toBe(201);
          await other.close();
        }),
      );

    test(
      'a duplicate is counted where the first one is kept',
      withStore(backend, async ({ store }) => {
        await trusted(store, FEED);
        const one = committed(FEED, 'x', { sequenceNumber: 1n, commitTime: 5n });
        await push(store, one, one, one);
        const [event] = (await store.assets.events({ key: FEED }, {})).items;
        expect(event?.duplicates).toBe(2);
      }),
    );
  });
};

/** One statement of the property: few ids, checks and event ids, so that they meet. */
const SAID = fc.record({
  type: fc.constantFrom<StatedEvent['eventType'][]>(
    'SNAPSHOT_COMMITTED',
    'SNAPSHOT_COMMITTED',
    'SNAPSHOT_COMMITTED',
    'QUALITY_CHECK_PASSED',
    'QUALITY_CHECK_FAILED',
    'QUALITY_CHECK_PASSED',
    'WATERMARK_ADVANCED',
    'TAG_CREATED',
    'SCHEMA_CHANGED',
    'ROLLED_BACK',
    'RECREATED',
    'BACKFILL_STARTED',
    'BACKFILL_COMPLETED',
    'CDC_LAG_DETECTED',
    'HISTORY_GAP',
  ),
  id: fc.option(fc.integer({ min: 1, max: 8 }), { nil: null, freq: 8 }),
  late: fc.integer({ min: 0, max: 9 }),
  check: fc.constantFrom('rows', 'keys'),
  eventId: fc.option(fc.constantFrom('e1', 'e2', 'e3', 'e4'), { nil: null }),
  schemaId: fc.option(fc.constantFrom('1', '2'), { nil: null, freq: 2 }),
  dataChange: fc.option(fc.boolean(), { nil: null }),
});
type Said = typeof SAID extends fc.Arbitrary<infer T> ? T : never;

const statement = (assetKey: AssetKey, { type, id, late, check, eventId, schemaId, dataChange }: Said): StatedEvent => {
  const isCommit = type === 'SNAPSHOT_COMMITTED';
  const isVerdict = type.startsWith('QUALITY');
  return stated(assetKey, {
    eventType: type,
    snapshotId: id === null ? null : `s${id}`,
    // A commit has its place; one in ten is told with that of a later one.
    sequenceNumber: isCommit && id !== null ? BigInt(late === 0 ? id + 4 : id) : null,
    commitTime: isCommit ? 1_000n + BigInt(id ?? 0) : null,
    commitKind: isCommit ? 'APPEND' : null,
    dataChange: isCommit ? dataChange : null,
    schemaId: isCommit || type === 'SCHEMA_CHANGED' ? schemaId : null,
    watermark: type === 'WATERMARK_ADVANCED' ? BigInt(100 * late) : null,
    tag: type === 'TAG_CREATED' ? check : null,
    checkName: isVerdict ? check : null,
    eventId,
  });
};

/** All that can be seen of an asset, less what differs from store to store. */
const known = async (store: Store, assetKey: AssetKey) => {
  const events = (await store.assets.events({ key: assetKey }, { limit: 500 })).items;
  const found = (await store.assets.versions(assetKey, { limit: 500 })).items;
  const { state, ...details } = await store.assets.get(assetKey);
  return {
    events: events.map((e) => `${e.eventType} ${e.snapshotId} ${e.status} ${e.ordinal} ${e.duplicates} ${e.sentence}`),
    versions: found.map((v) => `${v.ordinal} ${v.epoch}:${v.snapshotId} ${v.status} ${v.dataChange} ${v.quality}`),
    state: { ...state, version: 0 },
    tags: details.tags,
    schemas: details.schemas,
  };
};
