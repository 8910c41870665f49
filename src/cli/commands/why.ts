import type { Command } from 'commander';
import type { EventBody } from '../../api/contract/asset-events.ts';
import type { GroupAnswerBody, LeafBody, TriggerRecordBody, WhyBody } from '../../api/contract/dependencies.ts';
import type { TaskWhyBody, WaitingAttemptBody } from '../../api/contract/task-why.ts';
import { type Client, connect } from '../client.ts';
import { type CommonOptions, connected, positive } from '../options.ts';
import { ago, type Cell, duration, paint, print, printJson, table } from '../output.ts';

interface WhyOptions extends CommonOptions {
  readonly task?: string;
  readonly group?: string;
  readonly run?: number;
}

export const register = (program: Command): void => {
  const why = program.command('why').description('Say why a workflow has not run, and why it last did');
  connected(why.argument('<workflow>', 'name or code'))
    .option('--group <group>', 'only this group of it')
    .option('--task <task>', 'say what this task waits for, in each run in which it does')
    .option('--run <id>', 'say why this run was started', positive)
    .action(explain);
};

const explain = async (workflow: string, options: WhyOptions): Promise<void> => {
  const client = connect(options);
  if (options.task !== undefined) return explainTask(client, workflow, options.task, options.json === true);
  if (options.run !== undefined) return explainRun(client, workflow, options.run, options.json === true);
  const path = await client.path('workflow-definitions', workflow, 'why');
  const answer = await client.get<WhyBody>(path, { group: options.group });
  if (options.json === true) return printJson(answer);
  print(paint('bold', answer.workflow));
  if (answer.groups.length === 0) print('  No table starts it: it has no triggers. Start it with "sluice run".');
  for (const group of answer.groups) printGroup(group);
  printSuppressed(answer.suppressed);
  printIgnored(answer.ignored);
};

/** Why a run was started, and what released its waiting tasks: the trees that were kept with the fires. */
const explainRun = async (client: Client, workflow: string, run: number, json: boolean): Promise<void> => {
  const { items } = await client.get<{ items: TriggerRecordBody[] }>(await client.path('asset-trigger-history'), {
    workflow,
    run,
  });
  if (json) return printJson({ runId: run, triggers: items });
  const [started] = items.filter(({ taskInstanceId }) => taskInstanceId === null);
  if (started === undefined)
    print(`No table started run ${run} of ${workflow}: somebody did, or there is no such run.`);
  else
    print(
      `Group ${started.group} of ${started.workflow} started run ${run}, ${ago(started.createTime)}, because then:`,
    );
  if (started !== undefined) printThen(started);
  for (const release of items.filter(({ taskInstanceId }) => taskInstanceId !== null)) {
    print(`Group ${release.group} released its task instance ${release.taskInstanceId}, because then:`);
    printThen(release);
  }
};

const printThen = ({ results, createTime }: TriggerRecordBody): void => {
  for (const line of leafLines(results, 'then', Date.parse(createTime))) print(line);
};

const printSuppressed = (suppressed: readonly TriggerRecordBody[]): void => {
  if (suppressed.length === 0) return;
  print('  Came up again and started nothing, as the same versions had fired before:');
  const rows = suppressed.map(({ group, workflowInstanceId, suppressedCount, suppressedTime }): Cell[] => [
    `group ${group}`,
    workflowInstanceId === null ? '' : `run ${workflowInstanceId}`,
    suppressedCount === 1 ? 'once' : `${suppressedCount} times`,
    { text: `last ${ago(suppressedTime)}`, style: 'dim' },
  ]);
  for (const line of table(rows, '    ')) print(line);
};

const printIgnored = (ignored: readonly EventBody[]): void => {
  if (ignored.length === 0) return;
  print('  Was told and changed nothing:');
  const rows = ignored.map(({ assetKey, receivedAt, status, sentence }): Cell[] => [
    assetKey,
    { text: status === 'IGNORED_STALE' ? 'too late' : 'never seen', style: 'yellow' },
    sentence,
    { text: ago(receivedAt), style: 'dim' },
  ]);
  for (const line of table(rows, '    ')) print(line);
};

const explainTask = async (client: Client, workflow: string, task: string, json: boolean): Promise<void> => {
  const answer = await client.get<TaskWhyBody>(
    await client.path('workflow-definitions', workflow, 'tasks', task, 'why'),
  );
  if (json) return printJson(answer);
  print(`${paint('bold', answer.task)} of ${answer.workflow}`);
  if (!answer.waits) return print('  It waits for no table: it starts as soon as the tasks before it have succeeded.');
  if (answer.waitingCount === 0) print('  It waits in no run now.');
  for (const attempt of answer.waiting) printWaiting(attempt);
  const more = answer.waitingCount - answer.waiting.length;
  if (more > 0) print(`  It waits in ${more} more ${more === 1 ? 'run' : 'runs'}.`);
  printRelease(answer.lastRelease);
};

const printWaiting = ({ runId, since, deadline, groups }: WaitingAttemptBody): void => {
  const until = deadline === null ? '' : `, until ${deadline} at the latest`;
  print(`  In run ${runId} it has waited for ${duration(Date.now() - Date.parse(since))}${until}:`);
  for (const group of groups) printTree(group);
};

const printRelease = (release: TaskWhyBody['lastRelease']): void => {
  if (release === null) return print('  Nothing has ever released it.');
  print(`  Group ${release.group} last released it in run ${release.runId}, ${ago(release.at)}, because then:`);
  for (const line of leafLines(release.results, 'then', Date.parse(release.at))) print(line);
};

const printTree = ({ group, ready, results }: GroupAnswerBody): void => {
  const open = results.filter(({ met }) => !met).length;
  const verdict = ready ? paint('green', 'ready') : paint('yellow', `waits for ${open} of ${results.length}`);
  print(`  group ${group}: ${verdict}`);
  for (const line of leafLines(results, 'now', Date.now())) print(line);
};

const printGroup = (answer: GroupAnswerBody): void => {
  const { lastFire } = answer;
  printTree(answer);
  if (lastFire === null) return print('    It has never started a run.');
  print(`    It last started run ${lastFire.runId}, ${ago(lastFire.at)}, because then:`);
  for (const line of leafLines(lastFire.results, 'then', Date.parse(lastFire.at))) print(line);
};

/** One line a condition: does it hold, what it needs, how it stands, since how long. `at`: the instant that `when` names. */
const leafLines = (leaves: readonly LeafBody[], when: 'now' | 'then', at: number): string[] => {
  const rows = leaves.map((leaf): Cell[] => [
    leaf.met ? { text: '✓', style: 'green' } : { text: '✗', style: 'red' },
    leaf.alias ?? leaf.assetKey ?? 'group',
    `needs ${leaf.needed}`,
    `${when}: ${leaf.actual}`,
    { text: `for ${duration(at - Date.parse(leaf.since))}`, style: 'dim' },
    { text: leaf.code ?? '', style: 'dim' },
  ]);
  return table(rows, '    ');
};
