import type { Dialect } from './dialect.ts';
import { postgresDialect } from './dialects/postgres.ts';
import { sqliteDialect } from './dialects/sqlite.ts';
import { schemaStatements } from './migrations/migrate.ts';

/** The schema that all migrations together make on a database: the text of a file in snapshots/, which is committed and compared. */
const schemaDump = (dialect: Dialect): string =>
  [
    '-- Written by `npm run generate` from src/store/migrations: edit those.',
    ...schemaStatements(dialect).map((statement) => `${statement};`),
    '',
  ].join('\n\n');

export const sqliteSchemaDump = (): string => schemaDump(sqliteDialect(() => 0n));

export const postgresSchemaDump = (): string => schemaDump(postgresDialect());
