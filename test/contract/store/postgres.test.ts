import { openStore } from '../../../src/store/open.ts';
import { describePostgres, makeDatabase } from '../../support/postgres.ts';
import { type Backend, clock, nonce, sha256 } from './support.ts';
import { storeContract } from './suites.ts';

const postgres: Backend = {
  name: 'PostgreSQL',
  shared: true,
  make: async () => {
    const { url, drop } = await makeDatabase();
    return {
      open: (options = {}) =>
        openStore({ url, clock: clock.now, nonce, sha256, ignoreDatabaseClock: true, poolSize: 4, ...options }),
      drop,
    };
  },
};

describePostgres('store contract: PostgreSQL', () => storeContract(postgres));
