import { RUN_STATES, RUN_TRANSITIONS, type RunOperation, type RunState } from './run-state.ts';

/** The states of runs in the words of lists and screens. */
export const RUN_STATE_WORDS: Readonly<Record<RunState, string>> = {
  SUBMITTED_SUCCESS: 'submitted',
  RUNNING_EXECUTION: 'running',
  READY_PAUSE: 'pausing',
  PAUSE: 'paused',
  READY_STOP: 'stopping',
  STOP: 'stopped',
  FAILURE: 'failed',
  SUCCESS: 'succeeded',
  SERIAL_WAIT: 'waiting in line',
  FAILOVER: 'being taken over',
};

/** The state that a person names, by its word or its name; undefined: there is none. */
export const runStateNamed = (text: string): RunState | undefined =>
  RUN_STATES.find((state) => state === text.toUpperCase() || RUN_STATE_WORDS[state] === text.toLowerCase());

interface OperationWords {
  /** What to do, said to a person. */
  readonly ask: string;
  /** What cannot be done to the run. */
  readonly done: string;
}

const OPERATIONS: Readonly<Record<RunOperation, OperationWords>> = {
  PAUSE: { ask: 'pause it', done: 'paused' },
  RESUME: { ask: 'resume it', done: 'resumed' },
  RECOVER: { ask: 'recover it (failed tasks and all after them)', done: 'recovered' },
  RERUN: { ask: 'rerun it (all tasks)', done: 'rerun' },
  STOP: { ask: 'stop it', done: 'stopped' },
};

const NAMES = Object.keys(OPERATIONS) as readonly RunOperation[];

/** What comes of a run without a person. */
const OTHERWISE: Readonly<Record<RunState, string>> = {
  SUBMITTED_SUCCESS: 'wait until it runs',
  SERIAL_WAIT: 'wait until it runs',
  RUNNING_EXECUTION: 'wait for its end',
  READY_PAUSE: 'wait until it is paused',
  READY_STOP: 'wait until it is stopped',
  FAILOVER: 'wait until that is done',
  PAUSE: 'leave it as it is',
  STOP: 'leave it as it is',
  FAILURE: 'leave it as it is',
  SUCCESS: 'leave it as it is',
};

const standing = (state: RunState): string =>
  `${state === 'FAILURE' || state === 'SUCCESS' ? 'has' : 'is'} ${RUN_STATE_WORDS[state]}`;

/** `a`, `a or b`, `a, b or c`. */
const either = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} or ${parts.at(-1)}`;

/** Why something cannot be done to a run in this state, and what can. */
export const cannotOperate = (runId: number, state: RunState, operation: RunOperation): string => {
  const { done } = OPERATIONS[operation];
  const already = done === RUN_STATE_WORDS[state];
  const what = already ? `${standing(state)} already` : `${standing(state)} and cannot be ${done}`;
  // Stopping again what is stopping is harmless, and no way out.
  const possible = NAMES.filter((name) => (RUN_TRANSITIONS[state][name] ?? state) !== state);
  const ways = [...possible.map((name) => OPERATIONS[name].ask), OTHERWISE[state]];
  return `Run ${runId} ${what}: ${either(ways)}.`;
};

/** New pins asked of what takes none. */
export const cannotRepin = (operation: RunOperation): string =>
  `Leave out repin: only recover and rerun take new versions, ${operation.toLowerCase()} keeps those that the run has.`;
