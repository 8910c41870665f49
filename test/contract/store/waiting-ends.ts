import { describe, expect, test } from 'vitest';
import type { TaskWait } from '../../../src/core/workflow/definition.ts';
import type { RunOperation } from '../../../src/core/workflow/plan.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Backend } from './support.ts';
import { clock, commits, finish, runAll, settle, task } from './support.ts';
import { withStore } from './with-store.ts';
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

export const timeoutSuite = (backend: Backend): void => {
  describe('when the time of a waiting task is up', () => {
    const late = async (store: Store, more: Partial<TaskWait>): Promise<{ code: number; runId: number }> => {
      const code = await given(store, { timeoutSeconds: 60, ...more });
      const runId = await start(store, code);
      expect(await store.runs.nextWaitDeadlineAt()).toBe(clock.time + 60_000n);
      clock.advance(59_999);
      expect(await store.runs.expireWaits(10)).toEqual([]);
      clock.advance(1);
      return { code, runId };
    };
    const SAID = 'Waited 1 minute in vain for fx: a version (no version yet).';

    test(
      'FAIL: the attempt has failed, says what was missing, and the plan goes on',
      withStore(backend, async ({ store }) => {
        const { code, runId } = await late(store, {});
        expect(await store.runs.expireWaits(10)).toMatchObject([
          { workflow: 'flow', task: 'w', runId, outcome: 'FAIL', reason: SAID },
        ]);
        const { run, tasks } = await store.runs.get(runId);
        expect(run.state).toBe('FAILURE');
        expect(tasks).toMatchObject([{ state: 'FAILURE', reason: SAID, endTime: clock.time, waiting: false }]);
        await nothingLeft(store, code);
      }),
    );

    test(
      'FAIL with retries: it waits again, with its time anew',
      withStore(backend, async ({ store }) => {
        const tasks = [task('w', [], { wait: wait({ timeoutSeconds: 60 }), failRetryTimes: 1 })];
        const code = await given(store, {}, { tasks });
        const runId = await start(store, code);
        clock.advance(60_000);
        await store.runs.expireWaits(10);
        expect(await tasksOf(store, runId)).toBe(WAITS);
        expect(await store.runs.nextWaitDeadlineAt()).toBe(clock.time + 60_000n);
        await commits(store, FX, 1);
        await goOn(store);
        expect(await tasksOf(store, runId)).toBe('w SUCCESS');
      }),
    );

    test(
      'SUCCEED: it goes on without pins, and says so',
      withStore(backend, async ({ store }) => {
        const { code, runId } = await late(store, { onTimeout: 'SUCCEED' });
        expect(await store.runs.expireWaits(10)).toMatchObject([{ outcome: 'SUCCEED' }]);
        const [offer] = await dispatched(store);
        expect(offer).toMatchObject({ task: { name: 'w' }, pins: [], taskRun: { deadline: null } });
        expect(await store.runs.killable()).toEqual([]);
        await finish(store, offer!);
        await runAll(store);
        const { run, tasks } = await store.runs.get(runId);
        expect([run.state, tasks[0]?.reason]).toEqual(['SUCCESS', `${SAID} It went on without.`]);
        await nothingLeft(store, code);
        const next = await start(store, code);
        expect(await pinned(store, next)).toMatchObject({ [FX]: expect.any(String) });
      }),
    );

    test(
      'WARN: it is said once, and it goes on waiting',
      withStore(backend, async ({ store }) => {
        const { runId } = await late(store, { onTimeout: 'WARN' });
        expect(await store.runs.expireWaits(10)).toMatchObject([{ outcome: 'WARN' }]);
        expect(await store.runs.expireWaits(10)).toEqual([]);
        expect(await store.runs.nextWaitDeadlineAt()).toBeNull();
        expect((await store.runs.get(runId)).tasks[0]).toMatchObject({
          waiting: true,
          reason: `${SAID} It goes on waiting.`,
        });
        await commits(store, FX, 1);
        await goOn(store);
        expect((await store.runs.get(runId)).tasks[0]).toMatchObject({ state: 'SUCCESS', reason: null });
      }),
    );

    test(
      'what came in time and was not looked at yet still counts',
      withStore(backend, async ({ store }) => {
        const { runId } = await late(store, {});
        await commits(store, FX, 1);
        expect(await store.runs.expireWaits(10)).toMatchObject([{ outcome: 'RELEASED', reason: null }]);
        expect(await pinned(store, runId)).toEqual({ [FX]: '1' });
        await goOn(store);
        expect((await store.runs.get(runId)).run.state).toBe('SUCCESS');
      }),
    );
  });
};

export const steeringSuite = (backend: Backend): void => {
  describe('steering a run that waits', () => {
    const operate = (store: Store, runId: number, operation: RunOperation) =>
      store.runs.operate(runId, operation, { repin: false });

    test(
      'pause and resume: it is paused at once, sees nothing meanwhile, and then waits anew',
      withStore(backend, async ({ store }) => {
        const code = await given(store, { timeoutSeconds: 60 });
        const runId = await start(store, code);
        expect((await operate(store, runId, 'PAUSE')).state).toBe('PAUSE');
        expect(await tasksOf(store, runId)).toBe('w PAUSE');
        await nothingLeft(store, code);
        await operate(store, runId, 'RESUME');
        await store.runs.launch(10);
        expect((await store.groups.explainTask(code, 'w')).waiting).toMatchObject([{ runId, attempt: 2 }]);
        await goOn(store);
        expect((await store.runs.get(runId)).run.state).toBe('SUCCESS');
      }),
    );

    test(
      'stop: it is killed at once, and can be resumed and run again',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        const runId = await start(store, code);
        expect((await operate(store, runId, 'STOP')).state).toBe('STOP');
        expect(await tasksOf(store, runId)).toBe('w KILL');
        await nothingLeft(store, code);
        await operate(store, runId, 'RERUN');
        await store.runs.launch(10);
        await goOn(store);
        expect((await store.runs.get(runId)).run.state).toBe('SUCCESS');
      }),
    );

    test(
      'failure strategy END: what waits ends with the run',
      withStore(backend, async ({ store }) => {
        const tasks = [sensor(), task('fails')];
        const code = await given(store, {}, { tasks, failureStrategy: 'END' });
        const runId = await start(store, code);
        const [offer] = await dispatched(store);
        await finish(store, offer!, 'FAILURE');
        expect((await store.runs.get(runId)).run.state).toBe('FAILURE');
        expect(await tasksOf(store, runId)).toBe('w KILL, fails FAILURE');
        await nothingLeft(store, code);
      }),
    );

    test(
      'failure strategy CONTINUE: it goes on waiting, and the run fails after it',
      withStore(backend, async ({ store }) => {
        const code = await given(store, {}, { tasks: [sensor(), task('fails')] });
        const runId = await start(store, code);
        const [offer] = await dispatched(store);
        await finish(store, offer!, 'FAILURE');
        expect(await tasksOf(store, runId)).toBe(`${WAITS}, fails FAILURE`);
        await commits(store, FX, 1);
        await goOn(store);
        expect((await store.runs.get(runId)).run.state).toBe('FAILURE');
        await operate(store, runId, 'RECOVER');
        await store.runs.launch(10);
        await runAll(store);
        expect((await store.runs.get(runId)).run.state).toBe('SUCCESS');
      }),
    );

    test(
      'a released task that was not handed out yet keeps its pins over pause and resume',
      withStore(backend, async ({ store }) => {
        const code = await given(store);
        const runId = await start(store, code);
        await commits(store, FX, 1);
        await settle(store);
        await operate(store, runId, 'PAUSE');
        await commits(store, FX, 2);
        await operate(store, runId, 'RESUME');
        await store.runs.launch(10);
        await goOn(store);
        expect(await pinned(store, runId)).toEqual({ [FX]: '1' });
        expect((await store.runs.get(runId)).run.state).toBe('SUCCESS');
      }),
    );
  });
};
