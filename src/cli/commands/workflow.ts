import type { Command } from 'commander';
import type { GroupAnswerBody } from '../../api/contract/dependencies.ts';
import type { WorkflowBody } from '../../api/contract/workflows.ts';
import { SluiceError } from '../../core/errors.ts';
import { type Client, connect } from '../client.ts';
import { type CommonOptions, connected } from '../options.ts';
import { print, printJson, printJsonLines, printTable } from '../output.ts';

interface SkipOptions extends CommonOptions {
  readonly skip?: boolean;
}

const SKIP = 'what arrived meanwhile starts no run (default: one run for all of it)';

const GROUP = 'name of the group (default: the only one)';

const MORE = `
While a workflow is offline or a group is paused, versions of its tables go on being recorded. Runs that are under way go on.`;

export const register = (program: Command): void => {
  const workflow = program
    .command('workflow')
    .description('List workflows, put them online and offline, pause their groups')
    .addHelpText('after', MORE);
  const named = (name: string, does: string): Command =>
    connected(workflow.command(name).argument('<workflow>', 'name or code').description(does));
  connected(workflow.command('list').description('list the workflows of a project')).action(list);
  named('online', 'let its groups start runs').option('--skip', SKIP).action(release('ONLINE'));
  named('offline', 'let no group of it start a run, and nobody start one by hand').action(release('OFFLINE'));
  named('pause', 'let one group of it start no run').argument('[group]', GROUP).action(pause);
  named('resume', 'let a paused group go on').argument('[group]', GROUP).option('--skip', SKIP).action(resume);
};

const list = async (options: CommonOptions): Promise<void> => {
  const client = connect(options);
  const { items } = await client.get<{ items: WorkflowBody[] }>(await client.path('workflow-definitions'));
  if (options.json === true) return printJsonLines(items);
  const rows = items.map(({ name, code, version, releaseState, groups, tasks }) => [
    name,
    String(code),
    String(version),
    releaseState.toLowerCase(),
    groups.map((group) => group.name).join(' '),
    String(tasks.length),
  ]);
  printTable(['WORKFLOW', 'CODE', 'VERSION', '', 'GROUPS', 'TASKS'], rows, 'There are no workflows yet.');
};

const release =
  (releaseState: WorkflowBody['releaseState']) =>
  async (workflow: string, options: SkipOptions): Promise<void> => {
    const client = connect(options);
    const body = { releaseState, ...(options.skip === true ? { skip: true } : {}) };
    const saved = await client.post<WorkflowBody>(await client.path('workflow-definitions', workflow, 'release'), body);
    if (options.json === true) return printJson(saved);
    print(`${saved.name} is ${saved.releaseState.toLowerCase()}`);
  };

const pause = (workflow: string, group: string | undefined, options: CommonOptions): Promise<void> =>
  steer(workflow, group, 'pause', options);

const resume = (workflow: string, group: string | undefined, options: SkipOptions): Promise<void> =>
  steer(workflow, group, 'resume', options);

const steer = async (
  workflow: string,
  group: string | undefined,
  what: 'pause' | 'resume',
  options: SkipOptions,
): Promise<void> => {
  const client = connect(options);
  const name = group ?? (await onlyGroup(client, workflow));
  const path = await client.path('workflow-definitions', workflow, 'groups', name, what);
  const answer = await client.post<GroupAnswerBody>(path, options.skip === true ? { skip: true } : undefined);
  if (options.json === true) return printJson(answer);
  print(`group ${answer.group} of ${workflow} is ${answer.paused ? 'paused' : 'no longer paused'}`);
};

const onlyGroup = async (client: Client, workflow: string): Promise<string> => {
  const { name, groups } = await client.get<WorkflowBody>(await client.path('workflow-definitions', workflow));
  const [only, another] = groups;
  if (only !== undefined && another === undefined) return only.name;
  throw new SluiceError(
    'BAD_REQUEST',
    only === undefined
      ? `No table starts ${name}, so it has no group; to let nobody start it: sluice workflow offline ${name}.`
      : `Name one group of ${name}: ${groups.map((group) => group.name).join(', ')}. For all: sluice workflow offline ${name}.`,
  );
};
