/**
 * The states of one attempt of a task and every legal transition, as one table.
 *
 *   SUBMITTED_SUCCESS ──DISPATCH──▶ DISPATCH ──START──▶ RUNNING_EXECUTION ──SUCCEED──▶ SUCCESS
 *     │   └─DELAY─▶ DELAY_EXECUTION ──▲   └──────┬────────────┴─────────────FAIL─────▶ FAILURE
 *     ├─PAUSE─▶ PAUSE ─KILL┐                     ├──────────────────────────KILL─────▶ KILL
 *     ├─KILL───────────────┴▶ KILL               └──────────────────────────LOSE─────▶ NEED_FAULT_TOLERANCE
 *     └─FAIL─▶ FAILURE   (one that waited for tables, when its time is up)
 *
 *   FAILURE, KILL, NEED_FAULT_TOLERANCE ──FORCE_SUCCESS──▶ FORCED_SUCCESS
 *
 * A retry is a new attempt, never a way back. An attempt may end from DISPATCH: its end can be seen before its start was recorded, and
 * one whose parameters or pins are refused never starts. Names and codes: Apache DolphinScheduler's (t_ds_task_instance.state).
 */
import { ok, refuse } from '../result.ts';
import type { Result } from '../result.ts';

const CODES = {
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
} as const;

export type TaskState = keyof typeof CODES;

/** The integer that the database holds for each state. */
export const TASK_STATE_CODES: Readonly<Record<TaskState, number>> = CODES;

export const TASK_STATES = Object.keys(CODES) as readonly TaskState[];

/** What can happen to an attempt. LOSE: its worker is gone and nobody knows how it ended. */
export type TaskEvent =
  | 'DELAY'
  | 'DISPATCH'
  | 'START'
  | 'SUCCEED'
  | 'FAIL'
  | 'KILL'
  | 'PAUSE'
  | 'LOSE'
  | 'FORCE_SUCCESS';

const ENDS = { SUCCEED: 'SUCCESS', FAIL: 'FAILURE', KILL: 'KILL', LOSE: 'NEED_FAULT_TOLERANCE' } as const;

/** State → event → next state; a pair that is not here is refused. */
export const TASK_TRANSITIONS: Readonly<Record<TaskState, Readonly<Partial<Record<TaskEvent, TaskState>>>>> = {
  SUBMITTED_SUCCESS: { DISPATCH: 'DISPATCH', DELAY: 'DELAY_EXECUTION', PAUSE: 'PAUSE', KILL: 'KILL', FAIL: 'FAILURE' },
  DELAY_EXECUTION: { DISPATCH: 'DISPATCH', PAUSE: 'PAUSE', KILL: 'KILL' },
  DISPATCH: { START: 'RUNNING_EXECUTION', ...ENDS },
  RUNNING_EXECUTION: ENDS,
  PAUSE: { KILL: 'KILL' },
  FAILURE: { FORCE_SUCCESS: 'FORCED_SUCCESS' },
  KILL: { FORCE_SUCCESS: 'FORCED_SUCCESS' },
  NEED_FAULT_TOLERANCE: { FORCE_SUCCESS: 'FORCED_SUCCESS' },
  SUCCESS: {},
  FORCED_SUCCESS: {},
};

const BY_CODE: ReadonlyMap<number, TaskState> = new Map(TASK_STATES.map((state) => [CODES[state], state]));

/** The state that the database's integer stands for; undefined if there is none. */
export const taskStateOf = (code: number): TaskState | undefined => BY_CODE.get(code);

/** Submitted but not handed out: nothing has to be killed to end it. */
export const isTaskSubmitted = (state: TaskState): boolean =>
  state === 'SUBMITTED_SUCCESS' || state === 'DELAY_EXECUTION';

/** Handed out: an executor has it or may have it. */
export const isTaskHandedOut = (state: TaskState): boolean => state === 'DISPATCH' || state === 'RUNNING_EXECUTION';

/** Waiting or handed out: the run cannot end before it does. */
export const isTaskActive = (state: TaskState): boolean => isTaskSubmitted(state) || isTaskHandedOut(state);

/** Nothing happens to the attempt any more unless a person asks. */
export const isTaskFinished = (state: TaskState): boolean => !isTaskActive(state);

/** The edge to its successors is open. */
export const isTaskSuccess = (state: TaskState): boolean => state === 'SUCCESS' || state === 'FORCED_SUCCESS';

/** The next state, or CONFLICT with the states in which the event is allowed. */
export function moveTask(state: TaskState, event: TaskEvent): Result<TaskState> {
  const next = TASK_TRANSITIONS[state][event];
  if (next !== undefined) return ok(next);
  const allowed = TASK_STATES.filter((from) => TASK_TRANSITIONS[from][event] !== undefined).join(', ');
  return refuse('CONFLICT', `The task is ${state}: ${event} is allowed only in ${allowed}.`);
}
