import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { type DatabasePlace, databaseOf, readConfig } from '../../config/load.ts';
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

const placeOf = (options: DbOptions): DatabasePlace =>
  databaseOf(readConfig(options.config, process.env, { 'data-dir': options.data }).config);

const status = async (options: DbOptions): Promise<void> => {
  const { url, isFile, shown } = placeOf(options);
  const there = !isFile || existsSync(url);
  const { withDatabase } = await import('../../compose/database.ts');
  // A file that is not there is looked for in an empty database, so that asking makes no file.
  const { current, newest } = await withDatabase(there ? url : ':memory:', (admin) => admin.schemaVersion());
  const exists = isFile ? there : current > 0;
  const named = isFile ? { file: shown } : { database: shown };
  if (options.json === true) return printJson({ ...named, exists, current, newest, upToDate: current === newest });
  if (!exists) return print(`There is no database at ${shown} yet: "sluice server" or "sluice db migrate" makes it.`);
  const verdict = current === newest ? 'up to date' : 'run "sluice db migrate"';
  print(`${shown}: schema ${current}, newest ${newest}: ${verdict}`);
};

const migrate = async (options: DbOptions): Promise<void> => {
  const { url, isFile, shown } = placeOf(options);
  if (isFile) mkdirSync(dirname(url), { recursive: true, mode: 0o700 });
  const { withDatabase } = await import('../../compose/database.ts');
  const applied = await withDatabase(url, (admin) => admin.migrate());
  if (options.json === true) return printJson({ ...(isFile ? { file: shown } : { database: shown }), applied });
  for (const name of applied) print(`applied ${name}`);
  print(`${shown}: up to date`);
};
