import type { EpochMs } from '../core/time.ts';
import type { RunStore } from '../store/store.ts';
import { type Duty, untilDue } from './duty.ts';

/** What the reaper needs of the worker. Killing what is being killed, or is gone, does nothing. */
export interface AttemptKiller {
  kill(
    attempt: { readonly taskRunId: number; readonly attempt: number; readonly fence: number },
    runId: number,
    why: 'STOP' | 'TIMEOUT',
  ): Promise<void>;
}

/** Kills the attempts of runs that are being stopped and those that are over their time limit. */
export const createReaper = (options: {
  readonly runs: RunStore;
  /** The database's time. */
  readonly now: () => Promise<EpochMs>;
  readonly worker: AttemptKiller;
}): Duty => ({
  name: 'reaper',
  async runOnce() {
    for (const { taskRun, timedOut } of await options.runs.killable()) {
      const id = { taskRunId: taskRun.id, attempt: taskRun.attempt, fence: taskRun.fence };
      await options.worker.kill(id, taskRun.runId, timedOut ? 'TIMEOUT' : 'STOP');
    }
    return untilDue(await options.runs.nextDeadlineAt(), options.now);
  },
});
