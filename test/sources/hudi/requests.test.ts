import { describe, expect, test } from 'vitest';
import { createHudiSource } from '../../../src/sources/hudi/source.ts';
import { MadeUpTable } from './made-up.ts';

const source = createHudiSource();

describe.each([1, 2] as const)('requests of a poll, layout %i', (layout) => {
  const timeline = layout === 1 ? '.hoodie' : '.hoodie/timeline';

  test('QUICK, at rest: one', async () => {
    const table = new MadeUpTable(layout);
    const id = table.commit();
    table.begin();
    const { cursor } = await source.poll(table.ref, null);
    table.files.requests.length = 0;
    const idle = await source.poll(table.ref, cursor, { depth: 'QUICK' });
    expect(table.files.requests).toEqual([`list ${timeline}`]);
    expect(idle).toMatchObject({ outcome: { kind: 'NONE' }, head: id, dataHead: id, commits: [] });
    expect(idle.cursor).toBe(cursor);
  });

  test('QUICK, a table that has never had a commit: also whether its timeline has moved', async () => {
    const table = new MadeUpTable(layout);
    const { cursor } = await source.poll(table.ref, null);
    table.files.requests.length = 0;
    expect((await source.poll(table.ref, cursor, { depth: 'QUICK' })).outcome.kind).toBe('NONE');
    expect(table.files.requests.toSorted()).toEqual([
      'list .hoodie',
      'list .hoodie/timeline',
      'read .hoodie/hoodie.properties',
    ]);
  });

  test('QUICK with a new commit, and without a cursor, is a whole look', async () => {
    const table = new MadeUpTable(layout);
    table.commit();
    const first = await source.poll(table.ref, null, { depth: 'QUICK' });
    expect(first).toMatchObject({ outcome: { kind: 'NEW' }, schema: { fields: [{ name: 'id' }, { name: 'amount' }] } });
    table.drop();
    table.tick();
    table.create();
    table.commit();
    table.commit();
    expect((await source.poll(table.ref, first.cursor, { depth: 'QUICK' })).outcome.kind).toBe('RECREATED');
  });

  test('FULL, at rest: the properties, the listing, the version that tells the schema', async () => {
    const table = new MadeUpTable(layout);
    table.commit();
    const id = table.commit();
    table.commit({ operation: 'CLUSTER', inserts: 2 }, 'replacecommit');
    const { cursor } = await source.poll(table.ref, null);
    table.files.requests.length = 0;
    const idle = await source.poll(table.ref, cursor);
    expect(table.files.requests.map((request) => request.replace(/_\d+/, ''))).toEqual([
      'read .hoodie/hoodie.properties',
      `list ${timeline}`,
      `read ${timeline}/${id}.commit`,
    ]);
    expect(idle.cursor).toBe(cursor);
  });

  test('a new commit costs itself and the time of its file', async () => {
    const table = new MadeUpTable(layout);
    table.commit();
    const { cursor } = await source.poll(table.ref, null);
    const id = table.commit();
    table.files.requests.length = 0;
    await source.poll(table.ref, cursor);
    expect(table.files.requests.map((request) => request.replace(/_\d+/, ''))).toEqual([
      'read .hoodie/hoodie.properties',
      `list ${timeline}`,
      `read ${timeline}/${id}.commit`,
      `stat ${timeline}/${id}.commit`,
    ]);
  });

  test('the archive is not read while what was seen last is still active', async () => {
    const table = new MadeUpTable(layout);
    for (let left = 10; left > 0; left--) table.commit();
    const { cursor } = await source.poll(table.ref, null);
    table.archive(3);
    table.files.requests.length = 0;
    const idle = await source.poll(table.ref, cursor);
    expect(idle.outcome.kind).toBe('NONE');
    expect(table.files.requests.filter((request) => request.includes('archive'))).toEqual([]);
  });
});
