import type { EvaluationReport, GroupStore } from '../store/store.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Duty, untilDue } from './duty.ts';

const BATCH = 200;
const LOOK_ANYWAY_MS = 5_000;

/** Touched groups → decisions: a group that is ready fires in the same transaction that decided it. */
export const createResolver = (options: {
  readonly groups: GroupStore;
  readonly clock: Clock;
  readonly onEvaluated: (report: EvaluationReport) => void;
}): Duty => ({
  name: 'resolver',
  async runOnce(signal) {
    for (let full = true; full && !signal.aborted; ) {
      const reports = await options.groups.evaluateDue(BATCH);
      for (const report of reports) options.onEvaluated(report);
      full = reports.length >= BATCH;
    }
    return untilDue(await options.groups.nextDueAt(), options.clock.now(), LOOK_ANYWAY_MS);
  },
});
