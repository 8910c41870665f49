// A process that starts one attempt, says so and does nothing more: what tests kill in the place of a server. Arguments: folder, script.
import { createLocalExecutor } from '../../../src/executors/local/local-executor.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createLog } from '../../../src/runtime/log.ts';

const [folder = '', script = ''] = process.argv.slice(2);
const log = createLog({ level: 'error', destination: 'stderr', now: systemClock.now });
const executor = createLocalExecutor({ folder, clock: systemClock, log, environment: process.env });
await executor.start({
  id: { taskRunId: 1, attempt: 1, fence: 1 },
  runId: 7,
  script,
  env: {},
  context: '{}',
  cwd: null,
});
process.stdout.write('started\n');
process.stdin.resume(); // stays until it is killed
