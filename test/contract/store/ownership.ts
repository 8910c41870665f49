import { describe, expect, test } from 'vitest';
import { NEWEST } from '../../../src/store/migrations/migrate.ts';
import { MIGRATIONS } from '../../../src/store/migrations/list.ts';
import { committed, FEED, push } from './pushes.ts';
import type { Backend } from './support.ts';
import {
  ORDERS,
  apply,
  asset,
  commit,
  commits,
  ending,
  poll,
  project,
  startRequest,
  stated,
  workflow,
} from './support.ts';
import { withStore } from './with-store.ts';

export const ownershipSuite = (backend: Backend): void => {
  describe('ownership', () => {
    test(
      'generations rise',
      withStore(backend, async ({ store }) => {
        const first = await store.admin.claimOwnership('a');
        expect(await store.admin.claimOwnership('b')).toBe(first + 1);
      }),
    );

    if (backend.shared)
      test(
        'a store that owns nothing takes statements and starts runs, but works on nothing',
        withStore(backend, async ({ store, database, clock }) => {
          await apply(store, project({ assets: [asset(ORDERS)], workflows: [workflow('w')] }));
          const api = await database.open();
          const { runId } = await api.runs.start(startRequest(1));
          expect(
            (await api.assets.recordStated([stated(ORDERS, { eventType: 'SNAPSHOT_COMMITTED', snapshotId: '1' })]))[0]
              ?.status,
          ).toBe('ACCEPTED');
          expect((await api.runs.get(runId)).run.state).toBe('SUBMITTED_SUCCESS');
          await expect(api.runs.launch(1)).rejects.toMatchObject({ code: 'OWNERSHIP_LOST' });
          await expect(
            api.assets.recordPoll(ORDERS, 0, poll([commit(1)]), { startedAt: clock.now(), recordedAt: clock.now() }),
          ).rejects.toMatchObject({ code: 'OWNERSHIP_LOST' });
          await api.close();
        }),
      );

    if (backend.shared)
      test(
        'an owner that was replaced changes nothing any more',
        withStore(backend, async ({ store, database, clock }) => {
          await apply(store, project({ assets: [asset(ORDERS)], workflows: [workflow('w')] }));
          await store.runs.start(startRequest(1));
          await store.runs.launch(1);
          const [offer] = await store.runs.dispatch(1);
          await store.runs.start(startRequest(1));
          const heir = await database.open();
          await heir.admin.claimOwnership('heir');
          const { id, fence } = offer!.taskRun;
          const attempts = [
            () => store.runs.launch(1),
            () => store.runs.dispatch(1),
            () => store.runs.taskStarted(id, fence, clock.now(), 'h', 1),
            () => store.runs.taskEnded(id, fence, ending()),
            () => store.runs.advanceAll(),
            () => store.groups.evaluateDue(1),
            () => store.assets.recordIdle([]),
            () => commits(store, ORDERS, 1),
          ];
          for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: 'OWNERSHIP_LOST' });
          expect((await heir.runs.unfinished()).map((each) => each.taskRun.state)).toEqual(['DISPATCH']);
          expect(await heir.runs.taskEnded(id, fence, ending())).toBe(true);
          expect((await heir.runs.launch(10)).length).toBe(1);
          await heir.close();
        }),
      );

    test(
      'hints are told after the commit, and none for what was rolled back',
      withStore(backend, async ({ store }) => {
        const hints: string[] = [];
        store.onHint((hint) => hints.push(hint));
        const declaration = project({ assets: [asset(ORDERS)], workflows: [workflow('w')] });
        await store.definitions.apply(declaration, { dryRun: true, strict: false });
        expect(hints).toEqual([]);
        await apply(store, declaration);
        expect(hints.toSorted()).toEqual(['ASSETS', 'CHANGED', 'GROUPS']);
        await store.runs.start(startRequest(1));
        expect(hints.slice(3).toSorted()).toEqual(['CHANGED_RUNS', 'COMMANDS']);
        await store.runs.launch(1);
        expect(hints).toContain('TASKS');
      }),
    );
  });

  describe('administration', () => {
    test(
      'migrating again changes nothing',
      withStore(backend, async ({ store, clock }) => {
        expect(await store.admin.migrate()).toEqual([]);
        expect(await store.admin.schemaVersion()).toEqual({ current: NEWEST, newest: NEWEST });
        expect(await store.admin.now()).toBe(clock.now());
      }),
    );

    if (backend.shared)
      test('two that migrate an empty database at once', async () => {
        const database = await backend.make();
        const stores = [await database.open(), await database.open()];
        expect(await stores[0]?.admin.schemaVersion()).toEqual({ current: 0, newest: NEWEST });
        const applied = await Promise.all(stores.map((store) => store.admin.migrate()));
        expect(applied.flat()).toEqual(MIGRATIONS.map(({ version, name }) => `${version} ${name}`));
        for (const store of stores) await store.close();
        await database.drop();
      });

    if (backend.shared)
      test(
        'two stores on one database see what the other committed',
        withStore(backend, async ({ store, database }) => {
          const other = await database.open();
          await apply(other, project({ workflows: [workflow('w')] }));
          const [a, b] = await Promise.all([store.runs.start(startRequest(1)), other.runs.start(startRequest(1))]);
          expect(new Set([a.runId, b.runId]).size).toBe(2);
          expect((await store.runs.list({}, {})).items).toHaveLength(2);
          await other.close();
        }),
      );

    if (backend.shared)
      test(
        'an asset that another store removed and registered anew is known at once',
        withStore(backend, async ({ store, database }) => {
          const other = await database.open();
          const registered = project({ assets: [asset(FEED, { location: null, pushMode: 'TRUST' })] });
          await apply(other, registered);
          const commit = committed(FEED, 'a', { sequenceNumber: 1n, commitTime: 1n });
          expect(await push(store, commit, commit)).toEqual(['ACCEPTED', 'DUPLICATE']);
          await other.assets.remove(FEED);
          await apply(other, registered);
          expect(await push(store, commit, commit)).toEqual(['ACCEPTED', 'DUPLICATE']);
          await other.close();
        }),
      );
  });
};
