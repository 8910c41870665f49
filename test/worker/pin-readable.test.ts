import { expect, test } from 'vitest';
import type { AssetKey } from '../../src/core/asset/key.ts';
import type { Files } from '../../src/files/files.ts';
import { simulatedClock } from '../../src/runtime/clock.ts';
import type { Source, TableRef } from '../../src/sources/source.ts';
import type { PinFacts } from '../../src/store/store.ts';
import { createPinCheck } from '../../src/worker/pin-readable.ts';

const files = {} as Files;

const pinOf = (changes: Partial<PinFacts> = {}): PinFacts => ({
  assetKey: 'hudi://ods/orders@dev' as AssetKey,
  alias: 'orders',
  pin: { snapshotId: '7', epoch: 1, ordinal: 7 },
  version: null,
  location: '/w/orders',
  previousSnapshotId: null,
  incremental: false,
  incrementalReason: null,
  ...changes,
});

type Answer = (table: TableRef, snapshotId: string) => Promise<boolean>;

/** A check over a table that gives this answer; 'NO_SOURCE' and 'NO_FILES': nothing reads its format, or its location. */
const checkOf = (answer: Answer | 'NO_SOURCE' | 'NO_FILES') => {
  const clock = simulatedClock();
  const check = createPinCheck({
    sourceOf: async () => (answer === 'NO_SOURCE' ? undefined : ({ isReadable: answer } as unknown as Source)),
    filesOf: async () => (answer === 'NO_FILES' ? undefined : files),
    clock,
    limitMs: 1_000,
  });
  return { clock, check };
};

test('the table is asked for the pinned version under the name that a reader must use', async () => {
  const asked: unknown[] = [];
  const { check, clock } = checkOf(async (table, snapshotId) => {
    asked.push([table, snapshotId]);
    return false;
  });
  const version = { readAs: '20261130' } as PinFacts['version'];
  expect([await check(pinOf()), await check(pinOf({ version }))]).toEqual([false, false]);
  const table = { location: '/w/orders', branch: 'dev', files };
  expect(asked).toEqual([
    [table, '7'],
    [table, '20261130'],
  ]);
  expect(clock.timers).toBe(0);
});

test.each([
  ['fails', async () => Promise.reject(new Error('no such host'))],
  ['is of a format that nothing reads', 'NO_SOURCE'],
  ['lies where nothing reads', 'NO_FILES'],
] as const)('a table that %s counts as readable', async (_, answer) => {
  const { check, clock } = checkOf(answer);
  expect(await check(pinOf())).toBe(true);
  expect(clock.timers).toBe(0);
});

test('a pushed version without a location counts as readable', async () => {
  const { check } = checkOf(async () => false);
  expect(await check(pinOf({ location: null }))).toBe(true);
});

test('a table that does not answer in time counts as readable', async () => {
  const { check, clock } = checkOf(() => new Promise(() => {}));
  const readable = check(pinOf());
  clock.advance(1_000);
  expect(await readable).toBe(true);
});
