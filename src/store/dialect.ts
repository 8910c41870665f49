import type { Insertable, Updateable } from 'kysely';
import type { Database, Db } from './database.ts';
import type { EpochMs } from '../core/time.ts';
import type { Table } from './table.ts';

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
  /** Inserts a row into a table with an `id` and says which it got. */
  insertForId<T extends keyof Database>(db: Db, table: T, row: Insertable<Database[T]>): Promise<bigint>;
  /** Keeps other transactions from this row until ours ends, so that what we decide from it still holds when we write. */
  lockRow<T extends keyof Database>(db: Db, table: T, column: keyof Database[T] & string, value: bigint): Promise<void>;
  /** Reads a shard's generation so that no other transaction can raise it before this one ends (facts/engines.md 1.4); null: no row. */
  generation(db: Db, shard: number): Promise<bigint | null>;
  /** Runs alone among all processes that migrate this database; in one transaction where DDL allows it. */
  withMigrationLock<T>(db: Db, body: (db: Db) => Promise<T>): Promise<T>;
  /** The statements that make a table. */
  createTable(name: string, table: Table): readonly string[];
}
