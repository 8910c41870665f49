import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import type { Backend } from './support.ts';
import {
  ORDERS,
  PAYMENTS,
  apply,
  asset,
  ending,
  finish,
  project,
  runAll,
  settle,
  startRequest,
  task,
  workflow,
} from './support.ts';
import { withStore } from './with-store.ts';

const given = async (store: Store, more: Parameters<typeof workflow>[1] = {}): Promise<number> => {
  await apply(store, project({ assets: [asset(ORDERS), asset(PAYMENTS)], workflows: [workflow('w', more)] }));
  return (await store.definitions.workflow('shop', 'w')).code;
};

const launched = async (store: Store, more: Parameters<typeof workflow>[1] = {}): Promise<number> => {
  const { runId } = await store.runs.start(startRequest(await given(store, more)));
  await store.runs.launch(10);
  return runId;
};

const states = async (store: Store, runId: number) =>
  (await store.runs.get(runId)).tasks.map((each) => `${each.name} ${each.state}`);

export const runSuite = (backend: Backend): void => {
  describe('from start to end', () => {
    test(
      'a diamond: each task once, in order, the join after both',
      withStore(backend, async ({ store, clock }) => {
        const runId = await launched(store, {
          tasks: [task('d', ['b', 'c']), task('a'), task('b', ['a']), task('c', ['a'])],
        });
        const [a] = await store.runs.dispatch(10);
        expect(a).toMatchObject({
          task: { name: 'a' },
          taskRun: { attempt: 1, fence: 1, state: 'DISPATCH' },
          run: { id: runId },
        });
        clock.advance(10);
        expect(await finish(store, a!)).toBe(true);
        const both = await store.runs.dispatch(10);
        expect(both.map((offer) => offer.task.name)).toEqual(['b', 'c']);
        await finish(store, both[0]!);
        expect(await store.runs.dispatch(10)).toEqual([]);
        await finish(store, both[1]!);
        await runAll(store);
        const details = await store.runs.get(runId);
        expect(details).toMatchObject({
          workflow: 'w',
          project: 'shop',
          run: { state: 'SUCCESS', endTime: clock.now(), runTimes: 1 },
        });
        expect(details.tasks.map((each) => [each.name, each.state, each.exitCode])).toEqual(
          ['a', 'b', 'c', 'd'].map((name) => [name, 'SUCCESS', 0]),
        );
        expect(await store.runs.ofTask(a!.taskRun.id)).toEqual(details);
      }),
    );

    test(
      'what a task gives out reaches the tasks behind it, of the attempts that count',
      withStore(backend, async ({ store, clock }) => {
        const give = (name: string, dependsOn: readonly string[] = []) =>
          task(name, dependsOn, { localParams: [{ prop: 'x', direct: 'OUT', value: '' }] });
        const runId = await launched(store, { tasks: [give('a'), give('b', ['a']), task('c', ['b'])] });
        const end = async (value: string, state: 'SUCCESS' | 'FAILURE' = 'SUCCESS') => {
          const [offer] = await store.runs.dispatch(10);
          if (offer === undefined) throw new Error('Nothing was to be handed out.');
          const { id, fence } = offer.taskRun;
          await store.runs.taskStarted(id, fence, clock.now(), 'host', 1);
          const outputs = [{ prop: 'x', direct: 'OUT', value }] as const;
          expect(await store.runs.taskEnded(id, fence - 1, { ...ending(state), outputs })).toBe(false);
          expect(await store.runs.taskEnded(id, fence, { ...ending(state), outputs })).toBe(true);
          return [offer.task.name, offer.upstream.map((one) => one.value)];
        };
        expect(await end('1')).toEqual(['a', []]);
        expect(await end('bad', 'FAILURE')).toEqual(['b', ['1']]);
        const gave = async () =>
          Object.fromEntries((await store.runs.get(runId)).tasks.map(({ name, outputs }) => [name, outputs]));
        expect(await gave()).toEqual({ a: [{ prop: 'x', direct: 'OUT', value: '1' }], b: [] });
        await store.runs.operate(runId, 'RECOVER', { repin: false });
        await store.runs.launch(10);
        expect(await end('2')).toEqual(['b', ['1']]);
        expect(await end('3')).toEqual(['c', ['2']]);
        await store.runs.operate(runId, 'RERUN', { repin: false });
        await store.runs.launch(10);
        expect(await end('4')).toEqual(['a', []]);
        expect(await end('5')).toEqual(['b', ['4']]);
        expect((await store.runs.unfinished()).map(({ upstream }) => upstream)).toEqual([]);
      }),
    );

    test(
      'a command is taken once',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        const first = await store.runs.start(startRequest(code));
        const second = await store.runs.start(startRequest(code));
        expect((await store.runs.launch(1)).map((run) => run.id)).toEqual([first.runId]);
        expect((await store.runs.launch(10)).map((run) => run.id)).toEqual([second.runId]);
        expect(await store.runs.launch(10)).toEqual([]);
      }),
    );

    test(
      'one idempotency key makes one run of a workflow',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        const request = startRequest(code, { idempotencyKey: 'k'.repeat(1_000), params: { dt: '2026-11-30' } });
        const first = await store.runs.start(request);
        expect(first.duplicate).toBe(false);
        expect(await store.runs.start(request)).toEqual({ runId: first.runId, duplicate: true });
        expect((await store.runs.get(first.runId)).run.params).toEqual({ dt: '2026-11-30' });
        expect((await store.runs.launch(10)).length).toBe(1);
      }),
    );

    test(
      'what cannot be started says why',
      withStore(backend, async ({ store }) => {
        const code = await given(store, { releaseState: 'OFFLINE' });
        await expect(store.runs.start(startRequest(code))).rejects.toMatchObject({ code: 'CONFLICT' });
        await expect(store.runs.start(startRequest(99))).rejects.toMatchObject({ code: 'NOT_FOUND' });
        await given(store);
        await expect(store.runs.start(startRequest(code, { startTasks: ['x'] }))).rejects.toMatchObject({
          code: 'NOT_FOUND',
        });
        await expect(store.runs.get(99)).rejects.toMatchObject({ code: 'NOT_FOUND' });
        await expect(store.runs.ofTask(99)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      }),
    );

    test(
      'only the tasks that were asked for',
      withStore(backend, async ({ store }) => {
        const code = await given(store, { tasks: [task('a'), task('b', ['a']), task('c', ['b'])] });
        const only = await store.runs.start(startRequest(code, { startTasks: ['b'], taskDependType: 'TASK_ONLY' }));
        await runAll(store);
        expect(await states(store, only.runId)).toEqual(['b SUCCESS']);
        const post = await store.runs.start(startRequest(code, { startTasks: ['b'] }));
        await runAll(store);
        expect(await states(store, post.runId)).toEqual(['b SUCCESS', 'c SUCCESS']);
      }),
    );

    test(
      'a run goes on with the version of the workflow with which it began',
      withStore(backend, async ({ store }) => {
        const runId = await launched(store, { tasks: [task('a'), task('b', ['a'])] });
        await given(store, { tasks: [task('x')] });
        await runAll(store);
        expect(await states(store, runId)).toEqual(['a SUCCESS', 'b SUCCESS']);
      }),
    );
  });

  describe('attempts and fences', () => {
    test(
      'a late answer of an attempt that is over changes nothing',
      withStore(backend, async ({ store, clock }) => {
        const runId = await launched(store, {
          tasks: [task('a', [], { failRetryTimes: 1, failRetryIntervalSeconds: 60 })],
        });
        const [first] = await store.runs.dispatch(10);
        const { id, fence } = first!.taskRun;
        expect(await store.runs.taskStarted(id, fence + 1, clock.now(), 'h', 1)).toBe(false);
        expect(await store.runs.taskEnded(id, fence - 1, ending())).toBe(false);
        expect(await store.runs.taskStarted(id, fence, clock.now(), 'h', 1)).toBe(true);
        expect(await store.runs.taskEnded(id, fence, ending('FAILURE'))).toBe(true);
        expect(await store.runs.taskEnded(id, fence, ending())).toBe(false);
        expect(await states(store, runId)).toEqual(['a SUBMITTED_SUCCESS']);
        expect(await store.runs.dispatch(10)).toEqual([]);
        expect(await store.runs.nextDispatchAt()).toBe(clock.now() + 60_000n);
        clock.advance(60_000);
        const [second] = await store.runs.dispatch(10);
        expect(second?.taskRun).toMatchObject({ attempt: 2, retryTimes: 1 });
        expect(await store.runs.taskEnded(id, fence, ending())).toBe(false);
        await finish(store, second!);
        const details = await store.runs.get(runId);
        expect(details.history.map((each) => [each.attempt, each.state, each.valid])).toEqual([
          [1, 'FAILURE', false],
          [2, 'SUCCESS', true],
        ]);
        expect(details.run.state).toBe('SUCCESS');
      }),
    );

    test(
      'a start told twice is still its turn; an end may come without a start',
      withStore(backend, async ({ store, clock }) => {
        const runId = await launched(store);
        const [offer] = await store.runs.dispatch(10);
        const { id, fence } = offer!.taskRun;
        await store.runs.taskStarted(id, fence, clock.now(), 'h', 1);
        expect(await store.runs.taskStarted(id, fence, clock.now(), 'h', 1)).toBe(true);
        expect(await store.runs.taskEnded(id, fence, ending())).toBe(true);
        expect(await store.runs.taskStarted(id, fence, clock.now(), 'h', 1)).toBe(false);
        expect((await store.runs.get(runId)).run.state).toBe('SUCCESS');
        await store.runs.start(startRequest((await store.definitions.workflow(null, 'w')).code));
        await store.runs.launch(1);
        const [other] = await store.runs.dispatch(1);
        expect(await store.runs.taskEnded(other!.taskRun.id, other!.taskRun.fence, ending('FAILURE'))).toBe(true);
      }),
    );

    test(
      'unfinished attempts come back with all that is needed to find them',
      withStore(backend, async ({ store }) => {
        await launched(store, { tasks: [task('a'), task('b')] });
        const offers = await store.runs.dispatch(10);
        await store.runs.taskStarted(offers[0]!.taskRun.id, 1, 5n, 'h', 1);
        const back = await store.runs.unfinished();
        expect(back.map((offer) => offer.taskRun.state)).toEqual(['RUNNING_EXECUTION', 'DISPATCH']);
        expect(back[1]).toEqual(offers[1]);
      }),
    );

    test(
      'an attempt over its limit is to be killed',
      withStore(backend, async ({ store, clock }) => {
        await launched(store, { tasks: [task('a', [], { timeoutSeconds: 30 })] });
        const [offer] = await store.runs.dispatch(1);
        await store.runs.taskStarted(offer!.taskRun.id, 1, clock.now(), 'h', 1);
        expect(await store.runs.nextDeadlineAt()).toBe(clock.now() + 30_000n);
        expect(await store.runs.killable()).toEqual([]);
        clock.advance(30_000);
        expect(await store.runs.killable()).toMatchObject([{ timedOut: true, taskRun: { id: offer!.taskRun.id } }]);
        expect(await store.runs.nextDeadlineAt()).toBeNull();
      }),
    );
  });

  describe('what people ask for', () => {
    test(
      'pause lets running tasks end and holds the rest; resume goes on',
      withStore(backend, async ({ store }) => {
        const runId = await launched(store, { tasks: [task('a'), task('b', ['a'])] });
        const [a] = await store.runs.dispatch(1);
        expect((await store.runs.operate(runId, 'PAUSE', { repin: false })).state).toBe('READY_PAUSE');
        await finish(store, a!);
        expect((await store.runs.get(runId)).run.state).toBe('PAUSE');
        expect((await store.runs.operate(runId, 'RESUME', { repin: false })).runTimes).toBe(2);
        await runAll(store);
        expect(await states(store, runId)).toEqual(['a SUCCESS', 'b SUCCESS']);
      }),
    );

    test(
      'stop kills what runs, once, and the run stops when it has ended',
      withStore(backend, async ({ store }) => {
        const runId = await launched(store, { tasks: [task('a'), task('b', ['a'])] });
        const [a] = await store.runs.dispatch(1);
        await store.runs.taskStarted(a!.taskRun.id, 1, 5n, 'h', 1);
        expect((await store.runs.operate(runId, 'STOP', { repin: false })).state).toBe('READY_STOP');
        expect(await store.runs.killable()).toMatchObject([{ timedOut: false, taskRun: { name: 'a' } }]);
        await store.runs.taskEnded(a!.taskRun.id, 1, ending('FAILURE'));
        expect(await states(store, runId)).toEqual(['a KILL']);
        expect((await store.runs.get(runId)).run.state).toBe('STOP');
        expect(await store.runs.killable()).toEqual([]);
      }),
    );

    test(
      'a run that is stopped before its launch leaves no command',
      withStore(backend, async ({ store }) => {
        const { runId } = await store.runs.start(startRequest(await given(store)));
        expect((await store.runs.operate(runId, 'STOP', { repin: false })).state).toBe('STOP');
        await store.runs.operate(runId, 'RERUN', { repin: false });
        await store.runs.operate(runId, 'STOP', { repin: false });
        expect(await store.runs.launch(10)).toEqual([]);
        await store.runs.operate(runId, 'RERUN', { repin: false });
        await runAll(store);
        expect((await store.runs.get(runId)).run).toMatchObject({
          state: 'SUCCESS',
          runTimes: 3,
          commandType: 'REPEAT_RUNNING',
        });
      }),
    );

    test(
      'recover repeats what failed and what follows, rerun everything',
      withStore(backend, async ({ store }) => {
        const runId = await launched(store, { tasks: [task('a'), task('b', ['a']), task('c', ['b'])] });
        const [a] = await store.runs.dispatch(1);
        await finish(store, a!);
        const [b] = await store.runs.dispatch(1);
        await finish(store, b!, 'FAILURE');
        expect((await store.runs.get(runId)).run.state).toBe('FAILURE');
        await store.runs.operate(runId, 'RECOVER', { repin: false });
        await runAll(store);
        const attempts = async () => (await store.runs.get(runId)).tasks.map((each) => each.attempt);
        expect(await attempts()).toEqual([1, 2, 1]);
        await store.runs.operate(runId, 'RERUN', { repin: false });
        await runAll(store);
        expect(await attempts()).toEqual([2, 3, 2]);
        expect((await store.runs.get(runId)).run).toMatchObject({ state: 'SUCCESS', runTimes: 3 });
      }),
    );

    test(
      'what is not allowed now says when it is',
      withStore(backend, async ({ store }) => {
        const runId = await launched(store);
        await expect(store.runs.operate(runId, 'RECOVER', { repin: false })).rejects.toMatchObject({
          code: 'CONFLICT',
          message: `Run ${runId} is running and cannot be recovered: pause it, stop it or wait for its end.`,
        });
        await expect(store.runs.operate(99, 'STOP', { repin: false })).rejects.toMatchObject({ code: 'NOT_FOUND' });
        await expect(store.runs.operate(runId, 'STOP', { repin: true })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
      }),
    );

    test(
      'planning again is harmless',
      withStore(backend, async ({ store }) => {
        const runId = await launched(store, { tasks: [task('a'), task('b', ['a'])] });
        const before = await store.runs.get(runId);
        await store.runs.advanceAll();
        expect(await store.runs.get(runId)).toEqual(before);
      }),
    );
  });

  describe('lists of runs', () => {
    test(
      'by workflow, state and project, in pages',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        for (let i = 0; i < 7; i += 1) await store.runs.start(startRequest(code));
        await store.runs.launch(3);
        const page = await store.runs.list({ workflowCode: code }, { limit: 5 });
        expect(page.items.map(({ run }) => run.id)).toEqual([7, 6, 5, 4, 3]);
        const rest = await store.runs.list({ workflowCode: code }, { limit: 5, cursor: page.nextCursor });
        expect(rest).toMatchObject({ items: [{ run: { id: 2 } }, { run: { id: 1 } }], nextCursor: null });
        expect((await store.runs.list({ state: 'RUNNING_EXECUTION' }, {})).items).toHaveLength(3);
        expect((await store.runs.list({ project: 'shop', workflowCode: 99 }, {})).items).toEqual([]);
        await expect(store.runs.list({ state: 'NO_SUCH' }, {})).rejects.toMatchObject({ code: 'BAD_REQUEST' });
        await settle(store);
      }),
    );
  });
};
