import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql, type SqlBool } from 'kysely';
import type { EpochMs } from '../../core/time.ts';
import type { Database, Db } from '../database.ts';
import type { Dialect, StatementHook } from '../dialect.ts';
import type { ColumnKind, Table } from '../table.ts';
import { alterTable } from './alter-table.ts';
import { loose, onConflict } from './on-conflict.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { sqliteKysely } from './sqlite-driver.ts';

/** For opening and for reading; the writer waits for its turn without blocking the thread (sqlite-driver.ts). */
const BUSY_TIMEOUT_MS = 5_000;

/** Pages that the writer keeps, as far as it needs them; SQLite's own 2 MB hold the indexes of a few thousand events. */
const CACHE_KIB = 16_384;
/** Of 4 KiB: the log grows to 32 MB before its pages, of which many are the same by then, are written to the database. */
const CHECKPOINT_PAGES = 8_000;

const TYPES: Readonly<Record<string, string>> = { int: 'INTEGER', flag: 'INTEGER' };

export const sqliteDialect = (clock: () => EpochMs): Dialect => ({
  name: 'sqlite',
  now: async () => clock(),
  ...onConflict,
  insertForId: async (db, table, row) => {
    const result = await loose(db)
      .insertInto(table)
      .values(row as Record<string, unknown>)
      .executeTakeFirstOrThrow();
    if (result.insertId === undefined) throw new Error(`SQLite gave no id for a row of ${table}.`);
    return result.insertId;
  },
  // BEGIN IMMEDIATE has locked the whole database already.
  lockRow: async () => {},
  lockRows: async () => {},
  // JSON's integers are read as 64-bit ones.
  among: (column, values) => {
    const items = values.map((value) => (typeof value === 'bigint' ? value.toString() : JSON.stringify(value)));
    return sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${`[${items.join(',')}]`}))`;
  },
  parameter: () => '?',
  generation: async (db, shard) => {
    const query = db.selectFrom('t_ds_master').select('generation').where('shard_id', '=', BigInt(shard));
    return (await query.executeTakeFirst())?.generation ?? null;
  },
  // Likewise.
  oneAtATime: async () => {},
  // Transactions wait in line, so none gets in another's way.
  isTransient: () => false,
  hasTable: async (db, name) => (await db.introspection.getTables()).some((table) => table.name === name),
  withMigrationLock: (db, body) => db.transaction().execute(body),
  createTable: (name, table) => [tableSql(name, table), ...indexSql(name, table)],
  alterTable: alterTable(columnSql),
});

const columnSql = (name: string, kind: ColumnKind, table: Table): string => {
  if (kind === 'id') return `${name} INTEGER PRIMARY KEY AUTOINCREMENT`; // AUTOINCREMENT: an id is never given twice
  const base = kind.replace('?', '');
  const parent = table.parents?.[name];
  return [
    `${name} ${TYPES[base] ?? 'TEXT'}`,
    kind.endsWith('?') ? '' : ' NOT NULL',
    base === 'flag' ? ` CHECK (${name} IN (0, 1))` : '',
    parent === undefined ? '' : ` REFERENCES ${parent} (id) ON DELETE CASCADE`,
  ].join('');
};

const tableSql = (name: string, table: Table): string => {
  const lines = [
    ...Object.entries(table.columns).map(([column, kind]) => columnSql(column, kind, table)),
    ...(table.primaryKey === undefined ? [] : [`PRIMARY KEY (${table.primaryKey.join(', ')})`]),
    ...(table.unique ?? []).map((columns) => `UNIQUE (${columns.join(', ')})`),
  ];
  return `CREATE TABLE ${name} (\n  ${lines.join(',\n  ')}\n) STRICT`;
};

const indexSql = (name: string, table: Table): readonly string[] =>
  (table.index ?? []).map((columns, i) => `CREATE INDEX ${name}_${i + 1} ON ${name} (${columns.join(', ')})`);

export interface SqliteConnections {
  readonly writer: Db;
  /** Sees what was committed, and is never held up by a transaction of the writer. */
  readonly reader: Db;
}

/**
 * Opens a database file (made if it is missing), or `:memory:`, where reader and writer are one connection. WAL and synchronous FULL: a
 * commit that returned survives the machine's power; readers go on while the writer writes.
 */
export const openSqlite = (file: string, hook: StatementHook | null): SqliteConnections => {
  const pragmas = `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA foreign_keys = ON;`;
  const database = new DatabaseSync(file);
  database.exec(
    `${pragmas} PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA busy_timeout = 0;`,
  );
  const writer = new Kysely<Database>({
    dialect: sqliteKysely(new SqliteConnection(database, hook), 'BEGIN IMMEDIATE'),
  });
  if (file === ':memory:') return { writer, reader: writer };
  const reading = new DatabaseSync(file, { readOnly: true });
  reading.exec(pragmas);
  return {
    writer,
    reader: new Kysely<Database>({ dialect: sqliteKysely(new SqliteConnection(reading, null), 'BEGIN') }),
  };
};
