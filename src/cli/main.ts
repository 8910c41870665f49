#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { SluiceError } from '../core/errors.ts';
import { VERSION } from './version.ts';

/** One command: what the list of commands says of it, and the file that knows the rest, loaded only when the command is used. */
interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<{ readonly register: (program: Command) => void }>;
}

/** A new command is one line here and one file in commands/ that exports `register(program)`. */
const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  server: { summary: 'Run the server', load: () => import('./commands/server.ts') },
  apply: { summary: 'Create or update what files declare', load: () => import('./commands/apply.ts') },
  inspect: {
    summary: "Read a table's own metadata and list its versions",
    load: () => import('./commands/inspect.ts'),
  },
  asset: {
    summary: 'List, show, scan and discover assets, and state events about them',
    load: () => import('./commands/asset.ts'),
  },
  why: { summary: 'Say why a workflow has not run, and why it last did', load: () => import('./commands/why.ts') },
  project: { summary: 'List projects, pause and resume them', load: () => import('./commands/project.ts') },
  workflow: {
    summary: 'List workflows, put them online and offline, pause their groups',
    load: () => import('./commands/workflow.ts'),
  },
  run: { summary: 'Start a run by hand', load: () => import('./commands/run.ts') },
  open: { summary: "Print the address of the server's page, and open it", load: () => import('./commands/open.ts') },
  runs: { summary: 'List, show and steer runs', load: () => import('./commands/runs.ts') },
  logs: { summary: 'Print what a task of a run wrote', load: () => import('./commands/logs.ts') },
  db: { summary: 'Look after the database', load: () => import('./commands/db.ts') },
};

const SUCCESS = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Registers the command that the arguments name in full, the others by their summary alone. */
async function program(args: readonly string[]): Promise<Command> {
  const sluice = new Command('sluice')
    .description(
      'A workflow scheduler for the lakehouse: runs start when the tables they read have reached a usable version.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .configureOutput({ outputError: (text, write) => write(sentence(text)) })
    .exitOverride();
  const used = args.find((argument) => argument !== 'help' && !argument.startsWith('-'));
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    if (name === used) (await load()).register(sluice);
    else sluice.command(name).description(summary);
  }
  return sluice;
}

/** What commander says of a wrong command, with what to do about it; what our own commands say of one is a sentence already. */
function sentence(text: string): string {
  const said = text.replace(/^error: /, 'sluice: ').trimEnd();
  return /[.?)]$/.test(said) ? `${said}\n` : `${said}; --help shows how it is written.\n`;
}

/** The exit code of what went wrong; says it on stderr in one sentence, unless commander has said it already. */
function failed(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : WRONG_USAGE;
  process.stderr.write(`sluice: ${error instanceof Error ? error.message : String(error)}\n`);
  if (process.env['SLUICE_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack ?? ''}\n`);
  else if (!(error instanceof SluiceError)) process.stderr.write('Set SLUICE_DEBUG=1 to see where this happened.\n');
  return FAILED;
}

// Who reads the output may stop early (`| head`): that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? SUCCESS : failed(error));
});

const args = process.argv.slice(2);
try {
  const sluice = await program(args);
  if (args.length === 0) sluice.help({ error: true });
  await sluice.parseAsync(args, { from: 'user' });
} catch (error) {
  process.exitCode = failed(error);
}
