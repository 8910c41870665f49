import {
  type DatabaseConnection,
  type Driver,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Dialect as KyselyDialect,
} from 'kysely';
import type { SqliteConnection } from './sqlite-connection.ts';

const BUSY_LIMIT_MS = 10_000;
const RETRY_MS = 2;
const SQLITE_BUSY = 5;

/** The low byte of `errcode` is SQLite's primary result code. */
const isBusy = (error: unknown): boolean =>
  error instanceof Error &&
  'errcode' in error &&
  typeof error.errcode === 'number' &&
  (error.errcode & 0xff) === SQLITE_BUSY;

/**
 * One connection, one user at a time: whoever comes while a transaction is open waits in line. Transactions begin IMMEDIATE: one that
 * began by reading could not be upgraded once somebody else wrote (SQLITE_BUSY_SNAPSHOT, which no busy timeout cures).
 */
class SqliteDriver implements Driver {
  readonly #connection: SqliteConnection;
  readonly #begin: string;
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  constructor(connection: SqliteConnection, begin: string) {
    this.#connection = connection;
    this.#begin = begin;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#taken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#taken = true;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else next(); // stays taken: nobody can slip in before the one who waited longest
  }

  /**
   * Waits for a writer in another process, or in another store of this one: never inside SQLite's own busy handler, which would block
   * the thread, and with it the other store's transaction that it waits for.
   */
  async beginTransaction(): Promise<void> {
    for (let waited = 0; ; waited += RETRY_MS) {
      try {
        return this.#connection.execute(this.#begin);
      } catch (error) {
        if (!isBusy(error) || waited >= BUSY_LIMIT_MS) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async commitTransaction(): Promise<void> {
    this.#connection.execute('COMMIT');
  }

  async rollbackTransaction(): Promise<void> {
    if (this.#connection.inTransaction) this.#connection.execute('ROLLBACK');
  }

  async destroy(): Promise<void> {
    this.#connection.close();
  }
}

/** Kysely over one open connection; reading connections begin their transactions DEFERRED, as they may not write. */
export const sqliteKysely = (connection: SqliteConnection, begin: 'BEGIN IMMEDIATE' | 'BEGIN'): KyselyDialect => ({
  createDriver: () => new SqliteDriver(connection, begin),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
});
