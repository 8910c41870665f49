import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql, type SqlBool } from 'kysely';
import type { EpochMs } from '../../core/time.ts';
import type { Database, Db } from '../database.ts';
import type { Dialect, StatementHook } from '../dialect.ts';
import { loose, onConflict } from './on-conflict.ts';
import { SqliteConnection } from './sqlite-connection.ts';
import { sqliteKysely } from './sqlite-driver.ts';
import { listOfValues } from './sqlite-rows.ts';
import { tableStatements } from './table-statements.ts';

/** For opening and for reading; the writer waits for its turn without blocking the thread (sqlite-driver.ts). */
const BUSY_TIMEOUT_MS = 5_000;

/** Pages that the writer keeps, as far as it needs them; SQLite's own 2 MB hold the indexes of a few thousand events. */
const CACHE_KIB = 16_384;
/** Of 4 KiB: the log grows to 32 MB before its pages, of which many are the same by then, are written to the database. */
const CHECKPOINT_PAGES = 8_000;

/** Extended result codes: a primary key, a unique key. */
const UNIQUE_VIOLATIONS: ReadonlySet<unknown> = new Set([1555, 2067]);

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
  // A transaction that writes has the whole database to itself (BEGIN IMMEDIATE), so there is no row left to lock.
  lockRow: async () => {},
  locking: (query) => query,
  // JSON's integers are read as 64-bit ones.
  among: (column, values) => {
    const items = values.map((value) => (typeof value === 'bigint' ? value.toString() : JSON.stringify(value)));
    return sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${`[${items.join(',')}]`}))`;
  },
  manyRows: listOfValues,
  generation: async (db, shard) => {
    const query = db.selectFrom('t_ds_master').select('generation').where('shard_id', '=', BigInt(shard));
    return (await query.executeTakeFirst())?.generation ?? null;
  },
  // BEGIN IMMEDIATE lets no second transaction that writes begin.
  oneAtATime: async () => {},
  // Transactions wait in line, so none gets in another's way.
  isTransient: () => false,
  isDuplicate: (error) => UNIQUE_VIOLATIONS.has((error as { readonly errcode?: unknown } | null)?.errcode),
  hasTable: async (db, name) => (await db.introspection.getTables()).some((table) => table.name === name),
  withMigrationLock: (db, body) => db.transaction().execute(body),
  ...tableStatements({
    id: 'INTEGER PRIMARY KEY AUTOINCREMENT', // an id is never given twice
    numbers: { int: 'INTEGER', flag: 'INTEGER' },
    text: 'TEXT',
    unique: (_table, _n, columns) => `UNIQUE (${columns})`,
    // It would have to copy the whole table; looking for the parent costs it next to nothing, and it removes what is removed before anyway.
    unlink: () => [],
    ending: ' STRICT',
  }),
});

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
