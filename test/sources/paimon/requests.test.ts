import { describe, expect, test } from 'vitest';
import { createPaimonSource } from '../../../src/sources/paimon/source.ts';
import { MadeUpTable } from './made-up.ts';

const source = createPaimonSource();

describe('requests of a poll', () => {
  test('QUICK, at rest: one', async () => {
    const table = new MadeUpTable().create();
    table.commit();
    const { cursor } = await source.poll(table.ref, null);
    table.files.requests.length = 0;
    const idle = await source.poll(table.ref, cursor, { depth: 'QUICK' });
    expect(table.files.requests).toEqual(['stat /w/t/snapshot/snapshot-2']);
    expect(idle).toMatchObject({ outcome: { kind: 'NONE' }, head: '1', dataHead: '1', commits: [] });
    expect(idle.cursor).toBe(cursor);
  });

  test('QUICK, a table that has never had a commit: one', async () => {
    const table = new MadeUpTable().create();
    const { cursor } = await source.poll(table.ref, null);
    table.files.requests.length = 0;
    expect((await source.poll(table.ref, cursor, { depth: 'QUICK' })).outcome.kind).toBe('NONE');
    expect(table.files.requests).toEqual(['list /w/t/snapshot']);
  });

  test('QUICK with a new commit, and without a cursor, is a whole look', async () => {
    const table = new MadeUpTable().create();
    table.commit();
    const first = await source.poll(table.ref, null, { depth: 'QUICK' });
    expect(first).toMatchObject({ outcome: { kind: 'NEW' }, schema: { schemaId: '0' } });
    table.rollback(0);
    table.drop();
    table.create();
    table.commit();
    table.commit();
    expect((await source.poll(table.ref, first.cursor, { depth: 'QUICK' })).outcome.kind).toBe('RECREATED');
  });

  test('FULL, at rest: three listings, the next snapshot, the cursor, the schema, the tags; with stamps no tag', async () => {
    const table = new MadeUpTable().create();
    table.commit();
    table.tag('a', 1);
    table.tag('b', 1);
    table.files.stamps = true;
    const { cursor } = await source.poll(table.ref, null);
    table.files.requests.length = 0;
    await source.poll(table.ref, cursor);
    expect(table.files.requests.map((request) => request.replace('/w/t/', '')).sort()).toEqual([
      'list schema',
      'list snapshot',
      'list tag',
      'read schema/schema-0',
      'read snapshot/snapshot-1',
      'stat snapshot/snapshot-2',
    ]);
    table.files.stamps = false;
    table.files.requests.length = 0;
    await source.poll(table.ref, cursor);
    expect(table.files.requests).toHaveLength(8);
  });

  test('a new commit costs itself and one look back', async () => {
    const table = new MadeUpTable().create();
    table.commit();
    const { cursor } = await source.poll(table.ref, null);
    table.commit();
    table.files.requests.length = 0;
    await source.poll(table.ref, cursor);
    expect(table.files.requests.filter((request) => request.includes('snapshot-'))).toEqual([
      'stat /w/t/snapshot/snapshot-3',
      'read /w/t/snapshot/snapshot-1',
      'read /w/t/snapshot/snapshot-2',
      'read /w/t/snapshot/snapshot-1',
    ]);
  });
});
