import type { EvaluationReport, GroupStore } from '../store/store.ts';
import type { EpochMs } from '../core/time.ts';
import { type Duty, untilDue } from './duty.ts';

const BATCH = 200;
/**
 * After a fire nobody waits for the group's next tree, but somebody does for the run: its launch, dispatch and first processes get the
 * writer first. A hint that other groups are due still wakes the resolver at once.
 */
const AFTER_FIRE_MS = 50;

/** Has every group evaluated that something happened to. A group that is ready fires in the transaction that decided so. */
export const createResolver = (options: {
  readonly groups: GroupStore;
  /** The database's time. */
  readonly now: () => Promise<EpochMs>;
  readonly onEvaluated: (report: EvaluationReport) => void;
}): Duty => ({
  name: 'resolver',
  async runOnce(signal) {
    let soonest = 0;
    for (let full = true; full && !signal.aborted; ) {
      const reports = await options.groups.evaluateDue(BATCH);
      for (const report of reports) options.onEvaluated(report);
      if (reports.some(({ fired }) => fired !== null)) soonest = AFTER_FIRE_MS;
      full = reports.length >= BATCH;
    }
    return Math.max(soonest, await untilDue(await options.groups.nextDueAt(), options.now));
  },
});
