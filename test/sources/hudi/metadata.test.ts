import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { readArchiveLog } from '../../../src/sources/hudi/archive-log.ts';
import { readArchiveParquet } from '../../../src/sources/hudi/archive-parquet.ts';
import { readCommitFacts, readEarliestKept, readTakenBack } from '../../../src/sources/hudi/metadata.ts';
import { parseTableSchema } from '../../../src/sources/hudi/schema.ts';
import { describeShared } from '../../support/shared.ts';
import { archiveLog, avroClean, avroCommit, avroRestore, avroRollback } from './avro-bytes.ts';
import { commitMetadata, SCHEMA } from './made-up.ts';

vi.setConfig({ testTimeout: 30_000 }); // many runs of a property, on machines that have other work

const parts = {
  inserts: 3,
  updates: 2,
  deletes: 1,
  partition: 'dt=d1',
  replaces: { 'dt=d2': ['a', 'b'] },
  eventTime: 7,
};
const facts = {
  operation: 'UPSERT',
  compacted: false,
  inserts: 3n,
  updates: 2n,
  deletes: 1n,
  writes: 5n,
  replacedPartitions: 1,
  replacedFiles: 2,
  partitions: new Set(['dt=d1', 'dt=d2']),
  watermark: 7n,
  schema: SCHEMA,
  backfill: false,
};

const json = (value: object, space?: number): Buffer => Buffer.from(JSON.stringify(value, null, space));

/** Resolves to what the work gives, or to the error that it fails with; anything but an Error fails the test. */
const outcome = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await work();
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    return error;
  }
};

describe('a commit', () => {
  test('says the same in JSON and in Avro, packed or not', async () => {
    const metadata = commitMetadata(parts);
    for (const bytes of [json(metadata), json(metadata, 2), avroCommit(metadata), avroCommit(metadata, 'null')])
      expect(await readCommitFacts(bytes)).toEqual(facts);
  });

  test('with nothing in it', async () => {
    const nothing = { operation: null, inserts: 0n, writes: 0n, schema: null, watermark: null };
    expect(await readCommitFacts(Buffer.from('{}'))).toMatchObject(nothing);
    expect(
      await readCommitFacts(Buffer.from(' {"partitionToWriteStats" : null, "x": [1, {"a": "]}"}] }\n')),
    ).toMatchObject(nothing);
  });

  test('cut short anywhere is not whole', async () => {
    const metadata = commitMetadata(parts);
    for (const bytes of [json(metadata, 2), avroCommit(metadata)])
      for (let size = 0; size < bytes.length; size++)
        await expect(readCommitFacts(bytes.subarray(0, size)), `${size} bytes`).rejects.toThrow();
  });

  test.each([
    ['{"partitionToWriteStats":7}', 'its write stats are none'],
    ['{"partitionToWriteStats":{"d":[null]}}', 'its write stats of d are none'],
    ['{"partitionToWriteStats":{"d":[{"numInserts":"3"}]}}', 'its numInserts is no number'],
    ['{"partitionToWriteStats":{"d":[{"numUpdateWrites":[1]}]}}', 'its numUpdateWrites is no number'],
    ['{"partitionToWriteStats":{"d":[{"numWrites":0.5}]}}', 'its numWrites is no number'],
  ])('whose counts cannot be read is damaged, not empty: %s', async (text, reason) => {
    await expect(readCommitFacts(Buffer.from(text))).rejects.toThrow(reason);
  });

  test('may leave counts out, and count less than nothing', async () => {
    const text = '{"partitionToWriteStats":{"d":[{"numInserts":null,"numDeletes":-1,"numWrites":9007199254740993}]}}';
    expect(await readCommitFacts(Buffer.from(text))).toMatchObject({
      inserts: 0n,
      deletes: 0n,
      writes: 9_007_199_254_740_993n,
    });
  });

  test('of a hundred thousand files does not hold the event loop', async () => {
    const [stat] =
      (commitMetadata(parts) as { partitionToWriteStats: Record<string, object[]> }).partitionToWriteStats['dt=d1'] ??
      [];
    const metadata = {
      ...commitMetadata(parts),
      partitionToWriteStats: { 'dt=d1': Array.from({ length: 50_000 }, () => stat) },
    };
    for (const bytes of [json(metadata), avroCommit(metadata, 'null')]) {
      let turns = 0;
      let reading = true;
      const count = (): void => {
        turns++;
        if (reading) setImmediate(count);
      };
      setImmediate(count);
      const read = await readCommitFacts(bytes);
      reading = false;
      expect(read.inserts).toBe(150_000n);
      expect(turns).toBeGreaterThan(150);
    }
  });
});

test('rollbacks, restores and cleans say what they took', async () => {
  expect(await readTakenBack(avroRollback('1', ['2', '3']))).toEqual(['2', '3']);
  expect(await readTakenBack(avroRestore('1', ['4']))).toEqual(['4']);
  expect(await readEarliestKept(avroClean('1', '5'))).toBe('5');
  expect(await readEarliestKept(avroRollback('1', []))).toBeNull();
  await expect(readTakenBack(Buffer.from('{"a": 1}'))).rejects.toThrow('not an Avro file');
});

test('a log of the archive holds completed actions', async () => {
  const entry = { commitTime: '1', actionType: 'commit', hoodieCommitMetadata: commitMetadata(parts) };
  const bytes = archiveLog([
    { ...entry, actionState: 'REQUESTED' },
    { ...entry, actionState: 'COMPLETED' },
    { commitTime: '2', actionType: 'clean', actionState: 'COMPLETED', hoodieCommitMetadata: null },
  ]);
  expect(await readArchiveLog(Buffer.concat([bytes, bytes]))).toEqual([
    { time: '1', action: 'commit', facts },
    { time: '2', action: 'clean', facts: null },
    { time: '1', action: 'commit', facts },
    { time: '2', action: 'clean', facts: null },
  ]);
});

/** Bytes with some replaced, removed or repeated. */
const mutated = (bytes: Uint8Array): fc.Arbitrary<Buffer> =>
  fc
    .array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255), fc.constantFrom('set', 'cut', 'double')), {
      minLength: 1,
      maxLength: 6,
    })
    .map((changes) =>
      changes.reduce((buffer, [at, byte, how]) => {
        if (how === 'cut') return Buffer.concat([buffer.subarray(0, at), buffer.subarray(at + (byte % 40))]);
        if (how === 'double') return Buffer.concat([buffer.subarray(0, at), buffer.subarray(Math.max(at - byte, 0))]);
        const copy = Buffer.from(buffer);
        if (at < copy.length) copy[at] = byte;
        return copy;
      }, Buffer.from(bytes)),
    );

const within = async (work: () => Promise<unknown>): Promise<void> => {
  const began = performance.now();
  await outcome(work);
  expect(performance.now() - began).toBeLessThan(1_000);
};

describe('damaged files end in an answer or an error, soon', () => {
  const metadata = commitMetadata(parts);
  const entry = { commitTime: '1', actionType: 'commit', actionState: 'COMPLETED', hoodieCommitMetadata: metadata };

  test.each([
    ['a JSON commit', json(metadata, 2), readCommitFacts],
    ['an Avro commit', avroCommit(metadata), readCommitFacts],
    ['an Avro commit that is not packed', avroCommit(metadata, 'null'), readCommitFacts],
    ['a rollback', avroRollback('1', ['2']), readTakenBack],
    ['a log of the archive', archiveLog([entry, entry]), readArchiveLog],
  ] as const)('%s', async (_, bytes, read) => {
    await fc.assert(
      fc.asyncProperty(mutated(bytes), (damaged) => within(() => read(damaged))),
      { numRuns: 200 },
    );
  });

  test('schemas', () => {
    fc.assert(
      fc.property(mutated(Buffer.from(SCHEMA)), (damaged) => {
        parseTableSchema(damaged.toString(), { partitionKeys: [], primaryKeys: [] });
      }),
    );
    fc.assert(fc.property(fc.json(), (text) => void parseTableSchema(text, { partitionKeys: [], primaryKeys: [] })));
  });
});

describeShared('the archive that Hudi 1.2 wrote', (shared) => {
  const folder = join(shared, 'recorded/hudi/cow-lifecycle-1.2.0/steps/23/orders/.hoodie/timeline/history');
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.parquet'));
  const bytes = readFileSync(join(folder, name));

  test('holds its actions with their metadata', async () => {
    const rows = await readArchiveParquet(bytes);
    expect(rows.map(({ time, action, completion }) => [time.length, action, completion?.length])).toEqual([
      [17, 'clean', 17],
      [17, 'commit', 17],
      [17, 'commit', 17],
      [17, 'clean', 17],
      [17, 'commit', 17],
      [17, 'commit', 17],
    ]);
    const last = rows.at(-1)?.metadata ?? new Uint8Array();
    expect(await readCommitFacts(last)).toMatchObject({ operation: 'UPSERT', updates: 1n });
  });

  test('damaged, ends in an answer or an error, soon', async () => {
    await fc.assert(
      fc.asyncProperty(mutated(bytes), (damaged) => within(() => readArchiveParquet(damaged))),
      { numRuns: 200 },
    );
  });
});

describe('schemas', () => {
  const keys = { partitionKeys: ['dt'], primaryKeys: ['id'] };
  const schemaOf = (...fields: readonly object[]): string => JSON.stringify({ type: 'record', name: 'r', fields });

  test('types, nested ones and references included', () => {
    const point = { type: 'record', name: 'point', namespace: 'n', fields: [{ name: 'x', type: 'double' }] };
    const schema = parseTableSchema(
      schemaOf(
        { name: '_hoodie_file_name', type: 'string' },
        { name: 'a', type: ['null', { type: 'bytes', logicalType: 'decimal', precision: 10, scale: 2 }], doc: 'price' },
        { name: 'b', type: { type: 'long', logicalType: 'timestamp-micros' } },
        { name: 'c', type: ['null', point] },
        { name: 'd', type: { type: 'array', items: ['null', 'n.point'] } },
        { name: 'e', type: { type: 'map', values: 'int' } },
        { name: 'f', type: { type: 'fixed', name: 'f16', size: 16 } },
        { name: 'g', type: ['null', 'int', 'string'] },
      ),
      keys,
    );
    const x = { id: 'x', name: 'x', type: 'DOUBLE', nullable: false };
    expect(schema).toMatchObject({ ...keys, schemaId: expect.stringMatching(/^[\w-]{12}$/) as string });
    expect(schema?.fields).toEqual([
      { id: 'a', name: 'a', type: 'DECIMAL(10,2)', nullable: true, doc: 'price' },
      { id: 'b', name: 'b', type: 'TIMESTAMP_LTZ(6)', nullable: false },
      { id: 'c', name: 'c', type: 'ROW', nullable: true, fields: [x] },
      {
        id: 'd',
        name: 'd',
        type: 'ARRAY',
        nullable: false,
        fields: [{ id: 'element', name: 'element', type: 'ROW', nullable: true, fields: [x] }],
      },
      {
        id: 'e',
        name: 'e',
        type: 'MAP',
        nullable: false,
        fields: [
          { id: 'key', name: 'key', type: 'STRING', nullable: false },
          { id: 'value', name: 'value', type: 'INT', nullable: false },
        ],
      },
      { id: 'f', name: 'f', type: 'BINARY(16)', nullable: false },
      {
        id: 'g',
        name: 'g',
        type: 'UNION',
        nullable: true,
        fields: [
          { id: '0', name: '0', type: 'INT', nullable: false },
          { id: '1', name: '1', type: 'STRING', nullable: false },
        ],
      },
    ]);
  });

  test('the id is the same whatever the record is called and whether Hudi’s own columns are listed', () => {
    const field = { name: 'a', type: 'int' };
    const [one, two] = [
      parseTableSchema(schemaOf(field), keys),
      parseTableSchema(
        JSON.stringify({
          type: 'record',
          name: 'other',
          fields: [{ name: '_hoodie_record_key', type: 'string' }, field],
        }),
        keys,
      ),
    ];
    expect(one?.schemaId).toBe(two?.schemaId);
    expect(parseTableSchema(schemaOf({ name: 'a', type: 'long' }), keys)?.schemaId).not.toBe(one?.schemaId);
  });

  test('what is no schema, and one that refers to itself', () => {
    for (const text of ['', 'null', '"string"', '{"type":"record"}', '{"type":"record","name":"r","fields":[1]}'])
      expect(parseTableSchema(text, keys)).toBeNull();
    expect(parseTableSchema(schemaOf({ name: 'child', type: ['null', 'r'] }), keys)).toBeNull();
  });
});
