import { sql } from 'kysely';
import { SluiceError } from '../../core/errors.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Db } from '../database.ts';
import type { Dialect } from '../dialect.ts';
import { MIGRATIONS } from './list.ts';
import type { Migration, Table } from '../table.ts';

const VERSIONS: Table = { columns: { version: 'int', name: 'name', apply_time: 'int' }, primaryKey: ['version'] };
export const NEWEST = MIGRATIONS.at(-1)?.version ?? 0;

/** The statements that bring an empty database to the newest schema, in order. */
export const schemaStatements = (dialect: Dialect): readonly string[] => [
  ...dialect.createTable('t_ds_version', VERSIONS),
  ...MIGRATIONS.flatMap((migration) => statementsOf(migration, dialect)),
];

const statementsOf = ({ version, tables, changes = {} }: Migration, dialect: Dialect): readonly string[] => [
  ...Object.entries(tables).flatMap(([name, table]) => dialect.createTable(name, table)),
  ...Object.entries(changes).flatMap(([name, change]) => dialect.alterTable(name, change, version)),
];

/** The version of the database's schema; 0: it is empty. */
export const schemaVersion = async (db: Db, dialect: Dialect): Promise<number> => {
  if (!(await dialect.hasTable(db, 't_ds_version'))) return 0;
  const result = await sql<{ version: bigint | null }>`select max(version) as version from t_ds_version`.execute(db);
  return Number(result.rows[0]?.version ?? 0n);
};

/** Throws SCHEMA_TOO_NEW for a database that a newer Sluice has migrated. */
export const refuseNewer = (version: number): void => {
  if (version <= NEWEST) return;
  throw new SluiceError(
    'SCHEMA_TOO_NEW',
    `The database has schema ${version}, this Sluice knows only ${NEWEST}: run the Sluice that migrated it, or a newer one.`,
  );
};

/** Applies what is missing, in order, alone; the names of what was applied. Dying in it leaves whole migrations only. */
export const migrate = (db: Db, dialect: Dialect, now: EpochMs): Promise<readonly string[]> =>
  dialect.withMigrationLock(db, async (tx) => {
    const current = await schemaVersion(tx, dialect);
    refuseNewer(current);
    if (current === 0) await run(tx, dialect.createTable('t_ds_version', VERSIONS));
    const missing = MIGRATIONS.filter((migration) => migration.version > current);
    for (const migration of missing) {
      await run(tx, statementsOf(migration, dialect));
      await sql`insert into t_ds_version (version, name, apply_time) values (${migration.version}, ${migration.name}, ${now})`.execute(
        tx,
      );
    }
    return missing.map((migration) => `${migration.version} ${migration.name}`);
  });

const run = async (db: Db, statements: readonly string[]): Promise<void> => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};
