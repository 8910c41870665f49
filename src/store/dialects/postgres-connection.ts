import { finished } from 'node:stream/promises';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { PoolClient, QueryConfig } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { SluiceError } from '../../core/errors.ts';
import type { StatementHook } from '../dialect.ts';
import { inWords } from './postgres-errors.ts';
import { COPY_VERB } from './postgres-rows.ts';

/** Statements that each session keeps prepared, by their text; what comes beyond that number is parsed each time. */
const PREPARED = new Map<string, string>();
const MOST_PREPARED = 500;

const preparedName = (sql: string): string | undefined => {
  const known = PREPARED.get(sql);
  if (known !== undefined) return known;
  if (PREPARED.size >= MOST_PREPARED) return undefined;
  const name = `s${PREPARED.size + 1}`;
  PREPARED.set(sql, name);
  return name;
};

const COUNTED: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** The database's time. A transaction's BEGIN brings it along, so that asking for it costs no way to the server and back. */
export const NOW = 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now';

let connections = 0;

/** One session of a pool. */
export class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #hook: StatementHook | null;
  readonly #number = ++connections;
  #broken = false;
  /** The answer to NOW in the open transaction. */
  #now: readonly unknown[] | null = null;

  constructor(client: PoolClient, hook: StatementHook | null) {
    this.#client = client;
    this.#hook = hook;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (query.sql === NOW && this.#now !== null) return { rows: this.#now as R[] };
    const values = query.parameters.map(toPostgres);
    if (query.sql.startsWith(COPY_VERB))
      return { rows: [], numAffectedRows: BigInt(await this.#copy(query.sql, values[0] ?? '')) };
    const name = values.length === 0 ? undefined : preparedName(query.sql);
    const { command, rowCount, rows } = await this.#send<R>({
      text: query.sql,
      values,
      ...(name === undefined ? {} : { name }),
    });
    if (!COUNTED.has(command)) return { rows };
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
  }

  async begin(sql: string): Promise<void> {
    const results: unknown = await this.#send({ text: `${sql}; ${NOW}` });
    this.#now = (results as readonly { readonly rows: readonly unknown[] }[])[1]?.rows ?? null;
  }

  /** The end of a transaction. A COMMIT that PostgreSQL answers with ROLLBACK (a statement had failed) is an error. */
  async end(sql: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    this.#now = null;
    const { command } = await this.#send({ text: sql });
    if (sql === 'COMMIT' && command !== 'COMMIT') throw new Error(`PostgreSQL answered COMMIT with ${command}.`);
  }

  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('The store reads its lists in pages; streaming is not used.');
  }

  /** Back to the pool, or, when a transaction may still be open in it, away. */
  release(): void {
    this.#client.release(this.#broken);
  }

  markBroken(): void {
    this.#broken = true;
  }

  /** How many rows went in. */
  async #copy(text: string, data: string): Promise<number> {
    return this.#around(text, async () => {
      const stream = this.#client.query(copyFrom(text));
      const done = finished(stream);
      stream.end(data);
      await done;
      return stream.rowCount;
    });
  }

  #send<R>(config: QueryConfig): Promise<{ command: string; rowCount: number | null; rows: R[] }> {
    return this.#around(config.text, () => this.#client.query<R & object>(config));
  }

  async #around<T>(text: string, send: () => Promise<T>): Promise<T> {
    this.#hook?.(text, 'BEFORE', this.#number);
    try {
      const result = await send();
      this.#hook?.(text, 'AFTER', this.#number);
      return result;
    } catch (error) {
      throw inWords(error);
    }
  }
}

/** As in SQLite, a number that is not exact is refused; and a NUL, which PostgreSQL's texts cannot hold. */
const toPostgres = (value: unknown): string | null => {
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    throw new TypeError(`The number ${value} cannot be stored exactly; use bigint or text.`);
  if (typeof value === 'number' || typeof value === 'bigint') return value.toString();
  if (value === null) return value;
  if (typeof value !== 'string') throw new TypeError(`A value of type ${typeof value} cannot be stored.`);
  if (value.includes('\0'))
    throw new SluiceError('BAD_REQUEST', 'A text holds a NUL character, which PostgreSQL cannot store: leave it out.');
  return value;
};
