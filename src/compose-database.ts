import { systemClock } from './runtime/clock.ts';
import { sha256 } from './runtime/hash.ts';
import { nonce } from './runtime/id.ts';
import { openStore } from './store/open.ts';
import type { AdminStore } from './store/store.ts';

/** Does something with a database that no server needs to run on, and closes it. Throws SCHEMA_TOO_NEW, BAD_CONFIG. */
export const withDatabase = async <T>(url: string, work: (admin: AdminStore) => Promise<T>): Promise<T> => {
  const store = await openStore({ url, clock: systemClock.now, nonce, sha256 });
  try {
    return await work(store.admin);
  } finally {
    await store.close();
  }
};
