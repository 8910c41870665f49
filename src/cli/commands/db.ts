import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { databasePath, readConfig } from '../../config/load.ts';
import { print, printJson } from '../output.ts';

interface DbOptions {
  readonly config?: string;
  readonly data?: string;
  readonly json?: boolean;
}

export const register = (program: Command): void => {
  const db = program.command('db').description('Look after the database; no server is needed');
  local(db.command('status').description('say which version its schema has and which this Sluice wants')).action(
    status,
  );
  local(db.command('migrate').description('bring its schema to the newest version')).action(migrate);
};

const local = (command: Command): Command =>
  command
    .option('--config <file>', 'configuration (default: ./sluice.yaml if there is one)')
    .option('--data <folder>', 'data folder (default: ./.sluice)')
    .option('--json', 'print JSON');

const fileOf = (options: DbOptions): string =>
  databasePath(readConfig(options.config, process.env, { 'data-dir': options.data }).config);

const status = async (options: DbOptions): Promise<void> => {
  const file = fileOf(options);
  const exists = existsSync(file);
  const { withDatabase } = await import('../../compose-database.ts');
  // A database that is not there is looked for in an empty one, so that asking makes no file.
  const { current, newest } = await withDatabase(exists ? file : ':memory:', (admin) => admin.schemaVersion());
  if (options.json === true) return printJson({ file, exists, current, newest, upToDate: current === newest });
  if (!exists) return print(`There is no database at ${file} yet: "sluice server" or "sluice db migrate" makes it.`);
  const verdict = current === newest ? 'up to date' : 'run "sluice db migrate"';
  print(`${file}: schema ${current}, newest ${newest}: ${verdict}`);
};

const migrate = async (options: DbOptions): Promise<void> => {
  const file = fileOf(options);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const { withDatabase } = await import('../../compose-database.ts');
  const applied = await withDatabase(file, (admin) => admin.migrate());
  if (options.json === true) return printJson({ file, applied });
  for (const name of applied) print(`applied ${name}`);
  print(`${file}: up to date`);
};
