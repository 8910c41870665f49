import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Files } from '../../../src/files/files.ts';
import { createLocalFiles } from '../../../src/files/local.ts';
import { createDeltaSource } from '../../../src/sources/delta/source.ts';
import { describeShared } from '../../support/shared.ts';
import { column, MadeUpTable, name, protocol, schemaString } from './made-up.ts';

const source = createDeltaSource();

/** The disk as it would be after clean-up: without the files whose names are hidden. */
function hiding(isHidden: (file: string) => boolean): Files {
  const disk = createLocalFiles();
  return {
    read: (path) => (isHidden(basename(path)) ? Promise.resolve(null) : disk.read(path)),
    stat: (path) => (isHidden(basename(path)) ? Promise.resolve(null) : disk.stat(path)),
    list: async (folder, options) =>
      (await disk.list(folder, options))?.filter((entry) => !isHidden(entry.name)) ?? null,
  };
}

describeShared('checkpoints of all kinds that engines wrote', (shared) => {
  const checkpoints = globSync(join(shared, 'fixtures/delta/*/_delta_log/*.checkpoint*')).filter(
    (file) => !basename(file).startsWith('.'),
  );
  const logs = [...new Set(checkpoints.map(dirname))];

  test.each(logs.map((log) => [basename(dirname(log)), log]))('%s', async (_, log) => {
    const newest = basename(
      checkpoints
        .filter((file) => dirname(file) === log)
        .sort()
        .at(-1) ?? '',
    ).slice(0, 20);
    const hidden = (file: string): boolean =>
      (/^\d{20}\.json$/.test(file) && file < newest) || file.endsWith('.crc') || file === '_last_checkpoint';
    const table = { location: dirname(log), branch: null };
    const whole = await source.poll({ ...table, files: createLocalFiles() }, null);
    const cleaned = await source.poll({ ...table, files: hiding(hidden) }, null);
    expect(cleaned.commits[0]?.snapshotId).toBe(BigInt(newest).toString());
    expect(cleaned.tableId).toBe(whole.tableId);
    expect(cleaned.schema?.fields).toEqual(whole.schema?.fields);
    expect(cleaned.schema?.partitionKeys).toEqual(whole.schema?.partitionKeys);
  });
});

describe('where history begins', () => {
  const columns = schemaString(column('from_file'));
  const metaData = { id: 'table-1', schemaString: columns, partitionColumns: [], configuration: {} };
  const begun = () => {
    const table = new MadeUpTable().create();
    for (let left = 4; left > 0; left--) table.commit();
    for (const version of [0, 1]) table.remove(name(version));
    return table;
  };

  test('a checksum file tells the metadata, a damaged one does not matter', async () => {
    const table = begun();
    table.put(name(2).replace('json', 'crc'), JSON.stringify({ metadata: metaData, protocol: protocol()['protocol'] }));
    const poll = await source.poll(table.ref, null);
    expect(poll).toMatchObject({ tableId: 'table-1', schema: { schemaId: '2', fields: [{ id: 'from_file' }] } });
    table.put(name(2).replace('json', 'crc'), '{"metadata":7}');
    table.checkpoint(2, [protocol(), { metaData: { ...metaData, id: 'table-2' } }]);
    expect(await source.poll(table.ref, null)).toMatchObject({ tableId: 'table-2', problems: [] });
  });

  test('a damaged checkpoint: an older one, and the commits since', async () => {
    const table = new MadeUpTable().create();
    for (let left = 4; left > 0; left--) table.commit();
    table.commit([{ metaData: { ...metaData, id: 'table-9' } }]);
    for (let left = 4; left > 0; left--) table.commit();
    table.checkpoint(2, [{ metaData }, protocol(['catalogManaged'])]);
    table.put('00000000000000000007.checkpoint.parquet', 'PAR1');
    for (const version of [0, 1]) table.remove(name(version));
    const poll = await source.poll(table.ref, null, { firstReadLimit: 2 });
    expect(poll).toMatchObject({
      tableId: 'table-9',
      outcome: { kind: 'BEHIND' },
      schema: { fields: [{ id: 'from_file' }] },
    });
  });

  test('far from any metadata the first commit still tells which table it is', async () => {
    const table = new MadeUpTable().create();
    for (let left = 600; left > 0; left--) table.commit();
    const poll = await source.poll(table.ref, null, { firstReadLimit: 2 });
    expect(poll).toMatchObject({ tableId: 'table-1', schema: null, head: '600' });
    expect(poll.problems).toHaveLength(1);
  });
});
