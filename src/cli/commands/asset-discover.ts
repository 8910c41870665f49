import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { BOUNDS, discover, type FoundTable } from '../../compose/discover.ts';
import { schemeOf } from '../../compose/sources.ts';
import { connect } from '../client.ts';
import { chosen } from '../discover/choose.ts';
import { createProgress } from '../discover/progress.ts';
import { type Registered, registerTables } from '../discover/register.ts';
import { applyFile, printRegistered, printTables, tableLine } from '../discover/show.ts';
import { type CommonOptions, connected, levels, positive, wrongUsage } from '../options.ts';
import { printJson } from '../output.ts';

interface DiscoverOptions extends CommonOptions {
  readonly register?: boolean;
  readonly all?: boolean;
  readonly yaml?: boolean;
  readonly depth: number;
  readonly limit: number;
}

const MORE = `
Examples:
  sluice asset discover ./warehouse
  sluice asset discover ./warehouse --yaml --project shop > shop.yaml
  sluice asset discover ./warehouse --register --all
  sluice asset discover ./warehouse --register paimon://ods/orders delta://ods/users

Only metadata is read. A server is needed for --register alone; it must find the tables at the same paths.`;

export const registerDiscover = (asset: Command): void => {
  const command: Command = connected(
    asset.command('discover <folder> [keys...]').description('list the tables below a folder, and register them'),
  )
    .option('--register', 'register the tables with these keys with the server')
    .option('--all', 'register all that have a key')
    .addOption(new Option('--yaml', 'print an apply file for the tables').conflicts(['json', 'register']))
    .option('--depth <n>', 'how many levels below the folder', levels, BOUNDS.depth)
    .option('--limit <n>', 'at most so many tables', positive, BOUNDS.tables)
    .addHelpText('after', MORE)
    .action((folder: string, keys: readonly string[], options: DiscoverOptions) => {
      if (options.register === true && keys.length === 0 && options.all !== true)
        wrongUsage(command, 'Name the keys to register, or add --all.');
      if (options.all === true && (options.register !== true || keys.length > 0))
        wrongUsage(command, '--all goes with --register, and without keys.');
      return run(folder, keys, options);
    });
};

const run = async (folder: string, keys: readonly string[], options: DiscoverOptions): Promise<void> => {
  const root = schemeOf(folder) === '' ? resolve(folder) : folder;
  const progress = createProgress(
    (text) => process.stderr.write(text),
    () => performance.now(),
  );
  const { depth, limit } = options;
  const { tables, notes } = await discover(root, { ...BOUNDS, depth, tables: limit }, progress);
  for (const note of notes) process.stderr.write(`sluice: ${note}\n`);
  const shown = keys.length === 0 ? tables : chosen(tables, keys);
  if (options.yaml === true) process.stdout.write(applyFile(shown, root, options.project));
  else if (options.register === true) await registerAll(shown, options);
  else if (options.json === true) for (const table of shown) printJson(tableLine(table));
  else printTables(shown, root);
};

const registerAll = async (tables: readonly FoundTable[], options: DiscoverOptions): Promise<void> => {
  const results: Registered[] = [];
  for await (const result of registerTables(connect(options), options.project, tables)) {
    results.push(result);
    if (options.json === true)
      printJson({ ...tableLine(result.table), registered: result.registered, reason: result.reason });
    else printRegistered(result);
  }
  if (results.some(({ registered }) => registered === 'REFUSED')) process.exitCode = 1;
};
