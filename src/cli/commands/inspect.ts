import { type Command, Option } from 'commander';
import type { Request } from '../inspect/answer.ts';

interface Flags {
  readonly format?: string;
  readonly branch?: string;
  readonly since?: string;
  readonly cursor?: string;
  readonly stdin?: boolean;
  readonly json?: boolean;
}

const FORMATS = ['paimon', 'iceberg', 'hudi', 'delta'];

const MORE = `
Examples:
  sluice inspect ./warehouse/ods.db/orders
  sluice inspect ./warehouse/ods.db/orders --json | tail -1
  sluice inspect ./warehouse/ods.db/orders --cursor orders.cursor    what happened since the last time

Nothing but the table's own metadata is read; no server is needed. Exits 1 when the table cannot be read.`;

export function register(program: Command): void {
  const inspect: Command = program
    .command('inspect')
    .description("Read a table's own metadata and list its versions, oldest first")
    .argument('[location]', 'folder of the table')
    .addOption(new Option('--format <format>', 'format of the table (default: found out)').choices(FORMATS))
    .option('--branch <branch>', 'a branch of the table (default: main)')
    .addOption(new Option('--since <id>', 'only versions after this one').conflicts('cursor'))
    .option('--cursor <file>', 'only what happened since the cursor in the file, which is moved')
    .addOption(
      new Option('--stdin', 'answer requests from stdin, one JSON object a line').conflicts([
        'since',
        'cursor',
        'format',
        'branch',
      ]),
    )
    .option('--json', 'one JSON object a line, the summary last')
    .addHelpText('after', MORE)
    .action(async (location: string | undefined, flags: Flags) => {
      if (flags.stdin === true) await answerStdin(inspect, location, flags);
      else await answerOnce(inspect, location, flags);
    });
}

async function answerStdin(command: Command, location: string | undefined, flags: Flags): Promise<void> {
  if (location !== undefined) command.error('error: with --stdin leave out LOCATION: each request names its own.');
  if (flags.json !== true) command.error('error: --stdin answers JSON only: add --json.');
  const { serveStdin } = await import('../inspect/stdin.ts');
  await serveStdin(process.stdin, process.stdout);
}

async function answerOnce(command: Command, location: string | undefined, flags: Flags): Promise<void> {
  if (location === undefined) command.error('error: name the LOCATION of a table, such as ./warehouse/ods.db/orders.');
  const request: Request = {
    location,
    format: flags.format ?? null,
    branch: flags.branch ?? null,
    since: flags.since ?? null,
    cursorFile: flags.cursor ?? null,
  };
  const { inspectOnce } = await import('../inspect/once.ts');
  process.exitCode = await inspectOnce(request, flags.json === true, process.stdout, process.stderr);
}
