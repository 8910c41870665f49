import type { AssetKey } from '../src/core/asset/key.ts';

/** Workflows of 100 sensors, each for a table of its own; a run of one waits 100 times. */
export const WORKFLOWS = 10;
export const TASKS_EACH = 100;
/** A workflow of one sensor and its table, for which nobody else waits: what is released. */
export const SOLO = 'solo';

const keyAt = (number: number | string): AssetKey => `custom://bench/t${number}` as AssetKey;
export const SOLO_KEY = keyAt(SOLO);

const numbers = Array.from({ length: WORKFLOWS * TASKS_EACH }, (_, i) => i);

/** Without a location nobody reads a table: it lives from what is pushed. */
export const waitingAssets = () => [...numbers.map(keyAt), SOLO_KEY].map((key) => ({ key, pushMode: 'TRUST' }));

const sensor = (key: AssetKey, name: string) => ({
  name,
  type: 'ASSET_SENSOR',
  params: { groups: [{ group: 'g', all: [{ assetKey: key }] }], timeoutMinutes: 525_600 },
});

export const waitingWorkflows = (): readonly object[] => [
  ...Array.from({ length: WORKFLOWS }, (_, w) => ({
    name: `w${w}`,
    tasks: numbers.slice(w * TASKS_EACH, (w + 1) * TASKS_EACH).map((number) => sensor(keyAt(number), `s${number}`)),
  })),
  { name: SOLO, tasks: [sensor(SOLO_KEY, 's')] },
];
