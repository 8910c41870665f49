import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { committed, FEED, kept, push, TABLE, trusted, versions } from './pushes.ts';
import type { Backend } from './support.ts';
import { apply, asset, clock, key, project, stated } from './support.ts';
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
