import { describe, expect, test } from 'vitest';
import { operateRun, planLaunch, planRun } from '../../../src/core/workflow/plan.ts';
import type { PlanStep, RunFacts, RunOperation } from '../../../src/core/workflow/plan.ts';
import { RUN_STATES } from '../../../src/core/workflow/run-state.ts';
import type { RunState } from '../../../src/core/workflow/run-state.ts';
import { cannotOperate } from '../../../src/core/workflow/run-words.ts';
import type { TaskState } from '../../../src/core/workflow/task-state.ts';
import { attempt, run, task, workflow } from './simulate.ts';

/** a -> b -> c, and d on its own. */
const a = task(1, 'a', { failRetryTimes: 2, failRetryIntervalSeconds: 30 });
const b = task(2, 'b', { dependsOn: ['a'] });
const c = task(3, 'c', { dependsOn: ['b'] });
const d = task(4, 'd');
const abcd = workflow([a, b, c, d]);

const tasksOf = { a, b, c, d };
type States = Partial<Record<keyof typeof tasksOf, TaskState | 'LAST_FAILURE'>>;

/** Attempt ids are the task's code times ten. LAST_FAILURE: no retries left. */
function facts(
  states: States,
  runState: RunState = 'RUNNING_EXECUTION',
  more: Parameters<typeof run>[0] = {},
): RunFacts {
  const tasks = Object.entries(states).map(([name, state]) => {
    const of = tasksOf[name as keyof typeof tasksOf];
    const retryTimes = state === 'LAST_FAILURE' ? of.failRetryTimes : 0;
    return attempt(of.code * 10, of, state === 'LAST_FAILURE' ? 'FAILURE' : state, { retryTimes, endTime: 1_000n });
  });
  return { run: run({ state: runState, ...more }), workflow: abcd, tasks, now: 5_000n };
}

/** Steps in short: `SUBMIT b`, `KILL d`, `d:PAUSE`, `RUN FAILURE`, `DROP a`. */
const short = (steps: readonly PlanStep[]): string[] =>
  steps.map((step) => {
    const name = (code: number): string => abcd.tasks.find((one) => one.code === code)?.name ?? String(code);
    if (step.kind === 'SUBMIT') return `SUBMIT ${name(step.taskCode)}`;
    if (step.kind === 'MOVE_RUN') return `RUN ${step.to}`;
    if (step.kind === 'MOVE_TASK') return `${name(step.taskRunId / 10)}:${step.to}`;
    return `${step.kind === 'KILL' ? 'KILL' : 'DROP'} ${name(step.taskRunId / 10)}`;
  });

const plan = (...args: Parameters<typeof facts>): string[] => short(planRun(facts(...args)));

describe('a running run', () => {
  test.each<[string, States, string[]]>([
    ['begins with the tasks that wait for nothing', {}, ['SUBMIT a', 'SUBMIT d']],
    ['goes on behind what succeeded', { a: 'SUCCESS', d: 'RUNNING_EXECUTION' }, ['SUBMIT b']],
    ['goes on behind what was forced to succeed', { a: 'FORCED_SUCCESS', d: 'DISPATCH' }, ['SUBMIT b']],
    ['has nothing to add while tasks are active', { a: 'DISPATCH', d: 'SUBMITTED_SUCCESS' }, []],
    ['succeeds when all did', { a: 'SUCCESS', b: 'SUCCESS', c: 'SUCCESS', d: 'SUCCESS' }, ['RUN SUCCESS']],
    ['retries', { a: 'FAILURE', d: 'SUCCESS' }, ['SUBMIT a']],
    ['starts a lost attempt again', { a: 'NEED_FAULT_TOLERANCE', d: 'SUCCESS' }, ['SUBMIT a']],
    ['goes on beside a failed task', { a: 'LAST_FAILURE', d: 'RUNNING_EXECUTION' }, []],
    ['fails when only tasks behind a failed one are left', { a: 'LAST_FAILURE', d: 'SUCCESS' }, ['RUN FAILURE']],
    ['fails behind a task that was killed outside of a stop', { a: 'KILL', d: 'SUCCESS' }, ['RUN FAILURE']],
  ])('%s', (_, states, steps) => expect(plan(states)).toEqual(steps));

  test('a retry waits for its interval, counts, and replaces the failed attempt', () => {
    expect(planRun(facts({ a: 'FAILURE', d: 'SUCCESS' }))).toEqual([
      { kind: 'SUBMIT', taskCode: 1, retryTimes: 1, notBefore: 31_000n, replaces: 10 },
    ]);
  });

  test('a lost worker uses up no retry', () => {
    expect(planRun(facts({ a: 'NEED_FAULT_TOLERANCE', d: 'SUCCESS' }))).toEqual([
      { kind: 'SUBMIT', taskCode: 1, retryTimes: 0, notBefore: null, replaces: 10 },
    ]);
  });

  test('a failure says which tasks failed', () => {
    expect(planRun(facts({ a: 'LAST_FAILURE', d: 'KILL' }))).toEqual([
      { kind: 'MOVE_RUN', to: 'FAILURE', reason: 'Tasks a, d failed.' },
    ]);
  });

  test('without tasks it succeeds', () => {
    expect(short(planRun({ ...facts({}), workflow: workflow([]) }))).toEqual(['RUN SUCCESS']);
  });

  test('a task with flag NO is passed, one behind a failed task is not', () => {
    const off = { ...facts({ a: 'SUCCESS' }), workflow: workflow([a, { ...b, flag: 'NO' }, c]) };
    expect(short(planRun(off))).toEqual(['SUBMIT c']);
    const failed = { ...facts({ a: 'LAST_FAILURE' }), workflow: workflow([a, { ...b, flag: 'NO' }, c]) };
    expect(short(planRun(failed))).toEqual(['RUN FAILURE']);
    const all = { ...facts({}), workflow: workflow([{ ...d, flag: 'NO' }]) };
    expect(short(planRun(all))).toEqual(['RUN SUCCESS']);
  });

  test.each([
    ['TASK_POST', [2], ['SUBMIT b']],
    ['TASK_PRE', [2], ['SUBMIT a']],
    ['TASK_ONLY', [3], ['SUBMIT c']],
    ['TASK_ONLY', [], ['SUBMIT a', 'SUBMIT d']],
  ] as const)('covers only %s of %j', (taskDependType, startTasks, steps) => {
    expect(plan({}, 'RUNNING_EXECUTION', { startTasks, taskDependType })).toEqual(steps);
  });

  test('a run of one task ends with it', () => {
    expect(plan({ c: 'SUCCESS' }, 'RUNNING_EXECUTION', { startTasks: [3], taskDependType: 'TASK_ONLY' })).toEqual([
      'RUN SUCCESS',
    ]);
  });

  test('a run that cannot be understood ends, saying why', () => {
    const circle = workflow([task(1, 'a', { dependsOn: ['b'] }), task(2, 'b', { dependsOn: ['a'] })]);
    expect(planRun({ ...facts({}), workflow: circle })).toMatchObject([
      { to: 'FAILURE', reason: expect.stringContaining('circle') },
    ]);
    const unknown = planRun(facts({}, 'RUNNING_EXECUTION', { startTasks: [77] }));
    expect(unknown).toMatchObject([{ to: 'FAILURE', reason: expect.stringContaining('with code 77') }]);
  });

  test.each(RUN_STATES.filter((state) => !['RUNNING_EXECUTION', 'READY_PAUSE', 'READY_STOP'].includes(state)))(
    '%s: no plan',
    (state) => {
      expect(plan({ a: 'SUCCESS' }, state)).toEqual([]);
    },
  );
});

describe('failure strategy END', () => {
  const end = (states: States, state: RunState = 'RUNNING_EXECUTION'): string[] =>
    plan(states, state, { failureStrategy: 'END' });

  test('kills what runs and drops what waits, then fails', () => {
    expect(end({ a: 'LAST_FAILURE', d: 'RUNNING_EXECUTION' })).toEqual(['KILL d']);
    expect(end({ a: 'LAST_FAILURE', d: 'SUBMITTED_SUCCESS' })).toEqual(['d:KILL', 'RUN FAILURE']);
    expect(end({ a: 'LAST_FAILURE', d: 'KILL' })).toEqual(['RUN FAILURE']);
  });

  test('does not begin what is free, and does not end while retries are left', () => {
    expect(end({ a: 'SUCCESS', d: 'LAST_FAILURE' })).toEqual(['RUN FAILURE']);
    expect(end({ a: 'FAILURE', d: 'RUNNING_EXECUTION' })).toEqual(['SUBMIT a']);
  });

  test('holds while pausing too', () => {
    expect(end({ a: 'LAST_FAILURE', d: 'RUNNING_EXECUTION' }, 'READY_PAUSE')).toEqual(['KILL d']);
  });
});

describe('pausing and stopping', () => {
  test.each<[string, States, string[]]>([
    ['running tasks finish, waiting ones pause', { a: 'RUNNING_EXECUTION', d: 'SUBMITTED_SUCCESS' }, ['d:PAUSE']],
    ['then it is paused', { a: 'SUCCESS', d: 'PAUSE' }, ['RUN PAUSE']],
    ['nothing new begins', { a: 'SUCCESS', d: 'RUNNING_EXECUTION' }, []],
    ['work not begun is left', { a: 'SUCCESS', d: 'SUCCESS' }, ['RUN PAUSE']],
    ['a task that would be retried is left', { a: 'FAILURE', d: 'SUCCESS' }, ['RUN PAUSE']],
    ['a failed task fails the run', { a: 'LAST_FAILURE', d: 'PAUSE' }, ['RUN FAILURE']],
    ['all was done', { a: 'SUCCESS', b: 'SUCCESS', c: 'SUCCESS', d: 'SUCCESS' }, ['RUN SUCCESS']],
  ])('READY_PAUSE: %s', (_, states, steps) => expect(plan(states, 'READY_PAUSE')).toEqual(steps));

  test.each<[string, States, string[]]>([
    [
      'what runs is killed, what waits is dropped',
      { a: 'RUNNING_EXECUTION', d: 'SUBMITTED_SUCCESS' },
      ['d:KILL', 'KILL a'],
    ],
    ['killed tasks make it STOP', { a: 'KILL', d: 'SUCCESS' }, ['RUN STOP']],
    ['killed beats failed', { a: 'LAST_FAILURE', d: 'KILL' }, ['RUN STOP']],
    ['dropped beats failed', { a: 'LAST_FAILURE', d: 'SUBMITTED_SUCCESS' }, ['d:KILL', 'RUN STOP']],
    ['failed and nothing killed', { a: 'LAST_FAILURE', d: 'SUCCESS' }, ['RUN FAILURE']],
    ['a retry that will not be', { a: 'FAILURE', d: 'SUCCESS' }, ['RUN STOP']],
    ['work not begun', { a: 'SUCCESS', d: 'SUCCESS' }, ['RUN STOP']],
    ['all was done', { a: 'SUCCESS', b: 'SUCCESS', c: 'SUCCESS', d: 'SUCCESS' }, ['RUN SUCCESS']],
  ])('READY_STOP: %s', (_, states, steps) => expect(plan(states, 'READY_STOP')).toEqual(steps));
});

describe('what people may do', () => {
  const operate = (
    operation: RunOperation,
    ...args: Parameters<typeof facts>
  ): { steps: string[]; command: string | null } => {
    const done = operateRun(facts(...args), operation);
    if (!done.ok) throw new Error(done.problem.detail);
    return { steps: short(done.value.steps), command: done.value.commandType };
  };
  const allowed: Record<RunOperation, RunState[]> = {
    PAUSE: ['SUBMITTED_SUCCESS', 'RUNNING_EXECUTION', 'SERIAL_WAIT'],
    STOP: ['SUBMITTED_SUCCESS', 'RUNNING_EXECUTION', 'READY_PAUSE', 'PAUSE', 'READY_STOP', 'SERIAL_WAIT'],
    RESUME: ['PAUSE', 'STOP'],
    RECOVER: ['FAILURE'],
    RERUN: ['PAUSE', 'STOP', 'FAILURE', 'SUCCESS'],
  };

  test.each(Object.entries(allowed) as [RunOperation, RunState[]][])(
    '%s is allowed only in %j, and else says what can be done',
    (operation, states) => {
      for (const state of RUN_STATES) {
        const done = operateRun(facts({}, state), operation);
        expect(done.ok, state).toBe(states.includes(state));
        if (!done.ok) expect(done.problem).toEqual({ code: 'CONFLICT', detail: cannotOperate(5, state, operation) });
      }
    },
  );

  test('PAUSE and STOP say at once what follows', () => {
    const busy: States = { a: 'RUNNING_EXECUTION', d: 'SUBMITTED_SUCCESS' };
    expect(operate('PAUSE', busy)).toEqual({ steps: ['RUN READY_PAUSE', 'd:PAUSE'], command: null });
    expect(operate('STOP', busy)).toEqual({ steps: ['RUN READY_STOP', 'd:KILL', 'KILL a'], command: null });
    expect(operate('STOP', { a: 'SUBMITTED_SUCCESS' })).toEqual({
      steps: ['RUN READY_STOP', 'a:KILL', 'RUN STOP'],
      command: null,
    });
    expect(operate('STOP', busy, 'READY_PAUSE')).toEqual({
      steps: ['RUN READY_STOP', 'd:KILL', 'KILL a'],
      command: null,
    });
    expect(operate('STOP', { a: 'RUNNING_EXECUTION' }, 'READY_STOP')).toEqual({ steps: ['KILL a'], command: null });
  });

  test('a run that waits for its launcher pauses and stops at once; a paused one stops', () => {
    expect(operate('PAUSE', {}, 'SUBMITTED_SUCCESS')).toEqual({ steps: ['RUN PAUSE'], command: null });
    expect(operate('STOP', {}, 'SERIAL_WAIT')).toEqual({ steps: ['RUN STOP'], command: null });
    expect(operate('STOP', { a: 'SUCCESS', d: 'PAUSE' }, 'PAUSE')).toEqual({
      steps: ['d:KILL', 'RUN STOP'],
      command: null,
    });
  });

  test('RESUME makes paused and killed tasks again and keeps what succeeded', () => {
    expect(operate('RESUME', { a: 'SUCCESS', b: 'PAUSE', d: 'KILL' }, 'STOP')).toEqual({
      steps: ['DROP b', 'DROP d', 'RUN SUBMITTED_SUCCESS'],
      command: 'RECOVER_SUSPENDED_PROCESS',
    });
  });

  test('RECOVER makes failed tasks and everything behind them again', () => {
    expect(
      operate('RECOVER', { a: 'LAST_FAILURE', b: 'SUCCESS', c: 'FORCED_SUCCESS', d: 'SUCCESS' }, 'FAILURE'),
    ).toEqual({
      steps: ['DROP a', 'DROP b', 'DROP c', 'RUN SUBMITTED_SUCCESS'],
      command: 'START_FAILURE_TASK_PROCESS',
    });
  });

  test('RERUN makes everything again', () => {
    expect(operate('RERUN', { a: 'SUCCESS', d: 'SUCCESS' }, 'SUCCESS')).toEqual({
      steps: ['DROP a', 'DROP d', 'RUN SUBMITTED_SUCCESS'],
      command: 'REPEAT_RUNNING',
    });
  });

  test('the launcher goes on from there, and finds nothing to do for a run stopped meanwhile', () => {
    expect(short(planLaunch(facts({ a: 'SUCCESS' }, 'SUBMITTED_SUCCESS')))).toEqual([
      'RUN RUNNING_EXECUTION',
      'SUBMIT b',
      'SUBMIT d',
    ]);
    expect(planLaunch(facts({}, 'STOP'))).toEqual([]);
  });
});
