import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Poll } from '../../../src/core/asset/poll.ts';
import { FilesError } from '../../../src/files/files.ts';
import { metadataName, namesOfHint } from '../../../src/sources/iceberg/names.ts';
import { createIcebergSource } from '../../../src/sources/iceberg/source.ts';
import { MadeUpTable } from './made-up.ts';

const source = createIcebergSource();
const withCommit = (style: 'hadoop' | 'catalog' = 'hadoop'): MadeUpTable => {
  const table = new MadeUpTable(null, style).create();
  table.commit();
  return table;
};
const reasonOf = ({ outcome }: Poll): string => ('reason' in outcome ? outcome.reason : outcome.kind);

describe('which file is current', () => {
  test.each([
    ['v12.metadata.json', 'HADOOP', 12n],
    ['v12.gz.metadata.json', 'HADOOP', 12n],
    ['v12.metadata.json.gz', 'HADOOP', 12n],
    ['v12.gzip.metadata.json', 'HADOOP', 12n],
    ['00012-5f0c3c1e-0f62-4a61-9f60-0c2a9d0f8a11.metadata.json', 'CATALOG', 12n],
    ['00004-v3-upgraded.metadata.json', 'CATALOG', 4n],
    ['v3.1.metadata.json', 'OTHER', null],
    ['vfinal.metadata.json', 'OTHER', null],
    ['5f0c3c1e-0f62-4a61-9f60-0c2a9d0f8a11.metadata.json', undefined, undefined],
    ['12345678-0f62-4a61-9f60-0c2a9d0f8a11.metadata.json', undefined, undefined],
    ['.v3.metadata.json.crc', undefined, undefined],
    ['snap-1-1-x.avro', undefined, undefined],
  ])('%s', (name, style, version) => {
    expect(metadataName(name)?.style).toBe(style);
    expect(metadataName(name)?.version).toBe(version);
  });

  test('a hint may be a number, a stem or a name, and nothing that climbs out', () => {
    expect(namesOfHint('7\n')).toContain('v7.metadata.json');
    expect(namesOfHint('v3.1')).toContain('v3.1.metadata.json');
    expect(namesOfHint('00003-a.metadata.json')).toContain('00003-a.metadata.json');
    expect(namesOfHint('../../etc/passwd')).toEqual([]);
    expect(namesOfHint('')).toEqual([]);
  });

  test.each([
    ['behind', '1'],
    ['empty', ''],
    ['missing', null],
    ['garbage', '\u0000?'],
  ])('a hint that is %s', async (_, hint) => {
    const table = withCommit();
    table.commit();
    table.hint(hint);
    expect((await source.poll(table.ref, null)).head).toBe(`${table.head()}`);
  });

  test('a hint that names a version that is not there: the last whole one, with a problem', async () => {
    const table = withCommit();
    const { cursor } = await source.poll(table.ref, null);
    table.hint('7');
    const answer = await source.poll(table.ref, cursor);
    expect(answer).toMatchObject({ outcome: { kind: 'NONE' }, head: `${table.head()}` });
    expect(answer.problems.join()).toContain('says 7');
    expect((await source.poll(table.ref, answer.cursor)).problems).toEqual(answer.problems);
  });

  test('a hint named version-hint.txt that holds a stem', async () => {
    const table = withCommit();
    table.files.put('/w/t/metadata/v3.1.metadata.json', table.json());
    table.files.remove(table.current());
    table.hint(null);
    table.files.put('/w/t/metadata/version-hint.txt', 'v3.1\n');
    expect((await source.poll(table.ref, null)).head).toBe(`${table.head()}`);
  });

  test('version 10 is after version 9', async () => {
    const table = new MadeUpTable().create();
    for (let at = 0; at < 12; at++) table.commit();
    expect((await source.poll(table.ref, null)).commits).toHaveLength(12);
  });

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('%s, told by its first bytes', async (_, pack) => {
    const table = withCommit();
    table.files.put(table.current(), pack(Buffer.from(table.json())));
    expect((await source.poll(table.ref, null)).head).toBe(`${table.head()}`);
    const packed = table.files.get(table.current()) ?? new Uint8Array();
    table.files.put(table.current(), packed.subarray(0, packed.length - 20));
    const cut = await source.poll({ ...table.ref, location: table.current() }, null);
    expect(cut.outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
  });

  test('two files of one number: the newer by content', async () => {
    const table = withCommit('catalog');
    const lost = table.json();
    table.version--;
    table.commit();
    table.files.put('/w/t/metadata/00002-lost.metadata.json', lost);
    expect((await source.poll(table.ref, null)).head).toBe(`${table.head()}`);
  });

  test('two generations of a catalog table in one folder: the living one, however low its numbers', async () => {
    const table = withCommit('catalog');
    for (let at = 0; at < 30; at++) table.commit();
    const { cursor } = await source.poll(table.ref, null);
    table.create();
    table.commit();
    const answer = await source.poll(table.ref, cursor);
    expect(answer).toMatchObject({ outcome: { kind: 'RECREATED' }, head: `${table.head()}` });
    expect(answer.problems.join()).toContain('catalog');
  });

  test('one table below the location is read, with a problem; of several none', async () => {
    const table = withCommit();
    const below = await source.poll({ ...table.ref, location: '/w' }, null);
    expect(below).toMatchObject({ outcome: { kind: 'NEW' }, head: `${table.head()}` });
    expect(below.problems.join()).toContain('/w/t');
    table.commit();
    expect((await source.poll({ ...table.ref, location: '/w' }, below.cursor)).outcome.kind).toBe('NEW');
    table.files.put('/w/u/metadata/v1.metadata.json', table.json());
    expect(reasonOf(await source.poll({ ...table.ref, location: '/w' }, null))).toContain('several');
  });

  test('nothing, and nothing of the kind', async () => {
    const table = withCommit();
    expect(reasonOf(await source.poll({ ...table.ref, location: '/nowhere' }, null))).toContain('does not exist');
    table.files.put('/w/plain/file', '');
    expect(reasonOf(await source.poll({ ...table.ref, location: '/w/plain' }, null))).toContain('not an Iceberg table');
    expect(reasonOf(await source.poll({ ...table.ref, location: '/w/t/x.metadata.json' }, null))).toContain('catalog');
  });
});

describe('files in the making', () => {
  test('half a next version: what the one before brings, and never that nothing is new', async () => {
    const table = withCommit();
    const { cursor } = await source.poll(table.ref, null);
    const before = table.commit();
    const next = table.commit();
    const whole = table.json();
    table.files.put(table.current(), whole.slice(0, -40));
    table.hint('3');
    const half = await source.poll(table.ref, cursor);
    expect(half).toMatchObject({ outcome: { kind: 'NEW' }, head: `${before}` });
    expect(half.problems.join()).toContain('v4.metadata.json cannot be used');
    const still = await source.poll(table.ref, half.cursor);
    expect(still).toMatchObject({ outcome: { kind: 'UNREADABLE', retryable: true }, cursor: half.cursor });
    table.files.put(table.current(), whole);
    expect(await source.poll(table.ref, half.cursor)).toMatchObject({ head: `${next}`, problems: [] });
  });

  test('a broken stray far above the hint is a problem and no more', async () => {
    const table = withCommit();
    table.files.put(table.path(99), '{}');
    const first = await source.poll(table.ref, null);
    expect(first.problems.join()).toContain('v99.metadata.json cannot be used');
    expect((await source.poll(table.ref, first.cursor)).outcome.kind).toBe('NONE');
    table.commit();
    expect((await source.poll(table.ref, first.cursor)).outcome.kind).toBe('NEW');
  });

  test('the file read last is written anew and is half: no rewind, the cursor stays', async () => {
    const table = withCommit();
    table.commit();
    const { cursor } = await source.poll(table.ref, null);
    table.files.put(table.current(), table.json().slice(0, 100));
    const answer = await source.poll(table.ref, cursor);
    expect(answer).toMatchObject({ outcome: { kind: 'UNREADABLE', retryable: true }, head: `${table.head()}` });
    expect(answer.cursor).toBe(cursor);
  });

  test('a listing that misses the file read last is no rewind', async () => {
    const table = withCommit();
    table.commit();
    const { cursor } = await source.poll(table.ref, null);
    for (const missing of ['v3.metadata.json', '']) {
      table.files.unlisted = (name) => missing === '' || name === missing;
      expect(await source.poll(table.ref, cursor)).toMatchObject({
        outcome: { kind: 'NONE' },
        head: `${table.head()}`,
      });
    }
  });

  test('a listing that misses the newest file: the hint names it', async () => {
    const table = withCommit();
    const { cursor } = await source.poll(table.ref, null);
    const next = table.commit();
    table.files.unlisted = (name) => name === 'v3.metadata.json';
    expect(await source.poll(table.ref, cursor)).toMatchObject({ outcome: { kind: 'NEW' }, head: `${next}` });
  });

  test('a file that goes between listing and reading', async () => {
    const table = withCommit();
    table.commit();
    let left = 1;
    table.files.before = (operation, path) => {
      if (operation !== 'read' || path !== table.path(3) || left-- <= 0) return;
      table.commit();
      table.files.remove(table.path(3));
    };
    expect((await source.poll(table.ref, null)).commits).toHaveLength(3);
  });

  test('what cannot be read is said in the words of the store', async () => {
    const table = withCommit();
    table.files.before = () => {
      throw new FilesError('The network is down.', true);
    };
    expect((await source.poll(table.ref, null)).outcome).toEqual({
      kind: 'UNREADABLE',
      reason: 'The network is down.',
      retryable: true,
    });
    expect(await source.detect(table.ref)).toBe(false);
  });

  test('an abort is the one thing that is thrown', async () => {
    const table = withCommit();
    const abort = new AbortController();
    table.files.before = () => abort.abort(new Error('enough'));
    await expect(source.poll(table.ref, null, { signal: abort.signal })).rejects.toThrow('enough');
  });

  test('a cursor that is none', async () => {
    const table = withCommit();
    for (const cursor of [{ v: 99 }, { v: 1 }, { v: 1, head: 5 }])
      expect(await source.poll(table.ref, cursor)).toMatchObject({
        outcome: { kind: 'UNREADABLE', retryable: false },
        cursor,
      });
  });

  test('a clock an hour off changes nothing', async () => {
    const table = withCommit();
    const { cursor } = await source.poll(table.ref, null);
    const next = table.add();
    const last = table.snapshots.at(-1);
    if (last !== undefined) table.snapshots.splice(-1, 1, { ...last, time: last.time - 3_600_000 });
    table.write();
    const answer = await source.poll(table.ref, cursor);
    expect(answer).toMatchObject({ outcome: { kind: 'NEW' }, head: `${next}` });
  });
});
