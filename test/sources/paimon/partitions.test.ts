import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Poll } from '../../../src/core/asset/poll.ts';
import { partitionName, type PartitionNaming } from '../../../src/sources/paimon/partition.ts';
import { createPaimonSource } from '../../../src/sources/paimon/source.ts';
import { container, record } from './avro-bytes.ts';
import { MadeUpTable } from './made-up.ts';

type Value = string | number | bigint | boolean | null;

/** A row in Paimon's binary form, laid out from the class that writes it (BinaryRowWriter). */
function binaryRow(values: readonly Value[], types: readonly string[]): Buffer {
  const nulls = Math.ceil((values.length + 8) / 64) * 8;
  const fixed = Buffer.alloc(nulls + 8 * values.length);
  const tails: Buffer[] = [];
  let end = fixed.length;
  for (const [at, value] of values.entries()) {
    const place = nulls + 8 * at;
    if (value === null) fixed.writeUInt8((fixed[(at + 8) >> 3] ?? 0) | (1 << ((at + 8) & 7)), (at + 8) >> 3);
    else if (typeof value === 'boolean') fixed.writeUInt8(value ? 1 : 0, place);
    else if (typeof value === 'bigint') fixed.writeBigInt64LE(value, place);
    else if (typeof value === 'number') {
      if (types[at] === 'TINYINT') fixed.writeInt8(value, place);
      else if (types[at] === 'SMALLINT') fixed.writeInt16LE(value, place);
      else fixed.writeInt32LE(value, place);
    } else {
      const text = Buffer.from(value);
      if (text.length <= 7) {
        text.copy(fixed, place);
        fixed.writeUInt8(0x80 | text.length, place + 7);
      } else {
        fixed.writeUInt32LE(text.length, place);
        fixed.writeUInt32LE(end, place + 4);
        tails.push(Buffer.concat([text], Math.ceil(text.length / 8) * 8));
        end += tails.at(-1)?.length ?? 0;
      }
    }
  }
  const arity = Buffer.alloc(4);
  arity.writeInt32BE(values.length);
  return Buffer.concat([arity, fixed, ...tails]);
}

const naming = (types: readonly string[], more: Partial<PartitionNaming> = {}): PartitionNaming => ({
  columns: types.map((type, at) => ({ name: `k${at}`, type })),
  defaultName: '__DEFAULT_PARTITION__',
  legacy: true,
  ...more,
});

const named = (values: readonly Value[], types: readonly string[], more: Partial<PartitionNaming> = {}) =>
  partitionName(binaryRow(values, types), naming(types, more));

describe('the name of a partition', () => {
  test('text, short and long; numbers of each width; more columns than one word of null bits holds', () => {
    expect(named(['2026-11-29', 'eu', 7], ['STRING', 'VARCHAR', 'INT'])).toBe('k0=2026-11-29/k1=eu/k2=7');
    expect(named([-1, -300, -70_000, -(2n ** 63n), true], ['TINYINT', 'SMALLINT', 'INT', 'BIGINT', 'BOOLEAN'])).toBe(
      'k0=-1/k1=-300/k2=-70000/k3=-9223372036854775808/k4=true',
    );
    const many = Array.from({ length: 60 }, (_, at) => at);
    expect(
      named(
        many.map((at) => (at === 57 ? null : at)),
        many.map(() => 'INT'),
      ),
    ).toBe(many.map((at) => `k${at}=${at === 57 ? '__DEFAULT_PARTITION__' : at}`).join('/'));
  });

  test('null and blank text have the default name, of which the table may choose another', () => {
    expect(named([null, ' ', ''], ['STRING', 'STRING', 'STRING'], { defaultName: 'none' })).toBe(
      'k0=none/k1=none/k2=none',
    );
    expect(named([null], ['BIGINT'])).toBe('k0=__DEFAULT_PARTITION__');
  });

  test('characters that folders cannot have are escaped', () => {
    expect(named(['a/b=c%d\u0001 ü'], ['STRING'])).toBe('k0=a%2Fb%3Dc%25d%01 ü');
  });

  test('dates: the number of days, or the date where the table says so', () => {
    expect(named([20_786], ['DATE'])).toBe('k0=20786');
    expect(named([20_786, -1], ['DATE', 'DATE'], { legacy: false })).toBe('k0=2026-11-29/k1=1969-12-31');
    expect(named([2_932_897], ['DATE'], { legacy: false })).toBeNull();
  });

  test('types whose text is not known, and bytes that are no such row, have none', () => {
    for (const type of ['DOUBLE', 'DECIMAL', 'TIMESTAMP', 'BYTES', '']) expect(named([1n], [type])).toBeNull();
    expect(partitionName(binaryRow(['2026-11-29'], ['STRING']).subarray(0, 22), naming(['STRING']))).toBeNull();
    expect(partitionName(binaryRow([1], ['INT']), naming(['INT', 'INT']))).toBeNull();
    expect(partitionName(new Uint8Array(), naming(['INT']))).toBeNull();
  });

  test('any bytes are a name or none, and any text comes back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(['string', 'object']).toContain(typeof partitionName(bytes, naming(['STRING', 'BIGINT'])));
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        const name = named([text], ['STRING']) ?? '';
        const value = name
          .slice(3)
          .replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
        expect(value).toBe(text.trim() === '' ? '__DEFAULT_PARTITION__' : text);
      }),
    );
  });
});

const STATS = {
  type: 'record',
  name: 'stats',
  fields: [
    { name: '_MIN_VALUES', type: 'bytes' },
    { name: '_MAX_VALUES', type: 'bytes' },
    { name: '_NULL_COUNTS', type: { type: 'array', items: 'long' } },
  ],
};
const LIST = record([
  ['_FILE_NAME', 'string'],
  ['_NUM_ADDED_FILES', 'long'],
  ['_NUM_DELETED_FILES', 'long'],
  ['_PARTITION_STATS', STATS],
]);
const FILE = { type: 'record', name: 'file', fields: [{ name: '_LEVEL', type: 'int' }] };
const MANIFEST = record([
  ['_KIND', 'int'],
  ['_PARTITION', 'bytes'],
  ['_BUCKET', 'int'],
  ['_FILE', FILE],
]);

interface Entry {
  readonly dt: string;
  readonly deleted?: boolean;
  readonly level?: number;
}

const source = createPaimonSource();
const partitionsOf = ({ commits }: Poll) => commits.map(({ partitions }) => partitions);

/** A table partitioned by `dt`, whose commits have manifests. */
class PartitionedTable extends MadeUpTable {
  #lists = 0;

  make(options: Readonly<Record<string, string>> = {}): this {
    this.schema(0, {
      fields: [
        { id: 0, name: 'id', type: 'BIGINT NOT NULL' },
        { id: 1, name: 'dt', type: 'STRING NOT NULL' },
      ],
      partitionKeys: ['dt'],
      primaryKeys: ['dt', 'id'],
      options,
    });
    return this;
  }

  /** A commit with a manifest for each list of files. */
  write(kind: string, ...manifests: readonly (readonly Entry[])[]): void {
    const list = `list-${++this.#lists}`;
    const row = ({ dt }: Entry) => binaryRow([dt], ['STRING']);
    const rows = manifests.map((entries, at) => {
      this.bytes(
        `manifest/${list}-${at}`,
        container(
          MANIFEST,
          entries.map((entry) => ({
            _KIND: entry.deleted ? 1 : 0,
            _PARTITION: row(entry),
            _BUCKET: 0,
            _FILE: { _LEVEL: entry.level ?? 0 },
          })),
        ),
      );
      const sorted = entries.toSorted((a, b) => (a.dt < b.dt ? -1 : 1));
      const [least, most] = [sorted[0], sorted.at(-1)].map((entry) => row(entry ?? { dt: '' }));
      return {
        _FILE_NAME: `${list}-${at}`,
        _NUM_ADDED_FILES: entries.filter(({ deleted }) => !deleted).length,
        _NUM_DELETED_FILES: entries.filter(({ deleted }) => deleted).length,
        _PARTITION_STATS: { _MIN_VALUES: least, _MAX_VALUES: most, _NULL_COUNTS: [0] },
      };
    });
    this.bytes(`manifest/${list}`, container(LIST, rows));
    this.commit({ kind, extra: { deltaManifestList: list } });
  }

  bytes(path: string, bytes: Buffer): void {
    this.files.files.set(`/w/t/${path}`, bytes);
  }

  /** Manifests and lists that were read. */
  read(): readonly string[] {
    return this.files.requests.flatMap((request) => request.split('/manifest/')[1] ?? []).sort();
  }
}

describe('partitions of a commit', () => {
  test('added and deleted files of all manifests; the list alone tells a single partition', async () => {
    const table = new PartitionedTable().make();
    table.write('APPEND', [{ dt: 'd2' }, { dt: 'd2' }], [{ dt: 'd1' }]);
    table.write('OVERWRITE', [{ dt: 'd3' }, { dt: 'd1', deleted: true }]);
    expect(partitionsOf(await source.poll(table.ref, null))).toEqual([
      ['dt=d1', 'dt=d2'],
      ['dt=d1', 'dt=d3'],
    ]);
    expect(table.read()).toEqual(['list-1', 'list-2', 'list-2-0']);
  });

  test('none is read at rest, nor of a table without partitions', async () => {
    const table = new PartitionedTable().make();
    table.write('APPEND', [{ dt: 'd1' }, { dt: 'd2' }]);
    const { cursor } = await source.poll(table.ref, null);
    table.files.requests.length = 0;
    for (const depth of ['QUICK', 'FULL'] as const) await source.poll(table.ref, cursor, { depth });
    const plain = new PartitionedTable().create();
    plain.write('APPEND', [{ dt: 'd1' }]);
    expect(partitionsOf(await source.poll(plain.ref, null))).toEqual([undefined]);
    expect([...table.read(), ...plain.read()]).toEqual([]);
  });

  test('a COMPACT that shows rows names the partitions whose rows it shows, one that shows none names none', async () => {
    const table = new PartitionedTable().make({ 'deletion-vectors.enabled': 'true' });
    table.write('APPEND', [{ dt: 'd1' }]);
    table.write('COMPACT', [
      { dt: 'd1', deleted: true },
      { dt: 'd1', level: 5 },
      { dt: 'd0', level: 4, deleted: true },
      { dt: 'd0', level: 5 },
    ]);
    table.write('COMPACT', [{ dt: 'd0', level: 4, deleted: true }]);
    expect(partitionsOf(await source.poll(table.ref, null))).toEqual([['dt=d1'], ['dt=d1'], undefined]);
  });

  test.each([
    ['an expired list', (table: PartitionedTable) => table.remove('manifest/list-1')],
    ['an expired manifest', (table: PartitionedTable) => table.remove('manifest/list-1-0')],
    ['a manifest that is cut short', (table: PartitionedTable) => table.put('manifest/list-1-0', 'Obj\x01half')],
    ['one that is ORC', (table: PartitionedTable) => table.put('manifest/list-1-0', 'ORC')],
  ])('%s: unknown, and the commit is told all the same', async (_name, spoil) => {
    const table = new PartitionedTable().make();
    table.write('APPEND', [{ dt: 'd1' }, { dt: 'd2' }]);
    spoil(table);
    expect(await source.poll(table.ref, null)).toMatchObject({
      outcome: { kind: 'NEW' },
      commits: [{ snapshotId: '1', dataChange: true }],
      problems: [],
    });
    expect(partitionsOf(await source.poll(table.ref, null))).toEqual([undefined]);
  });

  test('a commit of more than 64 manifests or 5,000 files is not gone through', async () => {
    const table = new PartitionedTable().make();
    const manifest: readonly Entry[] = [{ dt: 'd1' }, { dt: 'd2' }];
    table.write('APPEND', ...Array.from({ length: 64 }, () => manifest));
    table.write('APPEND', ...Array.from({ length: 65 }, () => manifest));
    table.write(
      'APPEND',
      Array.from({ length: 5_001 }, (_, at) => ({ dt: `d${at % 2}` })),
    );
    expect(partitionsOf(await source.poll(table.ref, null))).toEqual([['dt=d1', 'dt=d2'], undefined, undefined]);
    expect(table.read().filter((name) => name.startsWith('list-2') || name.startsWith('list-3'))).toEqual([
      'list-2',
      'list-3',
    ]);
  });
});
