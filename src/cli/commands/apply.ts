import type { Command } from 'commander';
import type { ApplyPlanBody, PlanLineBody } from '../../api/contract/apply.ts';
import { type FilePath, pathText } from '../../core/declaration/read.ts';
import { SluiceError } from '../../core/errors.ts';
import { type Client, connect, ServerRefusal } from '../client.ts';
import { type CommonOptions, connected, gather, wrongUsage } from '../options.ts';
import { type Cell, paint, print, printJson, table } from '../output.ts';
import { type DeclaredFile, readYaml } from '../yaml-file.ts';

interface ApplyOptions extends CommonOptions {
  readonly file: readonly string[];
  readonly dryRun?: boolean;
  readonly strict?: boolean;
}

/** All that the files declare of one project, as one declaration: it is applied whole or not at all. */
interface Bundle {
  readonly project: unknown;
  readonly parts: readonly DeclaredFile[];
}

const LISTS = ['assets', 'workflows'] as const;

export const register = (program: Command): void => {
  const command: Command = connected(
    program.command('apply').description('Create or update what files declare, and print the plan'),
  )
    .option('-f, --file <file>', 'YAML file, - for stdin; may stand several times', gather)
    .argument('[files...]', 'more files')
    .option('--dry-run', 'only print the plan')
    .option('--strict', 'refuse assets that nobody has registered')
    .action((more: readonly string[], options: ApplyOptions) => {
      const files = [...(options.file ?? []), ...more];
      if (files.length === 0) wrongUsage(command, 'Name the files to apply: sluice apply -f FILE.');
      return apply(files, options);
    });
};

const apply = async (files: readonly string[], options: ApplyOptions): Promise<void> => {
  const bundles = bundle(files.flatMap(readYaml));
  for (const one of bundles) {
    const plan = await send(one, options);
    if (options.json === true) printJson(plan);
    else printPlan(plan);
  }
};

const bundle = (documents: readonly DeclaredFile[]): readonly Bundle[] => {
  const projects = new Map<unknown, DeclaredFile[]>();
  for (const document of documents) {
    const project = (document.content as { project?: unknown } | null)?.project;
    projects.set(project, [...(projects.get(project) ?? []), document]);
  }
  return [...projects].map(([project, parts]) => ({ project, parts }));
};

const send = async ({ project, parts }: Bundle, options: ApplyOptions): Promise<ApplyPlanBody> => {
  // A file without a usable project is refused by the server with all else that is wrong with it; any name will do to ask.
  const name = typeof project === 'string' && project !== '' ? project : 'unnamed';
  const client: Client = connect({ ...options, project: name });
  const body = { declaration: merged(parts), dryRun: options.dryRun ?? false, strict: options.strict ?? false };
  try {
    return await client.post<ApplyPlanBody>(await client.path('apply'), body);
  } catch (error) {
    if (error instanceof ServerRefusal && error.problems.length > 0) throw located(error, parts);
    throw error;
  }
};

const fieldsOf = (part: DeclaredFile): Record<string, unknown> | null =>
  typeof part.content === 'object' && part.content !== null && !Array.isArray(part.content)
    ? (part.content as Record<string, unknown>)
    : null;

const listOf = (part: DeclaredFile, list: string): readonly unknown[] => {
  const items = fieldsOf(part)?.[list];
  return Array.isArray(items) ? items : [];
};

/** One file goes as it stands; of several the lists are joined, and other keys taken from whichever has them. */
const merged = (parts: readonly DeclaredFile[]): unknown => {
  const [only, second] = parts;
  if (second === undefined) return only?.content;
  const joined = LISTS.map((list) => [list, parts.flatMap((part) => listOf(part, list))] as const);
  return { ...Object.assign({}, ...parts.map(fieldsOf)), ...Object.fromEntries(joined) } as unknown;
};

/** The refusal with the place in its file before each sentence. */
const located = (refusal: ServerRefusal, parts: readonly DeclaredFile[]): SluiceError => {
  const lines = refusal.problems.map(({ path, detail }) => {
    const [part, own] = origin(path, parts);
    return `${part.locate(own)}: ${pathText(own)}: ${detail}`;
  });
  return new SluiceError(refusal.code, lines.join('\n'));
};

/** Which file a path of the joined declaration leads into, and the path there. */
const origin = (path: FilePath, parts: readonly DeclaredFile[]): readonly [DeclaredFile, FilePath] => {
  const [list, index, ...rest] = path;
  const known = LISTS.find((name) => name === list);
  const fallback =
    parts.find((part) => Object.hasOwn(fieldsOf(part) ?? {}, String(list))) ?? (parts[0] as DeclaredFile);
  if (known === undefined || typeof index !== 'number') return [fallback, path];
  let before = 0;
  for (const part of parts) {
    const { length } = listOf(part, known);
    if (index < before + length) return [part, [known, index - before, ...rest]];
    before += length;
  }
  return [fallback, path];
};

const SIGNS: Readonly<Record<PlanLineBody['action'], Cell>> = {
  CREATE: { text: '+ create', style: 'green' },
  UPDATE: { text: '~ update', style: 'yellow' },
  REMOVE: { text: '- remove', style: 'red' },
  UNCHANGED: { text: '= keep', style: 'dim' },
};

/** A line of the plan; what it means beyond the first detail stands below it. */
const planRows = ({ kind, name, action, details: [first = '', ...more] }: PlanLineBody): Cell[][] => [
  [SIGNS[action], kind.toLowerCase(), name, first],
  ...more.map((detail): Cell[] => ['', '', '', detail]),
];

const printPlan = ({ project, dryRun, lines, warnings }: ApplyPlanBody): void => {
  print(`${paint('bold', `project ${project}`)}${dryRun ? ' (dry run: nothing was written)' : ''}`);
  const rows = lines.flatMap(planRows);
  for (const line of table(rows, '  ')) print(line);
  for (const warning of warnings) print(`  ${paint('yellow', 'note')}: ${warning}`);
  const changed = lines.filter(({ action }) => action !== 'UNCHANGED').length;
  const verb = dryRun ? 'would change' : 'changed';
  print(changed === 0 ? 'Nothing to change.' : `${changed} of ${lines.length} ${verb}.`);
};
