import type { Ended } from '../executors/executor.ts';
import type { TaskEnding, TaskOffer } from '../store/store.ts';
import { MOST_OUTPUT } from './outputs.ts';

/** Why the server killed an attempt. */
export type EndingReason = 'STOP' | 'TIMEOUT';

/**
 * What the end of a process means for its attempt. `killed` is what this server asked for; after a restart it is told from what is stored:
 * a signal while the run was being stopped, or after the attempt's deadline.
 */
export const endingOf = (ended: Ended, offer: TaskOffer, killed: EndingReason | null): TaskEnding => {
  const { exitCode, endedAt, signal } = ended;
  if (exitCode === 0) return { state: 'SUCCESS', exitCode, reason: null, endedAt };
  const why = killed ?? (signal === null ? null : reasonFromStore(ended, offer));
  if (why === 'STOP') return { state: 'KILL', exitCode, reason: 'Killed because the run was stopped.', endedAt };
  if (why === 'TIMEOUT')
    return {
      state: 'FAILURE',
      exitCode,
      reason: `Killed after its limit of ${offer.task.timeoutSeconds ?? 0} s.`,
      endedAt,
    };
  const reason = ended.reason ?? (signal === null ? null : `Ended by signal ${signal}.`);
  return { state: 'FAILURE', exitCode, reason, endedAt };
};

const reasonFromStore = (ended: Ended, offer: TaskOffer): EndingReason | null => {
  if (offer.run.state === 'READY_STOP') return 'STOP';
  const { deadline } = offer.taskRun;
  return deadline !== null && ended.endedAt >= deadline ? 'TIMEOUT' : null;
};

/** A success with what it gives out; a failure where that is too much to keep. */
export const withOutputs = (ending: TaskEnding, outputs: NonNullable<TaskEnding['outputs']>): TaskEnding => {
  if (outputs.length === 0) return ending;
  const characters = outputs.reduce((sum, { value }) => sum + value.length, 0);
  if (characters <= MOST_OUTPUT) return { ...ending, outputs };
  const reason = `Give out at most ${MOST_OUTPUT} characters with setValue, the place of a file for more: these were ${characters}.`;
  return { ...ending, state: 'FAILURE', reason };
};
