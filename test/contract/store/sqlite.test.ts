import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { openStore } from '../../../src/store/open.ts';
import { storeContract } from './suites.ts';
import { type Backend, type OpenOptions, clock, nonce, sha256 } from './support.ts';

const open = (url: string, options: OpenOptions) => openStore({ url, clock: clock.now, nonce, sha256, ...options });

const inFile: Backend = {
  name: 'SQLite in a file',
  shared: true,
  make: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-store-'));
    return {
      open: (options = {}) => open(`sqlite:${join(folder, 'sluice.db')}`, options),
      drop: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};

const inMemory: Backend = {
  name: 'SQLite in memory',
  shared: false,
  make: async () => ({ open: (options = {}) => open(':memory:', options), drop: async () => {} }),
};

describe.each([inFile, inMemory])('store contract: $name', (backend) => storeContract(backend));
