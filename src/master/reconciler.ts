import type { RunStore, TaskOffer } from '../store/store.ts';
import { type Duty, LOOK_ANYWAY_MS } from './duty.ts';

/** What the reconciler needs of the worker. */
export interface AttemptAdopter {
  /** Does this process already look after the attempt? */
  knows(taskRunId: number, fence: number): boolean;
  /** Find out what became of an attempt that an earlier server handed out, and go on from there. */
  adopt(offer: TaskOffer): Promise<void>;
}

/**
 * Makes what is stored and what runs agree: attempts handed out by a server that died are found again, ended, or started for the first
 * time. Harmless at any time and when done twice.
 */
export const createReconciler = (options: { readonly runs: RunStore; readonly worker: AttemptAdopter }): Duty => ({
  name: 'reconciler',
  async runOnce(signal) {
    for (const offer of await options.runs.unfinished()) {
      if (signal.aborted) break;
      if (!options.worker.knows(offer.taskRun.id, offer.taskRun.fence)) await options.worker.adopt(offer);
    }
    return LOOK_ANYWAY_MS;
  },
});
