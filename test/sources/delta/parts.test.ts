import { describe, expect, test } from 'vitest';
import { compareSchemas } from '../../../src/core/asset/schema/schema.ts';
import { parseCommit, type CommitFile } from '../../../src/sources/delta/commit-file.ts';
import { decide, passage, type Present } from '../../../src/sources/delta/decide.ts';
import { logFiles } from '../../../src/sources/delta/layout.ts';
import { schemaOf } from '../../../src/sources/delta/schema.ts';
import { advance } from '../../../src/sources/delta/state.ts';
import { add, column, remove, schemaString } from './made-up.ts';

async function commit(...actions: readonly unknown[]): Promise<CommitFile> {
  const parsed = await parseCommit(Buffer.from(actions.map((action) => JSON.stringify(action)).join('\n')), 3n);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
}

const meta = (
  text: string | null,
  configuration: Readonly<Record<string, string>> = {},
  partitionColumns: string[] = [],
) => ({
  id: 'x',
  schemaString: text,
  partitionColumns,
  configuration: new Map(Object.entries(configuration)),
});

describe('new data', () => {
  const dv = { storageType: 'u', pathOrInlineDv: 'x', offset: 1, sizeInBytes: 1, cardinality: 1 };

  test.each([
    ['an append', [add()], true],
    ['a removal', [remove()], true],
    ['a deletion vector on a file', [remove(), add({ deletionVector: dv })], true],
    ['files without a flag', [{ add: { path: 'a' } }], true],
    ['a line that names the other actions as null', [{ add: { path: 'a' }, remove: null, cdc: null }], true],
    ['moved rows, whatever the label', [remove({ dataChange: false }), add({ dataChange: false })], false],
    ['an empty file', [add({ stats: '{"numRecords":0}' })], false],
    ['an empty file in another order', [add({ stats: '{"tightBounds":true, "numRecords" : 0}' })], false],
    ['a column named numRecords', [add({ stats: '{"minValues":{"numRecords":0},"numRecords":5}' })], true],
    ['statistics that are no JSON', [add({ stats: '{' })], true],
    ['an empty micro-batch', [{ txn: { appId: 'a', version: 7 } }], false],
    ['change files alone', [{ cdc: { path: 'c', dataChange: false } }], false],
    ['a property', [{ metaData: { id: 'x' } }], false],
    ['nothing', [], false],
  ])('%s', async (_, actions, dataChange) => {
    expect((await commit({ commitInfo: { operation: 'WRITE' } }, ...actions)).files.dataChange).toBe(dataChange);
  });

  test('rows: statistics less deletion vectors; unknown as soon as one file does not say', async () => {
    const stats = '{"numRecords":9007199254740993}';
    expect((await commit(add({ stats }), add({ stats: '{"numRecords":5}', deletionVector: dv }))).files.addedRows).toBe(
      9007199254740997n,
    );
    expect((await commit(add({ stats }), add())).files.addedRows).toBeNull();
  });

  test('partitions, also of files whose writer left them out', async () => {
    const values = async (...actions: readonly unknown[]) =>
      (await commit(...actions)).files.partitions?.map((partition) => Object.fromEntries(partition)) ?? null;
    expect(await values(add({ partitionValues: { d: 'a' } }), add({ partitionValues: { d: 'a' } }))).toEqual([
      { d: 'a' },
    ]);
    const path = 'd=a%252Fb/h=__HIVE_DEFAULT_PARTITION__/part-0.parquet';
    expect(await values(remove({ path }))).toEqual([{ d: 'a/b', h: null }]);
    expect(await values(remove({ path: '%' }))).toBeNull();
  });

  test.each([
    [{ 'sluice.backfill': 'true' }, true],
    [{ userMetadata: '{"sluice.backfill":"true","by":"me"}' }, true],
    [{ userMetadata: 'job=7, sluice.backfill=true' }, true],
    [{ userMetadata: 'not sluice.backfill=trueish' }, false],
    [{ userMetadata: '{"sluice.backfill":false}' }, false],
    [{}, false],
  ])('backfill %j', async (commitInfo, backfill) => {
    expect((await commit({ commitInfo })).backfill).toBe(backfill);
  });
});

describe('a commit file', () => {
  test.each([
    ['', 'it is empty'],
    ['\n \n', 'it is empty'],
    ['{"add":{"path":"a"}}\n{"add":{"pa', 'its last line is not whole'],
    ['{"add":{"path":"a"}}\n7\n{}', 'its line 2 is no action'],
    ['{"add":true}\n{"txn":{"appId":"a","version":7}}', 'its line 1 is no action'],
    ['{"commitInfo":{}}\n{"remove":"a"}\n{}', 'its line 2 is no action'],
    ['{"add":null}\n{}', 'its line 1 is no action'],
    ['{"metaData":[]}\n{}', 'its line 1 is no action'],
  ])('%j: %s', async (text, reason) => {
    expect(await parseCommit(Buffer.from(text), 0n)).toEqual({ ok: false, reason });
  });

  test('with no line feed at its end, with blank lines, with anything as commitInfo', async () => {
    const { operation, timestamp, metrics } = await commit({
      commitInfo: {
        operation: 7,
        timestamp: 'x',
        operationMetrics: { numOutputRows: '3', num_added_rows: 4, ratio: 0.5, text: 'a' },
      },
    });
    expect({ operation, timestamp }).toEqual({ operation: null, timestamp: null });
    expect([...metrics]).toEqual([
      ['numOutputRows', 3n],
      ['num_added_rows', 4n],
    ]);
  });

  test('exact numbers beyond 2^53', async () => {
    const parsed = await parseCommit(Buffer.from('{"commitInfo":{"inCommitTimestamp":9007199254740993}}'), 0n);
    expect(parsed).toMatchObject({ ok: true, value: { inCommitTimestamp: 9007199254740993n } });
  });
});

describe('names in a log', () => {
  const digits = (version: number) => version.toString().padStart(20, '0');

  test('commits, checkpoints of each kind, checksums; nothing else', async () => {
    const part = (of: string, number: number) => `${digits(4)}.checkpoint.000000000${number}.000000000${of}.parquet`;
    const files = await logFiles([
      ...[10, 2, 0].map((version) => `${digits(version)}.json`),
      `${digits(2)}.checkpoint.parquet`,
      `${digits(3)}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet`,
      `${digits(1)}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json`,
      part('2', 1),
      part('2', 2),
      part('3', 1),
      `${digits(2)}.crc`,
      `${digits(0)}.${digits(2)}.compacted.json`,
      `.${digits(2)}.json.crc`,
      `${digits(7)}.json.tmp`,
      '7.json',
      '_last_checkpoint',
    ]);
    expect(files.versions).toEqual([0n, 2n, 10n]);
    expect(files.checkpoints.map(({ version, files: names }) => [version, names.length])).toEqual([
      [1n, 1],
      [2n, 1],
      [3n, 1],
      [4n, 2],
    ]);
    expect(files.checksums).toEqual(new Set([2n]));
  });
});

describe('schemas', () => {
  test('types, nested ones too, and what they are called', () => {
    const text = schemaString(
      column('a', 'integer', { nullable: false, metadata: { comment: 'about a' } }),
      column('t', 'timestamp'),
      column('n', 'timestamp_ntz'),
      column('d', 'decimal(10, 2)'),
      column('v', 'string', { metadata: { __CHAR_VARCHAR_TYPE_STRING: 'varchar(10)' } }),
      column('s', { type: 'struct', fields: [column('x', 'byte')] }),
      column('l', { type: 'array', elementType: 'long', containsNull: false }),
      column('m', { type: 'map', keyType: 'string', valueType: 'date', valueContainsNull: true }),
    );
    const schema = schemaOf(meta(text, {}, ['a']), '7');
    expect(schema).toMatchObject({ schemaId: '7', partitionKeys: ['a'], primaryKeys: [] });
    expect(schema?.fields.map(({ type }) => type)).toEqual([
      'INT',
      'TIMESTAMP_LTZ',
      'TIMESTAMP_NTZ',
      'DECIMAL(10,2)',
      'VARCHAR(10)',
      'ROW',
      'ARRAY',
      'MAP',
    ]);
    expect(schema?.fields[0]).toMatchObject({ id: 'a', nullable: false, doc: 'about a' });
    expect(schema?.fields.slice(5).map(({ fields }) => fields)).toMatchObject([
      [{ id: 'x', type: 'TINYINT', nullable: true }],
      [{ id: 'element', type: 'BIGINT', nullable: false }],
      [
        { id: 'key', type: 'STRING', nullable: false },
        { id: 'value', type: 'DATE', nullable: true },
      ],
    ]);
  });

  const mapped = (field: string, id: number, physical: string) =>
    column(field, 'string', {
      metadata: { 'delta.columnMapping.id': id, 'delta.columnMapping.physicalName': physical },
    });
  const on = { 'delta.columnMapping.mode': 'name' };

  test('switching column mapping on is no change of schema; renaming and dropping are', () => {
    const before = schemaOf(meta(schemaString(column('a'), column('b'))), '1');
    const after = schemaOf(meta(schemaString(mapped('a', 1, 'a'), mapped('b', 2, 'b')), on), '2');
    const renamed = schemaOf(meta(schemaString(mapped('a', 1, 'a'), mapped('c', 2, 'b')), on), '3');
    const again = schemaOf(meta(schemaString(mapped('a', 1, 'a'), mapped('c', 3, 'col-9')), on), '4');
    if (!before || !after || !renamed || !again) throw new Error('no schema');
    expect(compareSchemas(before, after).changes).toEqual([]);
    expect(compareSchemas(after, renamed).changes.map(({ kind }) => kind)).toEqual(['COLUMN_RENAMED']);
    expect(compareSchemas(renamed, again).changes.map(({ kind }) => kind)).toEqual(['COLUMN_DROPPED', 'COLUMN_ADDED']);
  });

  test('a timestamp that loses its zone is no widening; type widening is', () => {
    const verdict = (from: string, to: string) => {
      const [a, b] = [from, to].map((type) => schemaOf(meta(schemaString(column('a', type))), '1'));
      return a && b ? compareSchemas(a, b).verdict : null;
    };
    expect(verdict('timestamp', 'timestamp_ntz')).toBe('INCOMPATIBLE');
    expect(verdict('string', 'integer')).toBe('INCOMPATIBLE');
    for (const [from, to] of [
      ['byte', 'short'],
      ['short', 'integer'],
      ['integer', 'long'],
      ['float', 'double'],
      ['integer', 'double'],
    ] as const)
      expect(verdict(from, to)).toBe('COMPATIBLE');
    for (const [from, to] of [
      ['date', 'timestamp_ntz'],
      ['integer', 'decimal(12,2)'],
      ['long', 'decimal(20,0)'],
      ['decimal(10,2)', 'decimal(14,4)'],
    ] as const)
      expect(verdict(from, to)).toBe('COMPATIBLE');
  });

  test('what is no schema is none, however deep', () => {
    const deep = `${'{"type":"array","elementType":'.repeat(5_000)}"long"${'}'.repeat(5_000)}`;
    for (const text of [
      null,
      '',
      '{',
      '[]',
      '{"type":"struct"}',
      '{"type":"struct","fields":[7]}',
      `{"type":"struct","fields":[{"name":"a","type":${deep}}]}`,
    ])
      expect(schemaOf(meta(text), '1')).toBeNull();
  });

  test('the state keeps the schema and who manages the table until told otherwise', () => {
    const text = schemaString(column('a'));
    const first = advance(null, { version: 0n, metaData: meta(text), features: new Set(['catalogManaged']) });
    const next = advance(first, { version: 5n, metaData: meta(text, { x: 'y' }), features: null });
    expect(next).toMatchObject({ managedBy: 'catalogManaged', schema: { schemaId: '0' } });
    expect(advance(next, { version: 6n, metaData: null, features: new Set() })).toMatchObject({
      managedBy: null,
      schema: { schemaId: '0' },
    });
  });
});

describe('decide', () => {
  const head = { id: 3n, time: 3_000n };
  const known = new Map([
    [2n, 'b'],
    [3n, 'c'],
  ]);
  const commits = (...marks: readonly (readonly [bigint, string])[]): ReadonlyMap<bigint, Present> =>
    new Map(marks.map(([id, fingerprint]) => [id, { fingerprint, time: 1n }]));

  test('forward, also past a cursor whose file is gone', () => {
    expect(decide(null, { ids: [1n], commits: new Map(), sameTable: null })).toEqual({ kind: 'FORWARD', fresh: [1n] });
    expect(decide({ head, known }, { ids: [3n, 4n], commits: commits([3n, 'c']), sameTable: null })).toEqual({
      kind: 'FORWARD',
      fresh: [4n],
    });
    expect(decide({ head, known }, { ids: [5n], commits: new Map(), sameTable: null })).toEqual({
      kind: 'FORWARD',
      fresh: [5n],
    });
    expect(decide({ head, known }, { ids: [2n, 4n], commits: commits([2n, 'b']), sameTable: null })).toEqual({
      kind: 'FORWARD',
      fresh: [4n],
    });
  });

  test('reads before it judges, and looks who the table is where no commit tells', () => {
    expect(decide({ head, known }, { ids: [2n, 3n], commits: new Map(), sameTable: null })).toEqual({
      kind: 'READ',
      id: 3n,
    });
    const seen = { ids: [1n], commits: commits([1n, 'x']), sameTable: null };
    expect(decide({ head, known }, seen)).toEqual({ kind: 'IDENTIFY' });
    expect(decide({ head, known }, { ...seen, sameTable: false })).toEqual({ kind: 'RECREATED', fresh: [1n] });
    expect(decide({ head, known }, { ...seen, sameTable: true })).toEqual({ kind: 'REWOUND', to: null, fresh: [1n] });
  });

  test('nothing at all', () => {
    expect(decide({ head, known }, { ids: [], commits: new Map(), sameTable: null })).toEqual({ kind: 'VANISHED' });
  });
});

describe('passage', () => {
  const checkpoint = (version: bigint) => [{ version, files: [] }];

  test('clean-up, a hole with a checkpoint behind it, and one without', () => {
    expect(passage(1n, [5n, 6n], [], true)).toEqual({ ids: [5n, 6n], lost: [{ from: 2n, to: 4n }], barrier: null });
    expect(passage(1n, [5n, 6n], [], false)).toEqual({ ids: [], lost: [], barrier: { from: 2n, to: 4n } });
    expect(passage(1n, [2n, 5n], checkpoint(4n), false)).toMatchObject({ ids: [2n, 5n], lost: [{ from: 3n, to: 4n }] });
    expect(passage(1n, [2n, 5n], checkpoint(3n), false)).toMatchObject({ ids: [2n], barrier: { from: 3n, to: 4n } });
    expect(passage(null, [7n, 8n], [], false)).toEqual({ ids: [7n, 8n], lost: [], barrier: null });
  });
});
