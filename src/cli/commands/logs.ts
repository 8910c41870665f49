import type { Command } from 'commander';
import type { LogBody, RunTasksBody, TaskRunBody } from '../../api/contract/workflows.ts';
import { SluiceError } from '../../core/errors.ts';
import { type Client, connect } from '../client.ts';
import { type CommonOptions, connected, positive } from '../options.ts';
import { printJson } from '../output.ts';
import { serverSentEvents } from '../sse.ts';

interface LogOptions extends CommonOptions {
  readonly follow?: boolean;
  readonly attempt?: number;
}

export const register = (program: Command): void => {
  const logs = program.command('logs').description('Print what a task of a run wrote');
  connected(logs.argument('<run>', 'number of the run', positive).argument('<task>', 'name or code of the task'))
    .option('-f, --follow', 'go on until the task has ended')
    .option('--attempt <n>', 'this attempt (default: the newest)', positive)
    .action(show);
};

const show = async (run: number, task: string, options: LogOptions): Promise<void> => {
  const client = connect(options);
  const tasks = await client.get<RunTasksBody>(await client.path('workflow-instances', run, 'tasks'));
  const path = await client.path('task-instances', choose(tasks, run, task, options.attempt).id, 'log');
  if (options.follow === true) await follow(client, path, options.json === true);
  else await printAll(client, path, options.json === true);
};

const choose = (
  { tasks, history }: RunTasksBody,
  run: number,
  task: string,
  attempt: number | undefined,
): TaskRunBody => {
  const named = (attempt === undefined ? tasks : history).filter(
    ({ name, code }) => name === task || String(code) === task,
  );
  const chosen = attempt === undefined ? named[0] : named.find((one) => one.attempt === attempt);
  if (chosen !== undefined) return chosen;
  const names = tasks.map(({ name }) => name).join(', ');
  const started = names === '' ? 'none has started yet' : `those that have started are ${names}`;
  const what = attempt === undefined ? `task "${task}"` : `attempt ${attempt} of task "${task}"`;
  throw new SluiceError('NOT_FOUND', `Name a task of run ${run} that has started: there is no ${what}, ${started}.`);
};

const printAll = async (client: Client, path: string, json: boolean): Promise<void> => {
  for (let offset = 0; ; ) {
    const piece = await client.get<LogBody>(path, { offset });
    if (json) printJson(piece);
    else process.stdout.write(piece.text);
    if (piece.nextOffset === offset || piece.nextOffset >= piece.size) return;
    offset = piece.nextOffset;
  }
};

const follow = async (client: Client, path: string, json: boolean): Promise<void> => {
  for await (const { event, data } of serverSentEvents(await client.stream(path))) {
    if (json) printJson({ event, ...(data as object) });
    else if (event === 'log') process.stdout.write((data as { text: string }).text);
  }
};
