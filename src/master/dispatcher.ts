import type { EpochMs } from '../core/time.ts';
import type { RunStore, TaskOffer } from '../store/store.ts';
import { type Duty, LOOK_ANYWAY_MS, untilDue } from './duty.ts';

/** Hands submitted attempts to the worker, never more than it has room for. `begin` is not awaited: it reports every failure by itself. */
export const createDispatcher = (options: {
  readonly runs: RunStore;
  /** The database's time. */
  readonly now: () => Promise<EpochMs>;
  readonly room: () => number;
  readonly begin: (offer: TaskOffer) => void;
}): Duty => ({
  name: 'dispatcher',
  async runOnce(signal) {
    while (!signal.aborted) {
      const room = options.room();
      if (room <= 0) return LOOK_ANYWAY_MS;
      const offers = await options.runs.dispatch(Math.min(room, 100));
      for (const offer of offers) options.begin(offer);
      if (offers.length === 0) break;
    }
    return untilDue(await options.runs.nextDispatchAt(), options.now);
  },
});
