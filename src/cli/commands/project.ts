import type { Command } from 'commander';
import type { ProjectBody } from '../../api/contract/common.ts';
import { connect } from '../client.ts';
import { type CommonOptions, connected, wrongUsage } from '../options.ts';
import { print, printJson, printJsonLines, printTable } from '../output.ts';

interface ResumeOptions extends CommonOptions {
  readonly skip?: boolean;
}

const MORE = `
While a project is paused, versions of its tables go on being recorded. Runs that are under way go on, and people may start others.`;

export const register = (program: Command): void => {
  const project = program.command('project').description('List projects, pause and resume them');
  project.addHelpText('after', MORE);
  const named = (name: string, does: string): Command =>
    connected(project.command(name).argument('[name]', 'name or code (default: the only one)').description(does));
  connected(project.command('list').description('list the projects')).action(list);
  named('pause', 'let no group of it start a run').action(steer('pause'));
  named('resume', 'let a paused project go on')
    .option('--skip', 'what arrived meanwhile starts no run (default: one run of each group for all of it)')
    .action(steer('resume'));
};

const list = async (options: CommonOptions): Promise<void> => {
  const { items } = await connect(options).get<{ items: ProjectBody[] }>('/api/v1/projects');
  if (options.json === true) return printJsonLines(items);
  const rows = items.map(({ name, code, paused }) => [name, String(code), paused ? 'paused' : '']);
  printTable(['PROJECT', 'CODE', ''], rows, 'There are no projects yet.');
};

const steer =
  (what: 'pause' | 'resume') =>
  async (name: string | undefined, options: ResumeOptions, command: Command): Promise<void> => {
    if (name !== undefined && options.project !== undefined && options.project !== name)
      wrongUsage(command, `Name one project: "${name}" and --project "${options.project}" are two.`);
    const client = connect(name === undefined ? options : { ...options, project: name });
    const body = options.skip === true ? { skip: true } : undefined;
    const project = await client.post<ProjectBody>(await client.path(what), body);
    if (options.json === true) return printJson(project);
    print(`project ${project.name} is ${project.paused ? 'paused' : 'no longer paused'}`);
  };
