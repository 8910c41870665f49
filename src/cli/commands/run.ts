import type { Command } from 'commander';
import type { RunDetailsBody, StartedBody, StartInput } from '../../api/contract/workflows.ts';
import { isRunFinished, RUN_STATES } from '../../core/workflow/run-state.ts';
import { systemClock } from '../../runtime/clock.ts';
import { type Client, connect } from '../client.ts';
import { type CommonOptions, connected, gather, pairs, wrongUsage } from '../options.ts';
import { print, printJson, stateText } from '../output.ts';
import { printRun, taskState } from './runs.ts';

interface RunOptions extends CommonOptions {
  readonly param: readonly string[];
  readonly pin: readonly string[];
  readonly consume?: boolean;
  readonly from?: string;
  readonly only?: string;
  readonly wait?: boolean;
  readonly idempotencyKey?: string;
}

const LOOK_MS = 300;

const MORE = `
Examples:
  sluice run trade --wait
  sluice run trade --pin paimon://ods_db/ods_order_latest=tag:2026-11-30 --param mode=restate
  sluice run trade --only dws_gmv_daily

Assets that are not pinned are read at their newest version that meets the workflow's conditions.`;

export const register = (program: Command): void => {
  connected(program.command('run').description('Start a run by hand').argument('<workflow>', 'name or code'))
    .option('--param <name=value>', 'a start parameter; may stand several times', gather, [])
    .option('--pin <key=id|key=tag:t>', 'read this version of an asset; may stand several times', gather, [])
    .option('--consume', 'the versions read count as consumed by the groups of the workflow')
    .option('--from <task>', 'run this task and all after it')
    .option('--only <task>', 'run this task alone')
    .option('--wait', 'follow the run; exit code 0 if it succeeds, 1 if not')
    .option('--idempotency-key <key>', 'the same key gives the same run, however often this is called')
    .addHelpText('after', MORE)
    .action(start);
};

const start = async (workflow: string, options: RunOptions, command: Command): Promise<void> => {
  if (options.from !== undefined && options.only !== undefined) wrongUsage(command, 'Give --from or --only, not both.');
  const task = options.from ?? options.only;
  const body: StartInput = {
    params: pairs(command, '--param', options.param),
    pins: readPins(command, options.pin),
    consume: options.consume ?? false,
    ...(task === undefined
      ? {}
      : { startTasks: [task], taskDependType: options.only === undefined ? 'TASK_POST' : 'TASK_ONLY' }),
  };
  const client = connect(options);
  const headers: Record<string, string> =
    options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey };
  const run = await client.post<StartedBody>(
    await client.path('workflow-definitions', workflow, 'start'),
    body,
    headers,
  );
  if (options.wait === true) return follow(client, run, options.json === true);
  if (options.json === true) return printJson(run);
  print(
    run.duplicate ? `run ${run.id} had been started under this key before` : `started run ${run.id} of ${run.workflow}`,
  );
};

/** `KEY=ID` or `KEY=tag:NAME`. Keys and tags may hold "=", so what follows the last one, or the first "=tag:", is the version. */
const readPins = (command: Command, texts: readonly string[]): Record<string, string> => {
  const pins: Record<string, string> = {};
  for (const text of texts) {
    const tag = text.indexOf('=tag:');
    const equals = tag === -1 ? text.lastIndexOf('=') : tag;
    if (equals < 1 || equals === text.length - 1)
      wrongUsage(command, `Write --pin KEY=ID or KEY=tag:NAME: "${text}" is neither.`);
    pins[text.slice(0, equals)] = text.slice(equals + 1);
  }
  return pins;
};

/** Says each change of the run and its tasks until the run ends; the exit code says how. */
const follow = async (client: Client, started: RunDetailsBody, json: boolean): Promise<void> => {
  const path = await client.path('workflow-instances', started.id);
  const said = new Map<string, string>();
  let run = started;
  for (;;) {
    if (!json) sayChanges(run, said);
    if (ended(run.state)) break;
    await new Promise<void>((resolve) => void systemClock.setTimer(LOOK_MS, resolve));
    run = await client.get<RunDetailsBody>(path);
  }
  if (json) printJson(run);
  else printRun(run);
  if (run.state !== 'SUCCESS') process.exitCode = 1;
};

/** A paused run goes on only when a person says so: whoever waits for it would wait for ever. */
const ended = (state: string): boolean =>
  RUN_STATES.some((known) => known === state && isRunFinished(known)) || state === 'PAUSE';

const sayChanges = (run: RunDetailsBody, said: Map<string, string>): void => {
  const say = (what: string, state: string): void => {
    if (said.get(what) === state) return;
    said.set(what, state);
    print(`${what}: ${stateText(state)}`);
  };
  say(`run ${run.id}`, run.state);
  for (const task of run.tasks)
    say(task.attempt === 1 ? task.name : `${task.name} (attempt ${task.attempt})`, taskState(task));
};
