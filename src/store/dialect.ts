import type { Insertable, RawBuilder, SelectQueryBuilder, SqlBool, Updateable } from 'kysely';
import type { Database, Db } from './database.ts';
import type { EpochMs } from '../core/time.ts';
import type { ColumnKind, Table, TableChange } from './table.ts';

/**
 * Called around every statement of the connections that write, transaction control included (`BEGIN…`, `COMMIT`): a test dies here.
 * `connection` tells transactions apart that are open at the same time.
 */
export type StatementHook = (sql: string, when: 'BEFORE' | 'AFTER', connection: number) => void;

/** Rows of known columns, and the text that stands for them in a statement: VALUES, or a SELECT. */
export interface ManyRows {
  /** Rows in one statement, largest first; fewer than the last, as many as there are. */
  readonly sizes: readonly number[];
  /** Is the text the same for any number of rows? */
  readonly sameText: boolean;
  text(kinds: readonly ColumnKind[], rows: number): string;
  /** The parameters of that text. Throws TypeError for a value that cannot be stored exactly. */
  values(rows: readonly Readonly<Record<string, unknown>>[], columns: readonly string[]): unknown[];
  /** The database's own way to insert rows of which none may collide, where it has a faster one; null: it has none. */
  readonly load: LoadRows | null;
}

export interface LoadRows {
  text(table: string, columns: readonly string[]): string;
  /** What the text's one parameter is. Throws TypeError for a value that cannot be stored exactly. */
  data(rows: readonly Readonly<Record<string, unknown>>[], columns: readonly string[]): string;
}

/**
 * Where databases differ; one file in dialects/ each. Everything else in the store is one code: it uses no RETURNING, never catches a
 * duplicate inside a transaction (PostgreSQL's would be dead), compares and sets by the number of rows changed, and reads integers as bigint.
 */
export interface Dialect {
  readonly name: string;
  /** The database's time; SQLite has no clock of its own, so there it is the injected one. */
  now(db: Db): Promise<EpochMs>;
  /** Inserts what does not collide with a unique key; how many rows went in. Rows are split where a statement cannot hold them all. */
  insertIgnore<T extends keyof Database>(db: Db, table: T, rows: readonly Insertable<Database[T]>[]): Promise<number>;
  /** Inserts a row, or changes the columns of `set` in the one that has the same values in `keys` (which must be a unique key). */
  upsert<T extends keyof Database>(
    db: Db,
    table: T,
    row: Insertable<Database[T]>,
    keys: readonly (keyof Database[T] & string)[],
    set: Updateable<Database[T]>,
  ): Promise<void>;
  /**
   * Inserts rows; where one with the same `key` (a primary key) is there, the lower of the two values of `column` stays. Either way the row is
   * ours until the transaction ends: whoever wants to take it away waits, and then sees what else we wrote.
   */
  insertOrLower<T extends keyof Database>(
    db: Db,
    table: T,
    rows: readonly Insertable<Database[T]>[],
    key: keyof Database[T] & string,
    column: keyof Database[T] & string,
  ): Promise<void>;
  /** Inserts a row into a table with an `id` and says which it got. */
  insertForId<T extends keyof Database>(db: Db, table: T, row: Insertable<Database[T]>): Promise<bigint>;
  /** Keeps other transactions from this row until ours ends, so that what we decide from it still holds when we write. */
  lockRow<T extends keyof Database>(db: Db, table: T, column: keyof Database[T] & string, value: bigint): Promise<void>;
  /** The same for the rows that a query finds, in the order in which it gives them; it gives them as they are once they are locked. */
  locking<DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): SelectQueryBuilder<DB, TB, O>;
  /** Is the column (`name` or `table.name`) one of these values? One text, and so one prepared statement, however many they are. */
  among(column: string, values: readonly bigint[] | readonly string[]): RawBuilder<SqlBool>;
  /** How many rows are handed to one statement. */
  readonly manyRows: ManyRows;
  /** Reads a shard's generation so that no other transaction can raise it before this one ends (facts/engines.md 1.4); null: no row. */
  generation(db: Db, shard: number): Promise<bigint | null>;
  /** Lets only one transaction at a time go on from here until it ends, of all that ask with the same word. */
  oneAtATime(db: Db, what: string): Promise<void>;
  /** Did the database undo the transaction because another got in its way, so that the same once more may well succeed? */
  isTransient(error: unknown): boolean;
  /** Did a statement fail because a row of these unique values is there? The transaction must be undone. */
  isDuplicate(error: unknown): boolean;
  hasTable(db: Db, name: string): Promise<boolean>;
  /** Runs alone among all processes that migrate this database; in one transaction where DDL allows it. */
  withMigrationLock<T>(db: Db, body: (db: Db) => Promise<T>): Promise<T>;
  /** The statements that make a table. */
  createTable(name: string, table: Table): readonly string[];
  /** The statements that add columns and indexes to a table; `version` is the migration's, which makes their names its own. */
  alterTable(name: string, change: TableChange, version: number): readonly string[];
}
