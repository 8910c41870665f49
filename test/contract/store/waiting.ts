import { describe, expect, test } from 'vitest';
import type { RunOperation } from '../../../src/core/workflow/plan.ts';
import type { Backend } from './support.ts';
import {
  ORDERS,
  PAYMENTS,
  apply,
  asset,
  clock,
  commit,
  commits,
  condition,
  finish,
  fires,
  group,
  key,
  poll,
  project,
  record,
  runAll,
  settle,
  startRequest,
  stated,
  task,
  workflow,
} from './support.ts';
import { withStore } from './with-store.ts';
import { steeringSuite, timeoutSuite } from './waiting-ends.ts';
import {
  FX,
  WAITS,
  dispatched,
  given,
  goOn,
  nothingLeft,
  pinned,
  sensor,
  start,
  tasksOf,
  wait,
} from './waiting-support.ts';

export const waitingSuite = (backend: Backend): void => {
  waitSuite(backend);
  baselineSuite(backend);
  pinSuite(backend);
  timeoutSuite(backend);
  steeringSuite(backend);
};

const waitSuite = (backend: Backend): void => {
  describe('a task that waits', () => {
    test(
      'is not handed out before its group is ready, and then with what released it; the tasks behind it do not get that',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        const runId = await start(store, code);
        expect(await tasksOf(store, runId)).toBe(WAITS);
        expect(await dispatched(store)).toEqual([]);
        expect(await store.runs.nextDispatchAt()).toBeNull();
        expect(await store.groups.nextDueAt()).toBeNull();
        await commits(store, FX, 7);
        expect(await settle(store)).toMatchObject([
          { workflow: 'flow', group: 'fx', task: 'w', ready: true, fired: null, released: { runId } },
        ]);
        const [offer] = await dispatched(store);
        expect(offer).toMatchObject({
          task: { name: 'w' },
          taskRun: { waiting: false, state: 'DISPATCH' },
          pins: [
            { assetKey: FX, alias: 'fx', pin: { snapshotId: '7', epoch: 1, ordinal: 1 }, previousSnapshotId: null },
          ],
        });
        await finish(store, offer!);
        const [after] = await dispatched(store);
        expect(after).toMatchObject({ task: { name: 'after' }, pins: [] });
        await finish(store, after!);
        expect((await store.runs.get(runId)).run.state).toBe('SUCCESS');
        await nothingLeft(store, code);
      }),
    );

    test(
      'its release is one row of the trigger history, with its tree',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        const runId = await start(store, code);
        const [attempt] = (await store.runs.get(runId)).tasks;
        await commits(store, FX, 7);
        await goOn(store);
        expect((await store.groups.triggerHistory({}, {})).items).toMatchObject([
          {
            triggerKey: `workflow_${code}_taskdef_${attempt?.taskCode}_instance_${attempt?.id}_group_fx_${FX}=1:7`,
            group: 'fx',
            runId,
            task: { code: attempt?.taskCode, taskRunId: attempt?.id },
            status: 'SUCCESS',
          },
        ]);
        expect(await store.groups.explainTask(code, 'w')).toMatchObject({
          waitingCount: 0,
          lastRelease: { group: 'fx', runId, leaves: [{ assetKey: FX, met: true }] },
        });
      }),
    );

    test(
      'any one of its groups releases it, and the others are forgotten',
      withStore(backend, async ({ store }) => {
        const groups = [group('fx', [condition(FX)]), group('pay', [condition(PAYMENTS)])];
        const code = await given(store, { groups });
        const runId = await start(store, code);
        await commits(store, PAYMENTS, 3);
        expect(await settle(store)).toHaveLength(1);
        expect(await pinned(store, runId)).toEqual({ [PAYMENTS]: '3' });
        await nothingLeft(store, code);
      }),
    );

    test(
      'all conditions of a group must hold; a verdict counts as well as a commit',
      withStore(backend, async ({ store }) => {
        const both = [condition(FX, { qualityStatus: 'PASSED' }), condition(PAYMENTS)];
        const code = await given(store, { groups: [group('both', both)] });
        const runId = await start(store, code);
        await commits(store, FX, 1);
        await commits(store, PAYMENTS, 2);
        await settle(store);
        expect((await store.runs.get(runId)).waiting.values().next().value).toMatchObject([
          { group: 'both', leaves: [{ met: false, code: 'BLOCKED_BY_QUALITY' }, { met: true }] },
        ]);
        await store.assets.recordStated([stated(FX, { snapshotId: '1', checkName: 'rows' })]);
        await settle(store);
        expect(await pinned(store, runId)).toEqual({ [FX]: '1', [PAYMENTS]: '2' });
      }),
    );

    test(
      'each run waits for itself; what is said of one says which',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        const first = await start(store, code);
        clock.advance(1_000);
        const second = await start(store, code);
        const explained = await store.groups.explainTask(code, 'w');
        expect(explained).toMatchObject({
          task: 'w',
          waitingCount: 2,
          lastRelease: null,
          waiting: [
            { runId: second, groups: [{ group: 'fx', leaves: [{ code: 'BLOCKED_BY_SNAPSHOT' }], lastFire: null }] },
            { runId: first, attempt: 1, deadline: null },
          ],
        });
        await commits(store, FX, 1);
        expect((await settle(store)).filter(({ released }) => released !== null)).toHaveLength(2);
      }),
    );

    test(
      'groups that are disabled are not waited for',
      withStore(backend, async ({ store }) => {
        const code = await given(store, { groups: [group('fx', [condition(FX)], { enabled: false })] });
        const runId = await start(store, code);
        expect(await tasksOf(store, runId)).toBe('w SUBMITTED_SUCCESS');
        await runAll(store);
        expect((await store.runs.get(runId)).run.state).toBe('SUCCESS');
      }),
    );

    test(
      'waits for what comes before it, too: its groups are made when its turn has come',
      withStore(backend, async ({ store }) => {
        const tasks = [task('before'), task('w', ['before'], { wait: wait() })];
        const code = await given(store, {}, { tasks });
        const runId = await start(store, code);
        expect((await store.groups.explainTask(code, 'w')).waiting).toEqual([]);
        await runAll(store);
        expect(await tasksOf(store, runId)).toBe(`before SUCCESS, ${WAITS}`);
        await commits(store, FX, 1);
        await goOn(store);
        expect((await store.runs.get(runId)).run.state).toBe('SUCCESS');
      }),
    );

    test(
      'the workflow going offline, or changing, does not touch a run that waits',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        const runId = await start(store, code);
        await given(store, { groups: [group('pay', [condition(PAYMENTS)])] }, { releaseState: 'OFFLINE' });
        await commits(store, FX, 1);
        await goOn(store);
        expect((await store.runs.get(runId)).run).toMatchObject({ state: 'SUCCESS', workflowVersion: 1 });
      }),
    );

    test(
      'is looked at again after checkIntervalSeconds, whatever happens',
      withStore(backend, async ({ store }) => {
        const code = await given(store, { checkIntervalSeconds: 30 });
        await start(store, code);
        expect(await store.groups.nextDueAt()).toBe(clock.time + 30_000n);
        clock.advance(30_000);
        expect(await store.groups.evaluateDue(10)).toHaveLength(1);
      }),
    );

    test(
      'which assets are waited for is said with the assets; an unknown one is a warning',
      withStore(backend, async ({ store }) => {
        await given(store);
        expect((await store.assets.get(FX)).consumers).toEqual([{ workflow: 'flow', group: 'fx', task: 'w' }]);
        const unknown = sensor({ groups: [group('g', [condition(key('iceberg://ref/none'))])] });
        const plan = await apply(store, project({ workflows: [workflow('other', { tasks: [unknown] })] }));
        expect(plan.warnings).toEqual([expect.stringMatching(/^Task w of workflow other names iceberg:\/\/ref\/none/)]);
      }),
    );

    test(
      'what waits is kept with the version of the workflow, and the same declaration makes no new one',
      withStore(backend, async ({ store }) => {
        const more = { timeoutSeconds: 90.5, onTimeout: 'WARN', checkIntervalSeconds: 5 } as const;
        await given(store, more);
        await given(store, more);
        const saved = await store.definitions.workflow('shop', 'flow');
        expect(saved.version).toBe(1);
        expect(saved.tasks[0]?.wait).toEqual(wait(more));
        expect(saved.tasks[1]?.wait).toBeNull();
      }),
    );

    test(
      'what a task cannot do is asked of explainTask by name',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        expect(await store.groups.explainTask(code, 'after')).toMatchObject({ wait: null, waiting: [] });
        await expect(store.groups.explainTask(code, 'none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
      }),
    );
  });
};

const baselineSuite = (backend: Backend): void => {
  describe('where a waiting task begins', () => {
    test(
      'LAST_SUCCESS: any version first, then newer than what the last successful run consumed',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        await commits(store, FX, 1, 2);
        const first = await start(store, code);
        expect(await pinned(store, first)).toEqual({ [FX]: '2' });
        await goOn(store);
        const second = await start(store, code);
        expect(await tasksOf(store, second)).toBe(WAITS);
        await commits(store, FX, 3);
        await settle(store);
        const [offer] = await dispatched(store);
        expect(offer?.pins).toMatchObject([{ pin: { snapshotId: '3' }, previousSnapshotId: '2', incremental: true }]);
        await finish(store, offer!);
        await goOn(store);
        expect(await tasksOf(store, second)).toBe('w SUCCESS, after SUCCESS');
      }),
    );

    test(
      'LAST_SUCCESS: a run that failed consumed nothing',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        await commits(store, FX, 1);
        await start(store, code);
        const [offer] = await dispatched(store);
        await finish(store, offer!);
        const [after] = await dispatched(store);
        await finish(store, after!, 'FAILURE');
        const next = await start(store, code);
        expect(await pinned(store, next)).toEqual({ [FX]: '1' });
      }),
    );

    test(
      'RUN_START: newer than what was there when the run began',
      withStore(backend, async ({ store }) => {
        const code = await given(store, { baseline: 'RUN_START' });
        await commits(store, FX, 1);
        const { runId } = await store.runs.start(startRequest(code));
        await commits(store, FX, 2, 3);
        await store.runs.launch(10);
        await settle(store);
        expect(await pinned(store, runId)).toEqual({ [FX]: '3' });
        await goOn(store);
        const next = await start(store, code);
        expect(await tasksOf(store, next)).toBe(WAITS);
      }),
    );

    test(
      'RUN_START: a table that had not been read then begins with what was committed since',
      withStore(backend, async ({ store }) => {
        const workflows = [workflow('flow', { tasks: [sensor({ baseline: 'RUN_START' })] })];
        await apply(store, project({ assets: [asset(FX)], workflows }));
        const runId = await start(store, (await store.definitions.workflow('shop', 'flow')).code);
        expect((await store.runs.get(runId)).waiting.values().next().value).toMatchObject([
          { leaves: [{ code: 'BLOCKED_BY_SOURCE' }] },
        ]);
        const began = clock.time;
        const HOUR = 3_600_000n;
        await record(store, FX, poll([commit(1, { commitTime: began - HOUR })]));
        await settle(store);
        expect(await tasksOf(store, runId)).toBe(WAITS);
        await record(store, FX, poll([commit(2, { commitTime: began + HOUR })]));
        await settle(store);
        expect(await pinned(store, runId)).toEqual({ [FX]: '2' });
      }),
    );

    test(
      'NONE: any version that meets the conditions, consumed or not',
      withStore(backend, async ({ store }) => {
        const code = await given(store, { baseline: 'NONE' });
        await commits(store, FX, 1);
        for (const _ of [1, 2]) {
          expect(await pinned(store, await start(store, code))).toEqual({ [FX]: '1' });
          await goOn(store);
        }
      }),
    );

    test(
      'minSnapshotId: that version or a later one, whatever the baseline',
      withStore(backend, async ({ store }) => {
        const code = await given(store, { groups: [group('fx', [condition(ORDERS, { minSnapshotId: '5' })])] });
        await commits(store, ORDERS, 4);
        const runId = await start(store, code);
        expect(await tasksOf(store, runId)).toBe(WAITS);
        await commits(store, ORDERS, 5, 6);
        await goOn(store);
        expect(await pinned(store, runId)).toEqual({ [ORDERS]: '6' });
        expect(await pinned(store, await start(store, code))).toEqual({ [ORDERS]: '6' });
      }),
    );
  });
};

const pinSuite = (backend: Backend): void => {
  describe('pins of a waiting task', () => {
    const onOrders = { groups: [group('new', [condition(ORDERS, { alias: 'o' })])] };

    test(
      'an asset that the run has pinned is tested at its pin only, under the task’s alias too',
      withStore(backend, async ({ store }) => {
        const checked = group('checked', [condition(ORDERS, { alias: 'checked', qualityStatus: 'PASSED' })]);
        await given(store, { groups: [checked] }, onOrders);
        await commits(store, ORDERS, 1);
        const [fired] = await fires(store);
        await store.runs.launch(10);
        await commits(store, ORDERS, 2);
        await store.assets.recordStated([stated(ORDERS, { snapshotId: '2', checkName: 'rows' })]);
        await settle(store);
        expect(await tasksOf(store, fired!.runId)).toBe(WAITS);
        await store.assets.recordStated([stated(ORDERS, { snapshotId: '1', checkName: 'rows' })]);
        await settle(store);
        const [offer] = await dispatched(store);
        expect(offer?.pins.map(({ alias, pin }) => `${alias} ${pin.snapshotId}`)).toEqual(['o 1', 'checked 1']);
      }),
    );

    test(
      'a table that only the task names can be pinned by hand, and the task waits for nothing newer',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        await commits(store, FX, 1, 2);
        const pins = new Map([[FX, { snapshotId: '1' }]]);
        const runId = await start(store, code, { pins });
        expect(await pinned(store, runId)).toEqual({ [FX]: '1' });
        const unpinned = await start(store, code);
        expect((await store.runs.get(unpinned)).run.pins.size).toBe(0);
      }),
    );

    test(
      'RUN_START on an asset that the run pins is refused',
      withStore(backend, async ({ store }) => {
        await expect(given(store, { baseline: 'RUN_START' }, { inputs: [FX] })).rejects.toMatchObject({
          code: 'BAD_FILE',
          message: expect.stringMatching(/^Task w of workflow flow, group fx: .*RUN_START/),
        });
      }),
    );

    test(
      'a retry, a recovered run and a rerun read the same versions without waiting again; new pins wait again',
      withStore(backend, async ({ store }) => {
        const shell = task('w', [], { wait: wait({ baseline: 'RUN_START' }), failRetryTimes: 1 });
        const code = await given(store, {}, { tasks: [shell] });
        const runId = await start(store, code);
        await commits(store, FX, 1);
        await settle(store);
        await commits(store, FX, 2);
        const attempt = async (state: 'SUCCESS' | 'FAILURE') => {
          const [offer] = await dispatched(store);
          await finish(store, offer!, state);
          return `${offer?.taskRun.attempt} ${offer?.pins[0]?.pin.snapshotId}`;
        };
        expect([await attempt('FAILURE'), await attempt('FAILURE')]).toEqual(['1 1', '2 1']);
        const again = async (operation: RunOperation, repin = false) => {
          await store.runs.operate(runId, operation, { repin });
          await store.runs.launch(10);
          await settle(store);
        };
        await again('RECOVER');
        expect(await attempt('SUCCESS')).toBe('3 1');
        await again('RERUN');
        expect(await attempt('SUCCESS')).toBe('4 1');
        await again('RERUN', true);
        expect(await tasksOf(store, runId)).toBe(WAITS);
        await commits(store, FX, 3);
        await settle(store);
        expect(await attempt('SUCCESS')).toBe('5 3');
      }),
    );
  });
};
