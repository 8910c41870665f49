import { hostname } from 'node:os';
import { systemClock } from '../runtime/clock.ts';
import { sha256 } from '../runtime/hash.ts';
import { nonce } from '../runtime/id.ts';
import type { Log } from '../runtime/log.ts';
import { openStore, type StatementHook } from '../store/open.ts';
import type { AdminStore, Store } from '../store/store.ts';

const OURS = { clock: systemClock.now, nonce, sha256 };

/** Does something with a database that no server needs to run on, and closes it. Throws SCHEMA_TOO_NEW, BAD_CONFIG, DATABASE_UNREACHABLE. */
export const withDatabase = async <T>(url: string, work: (admin: AdminStore) => Promise<T>): Promise<T> => {
  const store = await openStore({ ...OURS, url });
  try {
    return await work(store.admin);
  } finally {
    await store.close();
  }
};

export interface OwnedDatabase {
  readonly url: string;
  readonly poolSize: number;
  /** How long to wait for a database server that cannot be reached. */
  readonly waitMs: number;
  readonly log: Log;
  readonly onStatement?: StatementHook;
}

/**
 * Opens the database that a server works on, migrated, with that server as its owner. Throws DATA_IN_USE while another server lives on it, and
 * what openStore throws.
 */
export const openOwnedStore = async ({ log, ...options }: OwnedDatabase): Promise<Store> => {
  const onProblem = (what: string, error: unknown): void => log.error(what, { error });
  const store = await openStore({ ...OURS, ...options, onProblem });
  try {
    await store.admin.takePresence();
    await store.admin.migrate();
    await store.admin.claimOwnership(`${hostname()}:${process.pid}`);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
};
