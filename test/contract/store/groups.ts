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
  stated,
  workflow,
} from './support.ts';
import { withStore } from './with-store.ts';

const declare = (store: Store, groups: Parameters<typeof workflow>[1], assets = [asset(ORDERS), asset(PAYMENTS)]) =>
  apply(store, project({ assets, workflows: [workflow('trade', groups)] }));

/** Both tables exist and have been read, so that groups begin after nothing. */
const given = async (store: Store, ...groups: ReturnType<typeof group>[]): Promise<number> => {
  await declare(store, {});
  await record(store, ORDERS, poll([]));
  await record(store, PAYMENTS, poll([]));
  await declare(store, { groups });
  await settle(store);
  return (await store.definitions.workflow('shop', 'trade')).code;
};

const pinned = (fire: { readonly pins: ReadonlyMap<string, { readonly snapshotId: string }> }) =>
  [...fire.pins.values()].map((pin) => pin.snapshotId);

export const groupSuite = (backend: Backend): void => {
  describe('evaluating', () => {
    test(
      'orders AND payments fire once, and what is newer than consumed fires again',
      withStore(backend, async ({ store }) => {
        await given(store, group('both', [condition(ORDERS), condition(PAYMENTS)]));
        await commits(store, ORDERS, 1);
        const [waiting] = await settle(store);
        expect(waiting).toMatchObject({ workflow: 'trade', group: 'both', ready: false, changed: true, fired: null });
        expect(waiting?.leaves.map((leaf) => [leaf.assetKey, leaf.code])).toEqual([
          [ORDERS, null],
          [PAYMENTS, 'BLOCKED_BY_SNAPSHOT'],
        ]);
        await commits(store, PAYMENTS, 7);
        const [fire] = await fires(store);
        expect(fire && pinned(fire)).toEqual(['1', '7']);
        await runAll(store);
        expect(await fires(store)).toEqual([]);
        await commits(store, ORDERS, 2, 3);
        await commits(store, PAYMENTS, 8);
        expect((await fires(store)).map(pinned)).toEqual([['3', '8']]);
      }),
    );

    test(
      'trigger history, consumed versions, run and command come together',
      withStore(backend, async ({ store, clock }) => {
        const code = await given(store, group('g', [condition(ORDERS)]));
        await commits(store, ORDERS, 1);
        const [fire] = await fires(store);
        expect(fire?.triggerKey).toBe(`workflow_${code}_group_g_${ORDERS}%3D1:1`.replace('%3D', '='));
        const history = await store.groups.triggerHistory({ workflowCode: code }, {});
        expect(history.items).toMatchObject([
          { group: 'g', runId: fire?.runId, status: 'SUCCESS', workflow: 'trade', createTime: clock.now() },
        ]);
        const [explained] = (await store.groups.explain(code)).groups;
        expect(explained?.consumed.get(ORDERS)).toEqual({ snapshotId: '1', epoch: 1, ordinal: 1 });
        expect(explained?.lastFire).toMatchObject({ runId: fire?.runId, triggerKey: fire?.triggerKey });
        const { run } = await store.runs.get(fire?.runId ?? 0);
        expect(run).toMatchObject({
          commandType: 'ASSET_EVENT_TRIGGER',
          state: 'SUBMITTED_SUCCESS',
          triggerGroup: 'g',
          triggerKey: fire?.triggerKey,
        });
        expect(pinned(run)).toEqual(['1']);
        expect((await store.runs.launch(10)).map((launched) => launched.id)).toEqual([fire?.runId]);
      }),
    );

    test(
      'a trigger key that has fired fires nothing again',
      withStore(backend, async ({ store }) => {
        const code = await given(store, group('g', [condition(ORDERS)]));
        await commits(store, ORDERS, 1);
        expect(await fires(store)).toHaveLength(1);
        await runAll(store);
        await declare(store, {});
        await declare(store, { groups: [group('g', [condition(ORDERS)], { startFrom: 'CURRENT' })] });
        const reports = await settle(store);
        expect(reports[0]).toMatchObject({ ready: true, fired: null });
        expect(reports.at(-1)).toMatchObject({ ready: false });
        expect((await store.groups.triggerHistory({ workflowCode: code }, {})).items).toHaveLength(1);
        expect((await store.runs.list({}, {})).items).toHaveLength(1);
      }),
    );

    test(
      'a group waits for its unfinished run, whose end brings it back',
      withStore(backend, async ({ store }) => {
        const code = await given(store, group('g', [condition(ORDERS)]));
        await commits(store, ORDERS, 1);
        await fires(store);
        await commits(store, ORDERS, 2);
        await commits(store, ORDERS, 3);
        expect(await fires(store)).toEqual([]);
        expect((await store.groups.explain(code)).groups[0]?.leaves.map((leaf) => leaf.code)).toEqual([
          null,
          'BLOCKED_BY_ACTIVE_RUN',
        ]);
        await runAll(store);
        expect((await fires(store)).map(pinned)).toEqual([['3']]);
      }),
    );

    test(
      'PARALLEL does not wait',
      withStore(backend, async ({ store }) => {
        await given(store, group('g', [condition(ORDERS)], { whileRunning: 'PARALLEL' }));
        await commits(store, ORDERS, 1);
        await fires(store);
        await commits(store, ORDERS, 2);
        expect((await fires(store)).map(pinned)).toEqual([['2']]);
      }),
    );

    test(
      'quality and schema gates: the newest version that passed, not only the newest',
      withStore(backend, async ({ store }) => {
        await given(store, group('g', [condition(ORDERS, { qualityStatus: 'PASSED', schemaStatus: 'COMPATIBLE' })]));
        const schema = { schemaId: '0', fields: [], partitionKeys: [], primaryKeys: [] };
        await record(store, ORDERS, poll([commit(1)], { schema, newSchemas: [schema] }));
        await commits(store, ORDERS, 2);
        expect(await fires(store)).toEqual([]);
        await store.assets.recordStated([stated(ORDERS, { snapshotId: '1', checkName: 'rows' })]);
        expect((await fires(store)).map(pinned)).toEqual([['1']]);
      }),
    );

    test(
      'reference data: the newest that meets the rest, far back if need be',
      withStore(backend, async ({ store }) => {
        await given(
          store,
          group('g', [condition(ORDERS), condition(PAYMENTS, { snapshotRequired: false, qualityStatus: 'PASSED' })]),
        );
        await commits(store, PAYMENTS, ...Array.from({ length: 300 }, (_, i) => i + 1));
        await store.assets.recordStated([stated(PAYMENTS, { snapshotId: '5', checkName: 'rows' })]);
        await commits(store, ORDERS, 1);
        expect((await fires(store)).map(pinned)).toEqual([['1', '5']]);
      }),
    );

    test(
      'since stays while a leaf says the same, and the group is queued for the instant that time alone decides',
      withStore(backend, async ({ store, clock }) => {
        const code = await given(store, group('g', [condition(ORDERS), condition(PAYMENTS)], { quietSeconds: 60 }));
        await commits(store, ORDERS, 1);
        await settle(store);
        const since = (await store.groups.explain(code)).groups[0]?.leaves.map((leaf) => leaf.since);
        clock.advance(5_000);
        await commits(store, PAYMENTS, 1);
        await settle(store);
        const later = (await store.groups.explain(code)).groups[0]?.leaves.map((leaf) => leaf.since);
        expect(later?.[0]).toBe(since?.[0]);
        expect(later?.[1]).toBe(clock.now());
        const due = await store.groups.nextDueAt();
        expect(due).not.toBeNull();
        clock.time = due ?? 0n;
        expect(await fires(store)).toHaveLength(1);
        expect(await store.groups.nextDueAt()).toBeNull();
      }),
    );

    test(
      'what changed before the clock was set back is decided at once',
      withStore(backend, async ({ store, clock }) => {
        await given(store, group('g', [condition(ORDERS)]));
        await commits(store, ORDERS, 1);
        clock.advance(-3_600_000);
        expect(await store.groups.nextDueAt()).toBe(clock.time);
        expect((await fires(store)).map(pinned)).toEqual([['1']]);
      }),
    );

    test(
      'groups that are always due do not keep a change waiting',
      withStore(backend, async ({ store, clock }) => {
        const code = await given(
          store,
          group('often', [condition(ORDERS), condition(PAYMENTS)]),
          group('single', [condition(PAYMENTS)]),
        );
        await commits(store, PAYMENTS, 1);
        const evaluated: string[] = [];
        for (let pass = 0; pass < 3; pass++) {
          clock.advance(1);
          // Either queues it, as the end of a run does.
          if (pass % 2 === 0) await store.groups.pause(code, 'often');
          else await store.groups.resume(code, 'often', 'CATCH_UP');
          evaluated.push(...(await store.groups.evaluateDue(1)).map((report) => report.group));
        }
        expect(evaluated).toEqual(['often', 'single', 'often']);
      }),
    );

    test(
      'an offline workflow does not fire; online again it goes on',
      withStore(backend, async ({ store }) => {
        const groups = [group('g', [condition(ORDERS)])];
        await given(store, ...groups);
        await declare(store, { groups, releaseState: 'OFFLINE' });
        await commits(store, ORDERS, 1);
        expect(await fires(store)).toEqual([]);
        await declare(store, { groups, releaseState: 'ONLINE' });
        expect((await fires(store)).map(pinned)).toEqual([['1']]);
      }),
    );

    test(
      'explaining changes nothing',
      withStore(backend, async ({ store }) => {
        const code = await given(store, group('g', [condition(ORDERS)]));
        await commits(store, ORDERS, 1);
        const due = await store.groups.nextDueAt();
        expect((await store.groups.explain(code)).groups[0]).toMatchObject({ group: 'g', ready: true });
        expect(await store.groups.nextDueAt()).toBe(due);
        expect(await store.runs.list({}, {})).toMatchObject({ items: [] });
        await expect(store.groups.explain(9_999)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      }),
    );

    test(
      'only groups that name the asset are evaluated',
      withStore(backend, async ({ store }) => {
        await given(store, group('o', [condition(ORDERS)]), group('p', [condition(PAYMENTS)]));
        await commits(store, ORDERS, 1);
        expect((await settle(store)).map((report) => report.group)).toEqual(['o', 'o']);
      }),
    );

    if (backend.shared)
      test(
        'an evaluation that goes wrong holds up no other and is tried again',
        withStore(backend, async ({ store, database, clock }) => {
          await given(store, group('g', [condition(ORDERS)]), group('h', [condition(ORDERS)]));
          const problems: string[] = [];
          let bad = true;
          const second = await database.open({
            onStatement: (sql, when) => {
              if (bad && when === 'BEFORE' && sql.includes('t_ds_asset_trigger_history')) {
                bad = false;
                throw new Error('disk I/O error');
              }
            },
            onProblem: (what) => problems.push(what),
          });
          await second.admin.claimOwnership('second');
          await record(second, ORDERS, poll([commit(1)]));
          expect(await fires(second)).toHaveLength(1);
          expect(problems).toHaveLength(1);
          clock.advance(30_000);
          expect(await fires(second)).toHaveLength(1);
          await second.close();
        }),
      );
  });
};
