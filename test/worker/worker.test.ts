import { describe, expect, test, vi } from 'vitest';
import { SluiceError } from '../../src/core/errors.ts';
import { ok, refuse } from '../../src/core/result.ts';
import type { AttemptId, Ended, Executor, Found } from '../../src/executors/executor.ts';
import { simulatedClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import type { RunStore, TaskEnding, TaskOffer } from '../../src/store/store.ts';
import type { Prepared } from '../../src/worker/prepare.ts';
import { Worker } from '../../src/worker/worker.ts';

const PROCESS: Prepared = { kind: 'PROCESS', launch: { script: 'true', env: {}, context: '{}', cwd: null } };
const started = { pid: 7, logPath: '/log', startedAt: 1n };

const offerOf = (id: number, state = 'DISPATCH'): TaskOffer =>
  ({
    run: { id: 1, state: 'RUNNING_EXECUTION' },
    task: { name: 't', timeoutSeconds: null, localParams: [] },
    taskRun: { id, attempt: 1, fence: 3, state, deadline: null },
  }) as unknown as TaskOffer;

const endedOf = (id: AttemptId, exitCode: number | null = 0): Ended => ({ id, exitCode, signal: null, endedAt: 9n });

/** A worker over an executor and a store that write down what they are asked. */
const stage = (parts: {
  found?: Found;
  start?: () => Promise<typeof started>;
  prepared?: Prepared;
  current?: boolean;
  recordStart?: () => void;
  recordEnd?: () => void;
}) => {
  const calls: string[] = [];
  const endings: TaskEnding[] = [];
  let end: (ended: Ended) => void = () => {};
  const executor = {
    name: 'recorded',
    start: async (launch: { readonly id: AttemptId }) => {
      calls.push(`start ${launch.id.taskRunId}`);
      return parts.start?.() ?? started;
    },
    find: async () => parts.found ?? { kind: 'NEVER_STARTED' },
    kill: async (id: AttemptId, _run: number, graceMs: number) => void calls.push(`kill ${id.taskRunId} ${graceMs}`),
    watch: async (id: AttemptId) => void calls.push(`watch ${id.taskRunId}`),
    onEnded: (listener: (ended: Ended) => void) => {
      end = listener;
    },
  } as unknown as Executor;
  const runs = {
    taskStarted: async (id: number) => {
      parts.recordStart?.();
      calls.push(`started ${id}`);
      return parts.current ?? true;
    },
    taskEnded: async (id: number, _fence: number, ending: TaskEnding) => {
      parts.recordEnd?.();
      calls.push(`ended ${id} ${ending.state}`);
      endings.push(ending);
      return true;
    },
  } as unknown as RunStore;
  const clock = simulatedClock();
  const done = Promise.withResolvers<void>();
  const worker = new Worker({
    runs,
    executor,
    clock,
    log: createLog({ level: 'silent', destination: 'stderr', now: clock.now }),
    host: 'here',
    killGraceMs: 7_000,
    slots: 2,
    prepare: async () => ok(parts.prepared ?? PROCESS),
    onRoom: () => done.resolve(),
    onStarted: () => {},
    onEnded: () => {},
  });
  return { worker, calls, endings, end: (ended: Ended) => end(ended), done: done.promise };
};

const id = (taskRunId: number): AttemptId => ({ taskRunId, attempt: 1, fence: 3 });

describe('worker', () => {
  test('starts, reports the start, and reports the end when it comes', async () => {
    const { worker, calls, end, done } = stage({});
    await worker.begin(offerOf(1));
    expect([worker.room(), worker.knows(1, 3), worker.knows(1, 2)]).toEqual([1, true, false]);
    end(endedOf(id(1)));
    await done;
    expect(calls).toEqual(['start 1', 'started 1', 'ended 1 SUCCESS']);
    expect(worker.room()).toBe(2);
  });

  test('an end that is faster than the report of the start waits for it', async () => {
    const slow = Promise.withResolvers<typeof started>();
    const { worker, calls, end, done } = stage({ start: () => slow.promise });
    const begun = worker.begin(offerOf(1));
    await Promise.resolve();
    await Promise.resolve();
    end(endedOf(id(1)));
    slow.resolve(started);
    await begun;
    await done;
    expect(calls).toEqual(['start 1', 'started 1', 'ended 1 SUCCESS']);
  });

  test('what was started although somebody else took over is killed', async () => {
    const { worker, calls } = stage({ current: false });
    await worker.begin(offerOf(1));
    expect(calls).toEqual(['start 1', 'started 1', 'kill 1 7000']);
  });

  test('an answer of an older fence changes nothing', async () => {
    const { worker, calls, end } = stage({});
    await worker.begin(offerOf(1));
    end(endedOf({ ...id(1), fence: 2 }));
    expect(calls).toEqual(['start 1', 'started 1']);
    expect(worker.knows(1, 3)).toBe(true);
  });

  test('a start that fails ends the attempt with the reason', async () => {
    const { worker, endings, done } = stage({
      start: () => Promise.reject(new SluiceError('TASK_NOT_STARTED', 'The disk is full.')),
    });
    await worker.begin(offerOf(1));
    await done;
    expect(endings).toMatchObject([{ state: 'FAILURE', reason: 'TASK_NOT_STARTED: The disk is full.' }]);
  });

  test('a start that cannot be recorded is no failure: the attempt is left to the reconciler, and adopted', async () => {
    let down = true;
    const { worker, calls, end, done } = stage({
      found: { kind: 'RUNNING', started },
      recordStart: () => {
        if (down) throw new SluiceError('DATABASE_UNREACHABLE', 'The database does not answer.');
      },
    });
    await worker.begin(offerOf(1));
    await done;
    expect([worker.knows(1, 3), ...calls]).toEqual([false, 'start 1']);
    await expect(worker.adopt(offerOf(1))).rejects.toThrow('could not be recorded');
    expect(worker.knows(1, 3)).toBe(false);
    down = false;
    await worker.adopt(offerOf(1));
    end(endedOf(id(1)));
    await vi.waitUntil(() => !worker.knows(1, 3));
    expect(calls).toEqual(['start 1', 'started 1', 'watch 1', 'ended 1 SUCCESS']);
  });

  test('a task that does nothing succeeds without a process', async () => {
    const { worker, calls, done } = stage({ prepared: { kind: 'NOTHING' } });
    await worker.begin(offerOf(1));
    await done;
    expect(calls).toEqual(['started 1', 'ended 1 SUCCESS']);
  });

  test('an end that cannot be recorded is forgotten here, so that the reconciler finds it again', async () => {
    const { worker, end, done } = stage({
      recordEnd: () => {
        throw new Error('disk full');
      },
    });
    await worker.begin(offerOf(1));
    end(endedOf(id(1)));
    await done;
    expect(worker.knows(1, 3)).toBe(false);
  });
});

describe('adopting an attempt of an earlier server', () => {
  test('never started: it is started', async () => {
    const { worker, calls } = stage({ found: { kind: 'NEVER_STARTED' } });
    await worker.adopt(offerOf(1));
    expect(calls).toEqual(['start 1', 'started 1']);
  });

  test('still running: it is watched, and its start recorded if that was lost', async () => {
    const { worker, calls } = stage({ found: { kind: 'RUNNING', started } });
    await worker.adopt(offerOf(1));
    await worker.adopt(offerOf(2, 'RUNNING_EXECUTION'));
    expect(calls).toEqual(['started 1', 'watch 1', 'watch 2']);
  });

  test('ended while nobody looked: its end is recorded', async () => {
    const { worker, calls } = stage({ found: { kind: 'ENDED', started, ended: endedOf(id(1), 4) } });
    await worker.adopt(offerOf(1));
    expect(calls).toEqual(['started 1', 'ended 1 FAILURE']);
  });

  test('lost: it failed, and says so', async () => {
    const { worker, endings } = stage({ found: { kind: 'LOST', started: null } });
    await worker.adopt(offerOf(1));
    expect(endings[0]?.reason).toMatch(/left no exit code/);
  });
});

test('what prepare refuses becomes the reason', async () => {
  const clock = simulatedClock();
  const endings: TaskEnding[] = [];
  const worker = new Worker({
    runs: {
      taskEnded: async (_id: number, _fence: number, ending: TaskEnding) => endings.push(ending) > 0,
    } as unknown as RunStore,
    executor: { onEnded: () => {} } as unknown as Executor,
    clock,
    log: createLog({ level: 'silent', destination: 'stderr', now: clock.now }),
    host: 'here',
    killGraceMs: 10_000,
    slots: 1,
    prepare: async () => refuse('PIN_EXPIRED', 'Version 4 is gone.'),
    onRoom: () => {},
    onStarted: () => {},
    onEnded: () => {},
  });
  await worker.begin(offerOf(1));
  expect(endings).toMatchObject([{ state: 'FAILURE', reason: 'PIN_EXPIRED: Version 4 is gone.' }]);
});
