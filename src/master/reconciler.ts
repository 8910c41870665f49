import type { Clock } from '../runtime/clock.ts';
import type { RunStore, TaskOffer } from '../store/store.ts';
import { type Duty, untilDue } from './duty.ts';

const LOOK_ANYWAY_MS = 15_000;

/** What the reconciler needs of the worker. */
export interface AttemptKeeper {
  /** Does this process already look after the attempt? */
  knows(taskRunId: number, fence: number): boolean;
  /** Find out what became of an attempt that an earlier server handed out, and go on from there. */
  adopt(offer: TaskOffer): Promise<void>;
  kill(taskRunId: number, fence: number, runId: number, attempt: number, why: 'STOP' | 'TIMEOUT'): Promise<void>;
}

/**
 * Makes what is stored and what runs agree: attempts handed out by a server that died are found again, ended, or started for the first
 * time; attempts of stopped runs and those over their time limit are killed. Everything it does is harmless when done twice.
 */
export const createReconciler = (options: {
  readonly runs: RunStore;
  readonly keeper: AttemptKeeper;
  readonly clock: Clock;
}): Duty => ({
  name: 'reconciler',
  async runOnce(signal) {
    await killWhatMustEnd(options.runs, options.keeper);
    for (const offer of await options.runs.unfinished()) {
      if (signal.aborted) break;
      if (!options.keeper.knows(offer.taskRun.id, offer.taskRun.fence)) await options.keeper.adopt(offer);
    }
    return untilDue(await options.runs.nextDeadlineAt(), options.clock.now(), LOOK_ANYWAY_MS);
  },
});

const killWhatMustEnd = async (runs: RunStore, keeper: AttemptKeeper): Promise<void> => {
  for (const { taskRun, timedOut } of await runs.killable())
    await keeper.kill(taskRun.id, taskRun.fence, taskRun.runId, taskRun.attempt, timedOut ? 'TIMEOUT' : 'STOP');
};
