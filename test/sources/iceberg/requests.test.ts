import { describe, expect, test } from 'vitest';
import { createIcebergSource } from '../../../src/sources/iceberg/source.ts';
import { MadeUpTable } from './made-up.ts';

const source = createIcebergSource();
const askedOf = (table: MadeUpTable): string[] =>
  table.files.requests.splice(0).map((request) => request.replaceAll('/w/t/metadata', '').trim());

describe('requests of a poll', () => {
  test('QUICK, a Hadoop table at rest: one listing, of the names that sort after the manifests', async () => {
    const table = new MadeUpTable().create();
    table.commit();
    const { cursor } = await source.poll(table.ref, null);
    askedOf(table);
    const idle = await source.poll(table.ref, cursor, { depth: 'QUICK' });
    expect(askedOf(table)).toEqual(['list  after v']);
    expect(idle).toMatchObject({ outcome: { kind: 'NONE' }, head: `${table.head()}`, commits: [], schema: null });
    expect(idle.cursor).toBe(cursor);
  });

  test('QUICK, a catalog’s folder at rest: one listing', async () => {
    const table = new MadeUpTable(null, 'catalog').create();
    const { cursor } = await source.poll(table.ref, null);
    askedOf(table);
    expect((await source.poll(table.ref, cursor, { depth: 'QUICK' })).outcome.kind).toBe('NONE');
    expect(askedOf(table)).toEqual(['list']);
  });

  test('QUICK with a new commit, and without a cursor, is a whole look', async () => {
    const table = new MadeUpTable().create();
    table.commit();
    const first = await source.poll(table.ref, null, { depth: 'QUICK' });
    expect(first).toMatchObject({ outcome: { kind: 'NEW' }, schema: { schemaId: '0' } });
    table.setHead(table.commit());
    table.commit({ parent: null, operation: 'overwrite', summary: { 'total-records': '1' } });
    expect((await source.poll(table.ref, first.cursor, { depth: 'QUICK' })).outcome.kind).toBe('RECREATED');
  });

  test('FULL, at rest: a listing, the hint, and the size and time of the file read last', async () => {
    const table = new MadeUpTable().create();
    table.commit();
    table.tag('a', table.head());
    const { cursor } = await source.poll(table.ref, null);
    askedOf(table);
    const idle = await source.poll(table.ref, cursor);
    expect(askedOf(table).sort()).toEqual(['list', 'read /version-hint.text', 'stat /v3.metadata.json']);
    expect(idle).toMatchObject({
      outcome: { kind: 'NONE' },
      schema: { schemaId: '0' },
      tags: { a: `${table.head()}` },
    });
    expect(idle.cursor).toBe(cursor);
  });

  test('a metadata file, at rest: its size and time', async () => {
    const table = new MadeUpTable(null, 'catalog').create();
    table.commit();
    const ref = { ...table.ref, location: table.current() };
    const { cursor } = await source.poll(ref, null);
    for (const depth of ['QUICK', 'FULL'] as const) {
      askedOf(table);
      expect((await source.poll(ref, cursor, { depth })).outcome.kind).toBe('NONE');
      expect(askedOf(table)).toHaveLength(1);
    }
  });

  test('a new commit: the new metadata file alone is read, and no manifest', async () => {
    const table = new MadeUpTable().create();
    table.commit();
    const { cursor } = await source.poll(table.ref, null);
    table.commit();
    askedOf(table);
    await source.poll(table.ref, cursor);
    expect(askedOf(table).filter((request) => request.startsWith('read'))).toEqual([
      'read /version-hint.text',
      'read /v3.metadata.json',
    ]);
  });

  test('a schema too large to be remembered is read again', async () => {
    const table = new MadeUpTable().create();
    table.addColumn(...Array.from({ length: 2_000 }, (_, at) => `column_${at}`));
    table.commit();
    const { cursor } = await source.poll(table.ref, null);
    expect(JSON.stringify(cursor).length).toBeLessThan(10_000);
    expect((await source.poll(table.ref, cursor)).schema?.fields).toHaveLength(2_000);
  });

  test('ids of all 64 bits, with a sign or without', async () => {
    const table = new MadeUpTable().create();
    const written = [-(2n ** 63n), 2n ** 64n - 1n, -2n, 0n, 2n ** 53n + 1n];
    for (const id of written) table.commit({ id });
    const poll = await source.poll(table.ref, null);
    expect(poll.commits.map(({ snapshotId }) => snapshotId)).toEqual(written.map(String));
    for (const id of written) expect(await source.isReadable(table.ref, `${id}`), `${id}`).toBe(true);
    expect(await source.isReadable(table.ref, '-3')).toBe(false);
  });

  test('detect and isReadable', async () => {
    const table = new MadeUpTable().create();
    const [first, second] = [table.commit(), table.commit()];
    table.expire([first]);
    expect(await source.detect(table.ref)).toBe(true);
    expect(await source.detect({ ...table.ref, location: '/w' })).toBe(false);
    expect(await source.isReadable(table.ref, `${first}`)).toBe(false);
    expect(await source.isReadable(table.ref, `${second}`)).toBe(true);
    expect(await source.isReadable({ ...table.ref, location: '/nowhere' }, `${second}`)).toBe(false);
  });
});
