import { describe, expect, test } from 'vitest';
import type { Cursor, Poll } from '../../../src/core/asset/poll.ts';
import { isoTime } from '../../../src/core/time.ts';
import { createHudiSource } from '../../../src/sources/hudi/source.ts';
import { commitMetadata, MadeUpTable, type CommitParts } from './made-up.ts';

const source = createHudiSource();
const poll = (table: MadeUpTable, cursor: Cursor | null = null): Promise<Poll> => source.poll(table.ref, cursor);
const ids = ({ commits }: Poll): readonly string[] => commits.map(({ snapshotId }) => snapshotId);

describe('which commits show rows', () => {
  const cases: readonly [string, CommitParts, string, boolean][] = [
    ['an insert', { operation: 'INSERT', inserts: 1 }, 'commit', true],
    ['a bulk insert whose writer counts only files', { operation: 'BULK_INSERT', writes: 4 }, 'commit', true],
    ['an upsert of nothing', { operation: 'UPSERT' }, 'commit', false],
    ['an upsert that loses to newer rows: the file is copied', { operation: 'UPSERT', writes: 9 }, 'commit', false],
    ['a delete', { operation: 'DELETE', deletes: 1 }, 'deltacommit', true],
    ['a DELETE statement that matches nothing', { operation: 'DELETE_PREPPED' }, 'commit', false],
    ['a clustering', { operation: 'CLUSTER', inserts: 10 }, 'replacecommit', false],
    ['a compaction', { operation: 'COMPACT', updates: 3 }, 'commit', false],
    ['a compaction known by its flag alone', { operation: null, updates: 3, compacted: true }, 'commit', false],
    ['a log compaction', { operation: 'LOG_COMPACT', updates: 3 }, 'deltacommit', false],
    ['ALTER TABLE', { operation: 'ALTER_SCHEMA' }, 'commit', false],
    ['a partition dropped', { operation: 'DELETE_PARTITION', replaces: { 'dt=1': ['f'] } }, 'replacecommit', true],
    [
      'a partition dropped, its files not named',
      { operation: 'DELETE_PARTITION', replaces: { 'dt=1': [] } },
      'replacecommit',
      true,
    ],
    ['an overwrite of nothing by nothing', { operation: 'INSERT_OVERWRITE', replaces: {} }, 'replacecommit', false],
    ['an overwrite by nothing', { operation: 'INSERT_OVERWRITE', replaces: { 'dt=1': ['f'] } }, 'replacecommit', true],
    ['a write of before operations had names', { operation: null, updates: 2 }, 'commit', true],
    ['an operation that is new', { operation: 'SOMETHING', inserts: 2 }, 'commit', true],
    ['an action that is new', { operation: 'SOMETHING', inserts: 2 }, 'supercommit', true],
  ];

  test.each(cases)('%s', async (_, parts, action, dataChange) => {
    for (const layout of [1, 2] as const) {
      const table = new MadeUpTable(layout);
      const id = table.commit(parts, action, action === 'supercommit' ? 'commit' : action);
      const told = await poll(table);
      expect(told.commits).toMatchObject([
        { snapshotId: id, operation: parts.operation ?? 'UNKNOWN', dataChange, action },
      ]);
      expect(told.dataHead).toBe(dataChange ? id : null);
    }
  });

  test('a merge-on-read table of before operations had names: a commit is a compaction', async () => {
    const table = new MadeUpTable(1, { 'hoodie.table.type': 'MERGE_ON_READ' });
    const data = table.commit({ operation: null, updates: 1 }, 'deltacommit');
    const compaction = table.commit({ operation: null, updates: 1 }, 'commit');
    expect(await poll(table)).toMatchObject({ head: compaction, dataHead: data });
  });

  test('an action that began as a compaction is one, whatever its metadata says', async () => {
    const table = new MadeUpTable(2);
    table.commit({ operation: null, updates: 1 }, 'commit', 'compaction');
    expect((await poll(table)).commits).toMatchObject([{ operation: 'COMPACT', dataChange: false }]);
  });

  test('a commit and a clean of one time are two (Hudi 0.5)', async () => {
    const table = new MadeUpTable(1, { 'hoodie.table.version': '0' });
    table.put('20200210090618.commit', JSON.stringify(commitMetadata({ operation: null, inserts: 1 })));
    table.put('20200210090618.clean', 'Obj');
    expect(ids(await poll(table))).toEqual(['20200210090618']);
  });

  test('event time, partitions, backfill', async () => {
    const table = new MadeUpTable();
    table.commit({
      inserts: 1,
      partition: 'dt=d1',
      eventTime: 1_760_000_200_000,
      extra: { '_sluice.backfill': 'true' },
    });
    expect((await poll(table)).commits).toMatchObject([
      { watermark: 1_760_000_200_000n, partitions: ['dt=d1'], backfill: true },
    ]);
  });
});

describe('clocks and zones', () => {
  const times = ({ commits }: Poll): readonly string[] => commits.map(({ commitTime }) => isoTime(commitTime));

  test('a writer whose clock is an hour behind loses no commit', async () => {
    for (const layout of [1, 2] as const) {
      const table = new MadeUpTable(layout);
      const first = table.commit();
      const one = await poll(table);
      table.offset = -3_600_000;
      const second = table.commit();
      const two = await poll(table, one.cursor);
      expect(two.commits).toMatchObject([{ snapshotId: second, readAs: first }]);
      expect(two.head).toBe(first);
    }
  });

  test('a second writer in another zone: its time is told by what was there before, or by its file', async () => {
    const table = new MadeUpTable(2);
    table.commit();
    const one = await poll(table);
    table.offset = 8 * 3_600_000;
    table.commit();
    table.files.modifiedAt = BigInt(table.now);
    const two = await poll(table, one.cursor);
    expect(times(two)).toEqual([isoTime(BigInt(table.now))]);
  });
});
