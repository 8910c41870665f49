import {
  type DatabaseConnection,
  type Dialect as KyselyDialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { StatementHook } from '../dialect.ts';
import { PostgresConnection } from './postgres-connection.ts';
import { inWords } from './postgres-errors.ts';

/** How transactions over a pool begin. */
export type Begin = 'BEGIN ISOLATION LEVEL READ COMMITTED' | 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

export interface PostgresDriverOptions {
  readonly pool: Pool;
  readonly begin: Begin;
  readonly hook: StatementHook | null;
  /** Before a session is used. */
  readonly onReserve?: (client: PoolClient) => Promise<void>;
}

class PostgresDriver implements Driver {
  readonly #options: PostgresDriverOptions;

  constructor(options: PostgresDriverOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const { pool, hook, onReserve } = this.#options;
    const client = await pool.connect().catch((error: unknown) => {
      throw inWords(error);
    });
    try {
      await onReserve?.(client);
    } catch (error) {
      client.release(true);
      throw inWords(error);
    }
    return new PostgresConnection(client, hook);
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    ours(connection).release();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await ours(connection).begin(this.#options.begin);
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await ours(connection).end('COMMIT');
  }

  /** A rollback that fails must not hide the error that led to it: the session is thrown away, and its transaction with it. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await ours(connection).end('ROLLBACK');
    } catch {
      ours(connection).markBroken();
    }
  }

  /** Two drivers share a pool, so whoever opened it ends it. */
  async destroy(): Promise<void> {}
}

const ours = (connection: DatabaseConnection): PostgresConnection => {
  if (connection instanceof PostgresConnection) return connection;
  throw new Error('This driver was handed a connection of another one.');
};

export const postgresKysely = (options: PostgresDriverOptions): KyselyDialect => ({
  createDriver: () => new PostgresDriver(options),
  createQueryCompiler: () => new PostgresQueryCompiler(),
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
});
