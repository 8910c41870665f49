import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { parseMetadata } from '../../../src/sources/iceberg/metadata.ts';
import { Scanner } from '../../../src/sources/iceberg/scan.ts';
import { schemaAt } from '../../../src/sources/iceberg/schema.ts';
import { snapshotAt } from '../../../src/sources/iceberg/snapshot.ts';
import { createIcebergSource } from '../../../src/sources/iceberg/source.ts';
import { compareSchemas, typeText } from '../../../src/core/asset/schema/schema.ts';
import { MadeUpTable } from './made-up.ts';

const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

describe('the scanner', () => {
  test('finds in any JSON object what JSON.parse finds', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.jsonValue()), fc.nat(3), (object, indent) => {
        const bytes = Buffer.from(JSON.stringify(object, null, indent));
        const scanner = new Scanner(bytes);
        const found: Record<string, unknown> = {};
        scanner.enterObject();
        for (let key = scanner.key(); key !== null; key = scanner.key()) {
          const { start, end } = scanner.skip();
          found[key] = JSON.parse(bytes.toString('utf8', start, end));
        }
        scanner.finish();
        expect(found).toEqual(JSON.parse(bytes.toString('utf8')));
      }),
    );
  });

  test('refuses every cut', () => {
    const text = JSON.stringify({ a: [1, { b: 'x"}]' }], c: null });
    for (let size = 0; size < text.length; size++) {
      const scanner = new Scanner(Buffer.from(text.slice(0, size)));
      expect(() => {
        scanner.enterObject();
        while (scanner.key() !== null) scanner.skip();
      }).toThrow('cut short');
    }
  });
});

describe('a metadata file', () => {
  test('of many snapshots lets others have their turn while it is looked through', async () => {
    const table = new MadeUpTable().create();
    for (let at = 0; at < 10_000; at++) table.add({ summary: { note: 'x'.repeat(200) } });
    const bytes = Buffer.from(table.json());
    let turns = 0;
    let done = false;
    const count = (): void => {
      turns++;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    const metadata = await parseMetadata(bytes);
    done = true;
    expect(metadata.snapshots.size).toBe(10_000);
    expect(turns).toBeGreaterThanOrEqual(Math.floor(bytes.length / (256 * 1024)) - 2);
  });

  test('a circle of parents ends', async () => {
    const table = new MadeUpTable().create();
    const [a, b] = [table.commit(), table.commit()];
    const first = table.snapshots[0];
    if (first !== undefined) first.parent = b;
    table.write();
    const source = createIcebergSource();
    const { cursor, commits } = await source.poll(table.ref, null);
    expect(new Set(commits.map((commit) => commit.snapshotId))).toEqual(new Set([`${a}`, `${b}`]));
    table.commit();
    expect((await source.poll(table.ref, cursor)).outcome.kind).toBe('NEW');
  });

  test('tells watermark, partitions and backfill where its summary does', async () => {
    const table = new MadeUpTable().create();
    table.commit({
      summary: {
        'kafka.connect.valid-through-ts': '2026-11-30T08:00:00.5Z',
        'partitions.day=2026-11-29': 'added-data-files=1',
        'sluice.backfill': 'true',
      },
    });
    table.commit({ summary: { 'partitions.day=1': '', 'changed-partition-count': '7' } });
    const [first, second] = (await createIcebergSource().poll(table.ref, null)).commits;
    const watermark = BigInt(Date.parse('2026-11-30T08:00:00.5Z'));
    expect(first).toMatchObject({ watermark, partitions: ['day=2026-11-29'], backfill: true, sequenceNumber: 1n });
    expect(second).not.toHaveProperty('partitions');
  });

  test('of a format version to come is read, with a problem', async () => {
    const table = new MadeUpTable().create();
    table.formatVersion = 4;
    table.commit();
    const answer = await createIcebergSource().poll(table.ref, null);
    expect(answer).toMatchObject({ outcome: { kind: 'NEW' }, head: `${table.head()}` });
    expect(answer.problems.join()).toContain('format version 4');
  });

  test('without a summary: the operation is unknown', async () => {
    const json = new MadeUpTable().create();
    json.commit();
    const bytes = Buffer.from(json.json().replace('"summary"', '"other"'));
    const metadata = await parseMetadata(bytes);
    const [entry] = metadata.snapshots.values();
    expect(entry && snapshotAt(metadata, entry).operation).toBe('unknown');
  });
});

describe('schemas', () => {
  const FIELDS = [
    { id: 1, name: 'id', required: true, type: 'long' },
    { id: 2, name: 'price', required: false, type: 'decimal(10, 2)', doc: 'in euros' },
    {
      id: 3,
      name: 'address',
      required: false,
      type: { type: 'struct', fields: [{ id: 4, name: 'city', required: false, type: 'string' }] },
    },
    {
      id: 5,
      name: 'notes',
      required: false,
      type: { type: 'list', 'element-id': 6, element: 'string', 'element-required': true },
    },
    {
      id: 7,
      name: 'counts',
      required: false,
      type: { type: 'map', 'key-id': 8, key: 'string', 'value-id': 9, value: 'int', 'value-required': false },
    },
  ];
  const read = async (fields: unknown): Promise<ReturnType<typeof schemaAt>> => {
    const schema = { type: 'struct', 'schema-id': 0, 'identifier-field-ids': [1], fields };
    const metadata = await parseMetadata(bytesOf({ 'format-version': 1, schema, 'last-updated-ms': 1 }));
    return schemaAt(metadata, metadata.currentSchema);
  };

  test('nested types, keys and comments', async () => {
    const schema = await read(FIELDS);
    expect(schema.fields.map((field) => `${field.id} ${field.name} ${typeText(field)} ${field.nullable}`)).toEqual([
      '1 id LONG false',
      '2 price DECIMAL(10,2) true',
      '3 address ROW<city STRING> true',
      '5 notes ARRAY<STRING> true',
      '7 counts MAP<STRING, INT> true',
    ]);
    expect(schema).toMatchObject({ primaryKeys: ['id'], partitionKeys: [], schemaId: '0' });
    expect(schema.fields[1]?.doc).toBe('in euros');
  });

  test('promotions are compatible, in nested fields too', async () => {
    const wider = structuredClone(FIELDS) as unknown as { type: unknown }[];
    Object.assign(wider[1] ?? {}, { type: 'decimal(20,2)' });
    Object.assign(wider[4] ?? {}, {
      type: { type: 'map', 'key-id': 8, key: 'string', 'value-id': 9, value: 'long', 'value-required': false },
    });
    const [before, after] = [await read(FIELDS), await read(wider)];
    expect(compareSchemas(before, after).verdict).toBe('COMPATIBLE');
    expect(compareSchemas(after, before).verdict).toBe('INCOMPATIBLE');
  });

  test('what is no schema is refused', async () => {
    for (const fields of [null, 'x', [5], [{ id: 1, name: 'a', type: 'zoo' in {} }], [{ name: 'a', type: 'int' }]])
      await expect(read(fields)).rejects.toThrow('schema');
  });
});
