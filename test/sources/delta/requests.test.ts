import { describe, expect, test } from 'vitest';
import { createDeltaSource } from '../../../src/sources/delta/source.ts';
import { add, MadeUpTable } from './made-up.ts';

const source = createDeltaSource();

/** A table with two commits beside the first, its cursor, and nothing asked yet. */
async function tableAtRest(folderTimes: boolean, features: readonly string[] = []) {
  const table = new MadeUpTable().create({}, features);
  table.files.folderTimes = folderTimes;
  table.commit();
  table.commit();
  const { cursor } = await source.poll(table.ref, null);
  table.files.requests.length = 0;
  return { table, cursor };
}

describe('requests of a poll', () => {
  test('QUICK, at rest: one', async () => {
    const { table, cursor } = await tableAtRest(true);
    const idle = await source.poll(table.ref, cursor, { depth: 'QUICK' });
    expect(table.files.requests).toEqual(['stat _delta_log/00000000000000000003.json']);
    expect(idle).toMatchObject({ outcome: { kind: 'NONE' }, head: '2', dataHead: '2', commits: [], schema: null });
    expect(idle.cursor).toBe(cursor);
  });

  test('FULL, at rest, on a disk: three, and no listing', async () => {
    const { table, cursor } = await tableAtRest(true);
    const idle = await source.poll(table.ref, cursor);
    expect(table.files.requests).toEqual([
      'read _delta_log/00000000000000000002.json',
      'stat _delta_log/00000000000000000003.json',
      'stat _delta_log',
    ]);
    expect(idle).toMatchObject({ outcome: { kind: 'NONE' }, schema: { schemaId: '0' }, tableId: 'table-1' });
    expect(idle.cursor).toBe(cursor);
  });

  test('FULL, at rest, on an object store: two', async () => {
    const { table, cursor } = await tableAtRest(false);
    expect((await source.poll(table.ref, cursor)).cursor).toBe(cursor);
    expect(table.files.requests).toEqual(['read _delta_log/00000000000000000002.json', 'list _delta_log']);
  });

  test.each([true, false])('one new commit costs no listing on a disk (folder times: %s)', async (folderTimes) => {
    const { table, cursor } = await tableAtRest(folderTimes);
    table.commit();
    const poll = await source.poll(table.ref, cursor);
    expect(poll.outcome.kind).toBe('NEW');
    expect(table.files.requests.filter((request) => request.startsWith('list'))).toHaveLength(folderTimes ? 0 : 1);
    expect(table.files.requests.length).toBeLessThanOrEqual(7);
  });

  test('after it the folder is listed once more, then no longer', async () => {
    const { table, cursor } = await tableAtRest(true);
    table.commit();
    const grown = await source.poll(table.ref, cursor);
    const listed = await source.poll(table.ref, grown.cursor);
    table.files.requests.length = 0;
    await source.poll(table.ref, listed.cursor);
    expect(listed.outcome.kind).toBe('NONE');
    expect(table.files.requests).not.toContain('list _delta_log');
  });

  test('many new commits are listed, not probed for', async () => {
    const { table, cursor } = await tableAtRest(true);
    for (let left = 100; left > 0; left--) table.commit();
    const poll = await source.poll(table.ref, cursor);
    expect(poll.commits).toHaveLength(100);
    expect(table.files.requests.filter((request) => request.startsWith('stat')).length).toBeLessThan(15);
  });

  test('a large commit is not read again to see that it still stands', async () => {
    const table = new MadeUpTable().create();
    table.commit(Array.from({ length: 2_000 }, () => add()));
    const { cursor } = await source.poll(table.ref, null);
    table.files.requests.length = 0;
    expect((await source.poll(table.ref, cursor)).outcome.kind).toBe('NONE');
    expect(table.files.requests.filter((request) => request.startsWith('read'))).toEqual([]);
  });

  test('a managed table: what is staged is looked at too', async () => {
    const { table, cursor } = await tableAtRest(true, ['catalogManaged']);
    expect((await source.poll(table.ref, cursor, { depth: 'QUICK' })).outcome.kind).toBe('BEHIND');
    expect(table.files.requests).toHaveLength(3);
  });

  test('detect and isReadable', async () => {
    const { table } = await tableAtRest(true);
    expect(await source.detect(table.ref)).toBe(true);
    expect(table.files.requests).toHaveLength(1);
    table.drop();
    expect(await source.detect(table.ref)).toBe(false);
    table.files.requests.length = 0;
    table.create();
    expect(await source.isReadable(table.ref, '0')).toBe(true);
    expect(await source.isReadable(table.ref, '1')).toBe(false);
    expect(table.files.requests).toHaveLength(2);
    for (const id of ['', '-1', '01', '1e3', '9'.repeat(20)])
      expect(await source.isReadable(table.ref, id)).toBe(false);
  });
});
