import avro from 'avsc';
import { describe, expect, test } from 'vitest';
import { createIcebergSource } from '../../../src/sources/iceberg/source.ts';
import { MadeUpTable, type CommitParts } from './made-up.ts';

const source = createIcebergSource();

/** Whether the last of these commits shows new data, and whether that was a guess. */
async function judged(...commits: readonly CommitParts[]): Promise<string> {
  const table = new MadeUpTable().create();
  for (const parts of commits) table.commit(parts);
  return judgedAt(table);
}

async function judgedAt(table: MadeUpTable): Promise<string> {
  const { commits, problems } = await source.poll(table.ref, null);
  const change = commits.at(-1)?.dataChange === true ? 'data' : 'no data';
  return problems.join().includes(`Snapshot ${table.head()} does not say`) ? `${change}, guessed` : change;
}

/** A commit whose summary holds these counts and nothing else. */
const only = (operation: string, summary: Readonly<Record<string, string>>): CommitParts => ({
  operation,
  rows: 0,
  summary: { 'changed-partition-count': '', 'total-records': '', ...summary },
});
const append: CommitParts = { rows: 5, summary: { 'total-delete-files': '0' } };

describe('does a commit hold new data', () => {
  test.each<[string, readonly CommitParts[], string]>([
    ['an append', [append], 'data'],
    ['an append of nothing', [append, { rows: 0 }], 'no data'],
    ['an append of nothing that only tells totals', [append, only('append', { 'total-records': '5' })], 'no data'],
    ['one whose totals moved without a count', [append, only('append', { 'total-records': '6' })], 'data'],
    ['Trino’s CREATE TABLE', [{ rows: 0 }], 'no data'],
    ['a first append that only tells totals of 0', [only('append', { 'total-records': '0' })], 'no data'],
    ['a delete by deletion vectors', [append, only('delete', { 'added-dvs': '1' })], 'data'],
    ['a delete of nothing', [append, { operation: 'delete', rows: 0 }], 'no data'],
    [
      'an UPDATE whose rows balance',
      [append, only('overwrite', { 'added-records': '5', 'deleted-records': '5' })],
      'data',
    ],
    [
      'a compaction',
      [
        append,
        only('replace', {
          'added-data-files': '1',
          'deleted-data-files': '3',
          'added-records': '5',
          'deleted-records': '5',
        }),
      ],
      'no data',
    ],
    [
      'a compaction that applies deletes',
      [
        { ...append, summary: { 'total-delete-files': '2' } },
        only('replace', {
          'added-data-files': '1',
          'deleted-data-files': '2',
          'added-records': '4',
          'deleted-records': '5',
        }),
      ],
      'no data',
    ],
    [
      'a rewrite that loses rows where there were no deletes',
      [
        append,
        only('replace', {
          'added-data-files': '1',
          'deleted-data-files': '2',
          'added-records': '4',
          'deleted-records': '5',
        }),
      ],
      'data',
    ],
    ['a rewrite that brings rows', [append, only('replace', { 'added-records': '6', 'deleted-records': '5' })], 'data'],
    ['a rewrite that replaces no file', [append, only('replace', { 'added-data-files': '2' })], 'data'],
    ['a rewrite that only adds deletes', [append, only('replace', { 'added-delete-files': '1' })], 'data'],
    [
      'a rewrite of delete files',
      [append, only('replace', { 'added-delete-files': '1', 'removed-delete-files': '2' })],
      'no data',
    ],
    ['a rewrite of manifests', [append, { operation: 'replace', rows: 0 }], 'no data'],
    ['an unknown operation without a count', [append, only('sorcery', {})], 'data, guessed'],
    ['a replace without a count', [append, only('replace', {})], 'data, guessed'],
  ])('%s', async (_, commits, answer) => {
    expect(await judged(...commits)).toBe(answer);
  });
});

const ENTRY = avro.Type.forSchema({
  type: 'record',
  name: 'manifest_file',
  fields: [
    { name: 'manifest_path', type: 'string' },
    { name: 'added_snapshot_id', type: { type: 'long' } },
    { name: 'added_files_count', type: ['null', 'int'] },
    { name: 'deleted_files_count', type: ['null', 'int'] },
  ],
});
const MANIFEST = avro.Type.forSchema({
  type: 'record',
  name: 'manifest_entry',
  fields: [
    { name: 'status', type: 'int' },
    { name: 'snapshot_id', type: ['null', 'long'] },
  ],
});

const text = (value: string): Buffer => avro.Type.forSchema('string').toBuffer(value);
const long = (value: number): Buffer => avro.Type.forSchema('long').toBuffer(value);

/** An Avro container file. Ids are small here: what writes them in tests cannot hold larger ones. */
function container(type: avro.Type, records: readonly object[]): Buffer {
  const data = Buffer.concat(records.map((record) => type.toBuffer(record)));
  const sync = Buffer.alloc(16, 7);
  const meta = [long(1), text('avro.schema'), text(JSON.stringify(type.schema())), long(0)];
  return Buffer.concat([
    Buffer.from('Obj\x01', 'latin1'),
    ...meta,
    sync,
    long(records.length),
    long(data.length),
    data,
    sync,
  ]);
}

describe('manifests, where the summary does not tell', () => {
  const SMALL = 77;

  /** A table whose only commit has the id 77 and says nothing of itself. */
  function silent(operation: string): MadeUpTable {
    const table = new MadeUpTable().create();
    table.commit(only(operation, {}));
    table.files.put(table.current(), table.json().replaceAll(`${table.head()}`, String(SMALL)));
    return table;
  }
  const judgedNow = async (table: MadeUpTable): Promise<boolean | undefined> =>
    (await source.poll(table.ref, null)).commits[0]?.dataChange;
  const list = (parts: object): Buffer =>
    container(ENTRY, [{ manifest_path: 's3://elsewhere/t/metadata/m.avro', added_snapshot_id: SMALL, ...parts }]);

  test.each([
    ['replace', 1, 0, true],
    ['replace', 1, 3, false],
    ['append', 0, 0, false],
    ['append', 1, 0, true],
    ['delete', 0, 1, true],
  ])('%s: %i added, %i deleted', async (operation, added, deleted, answer) => {
    const table = silent(operation);
    table.files.put('/w/t/metadata/snap-77.avro', list({ added_files_count: added, deleted_files_count: deleted }));
    expect(await judgedNow(table)).toBe(answer);
  });

  test('counts that format version 1 left out are counted in the manifest', async () => {
    const table = silent('append');
    table.files.put('/w/t/metadata/snap-77.avro', list({ added_files_count: null, deleted_files_count: null }));
    const entry = (status: number, id: number): object => ({ status, snapshot_id: id });
    table.files.put('/w/t/metadata/m.avro', container(MANIFEST, [entry(0, 5), entry(1, 5)]));
    expect(await judgedNow(table)).toBe(false);
    table.files.put('/w/t/metadata/m.avro', container(MANIFEST, [entry(0, 5), entry(1, SMALL)]));
    expect(await judgedNow(table)).toBe(true);
  });

  test('manifests that are damaged are no evidence', async () => {
    const table = silent('append');
    table.files.put('/w/t/metadata/snap-77.avro', 'Obj?');
    expect(await judgedNow(table)).toBe(true);
  });
});
