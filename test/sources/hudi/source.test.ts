import { describe, expect, test } from 'vitest';
import type { Cursor, Poll } from '../../../src/core/asset/poll.ts';
import { createHudiSource } from '../../../src/sources/hudi/source.ts';
import { MadeUpTable, SCHEMA } from './made-up.ts';

const source = createHudiSource();
const poll = (table: MadeUpTable, cursor: Cursor | null = null): Promise<Poll> => source.poll(table.ref, cursor);
const ids = ({ commits }: Poll): readonly string[] => commits.map(({ snapshotId }) => snapshotId);
const reasonOf = ({ outcome }: Poll): string => ('reason' in outcome ? outcome.reason : '');

describe('tables that cannot be read', () => {
  test('no folder, and a folder that holds something else', async () => {
    const table = new MadeUpTable();
    table.drop();
    expect(reasonOf(await poll(table))).toBe('The folder /w/t does not exist: check the location.');
    table.files.files.set('/w/t/part-0.parquet', Buffer.from('x'));
    expect(reasonOf(await poll(table))).toBe(
      'The folder /w/t is not a Hudi table: it holds no .hoodie/hoodie.properties.',
    );
    expect(await source.detect(table.ref)).toBe(false);
  });

  test('empty properties are half a file; the copy beside them is as good', async () => {
    const table = new MadeUpTable();
    const id = table.commit();
    const properties = table.body('hoodie.properties');
    table.put('hoodie.properties', '');
    expect((await poll(table)).outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
    table.put('hoodie.properties.backup', properties);
    expect(ids(await poll(table))).toEqual([id]);
    table.remove('hoodie.properties');
    expect(ids(await poll(table))).toEqual([id]);
    expect(await source.detect(table.ref)).toBe(true);
  });

  test('a branch, a cursor of another source, and one of a later layout', async () => {
    const table = new MadeUpTable();
    const id = table.commit();
    expect(reasonOf(await source.poll({ ...table.ref, branch: 'b1' }, null))).toBe(
      'A Hudi table has no branches: leave b1 out.',
    );
    expect(ids(await source.poll({ ...table.ref, branch: 'main' }, null))).toEqual([id]);
    for (const cursor of [{ v: 1 }, { v: 99 }, { v: 1, seen: 'Dx.y', timeline: null }]) {
      const refused = await poll(table, cursor);
      expect(refused).toMatchObject({ outcome: { kind: 'UNREADABLE', retryable: false }, commits: [] });
      expect((await source.poll(table.ref, cursor, { depth: 'QUICK' })).outcome.kind).toBe('UNREADABLE');
    }
  });

  test.each(['QUICK', 'FULL'] as const)(
    'a store that fails, %s: the cursor stays, what was known is told',
    async (depth) => {
      const table = new MadeUpTable();
      const id = table.commit();
      const { cursor } = await poll(table);
      table.commit();
      table.files.fail(true);
      const failed = await source.poll(table.ref, cursor, { depth });
      expect(failed).toMatchObject({ outcome: { kind: 'UNREADABLE', retryable: true }, head: id, dataHead: id });
      expect(failed.cursor).toBe(cursor);
    },
  );

  test('an aborted poll throws the reason', async () => {
    const table = new MadeUpTable();
    const abort = new AbortController();
    abort.abort(new Error('stopped'));
    await expect(source.poll(table.ref, null, { signal: abort.signal })).rejects.toThrow('stopped');
  });

  test('a table that was dropped, and one whose timeline is being deleted', async () => {
    const table = new MadeUpTable();
    table.commit();
    const { cursor } = await poll(table);
    for (const path of [...table.files.files.keys()]) if (path.includes('timeline')) table.files.files.delete(path);
    const dying = await poll(table, cursor);
    expect(reasonOf(dying)).toBe('The timeline of /w/t is empty now: the table is being dropped, or is damaged.');
    expect(dying.cursor).toBe(cursor);
    table.drop();
    expect(reasonOf(await poll(table, cursor))).toBe('/w/t is no Hudi table any more: it was dropped or moved.');
  });
});

describe.each([1, 2] as const)('what happens to a table of layout %i', (layout) => {
  test('only completed writes are versions', async () => {
    const table = new MadeUpTable(layout);
    const first = table.commit({ inserts: 3, operation: 'INSERT' });
    const late = table.begin();
    table.savepoint(first);
    table.clean(first);
    for (const stray of [
      'x.commit',
      '.20260101000001000.commit.crc',
      '._20260101000001000.commit',
      `${first}.commit.tmp`,
    ])
      table.put(table.at(stray), 'x');
    const one = await poll(table);
    expect(ids(one)).toEqual([first]);
    expect(one.commits[0]).toMatchObject({
      operation: 'INSERT',
      addedRecords: 3n,
      action: 'commit',
      totalRecords: null,
    });
    const second = table.commit();
    const two = await poll(table, one.cursor);
    expect(ids(two)).toEqual([second]);
    table.complete(late, { updates: 1 });
    const three = await poll(table, two.cursor);
    expect(three.commits).toMatchObject([{ snapshotId: late, dataChange: true, readAs: second }]);
    expect(three.head).toBe(layout === 1 ? second : late);
    expect((await poll(table, three.cursor)).outcome.kind).toBe('NONE');
  });

  test('a rollback of a completed write rewinds, one of a failed write does not', async () => {
    const table = new MadeUpTable(layout);
    const [kept, undone] = [table.commit(), table.commit()];
    const one = await poll(table);
    table.rollback(undone);
    const two = await poll(table, one.cursor);
    expect(two.outcome).toMatchObject({ kind: 'ROLLBACK', to: kept, restored: { snapshotId: kept, dataChange: true } });
    expect(two).toMatchObject({ head: kept, dataHead: kept, commits: [] });
    const failed = table.begin();
    const three = await poll(table, two.cursor);
    table.rollback(failed);
    const after = table.commit();
    const four = await poll(table, three.cursor);
    expect(four.outcome.kind).toBe('NEW');
    expect(ids(four)).toEqual([after]);
  });

  test('a rewind and new commits in one poll; a rewind to before the first', async () => {
    const table = new MadeUpTable(layout);
    const all = [table.commit(), table.commit(), table.commit()];
    const one = await poll(table);
    table.restore(...all.slice(1));
    const after = table.commit();
    const two = await poll(table, one.cursor);
    expect(two.outcome).toMatchObject({ kind: 'ROLLBACK', to: all[0] });
    expect(ids(two)).toEqual([after]);
    table.rollback(after);
    table.rollback(all[0] ?? '');
    const three = await poll(table, two.cursor);
    expect(three).toMatchObject({
      outcome: { kind: 'ROLLBACK', to: null, restored: null },
      head: null,
      dataHead: null,
    });
  });

  test('a rewind that left no trace: the newest versions were deleted by hand, or an old copy was put back', async () => {
    const table = new MadeUpTable(layout);
    const [kept, undone] = [table.commit(), table.commit()];
    const { cursor } = await poll(table);
    table.forget([undone]);
    expect((await poll(table, cursor)).outcome).toMatchObject({ kind: 'ROLLBACK', to: kept });
  });

  test('a rollback that cannot be read still rewinds', async () => {
    const table = new MadeUpTable(layout);
    const [kept, undone] = [table.commit(), table.commit()];
    const { cursor } = await poll(table);
    const time = table.rollback(undone);
    for (const path of table.files.files.keys())
      if (path.includes(`/${time}`) && path.endsWith('.rollback')) table.files.files.set(path, Buffer.from('Obj'));
    expect((await poll(table, cursor)).outcome).toMatchObject({ kind: 'ROLLBACK', to: kept });
  });

  test('re-created, also with more commits than before; then empty', async () => {
    const table = new MadeUpTable(layout);
    table.commit();
    const one = await poll(table);
    table.drop();
    table.tick();
    table.create();
    const fresh = [table.commit(), table.commit()];
    const two = await poll(table, one.cursor);
    expect(two.outcome.kind).toBe('RECREATED');
    expect(ids(two)).toEqual(fresh);
    table.drop();
    table.tick();
    table.create();
    const three = await poll(table, two.cursor);
    expect(three).toMatchObject({ outcome: { kind: 'RECREATED' }, head: null, dataHead: null, commits: [] });
  });

  test('half a file is read again; with another commit beside it that one is told at once', async () => {
    const table = new MadeUpTable(layout);
    table.commit();
    const one = await poll(table);
    const id = table.begin();
    const file = table.complete(id, { inserts: 1 });
    const whole = table.body(table.at(file));
    for (const size of [0, 1, Math.floor(whole.length / 2), whole.length - 1]) {
      table.put(table.at(file), whole.slice(0, size));
      const half = await poll(table, one.cursor);
      expect(half.outcome, `${size} bytes`).toMatchObject({ kind: 'UNREADABLE', retryable: true });
      expect(half.cursor).toBe(one.cursor);
    }
    const next = table.commit();
    const two = await poll(table, one.cursor);
    expect(ids(two)).toEqual([next]);
    expect(two.problems.join()).toContain(`${file} cannot be used`);
    // It was followed by others: it will not become whole, and must not make the table unreadable for ever.
    const three = await poll(table, two.cursor);
    expect(three.outcome.kind).toBe('NONE');
    expect(three.problems.join()).toContain(`${file} cannot be used`);
    table.put(table.at(file), whole);
    expect((await poll(table, three.cursor)).commits).toMatchObject([{ snapshotId: id, readAs: next }]);
  });

  test('a listing that misses the last file takes nothing back and loses nothing', async () => {
    const table = new MadeUpTable(layout);
    table.commit();
    const id = table.begin();
    const file = table.complete(id, { inserts: 1 });
    const seen = await poll(table);
    table.files.unlisted.add(file);
    const blind = await poll(table, seen.cursor);
    expect(blind.outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
    table.files.unlisted.clear();
    expect((await poll(table, seen.cursor)).outcome.kind).toBe('NONE');
    const fresh = table.begin();
    const unseen = table.complete(fresh, { inserts: 1 });
    table.files.unlisted.add(unseen);
    const none = await poll(table, seen.cursor);
    table.files.unlisted.clear();
    expect(ids(await poll(table, none.cursor))).toEqual([fresh]);
  });

  test('a version that is taken back between listing and reading is not told', async () => {
    const table = new MadeUpTable(layout);
    const kept = table.commit();
    const undone = table.commit();
    table.files.before = (operation, path) => {
      if (operation !== 'read' || !path.includes(`/${undone}`)) return;
      table.files.before = () => {};
      table.rollback(undone);
    };
    expect(ids(await poll(table))).toEqual([kept]);
  });

  test('a table that changes at every look is unreadable for now', async () => {
    const table = new MadeUpTable(layout);
    table.commit();
    table.files.before = (operation, path) => {
      const name = /\/(\d{17})[^/]*\.commit$/.exec(path)?.[1];
      if (operation !== 'read' || name === undefined) return;
      table.forget([name]);
      table.commit();
    };
    expect((await poll(table)).outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
  });

  test('made anew between the properties and the listing', async () => {
    const table = new MadeUpTable(layout);
    table.commit();
    const { cursor } = await poll(table);
    table.files.before = (operation) => {
      if (operation !== 'list') return;
      table.files.before = () => {};
      table.drop();
      table.tick();
      table.create();
      table.commit();
    };
    expect((await poll(table, cursor)).outcome.kind).toBe('RECREATED');
  });

  test('a first read takes the newest, the data head is found all the same', async () => {
    const table = new MadeUpTable(layout);
    const data = table.commit();
    const others = [1, 2, 3].map(() => table.commit({ operation: 'CLUSTER', inserts: 1 }, 'replacecommit'));
    const first = await source.poll(table.ref, null, { firstReadLimit: 2 });
    expect(ids(first)).toEqual(others.slice(1));
    expect(first).toMatchObject({ head: others[2], dataHead: data });
    expect((await poll(table, first.cursor)).outcome.kind).toBe('NONE');
  });

  test('what is cleaned or archived can no longer be read, what is saved can', async () => {
    const table = new MadeUpTable(layout);
    const [archived, cleaned, kept] = [table.commit(), table.commit(), table.commit()];
    expect(await source.isReadable(table.ref, archived)).toBe(true);
    table.archive(2);
    expect(await source.isReadable(table.ref, archived)).toBe(false);
    table.clean(kept);
    expect(await source.isReadable(table.ref, cleaned)).toBe(false);
    expect(await source.isReadable(table.ref, kept)).toBe(true);
    table.savepoint(cleaned);
    expect(await source.isReadable(table.ref, cleaned)).toBe(true);
    expect(await source.isReadable(table.ref, '20200101000000000')).toBe(false);
  });

  test('schemas: told when they change, carried along by what tells none', async () => {
    const table = new MadeUpTable(layout);
    table.commit();
    const one = await poll(table);
    const wider = SCHEMA.replace('"int"', '"long"');
    table.commit({ inserts: 1, schema: wider });
    table.commit({ operation: 'CLUSTER', inserts: 1 }, 'replacecommit');
    const two = await poll(table, one.cursor);
    const id = two.schema?.schemaId;
    expect(two.commits.map(({ schemaId }) => schemaId)).toEqual([id, id]);
    expect(two.newSchemas.map(({ schemaId }) => schemaId)).toEqual([id]);
    expect(two.schema).toMatchObject({
      primaryKeys: ['id'],
      fields: [{ name: 'id' }, { name: 'amount', type: 'BIGINT' }],
    });
    expect(await poll(table, two.cursor)).toMatchObject({ newSchemas: [], schema: { schemaId: id } });
    table.rollback(two.head ?? '');
    table.rollback(two.dataHead ?? '');
    const back = await poll(table, two.cursor);
    expect(back.newSchemas.map(({ schemaId }) => schemaId)).toEqual([one.schema?.schemaId]);
  });
});

describe('what CREATE TABLE says', () => {
  test('is the schema until a commit tells one', async () => {
    const table = new MadeUpTable(2, { 'hoodie.table.create.schema': SCHEMA.replaceAll(':', '\\:') });
    const empty = await poll(table);
    expect(empty).toMatchObject({ outcome: { kind: 'NONE' }, head: null, schema: { fields: [{}, {}] } });
    table.commit();
    expect((await poll(table, empty.cursor)).newSchemas).toEqual([]);
  });
});

describe('upgrades and downgrades', () => {
  test('rename every file and tell nothing new', async () => {
    const table = new MadeUpTable(1);
    const [first, second] = [table.commit(), table.commit({ operation: 'CLUSTER', inserts: 1 }, 'replacecommit')];
    const one = await poll(table);
    table.convert();
    const two = await poll(table, one.cursor);
    expect(two).toMatchObject({ outcome: { kind: 'NONE' }, head: second, dataHead: first });
    const third = table.commit();
    const three = await poll(table, two.cursor);
    expect(ids(three)).toEqual([third]);
    table.convert();
    expect(await poll(table, three.cursor)).toMatchObject({ outcome: { kind: 'NONE' }, head: third, dataHead: third });
  });

  test('half-way, with the properties still those of before', async () => {
    const table = new MadeUpTable(1);
    table.commit();
    table.commit();
    const { cursor } = await poll(table);
    const [moved] = table.written;
    for (const file of moved?.files ?? []) {
      table.put(`timeline/${file.replace(/^(\d+)\.commit$/, '$1_$1.commit')}`, table.body(file));
      table.remove(file);
    }
    expect((await poll(table, cursor)).outcome.kind).toBe('NONE');
  });
});

describe('history that has left the active timeline', () => {
  async function seenThenArchived(
    damage: (table: MadeUpTable) => void,
  ): Promise<{ poll: Poll; made: readonly string[] }> {
    const table = new MadeUpTable(1);
    table.commit();
    const { cursor } = await poll(table);
    const made = [table.commit(), table.commit({ operation: 'UPSERT' }), table.commit(), table.commit()];
    table.archive(2);
    damage(table);
    return { poll: await poll(table, cursor), made };
  }

  test('is read from the archive', async () => {
    const { poll: after, made } = await seenThenArchived(() => {});
    expect(after.outcome.kind).toBe('NEW');
    expect(after.commits.map((commit) => [commit.snapshotId, commit.dataChange])).toEqual([
      [made[0], true],
      [made[1], false],
      [made[2], true],
      [made[3], true],
    ]);
    expect(after.problems.join()).toContain('found in the archive');
  });

  test('is a gap where the archive is damaged', async () => {
    const path = 'archived/.commits_.archive.1_1-0-1';
    const { poll: after, made } = await seenThenArchived((table) => table.put(path, table.body(path).slice(0, 500)));
    expect(after.outcome).toEqual({ kind: 'GAP', from: null, to: null });
    expect(ids(after)).toEqual(made.slice(2));
    expect(after.problems.join()).toContain('cannot be used');
  });

  test('is a gap where there is no archive any more, in the same table', async () => {
    const { poll: after, made } = await seenThenArchived((table) => table.remove('archived/.commits_.archive.1_1-0-1'));
    expect(after.outcome.kind).toBe('GAP');
    expect(ids(after)).toEqual(made.slice(2));
  });

  test('a write that was under way, completed late and was archived unseen is found', async () => {
    const table = new MadeUpTable(1);
    const late = table.begin();
    const seen = [table.commit(), table.commit()];
    const one = await poll(table);
    expect(ids(one)).toEqual(seen);
    table.complete(late, { inserts: 1 });
    table.written.sort((a, b) => (a.time < b.time ? -1 : 1));
    table.archive(2);
    const two = await poll(table, one.cursor);
    expect(two.commits).toMatchObject([{ snapshotId: late, readAs: seen[1] }]);
  });

  test('a version that was taken back, and whose rollback is archived too', async () => {
    const table = new MadeUpTable(1);
    const [kept, undone] = [table.commit(), table.commit()];
    const { cursor } = await poll(table);
    table.rollback(undone);
    const after = [table.commit(), table.commit(), table.commit()];
    table.archive(1);
    const two = await poll(table, cursor);
    expect(two.outcome).toMatchObject({ kind: 'ROLLBACK', to: kept, restored: null });
    expect(ids(two)).toEqual(after);
  });

  test('a table that was empty at the last poll has all of it told', async () => {
    const table = new MadeUpTable(1);
    const { cursor } = await poll(table);
    const made = [table.commit(), table.commit(), table.commit()];
    table.archive(1);
    expect(ids(await poll(table, cursor))).toEqual(made);
  });
});
