import { describe, expect, test } from 'vitest';
import * as runs from '../../../src/core/workflow/run-state.ts';
import type { RunEvent, RunState } from '../../../src/core/workflow/run-state.ts';
import * as tasks from '../../../src/core/workflow/task-state.ts';
import type { TaskEvent, TaskState } from '../../../src/core/workflow/task-state.ts';

/** Said a second time, in the words of facts/dolphinscheduler.md 2.3 to 2.5: a row changed by accident shows here. */
const RUN_ROWS = `
SUBMITTED_SUCCESS LAUNCH RUNNING_EXECUTION | SUBMITTED_SUCCESS QUEUE SERIAL_WAIT | SUBMITTED_SUCCESS PAUSE PAUSE | SUBMITTED_SUCCESS STOP STOP
SERIAL_WAIT WAKE SUBMITTED_SUCCESS | SERIAL_WAIT PAUSE PAUSE | SERIAL_WAIT STOP STOP
RUNNING_EXECUTION PAUSE READY_PAUSE | RUNNING_EXECUTION STOP READY_STOP | RUNNING_EXECUTION SUCCEED SUCCESS | RUNNING_EXECUTION FAIL FAILURE | RUNNING_EXECUTION LOSE_OWNER FAILOVER
READY_PAUSE STOP READY_STOP | READY_PAUSE SETTLE PAUSE | READY_PAUSE SUCCEED SUCCESS | READY_PAUSE FAIL FAILURE | READY_PAUSE LOSE_OWNER FAILOVER
READY_STOP STOP READY_STOP | READY_STOP SETTLE STOP | READY_STOP SUCCEED SUCCESS | READY_STOP FAIL FAILURE | READY_STOP LOSE_OWNER FAILOVER
FAILOVER TAKE_OVER_RUNNING RUNNING_EXECUTION | FAILOVER TAKE_OVER_PAUSE READY_PAUSE | FAILOVER TAKE_OVER_STOP READY_STOP
PAUSE RESUME SUBMITTED_SUCCESS | PAUSE RERUN SUBMITTED_SUCCESS | PAUSE STOP STOP
STOP RESUME SUBMITTED_SUCCESS | STOP RERUN SUBMITTED_SUCCESS
FAILURE RECOVER SUBMITTED_SUCCESS | FAILURE RERUN SUBMITTED_SUCCESS | SUCCESS RERUN SUBMITTED_SUCCESS`;

const TASK_ROWS = `
SUBMITTED_SUCCESS DISPATCH DISPATCH | SUBMITTED_SUCCESS DELAY DELAY_EXECUTION | SUBMITTED_SUCCESS PAUSE PAUSE | SUBMITTED_SUCCESS KILL KILL | SUBMITTED_SUCCESS FAIL FAILURE
DELAY_EXECUTION DISPATCH DISPATCH | DELAY_EXECUTION PAUSE PAUSE | DELAY_EXECUTION KILL KILL
DISPATCH START RUNNING_EXECUTION | DISPATCH SUCCEED SUCCESS | DISPATCH FAIL FAILURE | DISPATCH KILL KILL | DISPATCH LOSE NEED_FAULT_TOLERANCE
RUNNING_EXECUTION SUCCEED SUCCESS | RUNNING_EXECUTION FAIL FAILURE | RUNNING_EXECUTION KILL KILL | RUNNING_EXECUTION LOSE NEED_FAULT_TOLERANCE
PAUSE KILL KILL | FAILURE FORCE_SUCCESS FORCED_SUCCESS | KILL FORCE_SUCCESS FORCED_SUCCESS | NEED_FAULT_TOLERANCE FORCE_SUCCESS FORCED_SUCCESS`;

const rows = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .trim()
      .split(/\s*[|\n]\s*/)
      .map((row) => row.split(' '))
      .map(([from, event, to = '']) => [`${from} ${event}`, to]),
  );

const eventsOf = <E extends string>(table: Readonly<Record<string, Readonly<Partial<Record<E, unknown>>>>>): E[] =>
  [...new Set(Object.values(table).flatMap((row) => Object.keys(row)))] as E[];

describe('run states', () => {
  const legal = rows(RUN_ROWS);
  const pairs = runs.RUN_STATES.flatMap((state) =>
    eventsOf<RunEvent>(runs.RUN_TRANSITIONS).map((event) => [state, event] as const),
  );

  test('every pair of state and event goes where the table says, and every other is refused', () => {
    for (const [state, event] of pairs) {
      expect(runs.moveRun(state, event), `${state} ${event}`).toBe(legal.get(`${state} ${event}`));
    }
    expect(pairs.filter(([state, event]) => runs.moveRun(state, event) !== undefined)).toHaveLength(legal.size);
  });

  test('codes are those of the database, both ways', () => {
    const codes: Record<RunState, number> = {
      SUBMITTED_SUCCESS: 0,
      RUNNING_EXECUTION: 1,
      READY_PAUSE: 2,
      PAUSE: 3,
      READY_STOP: 4,
      STOP: 5,
      FAILURE: 6,
      SUCCESS: 7,
      SERIAL_WAIT: 14,
      FAILOVER: 18,
    };
    expect(runs.RUN_STATE_CODES).toEqual(codes);
    for (const state of runs.RUN_STATES) expect(runs.runStateOf(codes[state])).toBe(state);
    expect(runs.runStateOf(99)).toBeUndefined();
  });

  test('finished: nothing happens any more without a person; active: the plan has a say', () => {
    expect(runs.RUN_STATES.filter(runs.isRunFinished)).toEqual(['PAUSE', 'STOP', 'FAILURE', 'SUCCESS']);
    expect(runs.RUN_STATES.filter(runs.isRunActive)).toEqual(['RUNNING_EXECUTION', 'READY_PAUSE', 'READY_STOP']);
  });
});

describe('task states', () => {
  const legal = rows(TASK_ROWS);
  const pairs = tasks.TASK_STATES.flatMap((state) =>
    eventsOf<TaskEvent>(tasks.TASK_TRANSITIONS).map((event) => [state, event] as const),
  );

  test('every pair of state and event goes where the table says, and every other is refused', () => {
    for (const [state, event] of pairs) {
      const moved = tasks.moveTask(state, event);
      const to = legal.get(`${state} ${event}`);
      if (to !== undefined) expect(moved).toEqual({ ok: true, value: to });
      else expect(moved, `${state} ${event}`).toMatchObject({ ok: false, problem: { code: 'CONFLICT' } });
    }
    expect(pairs.filter(([state, event]) => tasks.moveTask(state, event).ok)).toHaveLength(legal.size);
  });

  test('codes are those of the database, both ways', () => {
    const codes: Record<TaskState, number> = {
      SUBMITTED_SUCCESS: 0,
      RUNNING_EXECUTION: 1,
      PAUSE: 3,
      FAILURE: 6,
      SUCCESS: 7,
      NEED_FAULT_TOLERANCE: 8,
      KILL: 9,
      DELAY_EXECUTION: 12,
      FORCED_SUCCESS: 13,
      DISPATCH: 17,
    };
    expect(tasks.TASK_STATE_CODES).toEqual(codes);
    for (const state of tasks.TASK_STATES) expect(tasks.taskStateOf(codes[state])).toBe(state);
    expect(tasks.taskStateOf(5)).toBeUndefined();
  });

  test('every state is waiting, handed out or finished, and only one of these', () => {
    for (const state of tasks.TASK_STATES)
      expect(
        [tasks.isTaskSubmitted(state), tasks.isTaskHandedOut(state), tasks.isTaskFinished(state)].filter(Boolean),
      ).toHaveLength(1);
    expect(tasks.TASK_STATES.filter(tasks.isTaskActive)).toEqual([
      'SUBMITTED_SUCCESS',
      'RUNNING_EXECUTION',
      'DELAY_EXECUTION',
      'DISPATCH',
    ]);
    expect(tasks.TASK_STATES.filter(tasks.isTaskSuccess)).toEqual(['SUCCESS', 'FORCED_SUCCESS']);
  });
});
