import type { EpochMs } from '../core/time.ts';
import { type OnProblem, assemble } from './assemble.ts';
import type { StatementHook } from './dialects/sqlite-connection.ts';
import { openSqlite, sqliteDialect } from './dialects/sqlite.ts';
import { Engine } from './engine.ts';
import { refuseNewer, schemaVersion } from './migrate.ts';
import { SluiceError } from '../core/errors.ts';
import type { Store } from './store.ts';

export interface StoreOptions {
  /** `sqlite:` and a file, a file alone, or `:memory:`. */
  readonly url: string;
  /** The database's time, in milliseconds since 1970, where the database has no clock of its own (SQLite). */
  readonly clock: () => EpochMs;
  /** A text that never comes twice. */
  readonly nonce: () => string;
  /** SHA-256 in lower-case hex. */
  readonly sha256: (text: string) => string;
  /** Called before and after every statement of the writing connection, COMMIT included; what it throws ends the transaction. */
  readonly onStatement?: StatementHook;
  readonly onProblem?: OnProblem;
}

/**
 * Opens the database and refuses one that a newer Sluice has migrated (SCHEMA_TOO_NEW). It does not migrate: `admin.migrate()` does, and
 * must have run before anything else is called. Throws BAD_CONFIG for a kind of database that this version does not have.
 */
export const openStore = async (options: StoreOptions): Promise<Store> => {
  const { writer, reader } = openSqlite(fileOf(options.url), options.onStatement ?? null);
  const { sha256, nonce } = options;
  const engine = new Engine({ writer, reader, dialect: sqliteDialect(options.clock), sha256, nonce });
  try {
    refuseNewer(await schemaVersion(writer));
  } catch (error) {
    await engine.close();
    throw error;
  }
  return assemble(engine, options.onProblem ?? (() => {}));
};

const fileOf = (url: string): string => {
  if (url.startsWith('sqlite:')) return url.slice('sqlite:'.length);
  const scheme = /^([a-z]+):\/\//.exec(url)?.[1];
  if (scheme === undefined) return url;
  throw new SluiceError(
    'BAD_CONFIG',
    `This version stores in SQLite only: give sqlite:FILE as database.url, not ${scheme}://…`,
  );
};

export type { StatementHook };
