import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { StatementHook } from '../dialect.ts';

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

const CACHED_STATEMENTS = 500;

/** One SQLite connection. Statements are synchronous and kept prepared; integers are read as bigint. */
export class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, Prepared>();
  readonly #hook: StatementHook | null;

  constructor(database: DatabaseSync, hook: StatementHook | null) {
    this.#database = database;
    this.#hook = hook;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#hook?.(query.sql, 'BEFORE', 0);
    const { statement, returnsRows } = this.#prepare(query.sql);
    const values = query.parameters.map(toSqlite);
    if (returnsRows) {
      const rows = statement.all(...values) as unknown as R[];
      this.#hook?.(query.sql, 'AFTER', 0);
      return { rows };
    }
    const { changes, lastInsertRowid } = statement.run(...values);
    this.#hook?.(query.sql, 'AFTER', 0);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  /** Transaction control and pragmas. */
  execute(sql: string): void {
    this.#hook?.(sql, 'BEFORE', 0);
    this.#database.exec(sql);
    this.#hook?.(sql, 'AFTER', 0);
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('The store reads its lists in pages; streaming is not used.');
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  #prepare(sql: string): Prepared {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    if (this.#statements.size >= CACHED_STATEMENTS) {
      const oldest = this.#statements.keys().next();
      if (oldest.done === false) this.#statements.delete(oldest.value);
    }
    const statement = this.#database.prepare(sql);
    statement.setReadBigInts(true);
    const prepared = { statement, returnsRows: statement.columns().length > 0 };
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

/** A whole number is bound as an integer: bound as a JS number it would be a REAL, and a REAL beyond 2^53 is rounded. */
const toSqlite = (value: unknown): SQLInputValue => {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === 'number')
    throw new TypeError(`The number ${value} cannot be stored exactly; use bigint or text.`);
  if (typeof value === 'bigint' || typeof value === 'string' || value === null) return value;
  throw new TypeError(`A value of type ${typeof value} cannot be stored.`);
};
