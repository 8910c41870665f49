import { describe, expect, test } from 'vitest';
import type { Poll } from '../../../src/core/asset/poll.ts';
import { createPaimonSource } from '../../../src/sources/paimon/source.ts';
import { container, record } from './avro-bytes.ts';
import { MadeUpTable } from './made-up.ts';

const LIST = record([['_FILE_NAME', 'string']]);
const FILE = { type: 'record', name: 'file', fields: [{ name: '_LEVEL', type: 'int' }] };
const MANIFEST = record([
  ['_KIND', 'int'],
  ['_BUCKET', 'int'],
  ['_FILE', FILE],
]);
const INDEX = record([
  ['_INDEX_TYPE', 'string'],
  ['_FILE_NAME', 'string'],
]);

interface Entry {
  readonly kind: 'ADD' | 'DELETE';
  readonly level: number;
  readonly bucket?: number;
}

const source = createPaimonSource();
const judged = (poll: Poll): string[] =>
  poll.commits.map(
    ({ operation, dataChange, pendingData }) =>
      `${operation} ${dataChange ? 'data' : pendingData ? 'pending' : 'nothing'}`,
  );

/** A table whose commits have manifests that say what they did to files. */
class TableWithManifests extends MadeUpTable {
  #manifests = 0;

  write(kind: string, delta: number, entries: readonly Entry[], indexManifest?: string): void {
    const name = `m${++this.#manifests}`;
    this.bytes(`manifest/${name}-list`, container(LIST, entries.length === 0 ? [] : [{ _FILE_NAME: name }]));
    const rows = entries.map((entry) => ({
      _KIND: entry.kind === 'ADD' ? 0 : 1,
      _BUCKET: entry.bucket ?? 0,
      _FILE: { _LEVEL: entry.level },
    }));
    this.bytes(`manifest/${name}`, container(MANIFEST, rows));
    const index = indexManifest === undefined ? {} : { indexManifest };
    this.commit({ kind, delta, extra: { deltaManifestList: `${name}-list`, ...index } });
  }

  index(name: string, entries: readonly (readonly [string, string])[]): void {
    const rows = entries.map(([type, file]) => ({ _INDEX_TYPE: type, _FILE_NAME: file }));
    this.bytes(`manifest/${name}`, container(INDEX, rows));
  }

  bytes(path: string, bytes: Buffer): void {
    this.files.files.set(`/w/t/${path}`, bytes);
  }
}

const ADD = (level: number, bucket = 0): Entry => ({ kind: 'ADD', level, bucket });
const DELETE = (level: number, bucket = 0): Entry => ({ kind: 'DELETE', level, bucket });

describe('what the delta manifests say', () => {
  test('an ordinary table: an UPDATE that keeps the count, an empty commit, TRUNCATE of nothing', async () => {
    const table = new TableWithManifests();
    table.create();
    table.write('APPEND', 0, [ADD(0), DELETE(0)]);
    table.write('APPEND', 0, []);
    table.write('OVERWRITE', 0, []);
    expect(judged(await source.poll(table.ref, null))).toEqual(['APPEND data', 'APPEND nothing', 'OVERWRITE nothing']);
  });

  test('deletion vectors: rows show with the COMPACT that lifts them', async () => {
    const table = new TableWithManifests();
    table.create({ 'deletion-vectors.enabled': 'true' });
    table.write('APPEND', 3, [ADD(0)]);
    table.write('COMPACT', 0, [DELETE(0), ADD(5)]);
    table.write('COMPACT', 0, [DELETE(4), DELETE(5), ADD(5)]);
    table.write('APPEND', 2, [ADD(0)]);
    table.write('OVERWRITE', -2, [DELETE(0)]);
    table.write('OVERWRITE', -3, [DELETE(5)]);
    expect(judged(await source.poll(table.ref, null))).toEqual([
      'APPEND pending',
      'COMPACT data',
      'COMPACT nothing',
      'APPEND pending',
      'OVERWRITE nothing',
      'OVERWRITE data',
    ]);
  });

  test('postponed buckets: rows show with the commit that gives them their bucket', async () => {
    const table = new TableWithManifests();
    table.create({ bucket: '-2' });
    table.write('APPEND', 3, [ADD(0, -2)]);
    table.write('COMPACT', 0, [DELETE(0, -2), ADD(5, 1)]);
    table.write('COMPACT', 0, [DELETE(5, 1), ADD(5, 1)]);
    expect(judged(await source.poll(table.ref, null))).toEqual(['APPEND pending', 'COMPACT data', 'COMPACT nothing']);
  });

  test('an append table deletes by deletion vectors alone; other indexes change no row', async () => {
    const table = new TableWithManifests();
    table.create({ 'deletion-vectors.enabled': 'true' }, []);
    table.index('i1', [['HASH', 'h1']]);
    table.index('i2', [
      ['HASH', 'h1'],
      ['DELETION_VECTORS', 'v1'],
    ]);
    table.index('i3', [
      ['HASH', 'h2'],
      ['DELETION_VECTORS', 'v1'],
    ]);
    table.write('APPEND', 3, [ADD(0)]);
    for (const index of ['i1', 'i2', 'i3']) table.write('OVERWRITE', 0, [], index);
    expect(judged(await source.poll(table.ref, null))).toEqual([
      'APPEND data',
      'OVERWRITE nothing',
      'OVERWRITE data',
      'OVERWRITE nothing',
    ]);
  });

  test.each([
    ['missing', (table: TableWithManifests) => table.remove('manifest/m1-list')],
    ['damaged', (table: TableWithManifests) => table.put('manifest/m1', 'Obj\x01half')],
    ['something else', (table: TableWithManifests) => table.put('manifest/m1-list', '{}')],
  ])('%s: it counts as new data, and that is said', async (_name, spoil) => {
    const table = new TableWithManifests();
    table.create();
    table.write('APPEND', 0, [ADD(0)]);
    spoil(table);
    const poll = await source.poll(table.ref, null);
    expect(judged(poll)).toEqual(['APPEND data']);
    expect(poll.problems).toEqual(['The manifests of snapshot 1 cannot be read, so it counts as new data.']);
  });
});
