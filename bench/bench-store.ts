import { randomUUID } from 'node:crypto';
import { databaseFor } from './database.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { sha256 } from '../src/runtime/hash.ts';
import { openStore, type StatementHook } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';

/** A migrated database file, or what stands for it (database.ts), with a store that owns it, as a server opens it. */
export const openBenchStore = async (file: string, onStatement?: StatementHook): Promise<Store> => {
  const hooks = onStatement === undefined ? {} : { onStatement };
  const store = await openStore({
    url: await databaseFor(file),
    clock: systemClock.now,
    nonce: randomUUID,
    sha256,
    onProblem: (what, error) => {
      throw new Error(what, { cause: error });
    },
    ...hooks,
  });
  await store.admin.migrate();
  await store.admin.claimOwnership('bench');
  return store;
};
