import { SluiceError } from '../core/errors.ts';
import type { EpochMs } from '../core/time.ts';
import { assemble } from './assemble.ts';
import type { StatementHook } from './dialect.ts';
import type { OnProblem } from './each-alone.ts';
import { Engine, type EngineOptions } from './engine.ts';
import { refuseNewer, schemaVersion } from './migrations/migrate.ts';
import type { Store } from './store.ts';

export interface StoreOptions {
  /** `sqlite:` and a file, a file alone, `:memory:`, or `postgres://…`. */
  readonly url: string;
  /** The database's time, in milliseconds since 1970, where the database has no clock of its own (SQLite). */
  readonly clock: () => EpochMs;
  /** A text that never comes twice. */
  readonly nonce: () => string;
  /** SHA-256 in lower-case hex. */
  readonly sha256: (text: string) => string;
  /** How many sessions a database server gives us beside the master's own. Default 8. */
  readonly poolSize?: number;
  /** How long to wait for a database server that cannot be reached, in ms. Default 0. */
  readonly waitMs?: number;
  /** Called before and after every statement that may write, COMMIT included; what it throws ends the transaction. */
  readonly onStatement?: StatementHook;
  /** `clock` also where the database has a clock of its own: for tests. */
  readonly ignoreDatabaseClock?: boolean;
  readonly onProblem?: OnProblem;
}

type Opened = Omit<EngineOptions, 'sha256' | 'nonce'>;

/**
 * Opens the database and refuses one that a newer Sluice has migrated (SCHEMA_TOO_NEW). It does not migrate: `admin.migrate()` does, and
 * must have run before anything else is called. Throws BAD_CONFIG for a kind of database that this version does not have, or one that cannot
 * be used as it is, DATABASE_UNREACHABLE.
 */
export const openStore = async (options: StoreOptions): Promise<Store> => {
  const onProblem = options.onProblem ?? (() => {});
  const opened = isPostgres(options.url) ? await postgres(options, onProblem) : await sqlite(options);
  const { sha256, nonce } = options;
  const engine = new Engine({ ...opened, sha256, nonce });
  try {
    refuseNewer(await schemaVersion(opened.writer, opened.dialect));
  } catch (error) {
    await engine.close();
    throw error;
  }
  return assemble(engine, onProblem);
};

const isPostgres = (url: string): boolean => /^postgres(ql)?:\/\//.test(url);

// A back is loaded when it is used: a command that needs SQLite alone does not wait for the other's driver.

const sqlite = async (options: StoreOptions): Promise<Opened> => {
  const file = fileOf(options.url);
  const { openSqlite, sqliteDialect } = await import('./dialects/sqlite.ts');
  return { ...openSqlite(file, options.onStatement ?? null), dialect: sqliteDialect(options.clock) };
};

const POOL_SIZE = 8;

const postgres = async (options: StoreOptions, onProblem: OnProblem): Promise<Opened> => {
  const [{ openPostgres }, { postgresDialect }] = await Promise.all([
    import('./dialects/postgres-open.ts'),
    import('./dialects/postgres.ts'),
  ]);
  const connections = await openPostgres({
    url: options.url,
    hook: options.onStatement ?? null,
    poolSize: options.poolSize ?? POOL_SIZE,
    waitMs: options.waitMs ?? 0,
    onWait: (error) => onProblem('waiting for the database', error),
  });
  const dialect = postgresDialect(options.ignoreDatabaseClock === true ? options.clock : undefined);
  return { ...connections, dialect };
};

const fileOf = (url: string): string => {
  if (url.startsWith('sqlite:')) return url.slice('sqlite:'.length);
  const scheme = /^([a-z]+):\/\//.exec(url)?.[1];
  if (scheme === undefined) return url;
  throw new SluiceError(
    'BAD_CONFIG',
    `This version stores in SQLite or PostgreSQL: give sqlite:FILE or postgres://… as database.url, not ${scheme}://…`,
  );
};

export type { StatementHook };
