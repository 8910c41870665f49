import { sqliteDialect } from './dialects/sqlite.ts';
import { schemaStatements } from './migrate.ts';

/** The schema that all migrations together make on SQLite: the text of snapshots/sqlite.sql, which is committed and compared. */
export const sqliteSchemaDump = (): string =>
  [
    '-- Written by `npm run generate` from src/store/migrations: edit those.',
    ...schemaStatements(sqliteDialect(() => 0n)).map((s) => `${s};`),
    '',
  ].join('\n\n');
