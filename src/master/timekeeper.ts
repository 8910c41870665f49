import type { EpochMs } from '../core/time.ts';
import type { RunStore, TimedOutWait } from '../store/store.ts';
import { type Duty, untilDue } from './duty.ts';

const BATCH = 100;

/** Ends the waits of tasks whose time is up. Deadlines stand in the database; this sleeps until the next one. */
export const createTimekeeper = (options: {
  readonly runs: Pick<RunStore, 'expireWaits' | 'nextWaitDeadlineAt'>;
  /** The database's time. */
  readonly now: () => Promise<EpochMs>;
  readonly onTimedOut: (wait: TimedOutWait) => void;
}): Duty => ({
  name: 'timekeeper',
  async runOnce(signal) {
    for (let full = true; full && !signal.aborted; ) {
      const ended = await options.runs.expireWaits(BATCH);
      for (const wait of ended) options.onTimedOut(wait);
      full = ended.length >= BATCH;
    }
    return untilDue(await options.runs.nextWaitDeadlineAt(), options.now);
  },
});
