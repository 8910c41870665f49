import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import type { Backend } from './support.ts';
import {
  ORDERS,
  PAYMENTS,
  apply,
  asset,
  commits,
  condition,
  fires,
  group,
  poll,
  project,
  record,
  runAll,
  settle,
  startRequest,
  task,
  workflow,
} from './support.ts';
import { wait } from './waiting-support.ts';
import { withStore } from './with-store.ts';

/** Projects that are paused and go on. */

const onOrders = (name: string) => group(name, [condition(ORDERS)]);

/** A project `shop` of two workflows over one table, which was read and holds nothing; beside it a project `other` over a second one. */
const given = async (store: Store): Promise<{ readonly one: number; readonly two: number }> => {
  const other = project({ project: 'other', assets: [asset(PAYMENTS)] });
  await apply(store, project({ assets: [asset(ORDERS)] }));
  await apply(store, other);
  await record(store, ORDERS, poll([]));
  await record(store, PAYMENTS, poll([]));
  const workflows = [
    workflow('one', { groups: [onOrders('a'), onOrders('b')] }),
    workflow('two', { groups: [onOrders('c')] }),
  ];
  await apply(store, project({ workflows }));
  await apply(store, {
    ...other,
    workflows: [workflow('three', { groups: [group('d', [condition(PAYMENTS)])] })],
  });
  await settle(store);
  const codeOf = async (name: string) => (await store.definitions.workflow('shop', name)).code;
  return { one: await codeOf('one'), two: await codeOf('two') };
};

const gates = async (store: Store, code: number) =>
  (await store.groups.explain(code)).groups.map(({ ready, leaves }) => [
    ready,
    ...leaves.filter(({ assetKey }) => assetKey === null).map((leaf) => `${leaf.code}: ${leaf.actual}`),
  ]);

const PAUSED = 'BLOCKED_BY_PAUSED: the project is paused';

const groupsFired = async (store: Store) => {
  const reports = await settle(store);
  return reports.filter(({ fired }) => fired !== null).map((report) => `${report.workflow}/${report.group}`);
};

export const projectSuite = (backend: Backend): void => {
  describe('projects', () => {
    test(
      'paused, none of its groups fires and each says why; others go on; resumed, one run for all that arrived',
      withStore(backend, async ({ store }) => {
        const { one, two } = await given(store);
        expect(await store.definitions.projects()).toMatchObject([
          { name: 'other', paused: false },
          { name: 'shop', paused: false },
        ]);
        expect(await store.definitions.pauseProject('shop')).toMatchObject({ name: 'shop', paused: true });
        expect((await store.definitions.projects()).map(({ paused }) => paused)).toEqual([false, true]);
        const told = (await settle(store)).map(({ group: name, leaves }) => [name, leaves.map(({ code }) => code)]);
        expect(told).toEqual(['a', 'b', 'c'].map((name) => [name, ['BLOCKED_BY_SNAPSHOT', 'BLOCKED_BY_PAUSED']]));
        await commits(store, ORDERS, 1, 2);
        await commits(store, PAYMENTS, 7);
        expect(await groupsFired(store)).toEqual(['three/d']);
        expect(await gates(store, one)).toEqual([
          [false, PAUSED],
          [false, PAUSED],
        ]);
        expect(await gates(store, two)).toEqual([[false, PAUSED]]);
        expect((await store.assets.get(ORDERS)).state.lastOrdinal).toBe(2);
        expect(await store.definitions.resumeProject('shop', 'CATCH_UP')).toMatchObject({ paused: false });
        expect((await groupsFired(store)).toSorted()).toEqual(['one/a', 'one/b', 'two/c']);
        const runs = (await store.runs.list({ project: 'shop' }, {})).items.map(({ run }) => run);
        expect(runs.map(({ pins }) => pins.get(ORDERS)?.snapshotId)).toEqual(['2', '2', '2']);
      }),
    );

    test(
      'resumed with SKIP, what arrived meanwhile starts nothing, but what a person holds back keeps it',
      withStore(backend, async ({ store }) => {
        const { one, two } = await given(store);
        await store.groups.pause(one, 'b');
        await store.definitions.release(two, 'OFFLINE');
        await store.definitions.pauseProject('shop');
        await commits(store, ORDERS, 1);
        await settle(store);
        await store.definitions.resumeProject('shop', 'SKIP');
        expect(await fires(store)).toEqual([]);
        await store.groups.resume(one, 'b', 'CATCH_UP');
        await store.definitions.release(two, 'ONLINE');
        expect((await groupsFired(store)).toSorted()).toEqual(['one/b', 'two/c']);
        await runAll(store);
        await commits(store, ORDERS, 2);
        expect((await groupsFired(store)).toSorted()).toEqual(['one/a', 'one/b', 'two/c']);
      }),
    );

    test(
      'its pause and those of its groups and workflows are apart',
      withStore(backend, async ({ store }) => {
        const { one } = await given(store);
        await store.groups.pause(one, 'a');
        await store.definitions.pauseProject('shop');
        await store.definitions.release(one, 'OFFLINE');
        const own = 'BLOCKED_BY_PAUSED: paused; versions go on being recorded';
        const both = 'BLOCKED_BY_PAUSED: the workflow is offline, its project is paused';
        expect(await gates(store, one)).toEqual([
          [false, own, both],
          [false, both],
        ]);
        await store.definitions.release(one, 'ONLINE');
        await store.groups.resume(one, 'a', 'CATCH_UP');
        expect(await gates(store, one)).toEqual([
          [false, PAUSED],
          [false, PAUSED],
        ]);
        await store.groups.pause(one, 'a');
        await store.definitions.resumeProject('shop', 'CATCH_UP');
        expect(await gates(store, one)).toEqual([[false, own], [false]]);
      }),
    );

    test(
      'a workflow that is applied while it is paused is held back too; runs by hand and runs under way go on',
      withStore(backend, async ({ store }) => {
        const { two } = await given(store);
        const waits = workflow('waits', {
          tasks: [task('w', [], { wait: wait({ groups: [onOrders('g')], baseline: 'NONE' }) })],
        });
        await apply(store, project({ workflows: [waits] }));
        const { code } = await store.definitions.workflow('shop', 'waits');
        const { runId } = await store.runs.start(startRequest(code));
        await runAll(store);
        await store.definitions.pauseProject('shop');
        await apply(store, project({ workflows: [workflow('late', { groups: [onOrders('e')] })] }));
        await commits(store, ORDERS, 1);
        expect((await settle(store)).filter(({ fired }) => fired !== null)).toEqual([]);
        await runAll(store);
        expect((await store.runs.get(runId)).run.state).toBe('SUCCESS');
        const byHand = await store.runs.start(startRequest(two));
        await runAll(store);
        expect((await store.runs.get(byHand.runId)).run).toMatchObject({ state: 'SUCCESS', triggerGroup: null });
      }),
    );

    test(
      'pausing twice is the same, resuming twice is refused, and a project that is not there is not found',
      withStore(backend, async ({ store }) => {
        await given(store);
        const { code } = await store.definitions.pauseProject('shop');
        await settle(store);
        expect(await store.definitions.pauseProject(String(code))).toEqual({ code, name: 'shop', paused: true });
        expect(await store.groups.nextDueAt()).toBeNull();
        await store.definitions.resumeProject('shop', 'CATCH_UP');
        for (const how of ['CATCH_UP', 'SKIP'] as const)
          await expect(store.definitions.resumeProject('shop', how)).rejects.toMatchObject({
            code: 'CONFLICT',
            message: 'Leave project shop as it is: it is not paused.',
          });
        await commits(store, ORDERS, 1);
        expect(await fires(store)).toHaveLength(3); // the refused SKIP skipped nothing
        await expect(store.definitions.pauseProject('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' });
      }),
    );
  });
};
