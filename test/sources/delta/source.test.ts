import { describe, expect, test } from 'vitest';
import type { Poll } from '../../../src/core/asset/poll.ts';
import { FilesError } from '../../../src/files/files.ts';
import { createDeltaSource } from '../../../src/sources/delta/source.ts';
import { add, column, MadeUpTable, name, protocol, remove, schemaString } from './made-up.ts';

const source = createDeltaSource();
const ids = (poll: Poll): string[] => poll.commits.map((commit) => commit.snapshotId);

/** A table with this many commits after the first, and the poll that read them. */
async function tableOf(commits: number): Promise<{ table: MadeUpTable; poll: Poll }> {
  const table = new MadeUpTable().create();
  for (let left = commits; left > 0; left--) table.commit();
  return { table, poll: await source.poll(table.ref, null) };
}

/** The metadata of a table that goes on under the id of the first one made. */
const META = new MadeUpTable().metaData();

describe('what happened', () => {
  test('commits, and none', async () => {
    const { table, poll } = await tableOf(2);
    expect(poll).toMatchObject({ outcome: { kind: 'NEW' }, head: '2', dataHead: '2', tableId: 'table-1' });
    expect(ids(poll)).toEqual(['0', '1', '2']);
    const idle = await source.poll(table.ref, poll.cursor);
    expect(idle).toMatchObject({ outcome: { kind: 'NONE' }, head: '2', commits: [] });
    expect(idle.cursor).toBe(poll.cursor);
    table.optimize();
    const next = await source.poll(table.ref, poll.cursor);
    expect(next).toMatchObject({ outcome: { kind: 'NEW' }, head: '3', dataHead: '2' });
  });

  test('a first read takes at most the newest', async () => {
    const { table } = await tableOf(20);
    const poll = await source.poll(table.ref, null, { firstReadLimit: 3 });
    expect(ids(poll)).toEqual(['18', '19', '20']);
    expect(poll).toMatchObject({ tableId: 'table-1', schema: { schemaId: '0' }, problems: [] });
  });

  test('clean-up: a gap names what is missing, and clean-up of the cursor alone is none', async () => {
    const { table, poll } = await tableOf(3);
    for (let left = 5; left > 0; left--) table.commit();
    table.cleanUp(7, META);
    const gap = await source.poll(table.ref, poll.cursor);
    expect(gap.outcome).toEqual({ kind: 'GAP', from: '4', to: '6' });
    expect(ids(gap)).toEqual(['7', '8']);
    expect(gap).toMatchObject({ newSchemas: [], schema: { schemaId: '0' }, problems: [] });
    table.commit();
    table.cleanUp(9, META);
    const next = await source.poll(table.ref, gap.cursor);
    expect(next).toMatchObject({ outcome: { kind: 'NEW' }, head: '9' });
  });

  test('a schema that came in while nobody looked is found in the checkpoint behind the gap', async () => {
    const { table, poll } = await tableOf(1);
    const changed = { metaData: { ...(META['metaData'] as object), schemaString: schemaString(column('other')) } };
    for (let left = 5; left > 0; left--) table.commit();
    table.cleanUp(6, changed);
    const gap = await source.poll(table.ref, poll.cursor);
    expect(gap).toMatchObject({ outcome: { kind: 'GAP' }, newSchemas: [{ schemaId: '6' }], schema: { schemaId: '6' } });
  });

  test('the data head is forgotten when its commit is cleaned up', async () => {
    const { table } = await tableOf(1);
    for (let left = 3; left > 0; left--) table.optimize();
    const poll = await source.poll(table.ref, null);
    expect(poll.dataHead).toBe('1');
    table.cleanUp(3, META);
    expect(await source.poll(table.ref, poll.cursor)).toMatchObject({ outcome: { kind: 'NONE' }, dataHead: null });
  });

  test.each([0, 1, 3, 5])('dropped and created again with %i commits after 3', async (commits) => {
    const { table, poll } = await tableOf(3);
    table.drop();
    const gone = await source.poll(table.ref, poll.cursor);
    expect(gone).toMatchObject({ outcome: { kind: 'UNREADABLE', retryable: true }, head: '3', cursor: poll.cursor });
    table.create();
    for (let left = commits; left > 0; left--) table.commit();
    const reborn = await source.poll(table.ref, poll.cursor);
    expect(reborn.outcome.kind).toBe('RECREATED');
    expect(reborn).toMatchObject({ tableId: 'table-2', head: `${commits}` });
    expect(ids(reborn)).toHaveLength(commits + 1);
  });

  test('created again under the same table id, as clones of test tables are', async () => {
    const { table, poll } = await tableOf(3);
    table.drop();
    table.create({ id: 'table-1' });
    for (let left = 4; left > 0; left--) table.commit();
    const reborn = await source.poll(table.ref, poll.cursor);
    expect(reborn.outcome.kind).toBe('RECREATED');
    expect(ids(reborn)).toEqual(['0', '1', '2', '3', '4']);
  });

  test('created again with a history that was cleaned up', async () => {
    const { table, poll } = await tableOf(3);
    table.drop();
    table.create();
    for (let left = 6; left > 0; left--) table.commit();
    table.cleanUp(2, table.metaData());
    expect((await source.poll(table.ref, poll.cursor)).outcome.kind).toBe('RECREATED');
  });

  test('replaced: the log goes on, the table is another; restored, it is the former again', async () => {
    const { table, poll } = await tableOf(2);
    table.commit([table.metaData(), remove(), add()], { operation: 'CREATE OR REPLACE TABLE AS SELECT' });
    table.commit();
    const replaced = await source.poll(table.ref, poll.cursor);
    expect(replaced).toMatchObject({ outcome: { kind: 'RECREATED' }, tableId: 'table-2' });
    expect(ids(replaced)).toEqual(['3', '4']);
    table.commit([META, remove(), add()], { operation: 'RESTORE' });
    const restored = await source.poll(table.ref, replaced.cursor);
    expect(restored).toMatchObject({ outcome: { kind: 'RECREATED' }, tableId: 'table-1', head: '5' });
    expect((await source.poll(table.ref, poll.cursor)).outcome.kind).toBe('NEW');
  });

  test('rewound by hand, and versions used again up to the same and beyond the old head', async () => {
    const { table, poll } = await tableOf(5);
    table.rewind(3);
    const back = await source.poll(table.ref, poll.cursor);
    expect(back.outcome).toMatchObject({ kind: 'ROLLBACK', to: '3', restored: { snapshotId: '3', schemaId: '0' } });
    expect(back).toMatchObject({ commits: [], head: '3', dataHead: '3' });
    table.commit();
    table.commit();
    const same = await source.poll(table.ref, poll.cursor);
    expect(same.outcome).toMatchObject({ kind: 'ROLLBACK', to: '3' });
    expect(ids(same)).toEqual(['4', '5']);
    table.commit();
    expect(ids(await source.poll(table.ref, poll.cursor))).toEqual(['4', '5', '6']);
    expect(ids(await source.poll(table.ref, same.cursor))).toEqual(['6']);
  });

  test('a rewind farther back than fingerprints are kept is found by commit times, give or take an hour', async () => {
    const table = new MadeUpTable().create();
    const hourly = (at: number) => table.commit([add()], { timestamp: at * 3_600_000 });
    for (let at = 1; at <= 300; at++) hourly(at);
    const poll = await source.poll(table.ref, null);
    table.rewind(20);
    for (let at = 301; at <= 500; at++) hourly(at);
    const back = await source.poll(table.ref, poll.cursor);
    expect(back.outcome).toMatchObject({ kind: 'ROLLBACK', to: '20' });
    expect(ids(back)).toHaveLength(200);
  });

  test('after a rewind the newest data is looked for among what is left', async () => {
    const { table } = await tableOf(1);
    for (let left = 2; left > 0; left--) table.optimize();
    table.commit();
    const poll = await source.poll(table.ref, null);
    table.rewind(3);
    expect(await source.poll(table.ref, poll.cursor)).toMatchObject({ head: '3', dataHead: '1' });
  });
});

describe('holes', () => {
  test('no engine reads past a hole without a checkpoint: what lies before it counts, until it is filled', async () => {
    const { table, poll } = await tableOf(2);
    table.commit([add()], {}, 4);
    for (let left = 2; left > 0; left--) {
      const behind = await source.poll(table.ref, poll.cursor);
      expect(behind).toMatchObject({ outcome: { kind: 'BEHIND' }, commits: [], head: '2' });
      expect(JSON.stringify(behind.outcome)).toContain('Version 3 is missing');
    }
    table.commit([add()], {}, 3);
    expect(ids(await source.poll(table.ref, poll.cursor))).toEqual(['3', '4']);
  });

  test('past a hole with a checkpoint behind it, it is a gap', async () => {
    const { table, poll } = await tableOf(2);
    table.commit([add()], {}, 9);
    table.checkpoint(9, [META, protocol()]);
    const gap = await source.poll(table.ref, poll.cursor);
    expect(gap.outcome).toEqual({ kind: 'GAP', from: '3', to: '8' });
    expect(ids(gap)).toEqual(['9']);
    const first = await source.poll(table.ref, null);
    expect(first.outcome).toEqual({ kind: 'GAP', from: '3', to: '8' });
  });

  test('a checkpoint beyond the newest commit says that commits are missing', async () => {
    const { table, poll } = await tableOf(2);
    table.checkpoint(7, [META, protocol()]);
    expect(await source.poll(table.ref, poll.cursor)).toMatchObject({ outcome: { kind: 'BEHIND' }, head: '2' });
    for (const version of [0, 1, 2]) table.remove(name(version));
    expect((await source.poll(table.ref, poll.cursor)).outcome.kind).toBe('UNREADABLE');
  });

  test('a history that begins without any metadata is told with a problem', async () => {
    const { table } = await tableOf(5);
    for (const version of [0, 1, 2]) table.remove(name(version));
    const poll = await source.poll(table.ref, null);
    expect(ids(poll)).toEqual(['3', '4', '5']);
    expect(poll).toMatchObject({ tableId: null, schema: null });
    expect(poll.problems.join()).toContain('tell the metadata');
  });
});

describe('a table that is being written', () => {
  test('half a commit is not there yet; what came before it is', async () => {
    const { table, poll } = await tableOf(1);
    table.commit();
    const whole = table.text(name(table.commit()));
    table.put(name(3), whole.slice(0, -20));
    const half = await source.poll(table.ref, poll.cursor);
    expect(ids(half)).toEqual(['2']);
    expect(half.problems.join()).toContain('last line');
    expect((await source.poll(table.ref, half.cursor)).outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
    table.put(name(3), '');
    expect((await source.poll(table.ref, half.cursor)).outcome.kind).toBe('UNREADABLE');
    table.put(name(3), whole);
    expect(ids(await source.poll(table.ref, half.cursor))).toEqual(['3']);
  });

  test('a commit that went on after it looked whole is told again', async () => {
    const { table, poll } = await tableOf(2);
    const half = `${table.text(name(table.commit([add()]))).split('\n')[0]}\n`;
    const whole = table.text(name(3));
    table.put(name(3), half);
    const early = await source.poll(table.ref, poll.cursor);
    expect(early.commits).toMatchObject([{ snapshotId: '3', dataChange: false }]);
    table.put(name(3), whole);
    const again = await source.poll(table.ref, early.cursor);
    expect(again.outcome).toMatchObject({ kind: 'ROLLBACK', to: '2' });
    expect(again.commits).toMatchObject([{ snapshotId: '3', dataChange: true }]);
  });

  test.each([true, false])('a listing that lacks the newest commit (folder times: %s)', async (folderTimes) => {
    const { table } = await tableOf(3);
    table.files.folderTimes = folderTimes;
    table.files.unlisted.add(name(3));
    const poll = await source.poll(table.ref, null);
    expect(ids(poll)).toEqual(['0', '1', '2', '3']);
    table.files.unlisted.add(name(4)).add(name(5));
    table.commit();
    const next = await source.poll(table.ref, poll.cursor);
    table.files.unlisted.clear();
    const later = await source.poll(table.ref, next.cursor);
    expect([...ids(next), ...ids(later)]).toEqual(['4']);
  });

  test('a listing that lacks one in the middle', async () => {
    const { table, poll } = await tableOf(3);
    for (let left = 20; left > 0; left--) table.commit();
    table.files.unlisted.add(name(13));
    const odd = await source.poll(table.ref, poll.cursor);
    expect(odd.outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
    table.files.unlisted.clear();
    expect(ids(await source.poll(table.ref, odd.cursor))).toHaveLength(20);
  });

  test('created again while it is read: never a mix', async () => {
    const { table, poll } = await tableOf(3);
    table.commit();
    table.commit();
    let reads = 0;
    table.files.before = (operation, path) => {
      if (operation !== 'read' || !path.endsWith(name(4)) || reads++ > 0) return;
      table.drop();
      table.create();
      for (let left = 6; left > 0; left--) table.commit();
    };
    const mixed = await source.poll(table.ref, poll.cursor);
    expect(mixed.outcome.kind).toBe('RECREATED');
    expect(ids(mixed)).toEqual(['0', '1', '2', '3', '4', '5', '6']);
    expect(new Set(mixed.commits.map(({ schemaId }) => schemaId))).toEqual(new Set(['0']));
  });

  test('created again after the cursor’s commit was seen to stand: all of the new table is told', async () => {
    const { table, poll } = await tableOf(1);
    table.commit();
    let asked = false;
    table.files.before = (operation, path) => {
      if (asked || operation !== 'stat' || !path.endsWith(name(3))) return;
      asked = true;
      table.drop();
      table.create();
      for (let left = 3; left > 0; left--) table.commit();
    };
    const mixed = await source.poll(table.ref, poll.cursor);
    expect(asked).toBe(true);
    expect([mixed.outcome.kind, ids(mixed)]).toEqual(['RECREATED', ['0', '1', '2', '3']]);
  });

  test('cleaned up while it is read', async () => {
    const { table } = await tableOf(6);
    let cleaned = false;
    table.files.before = (operation, path) => {
      if (cleaned || operation !== 'read' || !path.endsWith(name(1))) return;
      cleaned = true;
      table.cleanUp(4, META);
    };
    const poll = await source.poll(table.ref, null);
    expect(ids(poll)).toEqual(['4', '5', '6']);
  });

  test('a table that never stands still is unreadable for now', async () => {
    const { table } = await tableOf(3);
    table.files.before = (operation, path) => {
      if (operation === 'read' && path.endsWith(name(0))) table.commit([add()], {}, 0);
    };
    expect((await source.poll(table.ref, null)).outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
  });
});

describe('tables that a catalog manages', () => {
  test.each(['catalogManaged', 'catalogOwned-preview'])(
    '%s: what is published counts, and it is behind',
    async (feature) => {
      const table = new MadeUpTable().create({}, [feature, 'inCommitTimestamp']);
      const uuid = '4cb9708e-b478-44de-b203-53f9ba9b2876';
      table.put(`_staged_commits/${name(1).replace('.json', `.${uuid}.json`)}`, '{}');
      const poll = await source.poll(table.ref, null);
      expect(poll).toMatchObject({ outcome: { kind: 'BEHIND' }, head: '0', commits: [{ snapshotId: '0' }] });
      expect(JSON.stringify(poll.outcome)).toContain('staged for version 1');
      table.commit();
      const next = await source.poll(table.ref, poll.cursor);
      expect(next).toMatchObject({ outcome: { kind: 'BEHIND' }, head: '1', commits: [{ snapshotId: '1' }] });
      expect(JSON.stringify(next.outcome)).not.toContain('staged for');
      expect((await source.poll(table.ref, next.cursor)).outcome.kind).toBe('BEHIND');
    },
  );

  test('coordinated commits, the older preview; switched off again', async () => {
    const configuration = { 'delta.coordinatedCommits.commitCoordinator-preview': 'dynamodb' };
    const table = new MadeUpTable().create({ configuration });
    const poll = await source.poll(table.ref, null);
    expect(poll.outcome.kind).toBe('BEHIND');
    table.commit([META], { operation: 'UNSET TBLPROPERTIES' });
    expect((await source.poll(table.ref, poll.cursor)).outcome.kind).toBe('NEW');
  });
});

describe('what cannot be read', () => {
  const missing = new MadeUpTable();

  test('no folder, no log, an empty log, a branch, a cursor of another kind', async () => {
    expect((await source.poll(missing.ref, null)).outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
    const plain = new MadeUpTable();
    plain.files.put('/w/t/part-0.parquet', Buffer.from('PAR1'));
    expect(JSON.stringify((await source.poll(plain.ref, null)).outcome)).toContain('not a Delta table');
    plain.put('.tmp', '');
    expect(JSON.stringify((await source.poll(plain.ref, null)).outcome)).toContain('holds no commit');
    const { table, poll } = await tableOf(1);
    const branch = await source.poll({ ...table.ref, branch: 'b1' }, poll.cursor);
    expect(branch).toMatchObject({ outcome: { kind: 'UNREADABLE', retryable: false }, head: '1', cursor: poll.cursor });
    for (const cursor of [{ v: 2 }, { v: 1 }, { ...poll.cursor, v: 1, head: { id: 'x' } }])
      expect((await source.poll(table.ref, cursor)).outcome).toMatchObject({ kind: 'UNREADABLE', retryable: false });
  });

  test('names that only look like commits, and versions above what a table can have', async () => {
    const { table } = await tableOf(1);
    for (const odd of [
      '00000000000000000000.00000000000000000005.compacted.json',
      '.00000000000000000007.json.crc',
      '7.json',
    ])
      table.put(odd, 'x');
    table.put('99999999999999999999.json', '{}');
    table.put(`${name(9)}.tmp`, '{}');
    const poll = await source.poll(table.ref, null);
    expect(poll).toMatchObject({ outcome: { kind: 'NEW' }, head: '1' });
    expect(poll.problems.join()).toContain('99999999999999999999.json');
  });

  test('a store that fails says why, and whether trying again helps', async () => {
    const { table, poll } = await tableOf(1);
    for (const retryable of [true, false]) {
      table.files.before = () => {
        throw new FilesError('The bucket does not answer.', retryable);
      };
      const failed = await source.poll(table.ref, poll.cursor);
      expect(failed).toMatchObject({ outcome: { reason: 'The bucket does not answer.', retryable }, head: '1' });
      expect(await source.detect(table.ref)).toBe(false);
    }
  });

  test('a signal ends the poll', async () => {
    const { table } = await tableOf(1);
    const stop = new AbortController();
    table.files.before = () => stop.abort(new Error('enough'));
    await expect(source.poll(table.ref, null, { signal: stop.signal })).rejects.toThrow('enough');
  });
});

describe('what a commit says', () => {
  test('time: the table’s own clock, else the writer’s, else the store’s', async () => {
    const table = new MadeUpTable().create();
    table.commit([add()], { inCommitTimestamp: 42, timestamp: 7 });
    table.commit([add()], { timestamp: 7 });
    table.put(name(3), `${JSON.stringify(add())}\n`);
    const { commits } = await source.poll(table.ref, null);
    expect(commits.slice(1, 3).map(({ commitTime }) => commitTime)).toEqual([42n, 7n]);
    const stat = await table.files.stat(`/w/t/_delta_log/${name(3)}`);
    expect(commits[3]).toMatchObject({ operation: 'UNKNOWN', dataChange: true, commitTime: stat?.modifiedAt });
  });

  test('schemas: only what changes columns is one', async () => {
    const { table, poll } = await tableOf(1);
    const meta = META['metaData'] as object;
    table.commit([{ metaData: { ...meta, configuration: { a: 'b' } } }], { operation: 'SET TBLPROPERTIES' });
    table.commit([{ metaData: { ...meta, schemaString: schemaString(column('id', 'long'), column('b')) } }]);
    table.commit([{ metaData: { ...meta, schemaString: schemaString(column('id', 'long')) } }]);
    const next = await source.poll(table.ref, poll.cursor);
    expect(next.commits.map(({ schemaId }) => schemaId)).toEqual(['0', '3', '4']);
    expect(next.newSchemas.map(({ schemaId }) => schemaId)).toEqual(['3', '4']);
    expect(next.schema).toMatchObject({ schemaId: '4', fields: [{ name: 'id', type: 'BIGINT' }] });
  });

  test('partitions by their names, also where columns are mapped', async () => {
    const mapped = (field: string, physical: string) =>
      column(field, 'string', { metadata: { 'delta.columnMapping.physicalName': physical } });
    const table = new MadeUpTable().create({
      schemaString: schemaString(mapped('day', 'col-1'), mapped('id', 'col-2')),
      partitionColumns: ['day'],
      configuration: { 'delta.columnMapping.mode': 'name' },
    });
    table.commit([add({ partitionValues: { 'col-1': 'd1' } }), add({ partitionValues: { 'col-1': null } })]);
    table.commit([add({ partitionValues: { other: 'd1' } })]);
    const { commits } = await source.poll(table.ref, null);
    expect(commits[1]?.partitions).toEqual(['day=d1', 'day=__HIVE_DEFAULT_PARTITION__']);
    expect(commits[2]?.partitions).toBeUndefined();
  });

  test('a metaData without a schema is told with a problem', async () => {
    const table = new MadeUpTable().create({ schemaString: '{' });
    const poll = await source.poll(table.ref, null);
    expect(poll).toMatchObject({ outcome: { kind: 'NEW' }, schema: null, tableId: 'table-1' });
    expect(poll.problems.join()).toContain('No schema');
    expect((await source.poll(table.ref, poll.cursor)).problems).toHaveLength(1);
  });
});
