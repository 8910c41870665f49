import type { Command } from 'commander';
import type { PinsBody } from '../../api/contract/common.ts';
import type { RunBody, RunDetailsBody, TaskRunBody } from '../../api/contract/workflows.ts';
import { runStateNamed } from '../../core/workflow/run-words.ts';
import { connect } from '../client.ts';
import { type CommonOptions, connected, positive } from '../options.ts';
import {
  ago,
  paint,
  print,
  printJson,
  printJsonLines,
  printTable,
  stateCell,
  stateText,
  table,
  took,
} from '../output.ts';
import { collect } from '../pages.ts';

interface ListOptions extends CommonOptions {
  readonly workflow?: string;
  readonly state?: string;
  readonly limit: number;
}

interface OperateOptions extends CommonOptions {
  readonly repin?: boolean;
}

const OPERATIONS: readonly (readonly [name: string, does: string, repin: boolean])[] = [
  ['pause', 'let running tasks finish and start no other', false],
  ['resume', 'go on with a paused or stopped run', false],
  ['stop', 'kill running tasks and end the run', false],
  ['rerun', 'run all tasks of a finished run again, on the same versions', true],
  ['recover', 'run failed tasks, and all after them, again, on the same versions', true],
];

export const register = (program: Command): void => {
  const runs = program.command('runs').description('List, show and steer runs');
  connected(runs.command('list').description('list runs, newest first'))
    .option('--workflow <name>', 'only runs of this workflow')
    .option('--state <state>', 'only runs in this state, by its word (failed) or its name (FAILURE)')
    .option('--limit <n>', 'at most so many', positive, 20)
    .action(list);
  connected(
    runs
      .command('show')
      .argument('<id>', 'number of the run', positive)
      .description('show one run with its versions and tasks'),
  ).action(show);
  for (const [name, does, repin] of OPERATIONS) {
    const command = connected(runs.command(name).argument('<id>', 'number of the run', positive).description(does));
    if (repin) command.option('--repin', 'take the newest versions that meet the conditions instead');
    command.action((id: number, options: OperateOptions) => operate(name, id, options));
  }
};

const list = async (options: ListOptions): Promise<void> => {
  const client = connect(options);
  // What names no state is the server's to refuse: it says which there are.
  const state = options.state === undefined ? undefined : (runStateNamed(options.state) ?? options.state);
  const query = { workflow: options.workflow, state };
  const runs = await collect<RunBody>(client, await client.path('workflow-instances'), options.limit, query);
  if (options.json === true) return printJsonLines(runs);
  const rows = runs.map((run) => [
    String(run.id),
    run.workflow,
    stateCell(run.state),
    startedBy(run),
    ago(run.startTime),
    lasted(run.startTime, run.endTime),
    pinsText(run.pins),
  ]);
  printTable(['RUN', 'WORKFLOW', 'STATE', 'STARTED BY', 'STARTED', 'TOOK', 'READS'], rows, 'There are no runs yet.');
};

const show = async (id: number, options: CommonOptions): Promise<void> => {
  const client = connect(options);
  const run = await client.get<RunDetailsBody>(await client.path('workflow-instances', id));
  if (options.json === true) return printJson(run);
  printRun(run);
};

const operate = async (name: string, id: number, options: OperateOptions): Promise<void> => {
  const client = connect(options);
  const body = options.repin === true ? { repin: true } : undefined;
  const run = await client.post<RunDetailsBody>(await client.path('workflow-instances', id, name), body);
  if (options.json === true) return printJson(run);
  print(`run ${run.id} of ${run.workflow}: ${stateText(run.state)}`);
};

/** Who or what started the run. */
const startedBy = (run: RunBody): string => (run.triggerGroup === null ? 'a person' : `group ${run.triggerGroup}`);

const lasted = (start: string | null, end: string | null): string => {
  if (start === null) return '-';
  return took((end === null ? Date.now() : Date.parse(end)) - Date.parse(start));
};

const tableName = (assetKey: string): string => assetKey.slice(assetKey.lastIndexOf('/') + 1);

const pinsText = (pins: PinsBody): string =>
  Object.entries(pins)
    .map(([key, pin]) => `${tableName(key)}@${pin.snapshotId}`)
    .join(' ');

/** A run as people read it. */
export const printRun = (run: RunDetailsBody): void => {
  print(
    `${paint('bold', `run ${run.id}`)} of ${run.workflow} (version ${run.workflowVersion}): ${stateText(run.state)}`,
  );
  const facts: [string, string][] = [['started', `${ago(run.startTime)} by ${startedBy(run)}`]];
  facts.push(['took', lasted(run.startTime, run.endTime)]);
  if (run.triggerKey !== null) facts.push(['trigger key', run.triggerKey]);
  for (const [name, value] of Object.entries(run.params)) facts.push([`param ${name}`, value]);
  for (const [key, pin] of Object.entries(run.pins))
    facts.push(['reads', `${key} at ${pin.snapshotId}${pin.tag === undefined ? '' : ` (tag ${pin.tag})`}`]);
  for (const line of table(facts, '  ')) print(line);
  const rows = run.tasks.map(taskRow);
  printTable(['TASK', 'TYPE', 'STATE', 'ATTEMPT', 'TOOK', 'EXIT', 'WHY'], rows, '  No task has started yet.');
  for (const { name, outputs } of run.tasks)
    for (const [prop, value] of Object.entries(outputs)) print(`  ${name} gave ${prop} = ${brief(value)}`);
};

const LONGEST_SHOWN = 200;

const brief = (value: string): string =>
  JSON.stringify(value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value);

/** People see that an attempt waits; programs have a field for it beside its state. */
export const taskState = ({ state, waiting }: TaskRunBody): string => (waiting ? 'WAITING' : state);

/** Why it waits, ended as it did, or which versions released it. */
const taskWhy = ({ reason, waitingFor, pins }: TaskRunBody): string => {
  if (waitingFor !== null) return [`waiting for ${waitingFor}`, reason ?? ''].filter((text) => text !== '').join('; ');
  const read = pinsText(pins);
  return reason ?? (read === '' ? '' : `waited for ${read}`);
};

const taskRow = (task: TaskRunBody) => [
  task.name,
  task.type,
  stateCell(taskState(task)),
  String(task.attempt),
  lasted(task.startTime, task.endTime),
  task.exitCode === null ? '-' : String(task.exitCode),
  taskWhy(task),
];
