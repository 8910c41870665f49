import { describe, expect, test } from 'vitest';
import { judge, type Evidence } from '../../../src/sources/paimon/judge.ts';
import type { Delta } from '../../../src/sources/paimon/manifest.ts';
import { hiddenRows, parseSchema, type PaimonSchema } from '../../../src/sources/paimon/schema.ts';
import type { Snapshot } from '../../../src/sources/paimon/snapshot.ts';

function schemaOf(options: Readonly<Record<string, string>>, primaryKeys: readonly string[] = ['id']): PaimonSchema {
  const parsed = parseSchema(Buffer.from(JSON.stringify({ id: 0, fields: [], primaryKeys, options })), 0n);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
}

const commit = (commitKind: string, deltaRecords: bigint | null, more: Partial<Snapshot> = {}): Snapshot => ({
  id: 9n,
  schemaId: 0n,
  commitKind,
  timeMillis: 0n,
  watermark: null,
  totalRecords: null,
  deltaRecords,
  deltaManifestList: 'list',
  indexManifest: null,
  backfill: false,
  fingerprint: '',
  ...more,
});

const evidence = (schema: PaimonSchema, delta: Delta | null, more: Partial<Evidence> = {}): Evidence => ({
  schema: () => Promise.resolve(schema),
  delta: () => Promise.resolve(delta),
  deletionVectors: (index) => Promise.resolve(index === null ? '' : index),
  before: () => Promise.resolve(null),
  partitions: () => Promise.resolve(null),
  ...more,
});

const PLAIN = schemaOf({});
const VECTORS = schemaOf({ 'deletion-vectors.enabled': 'true' });
const delta = (entries: number, visible: number | null, lifted: number | null): Delta => ({
  entries,
  visible,
  promised: visible === null || lifted === null ? null : entries - visible - lifted,
  lifted,
});

describe('an ordinary table', () => {
  test.each([
    ['rows added', commit('APPEND', 3n), null, true],
    ['an UPDATE that rewrites as many rows as it takes away', commit('APPEND', 0n), delta(2, 2, 0), true],
    ['an empty commit', commit('APPEND', 0n), delta(0, 0, 0), false],
    ['an empty commit, ORC manifests', commit('APPEND', 0n), delta(0, null, null), false],
    ['a snapshot without counts (Table Store 0.3)', commit('APPEND', null), delta(1, 1, 0), true],
    ['an OVERWRITE by as many rows', commit('OVERWRITE', 0n), delta(2, 2, 0), true],
    ['TRUNCATE of an empty table', commit('OVERWRITE', 0n), delta(0, 0, 0), false],
    ['a compaction', commit('COMPACT', -3n), delta(4, 4, 0), false],
    ['statistics', commit('ANALYZE', 0n), null, false],
  ])('%s', async (_name, snapshot, found, dataChange) => {
    expect(await judge(snapshot, evidence(PLAIN, found))).toEqual({ dataChange, pendingData: false, guessed: false });
  });

  test('a count of 0 without readable manifests errs towards new data, and says so', async () => {
    expect(await judge(commit('APPEND', 0n), evidence(PLAIN, null))).toMatchObject({ dataChange: true, guessed: true });
  });
});

describe('an append table with deletion vectors', () => {
  const append = schemaOf({ 'deletion-vectors.enabled': 'true' }, []);
  const judged = async (index: string | null, before: string | null): Promise<boolean> => {
    const previous = commit('APPEND', 1n, { id: 8n, indexManifest: before });
    const found = evidence(append, delta(0, 0, 0), { before: () => Promise.resolve(previous) });
    return (await judge(commit('OVERWRITE', 0n, { indexManifest: index }), found)).dataChange;
  };

  test('a DELETE that only writes vectors is data; the same vectors again are not', async () => {
    expect(await judged('a', null)).toBe(true);
    expect(await judged('a', 'a')).toBe(false);
    expect(await judged('b', 'a')).toBe(true);
    expect(await judged(null, null)).toBe(false);
  });

  test('it hides nothing: there are no levels', () => {
    expect(hiddenRows(append)).toEqual({ levelZero: false, postponed: false });
  });
});

describe('a table whose batch reads skip level 0', () => {
  test.each([
    ['an APPEND shows nobody anything', commit('APPEND', 3n), delta(1, 0, 0), false, true],
    ['an empty APPEND promises nothing', commit('APPEND', 0n), delta(0, 0, 0), false, false],
    ['an OVERWRITE that takes visible files away', commit('OVERWRITE', -1n), delta(2, 1, 1), true, false],
    ['a COMPACT that lifts files', commit('COMPACT', 0n), delta(2, 1, 1), true, false],
    ['a COMPACT of lifted files', commit('COMPACT', -2n), delta(3, 3, 0), false, false],
    ['an APPEND, ORC manifests', commit('APPEND', 3n), delta(1, null, null), false, true],
  ])('%s', async (_name, snapshot, found, dataChange, pendingData) => {
    expect(await judge(snapshot, evidence(VECTORS, found))).toEqual({ dataChange, pendingData, guessed: false });
  });

  const judgedBy = async (...kinds: readonly string[]): Promise<unknown> => {
    const before = (id: bigint): Promise<Snapshot | null> => {
      const kind = kinds[Number(9n - id)];
      return Promise.resolve(kind === undefined ? null : commit(kind, kind === 'APPEND' ? 1n : 0n, { id: id - 1n }));
    };
    const { dataChange, guessed } = await judge(
      commit('COMPACT', 0n),
      evidence(VECTORS, delta(2, null, null), { before }),
    );
    return guessed ? 'guessed' : dataChange;
  };

  test('without readable entries a COMPACT lifts what was written since the COMPACT before it', async () => {
    expect(await judgedBy('APPEND', 'COMPACT')).toBe(true);
    expect(await judgedBy('ANALYZE', 'APPEND')).toBe(true);
    expect(await judgedBy('COMPACT', 'APPEND')).toBe(false);
    expect(await judgedBy('ANALYZE')).toBe('guessed');
    expect(await judgedBy()).toBe('guessed');
  });
});

test.each([
  [{ 'deletion-vectors.enabled': 'true' }, true],
  [{ 'deletion-vectors.enabled': 'true', 'deletion-vectors.merge-on-read': 'true' }, false],
  [{ 'merge-engine': 'first-row' }, true],
  [{ 'merge-engine': 'partial-update' }, false],
  [{ 'deletion-vectors.enabled': 'true', 'batch-scan-mode': 'compact' }, false],
])('%j hides level 0: %s', (options, levelZero) => {
  expect(hiddenRows(schemaOf(options))).toEqual({ levelZero, postponed: false });
});

test('a table with postponed buckets hides what has no bucket yet', () => {
  expect(hiddenRows(schemaOf({ bucket: '-2' }))).toEqual({ levelZero: false, postponed: true });
});
