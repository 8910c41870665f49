/** Run by waiting.ts as a process of its own, so that what making them takes is not in the memory that is measured. */
import { openBenchStore } from './bench-store.ts';
import { declaration } from './declare.ts';
import { SOLO, TASKS_EACH, WORKFLOWS, waitingAssets, waitingWorkflows } from './waiting-shape.ts';

const [file, wanted] = process.argv.slice(2);
if (file === undefined || wanted === undefined) throw new Error('Usage: waiting-setup.ts FILE TASKS');

const store = await openBenchStore(file);
const options = { dryRun: false, strict: false };
await store.definitions.apply(declaration({ assets: waitingAssets(), workflows: waitingWorkflows() }), options);
const codes = new Map((await store.definitions.workflows(null)).map(({ name, code }) => [name, code]));
const request = { params: {}, pins: new Map(), consume: false, startTasks: [], idempotencyKey: null } as const;
const runs = Math.ceil(Number(wanted) / TASKS_EACH);
for (let run = 0; run < runs; run += 1) {
  const workflowCode = codes.get(`w${run % WORKFLOWS}`) ?? 0;
  await store.runs.start({ ...request, workflowCode, taskDependType: 'TASK_POST' });
  await store.runs.launch(1);
  while ((await store.groups.evaluateDue(200)).length > 0);
  if (run % 50 === 49) process.stderr.write(`waiting: ${(run + 1) * TASKS_EACH} tasks wait\n`);
}
if (!codes.has(SOLO)) throw new Error('The workflow that is released was not declared.');
await store.close();
