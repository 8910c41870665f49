import type { WorkflowRun } from '../core/workflow/run.ts';
import type { RunStore } from '../store/store.ts';
import { type Duty, LOOK_ANYWAY_MS } from './duty.ts';

const BATCH = 50;

/** Takes the commands that wait and sets their runs going: each is running then, with its first tasks submitted. */
export const createLauncher = (options: {
  readonly runs: RunStore;
  readonly onLaunched: (run: WorkflowRun) => void;
}): Duty => ({
  name: 'launcher',
  async runOnce(signal) {
    for (let full = true; full && !signal.aborted; ) {
      const launched = await options.runs.launch(BATCH);
      for (const run of launched) options.onLaunched(run);
      full = launched.length >= BATCH;
    }
    return LOOK_ANYWAY_MS;
  },
});
