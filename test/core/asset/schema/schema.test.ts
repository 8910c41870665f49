import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { widens } from '../../../../src/core/asset/schema/column-type.ts';
import { compareSchemas, type SchemaField, type TableSchema } from '../../../../src/core/asset/schema/schema.ts';

const column = (id: string, name: string, type: string, more: Partial<SchemaField> = {}): SchemaField => ({
  id,
  name,
  type,
  nullable: true,
  ...more,
});
const schema = (fields: readonly SchemaField[], more: Partial<TableSchema> = {}): TableSchema => ({
  schemaId: '1',
  fields,
  partitionKeys: [],
  primaryKeys: ['id'],
  ...more,
});

const ID = column('0', 'id', 'BIGINT', { nullable: false });
const CITY = column('1', 'city', 'STRING');
const BASE = schema([ID, CITY]);
const against = (next: TableSchema): readonly [string, ...string[]] => {
  const { verdict, changes } = compareSchemas(BASE, next);
  return [verdict, ...changes.map((change) => change.sentence)];
};

describe('compatible', () => {
  test.each([
    ['nothing', schema([ID, CITY], { schemaId: '2' }), []],
    ['a nullable column', schema([ID, CITY, column('2', 'n', 'INT')]), ['Column n (INT) was added.']],
    ['a comment', schema([ID, { ...CITY, doc: 'where' }]), ['The comment of column city changed.']],
    ['the order', schema([CITY, ID]), ['The columns were reordered.']],
    [
      'a new column in front is no reordering',
      schema([column('2', 'n', 'INT'), ID, CITY]),
      ['Column n (INT) was added.'],
    ],
  ])('%s', (_name, next, sentences) => {
    expect(against(next)).toEqual(['COMPATIBLE', ...sentences]);
  });

  test('a widened type says from what to what', () => {
    const { verdict, changes } = compareSchemas(
      schema([column('2', 'n', 'INT')]),
      schema([column('2', 'n', 'BIGINT')]),
    );
    expect(verdict).toBe('COMPATIBLE');
    expect(changes).toEqual([
      {
        kind: 'TYPE_CHANGED',
        column: 'n',
        from: 'INT',
        to: 'BIGINT',
        compatible: true,
        sentence: 'Column n was widened from INT to BIGINT.',
      },
    ]);
  });
});

describe('incompatible', () => {
  test.each([
    ['dropped', schema([ID]), ['Column city (STRING) was dropped.']],
    ['renamed', schema([ID, { ...CITY, name: 'town' }]), ['Column city was renamed to town.']],
    [
      'dropped and added again under its name',
      schema([ID, { ...CITY, id: '2' }]),
      ['Column city (STRING) was dropped.', 'Column city (STRING) was added.'],
    ],
    ['narrowed', schema([{ ...ID, type: 'INT' }, CITY]), ['Column id was changed from BIGINT to INT.']],
    ['number to text', schema([{ ...ID, type: 'STRING' }, CITY]), ['Column id was changed from BIGINT to STRING.']],
    ['nulls refused', schema([ID, { ...CITY, nullable: false }]), ['Column city no longer allows nulls.']],
    ['nulls allowed', schema([{ ...ID, nullable: true }, CITY]), ['Column id now allows nulls.']],
    [
      'a column without nulls',
      schema([ID, CITY, column('2', 'n', 'INT', { nullable: false })]),
      ['Column n (INT) was added and does not allow nulls.'],
    ],
    ['another primary key', schema([ID, CITY], { primaryKeys: [] }), ['The primary key changed from id to none.']],
    [
      'another partition key',
      schema([ID, CITY], { partitionKeys: ['city'] }),
      ['The partition key changed from none to city.'],
    ],
  ])('%s', (_name, next, sentences) => {
    expect(against(next)).toEqual(['INCOMPATIBLE', ...sentences]);
  });
});

describe('nested columns', () => {
  const address = (...fields: readonly SchemaField[]): TableSchema =>
    schema([column('1', 'address', 'ROW', { fields })]);
  const list = (element: SchemaField): TableSchema => schema([column('1', 'all', 'ARRAY', { fields: [element] })]);

  test('rows by field id, with their path', () => {
    const before = address(column('2', 'zip', 'INT'), column('3', 'city', 'STRING'));
    const after = address(
      column('2', 'zip', 'BIGINT'),
      column('3', 'town', 'STRING'),
      column('4', 'country', 'STRING'),
    );
    const { verdict, changes } = compareSchemas(before, after);
    expect(verdict).toBe('INCOMPATIBLE');
    expect(changes.map(({ column, sentence, compatible }) => [column, sentence, compatible])).toEqual([
      ['address.zip', 'Column address.zip was widened from INT to BIGINT.', true],
      ['address.town', 'Column address.city was renamed to town.', false],
      ['address.country', 'Column address.country (STRING) was added.', true],
    ]);
  });

  test('elements of an array', () => {
    const element = column('element', 'element', 'INT');
    expect(compareSchemas(list(element), list({ ...element, type: 'BIGINT' })).verdict).toBe('COMPATIBLE');
    expect(compareSchemas(list(element), list({ ...element, type: 'STRING' })).verdict).toBe('INCOMPATIBLE');
  });

  test('a row that becomes a scalar, or an array, is said with its whole type', () => {
    const before = address(column('2', 'zip', 'INT'));
    const { verdict, changes } = compareSchemas(before, schema([column('1', 'address', 'STRING')]));
    expect(verdict).toBe('INCOMPATIBLE');
    expect(changes[0]?.sentence).toBe('Column address was changed from ROW<zip INT> to STRING.');
    expect(compareSchemas(before, list(column('element', 'element', 'INT'))).verdict).toBe('INCOMPATIBLE');
  });
});

describe('widening', () => {
  test.each([
    ['TINYINT', 'BIGINT'],
    ['INTEGER', 'LONG'],
    ['int', 'long'],
    ['INT', 'DOUBLE'],
    ['SMALLINT', 'FLOAT'],
    ['FLOAT', 'DOUBLE'],
    ['DECIMAL(10,2)', 'DECIMAL(12, 2)'],
    ['DECIMAL(10,2)', 'DECIMAL(12,4)'],
    ['INT', 'DECIMAL(10,0)'],
    ['BIGINT', 'DECIMAL(21,2)'],
    ['CHAR(3)', 'VARCHAR(3)'],
    ['VARCHAR(5)', 'VARCHAR(9)'],
    ['VARCHAR(5)', 'STRING'],
    ['VARBINARY(4)', 'BYTES'],
    ['BINARY(4)', 'BINARY(8)'],
    ['TIMESTAMP(3)', 'TIMESTAMP(6)'],
    ['TIMESTAMP_LTZ(3)', 'TIMESTAMP(6) WITH LOCAL TIME ZONE'],
    ['DATE', 'TIMESTAMP(3)'],
    ['DATE', 'TIMESTAMP_NTZ'],
    ['DATE', 'TIMESTAMP_NS'],
    ['UNKNOWN', 'STRING'],
  ])('%s holds in %s', (from, to) => {
    expect(widens(from, to)).toBe(true);
    expect(widens(to, from)).toBe(false);
  });

  test.each([
    ['BIGINT', 'DOUBLE'],
    ['INT', 'FLOAT'],
    ['DOUBLE', 'DECIMAL(38,10)'],
    ['DECIMAL(10,2)', 'DECIMAL(10,4)'],
    ['DECIMAL(10,2)', 'DOUBLE'],
    ['INT', 'DECIMAL(10,1)'],
    ['INT', 'STRING'],
    ['DECIMAL(10,2)', 'STRING'],
    ['VARCHAR(5)', 'CHAR(9)'],
    ['TIMESTAMP(3)', 'TIMESTAMP_LTZ(3)'],
    ['BOOLEAN', 'INT'],
    ['DATE', 'INT'],
    ['STRING', 'BYTES'],
    ['VARIANT', 'STRING'],
    ['DATE', 'TIMESTAMPTZ'],
    ['TIMESTAMP', 'TIMESTAMP_NS'],
    ['FIXED[4]', 'FIXED[8]'],
  ])('%s does not hold in %s', (from, to) => {
    expect([widens(from, to), widens(to, from)]).toEqual([false, false]);
  });

  const size = fc.integer({ min: 1, max: 38 });
  const anyType = fc.oneof(
    fc.constantFrom(
      'TINYINT',
      'SMALLINT',
      'INT',
      'BIGINT',
      'FLOAT',
      'DOUBLE',
      'STRING',
      'BYTES',
      'DATE',
      'BOOLEAN',
      'TIMESTAMP',
    ),
    fc.tuple(size, fc.nat(10)).map(([precision, scale]) => `DECIMAL(${precision},${Math.min(scale, precision)})`),
    fc
      .tuple(fc.constantFrom('CHAR', 'VARCHAR', 'BINARY', 'VARBINARY', 'TIMESTAMP'), size)
      .map(([word, length]) => `${word}(${length})`),
  );

  test('any type widens to itself; widening twice is widening; back is never widening', () => {
    fc.assert(
      fc.property(anyType, anyType, anyType, (a, b, c) => {
        expect(widens(a, a)).toBe(true);
        if (widens(a, b) && widens(b, c)) expect(widens(a, c)).toBe(true);
        if (widens(a, b) && widens(b, a))
          expect(compareSchemas(schema([column('1', 'c', a)]), schema([column('1', 'c', b)])).verdict).toBe(
            'COMPATIBLE',
          );
      }),
      { numRuns: 3_000 },
    );
  });
});

const leaf = fc.record({
  name: fc.string({ minLength: 1 }),
  type: fc.constantFrom('INT', 'STRING', 'DOUBLE'),
  nullable: fc.boolean(),
});
const fieldsOf: fc.Arbitrary<readonly SchemaField[]> = fc
  .array(fc.tuple(leaf, fc.array(leaf, { maxLength: 3 })), { minLength: 1, maxLength: 8 })
  .map((columns) =>
    columns.map(([field, inner], at) =>
      inner.length === 0
        ? { ...field, id: `${at}` }
        : {
            ...field,
            id: `${at}`,
            type: 'ROW',
            fields: inner.map((child, below) => ({ ...child, id: `${at}.${below}` })),
          },
    ),
  );

describe('any schema', () => {
  test('does not differ from itself, whatever its id', () => {
    fc.assert(
      fc.property(fieldsOf, (fields) => {
        expect(compareSchemas(schema(fields), schema(structuredClone(fields), { schemaId: '9' }))).toEqual({
          verdict: 'COMPATIBLE',
          changes: [],
        });
      }),
    );
  });

  test('reordered and re-documented at will stays compatible', () => {
    const shuffled = fieldsOf.chain((fields) =>
      fc.tuple(fc.constant(fields), fc.shuffledSubarray([...fields], { minLength: fields.length }), fc.string()),
    );
    fc.assert(
      fc.property(shuffled, ([fields, others, doc]) => {
        const { verdict, changes } = compareSchemas(schema(fields), schema(others.map((field) => ({ ...field, doc }))));
        expect(verdict).toBe('COMPATIBLE');
        expect(changes.every((change) => ['COLUMNS_REORDERED', 'DOC_CHANGED'].includes(change.kind))).toBe(true);
      }),
    );
  });

  test('loses a column: incompatible there, and compatible back exactly when the column takes nulls', () => {
    fc.assert(
      fc.property(fieldsOf, fc.nat(), (fields, chosen) => {
        const lost = fields[chosen % fields.length];
        const rest = fields.filter((field) => field !== lost);
        expect(compareSchemas(schema(fields), schema(rest)).verdict).toBe('INCOMPATIBLE');
        expect(compareSchemas(schema(rest), schema(fields)).verdict).toBe(
          lost?.nullable ? 'COMPATIBLE' : 'INCOMPATIBLE',
        );
      }),
    );
  });

  test('every incompatible verdict names at least one incompatible change, each with a sentence', () => {
    fc.assert(
      fc.property(fieldsOf, fieldsOf, (a, b) => {
        const { verdict, changes } = compareSchemas(schema(a), schema(b));
        expect(changes.some((change) => !change.compatible)).toBe(verdict === 'INCOMPATIBLE');
        expect(changes.every((change) => change.sentence.endsWith('.'))).toBe(true);
      }),
    );
  });
});
