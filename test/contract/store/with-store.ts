import type { Store } from '../../../src/store/store.ts';
import { type Backend, type Database, START, clock, ready } from './support.ts';

export interface Given {
  readonly store: Store;
  readonly database: Database;
  readonly clock: typeof clock;
}

/** A test body over a fresh database whose store owns it; everything is closed and dropped afterwards. */
export const withStore = (backend: Backend, body: (given: Given) => Promise<void>) => async (): Promise<void> => {
  clock.time = START;
  const database = await backend.make();
  try {
    const store = await ready(database);
    try {
      await body({ store, database, clock });
    } finally {
      await store.close();
    }
  } finally {
    await database.drop();
  }
};
