import { deflateRawSync, zstdCompressSync } from 'node:zlib';
import avro from 'avsc';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readAvro } from '../../src/sources/avro.ts';
import { orcRowCount } from '../../src/sources/paimon/orc.ts';
import { snappy } from '../../src/sources/snappy.ts';
import { describeShared } from '../support/shared.ts';

const SCHEMA = {
  type: 'record',
  name: 'r',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'note', type: ['null', 'string'] },
  ],
} as const;

const long = (value: number): Buffer => avro.Type.forSchema('long').toBuffer(value);
const text = (value: string): Buffer => avro.Type.forSchema('string').toBuffer(value);
const SYNC = Buffer.alloc(16, 7);

/** A container file of two records, the first with an id that no JS number holds: 2^62 + 1, written by hand as a zig-zag varint. */
function container(codec: string, compress: (data: Buffer) => Buffer): Buffer {
  const note = avro.Type.forSchema(['null', 'string']).toBuffer('x');
  const data = compress(
    Buffer.concat([Buffer.from([0x82, ...Array<number>(7).fill(0x80), 0x80, 0x01]), note, long(-3), Buffer.from([0])]),
  );
  const meta = Buffer.concat([
    long(2),
    text('avro.schema'),
    text(JSON.stringify(SCHEMA)),
    text('avro.codec'),
    text(codec),
    long(0),
  ]);
  return Buffer.concat([Buffer.from('Obj\x01', 'latin1'), meta, SYNC, long(2), long(data.length), data, SYNC]);
}

const RECORDS = [
  { id: 2n ** 62n + 1n, note: 'x' },
  { id: -3n, note: null },
];

/** Snappy: one literal, and the CRC that Avro appends. */
const asSnappy = (data: Buffer): Buffer =>
  Buffer.concat([Buffer.from([data.length, (data.length - 1) << 2]), data, Buffer.alloc(4)]);

const CODECS = [
  ['null', (data: Buffer) => data],
  ['deflate', (data: Buffer) => deflateRawSync(data)],
  ['zstandard', (data: Buffer) => zstdCompressSync(data)],
  ['snappy', asSnappy],
] as const;

describe('readAvro', () => {
  test.each(CODECS)('exact longs, codec %s', (codec, compress) => {
    expect(readAvro(container(codec, compress)).map((record) => ({ ...record }))).toEqual(RECORDS);
  });

  test.each(CODECS)('a file cut anywhere, codec %s, is an error or ends at a whole block', (codec, compress) => {
    const whole = container(codec, compress);
    const blocksBegin = whole.indexOf(SYNC) + SYNC.length;
    for (let size = 0; size < whole.length; size++) {
      if (size === blocksBegin) expect(readAvro(whole.subarray(0, size))).toEqual([]);
      else expect(() => readAvro(whole.subarray(0, size))).toThrow();
    }
  });

  test('an unknown codec is named', () => {
    expect(() => readAvro(container('bzip2', (data) => data))).toThrow('bzip2');
  });
});

describe('snappy', () => {
  test('literals and copies, the overlapping ones too', () => {
    expect(snappy(Buffer.from([10, 4, 0x61, 0x62, (7 << 2) | 2, 2, 0])).toString()).toBe('ababababab');
    expect(snappy(Buffer.from([6, 0, 0x61, (1 << 2) | 1, 1])).toString()).toBe('aaaaaa');
    expect(snappy(Buffer.from([3, 0xf0, 2, 0x61, 0x62, 0x63])).toString()).toBe('abc');
  });

  test.each([
    [[]],
    [[5, 0, 0x61]],
    [[2, 0, 0x61, 1, 0]],
    [[2, 0, 0x61, 1, 9]],
    [[1, 40, 0x61]],
    [[255, 255, 255, 255, 255, 255]],
  ])('damaged %j', (bytes) => {
    expect(() => snappy(Buffer.from(bytes))).toThrow('damaged');
  });
});

describeShared('the manifests that Paimon wrote', (shared) => {
  const files = readdirSync(join(shared, 'recorded/paimon'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\/manifest\/(index-)?manifest-/.test(file))
    .map((file) => readFileSync(join(shared, 'recorded/paimon', file)));

  test('all Avro manifests are read, all codecs among them', () => {
    const avroFiles = files.filter((bytes) => bytes.toString('latin1', 0, 3) === 'Obj');
    const codecs = new Set(
      avroFiles.map((bytes) => /avro\.codec.(\w+?)(?=avro|\W|$)/s.exec(bytes.toString('latin1'))?.[1]),
    );
    expect(avroFiles.length).toBeGreaterThan(100);
    for (const bytes of avroFiles) expect(readAvro(bytes).length).toBeGreaterThanOrEqual(0);
    expect([...codecs].join()).toMatch(/zstandard/);
  });

  test('ORC manifests say how many rows they hold, damaged ones throw', () => {
    const orcFiles = files.filter((bytes) => bytes.toString('latin1', 0, 3) === 'ORC');
    const rows = orcFiles.map((bytes) => Number(orcRowCount(bytes)));
    expect(Math.min(...rows)).toBe(0);
    expect(Math.max(...rows)).toBe(7);
    for (const bytes of orcFiles) expect(() => orcRowCount(bytes.subarray(0, 20))).toThrow('ORC');
  });
});
