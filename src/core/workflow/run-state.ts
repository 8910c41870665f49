/**
 * The states of a workflow run and every legal transition, as one table.
 *
 *   SUBMITTED_SUCCESS ──LAUNCH──▶ RUNNING_EXECUTION ──SUCCEED──▶ SUCCESS
 *     ▲   ▲  │ QUEUE                │    │      └──────FAIL────▶ FAILURE
 *     │   │  ▼                 PAUSE│    │STOP
 *     │  WAKE SERIAL_WAIT           ▼    ▼
 *     │                   READY_PAUSE ─▶ READY_STOP     each ends by SUCCEED, FAIL, and SETTLE: PAUSE, STOP
 *     │                     SETTLE│ STOP    │SETTLE
 *     │                           ▼         ▼
 *     │                         PAUSE ────▶ STOP
 *     └── RESUME (PAUSE, STOP) ── RECOVER (FAILURE) ── RERUN (every finished state)
 *
 *   SUBMITTED_SUCCESS and SERIAL_WAIT have nothing to wind down: PAUSE and STOP take them to PAUSE and STOP at once.
 *   RUNNING_EXECUTION, READY_PAUSE, READY_STOP ──LOSE_OWNER──▶ FAILOVER, and back by TAKE_OVER_… to what the run was.
 *
 * Names and codes: Apache DolphinScheduler's (t_ds_workflow_instance.state), so that people's SQL and reports carry over.
 */

const CODES = {
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
} as const;

export type RunState = keyof typeof CODES;

/** The integer that the database holds for each state. */
export const RUN_STATE_CODES: Readonly<Record<RunState, number>> = CODES;

export const RUN_STATES = Object.keys(CODES) as readonly RunState[];

/** What people may do to a run (facts/dolphinscheduler.md 2.5). */
export type RunOperation = 'PAUSE' | 'RESUME' | 'STOP' | 'RERUN' | 'RECOVER';

/** What can happen to a run. SETTLE: everything that had to wind down has, and work is left. */
export type RunEvent =
  | RunOperation
  | 'LAUNCH'
  | 'QUEUE'
  | 'WAKE'
  | 'SETTLE'
  | 'SUCCEED'
  | 'FAIL'
  | 'LOSE_OWNER'
  | 'TAKE_OVER_RUNNING'
  | 'TAKE_OVER_PAUSE'
  | 'TAKE_OVER_STOP';

/** State → event → next state; a pair that is not here is refused. */
export const RUN_TRANSITIONS: Readonly<Record<RunState, Readonly<Partial<Record<RunEvent, RunState>>>>> = {
  SUBMITTED_SUCCESS: { LAUNCH: 'RUNNING_EXECUTION', QUEUE: 'SERIAL_WAIT', PAUSE: 'PAUSE', STOP: 'STOP' },
  SERIAL_WAIT: { WAKE: 'SUBMITTED_SUCCESS', PAUSE: 'PAUSE', STOP: 'STOP' },
  RUNNING_EXECUTION: {
    PAUSE: 'READY_PAUSE',
    STOP: 'READY_STOP',
    SUCCEED: 'SUCCESS',
    FAIL: 'FAILURE',
    LOSE_OWNER: 'FAILOVER',
  },
  READY_PAUSE: { STOP: 'READY_STOP', SETTLE: 'PAUSE', SUCCEED: 'SUCCESS', FAIL: 'FAILURE', LOSE_OWNER: 'FAILOVER' },
  // Asking to stop once more is harmless: what still lives is killed again.
  READY_STOP: { STOP: 'READY_STOP', SETTLE: 'STOP', SUCCEED: 'SUCCESS', FAIL: 'FAILURE', LOSE_OWNER: 'FAILOVER' },
  FAILOVER: { TAKE_OVER_RUNNING: 'RUNNING_EXECUTION', TAKE_OVER_PAUSE: 'READY_PAUSE', TAKE_OVER_STOP: 'READY_STOP' },
  PAUSE: { RESUME: 'SUBMITTED_SUCCESS', RERUN: 'SUBMITTED_SUCCESS', STOP: 'STOP' },
  STOP: { RESUME: 'SUBMITTED_SUCCESS', RERUN: 'SUBMITTED_SUCCESS' },
  FAILURE: { RECOVER: 'SUBMITTED_SUCCESS', RERUN: 'SUBMITTED_SUCCESS' },
  SUCCESS: { RERUN: 'SUBMITTED_SUCCESS' },
};

const BY_CODE: ReadonlyMap<number, RunState> = new Map(RUN_STATES.map((state) => [CODES[state], state]));

const FINISHED: ReadonlySet<RunState> = new Set(['PAUSE', 'STOP', 'FAILURE', 'SUCCESS']);

/** The state that the database's integer stands for; undefined if there is none. */
export const runStateOf = (code: number): RunState | undefined => BY_CODE.get(code);

/** Nothing of the run is active and nothing happens to it unless a person asks: PAUSE, STOP, FAILURE, SUCCESS. */
export const isRunFinished = (state: RunState): boolean => FINISHED.has(state);

/** The plan function has a say: attempts may be active, or are to be made. */
export const isRunActive = (state: RunState): boolean =>
  state === 'RUNNING_EXECUTION' || state === 'READY_PAUSE' || state === 'READY_STOP';

/** The next state; undefined: the event is not legal in this one. */
export const moveRun = (state: RunState, event: RunEvent): RunState | undefined => RUN_TRANSITIONS[state][event];
