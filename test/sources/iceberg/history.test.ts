import { describe, expect, test } from 'vitest';
import type { Cursor, Poll } from '../../../src/core/asset/poll.ts';
import { createIcebergSource } from '../../../src/sources/iceberg/source.ts';
import { MadeUpTable } from './made-up.ts';

const source = createIcebergSource();
const ids = (poll: Poll): string[] => poll.commits.map((commit) => commit.snapshotId);
const texts = (...numbers: (bigint | null)[]): string[] => numbers.map(String);

/** A table, and polls that go on from each other through stored JSON. */
function follow(table: MadeUpTable): () => Promise<Poll> {
  let cursor: Cursor | null = null;
  return async () => {
    const poll = await source.poll(table.ref, cursor);
    cursor = poll.cursor === null ? null : (JSON.parse(JSON.stringify(poll.cursor)) as Cursor);
    return poll;
  };
}

const begun = async (commits = 3): Promise<{ table: MadeUpTable; poll: () => Promise<Poll>; first: bigint[] }> => {
  const table = new MadeUpTable().create();
  const first = Array.from({ length: commits }, () => table.commit());
  const poll = follow(table);
  expect(ids(await poll())).toEqual(texts(...first));
  return { table, poll, first };
};

describe('what is new on a branch', () => {
  test('several snapshots in one metadata file, staged ones left out', async () => {
    const { table, poll } = await begun();
    const [a, b] = [table.add({ operation: 'delete' }), table.add()];
    table.add({ staged: true, summary: { 'wap.id': 'load-1' } });
    table.write();
    const answer = await poll();
    expect(answer).toMatchObject({ outcome: { kind: 'NEW' }, head: `${b}`, dataHead: `${b}` });
    expect(ids(answer)).toEqual(texts(a, b));
    expect((await poll()).outcome.kind).toBe('NONE');
  });

  test('a staged snapshot counts when its branch reaches it', async () => {
    const { table, poll } = await begun();
    const staged = table.commit({ staged: true });
    expect((await poll()).outcome.kind).toBe('NONE');
    table.setHead(staged);
    expect(ids(await poll())).toEqual(texts(staged));
  });

  test('ids up to 64 bits unsigned stay exact, and are named as a problem', async () => {
    const table = new MadeUpTable().create();
    table.commit();
    table.files.put(table.current(), table.json().replaceAll(`${table.head()}`, '18446744073709551615'));
    const answer = await source.poll(table.ref, null);
    expect(answer.head).toBe('18446744073709551615');
    expect(answer.problems.join()).toContain('above 9223372036854775807');
    table.files.put(table.current(), table.json().replaceAll(`${table.head()}`, '18446744073709551616'));
    expect((await source.poll(table.ref, null)).outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
  });

  test('a first read is limited to the newest', async () => {
    const { table, first } = await begun(5);
    const answer = await source.poll(table.ref, null, { firstReadLimit: 2 });
    expect(ids(answer)).toEqual(texts(...first.slice(-2)));
  });

  test('a first read of a table whose beginning expired says so', async () => {
    const { table, first } = await begun();
    table.expire(first.slice(0, 2));
    const answer = await source.poll(table.ref, null);
    expect(answer.outcome.kind).toBe('NEW');
    expect(answer.problems.join()).toContain('has expired');
  });

  test('tags made, moved and deleted, and schemas, without a commit', async () => {
    const { table, poll, first } = await begun();
    table.tag('daily', first[0] ?? null);
    expect(await poll()).toMatchObject({ outcome: { kind: 'NONE' }, tags: { daily: `${first[0]}` } });
    table.tag('daily', first[1] ?? null);
    const moved = { tag: 'daily', snapshotId: `${first[1]}`, before: `${first[0]}` };
    expect((await poll()).tagChanges).toEqual([moved]);
    table.tag('daily', null);
    table.addColumn('id', 'name');
    const last = await poll();
    expect(last.tagChanges).toEqual([{ tag: 'daily', snapshotId: null, before: `${first[1]}` }]);
    expect(last.newSchemas.map((schema) => schema.schemaId)).toEqual(['1']);
    expect(last).toMatchObject({ outcome: { kind: 'NONE' }, schema: { schemaId: '1' } });
    expect((await poll()).newSchemas).toEqual([]);
  });

  test('a branch has its own history; one that is dropped is unreadable and keeps its cursor', async () => {
    const table = new MadeUpTable('audit').create();
    const poll = follow(table);
    expect((await poll()).outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
    const base = table.commit();
    table.setHead(base, 'audit');
    const own = table.commit({ branch: 'audit' });
    table.commit();
    expect(ids(await poll())).toEqual(texts(base, own));
    table.refs.delete('audit');
    table.write();
    expect(await poll()).toMatchObject({ outcome: { kind: 'UNREADABLE' }, head: `${own}` });
    table.setHead(own, 'audit');
    expect((await poll()).outcome.kind).toBe('NONE');
    table.tag('audit', base);
    const tagged = await poll();
    expect(tagged.outcome).toMatchObject({ reason: expect.stringContaining('tag') as string });
  });
});

describe('rewinds', () => {
  test('to an ancestor, alone and with a commit after it', async () => {
    const { table, poll, first } = await begun();
    const [one = 0n, two = 0n] = first;
    table.setHead(two);
    const back = await poll();
    expect(back).toMatchObject({ outcome: { kind: 'ROLLBACK', to: `${two}`, restored: { snapshotId: `${two}` } } });
    expect(ids(back)).toEqual([]);
    table.setHead(one);
    const next = table.commit();
    const answer = await poll();
    expect(answer.outcome).toMatchObject({ kind: 'ROLLBACK', to: `${one}` });
    expect(ids(answer)).toEqual(texts(next));
  });

  test('to a line that was abandoned before is that, not new data', async () => {
    const { table, poll, first } = await begun();
    const [one = 0n, , three = 0n] = first;
    table.setHead(one);
    await poll();
    table.commit();
    await poll();
    table.setHead(three);
    const answer = await poll();
    expect(answer.outcome).toMatchObject({ kind: 'ROLLBACK', to: `${three}` });
    expect(ids(answer)).toEqual([]);
  });

  test('to another branch’s line brings what the branch has never had', async () => {
    const { table, poll, first } = await begun();
    const foreign = table.commit({ branch: 'audit', parent: first[2] ?? null });
    table.commit();
    await poll();
    table.setHead(foreign);
    const answer = await poll();
    expect(answer.outcome).toMatchObject({ kind: 'ROLLBACK', to: `${first[2]}` });
    expect(ids(answer)).toEqual(texts(foreign));
  });

  test('and the way back has expired', async () => {
    const { table, poll, first } = await begun();
    const [, two = 0n, three = 0n] = first;
    table.setHead(two);
    const next = table.commit();
    table.expire([two, three]);
    const answer = await poll();
    expect(answer.outcome).toEqual({ kind: 'ROLLBACK', to: `${two}`, restored: null });
    expect(ids(answer)).toEqual(texts(next));
    expect(answer.problems.join()).toContain('expired');
  });

  test('beyond the ids remembered: by sequence number, in format version 1 by time', async () => {
    for (const formatVersion of [1, 2]) {
      const table = new MadeUpTable().create();
      table.formatVersion = formatVersion;
      const all = Array.from({ length: 300 }, () => table.add());
      table.write();
      const poll = follow(table);
      await poll();
      const early = all[10] ?? 0n;
      table.setHead(early);
      table.expire(all.slice(11));
      expect((await poll()).outcome).toMatchObject({ kind: 'ROLLBACK', to: `${early}` });
    }
  });

  test('back and forth between two polls is nothing', async () => {
    const { table, poll, first } = await begun();
    table.setHead(first[0] ?? 0n);
    table.setHead(first[2] ?? 0n);
    expect((await poll()).outcome.kind).toBe('NONE');
  });
});

describe('expiry', () => {
  test('of the cursor’s snapshot, while its child is left: nothing is missing', async () => {
    const { table, poll, first } = await begun();
    const [a, b] = [table.commit(), table.commit()];
    table.expire(first);
    const answer = await poll();
    expect(answer.outcome.kind).toBe('NEW');
    expect(ids(answer)).toEqual(texts(a, b));
  });

  test('of commits after the cursor: a gap, whether the cursor’s snapshot is left or not', async () => {
    for (const tagged of [false, true]) {
      const { table, poll, first } = await begun();
      const [lost, kept] = [table.commit(), table.commit()];
      if (tagged) table.tag('keep', first[2] ?? null);
      table.expire(tagged ? [lost] : [...first, lost]);
      const answer = await poll();
      expect(answer.outcome).toEqual({ kind: 'GAP', from: null, to: `${lost}` });
      expect(ids(answer)).toEqual(texts(kept));
    }
  });

  test('that cuts links (PyIceberg): sequence numbers tell whether something is missing', async () => {
    const { table, poll, first } = await begun();
    const [a, b] = [table.commit(), table.commit()];
    table.expire(first, true);
    const whole = await poll();
    expect(whole.outcome.kind).toBe('NEW');
    expect(ids(whole)).toEqual(texts(a, b));
    const [c, d, e] = [table.commit(), table.commit(), table.commit()];
    table.expire([a, b, c, d], true);
    const answer = await poll();
    expect(answer.outcome).toEqual({ kind: 'GAP', from: null, to: null });
    expect(ids(answer)).toEqual(texts(e));
  });

  test('that cuts links while a tag keeps the cursor’s snapshot is no new table', async () => {
    const { table, poll, first } = await begun();
    const [lost, kept] = [table.commit(), table.commit()];
    table.tag('keep', first[2] ?? null);
    table.expire([lost], true);
    const answer = await poll();
    expect(answer.outcome.kind).toBe('GAP');
    expect(ids(answer)).toEqual(texts(kept));
  });

  test('of the newest version with data: the newest readable one counts', async () => {
    const table = new MadeUpTable().create();
    const [data, empty] = [table.commit(), table.commit({ rows: 0 })];
    const poll = follow(table);
    expect(await poll()).toMatchObject({ head: `${empty}`, dataHead: `${data}` });
    table.expire([data]);
    expect(await poll()).toMatchObject({ outcome: { kind: 'NONE' }, head: `${empty}`, dataHead: null });
  });
});

describe('replaced and re-created tables', () => {
  test('CREATE OR REPLACE leaves main without a snapshot', async () => {
    const { table, poll } = await begun();
    table.refs.clear();
    table.write();
    expect(await poll()).toMatchObject({ outcome: { kind: 'RECREATED' }, head: null, dataHead: null });
    const next = table.commit();
    expect(ids(await poll())).toEqual(texts(next));
  });

  test('REPLACE TABLE AS SELECT, with and without what came before', async () => {
    const { table, poll, first } = await begun();
    const again = table.replaceAs();
    const replaced = await poll();
    expect(replaced.outcome.kind).toBe('RECREATED');
    expect(ids(replaced)).toEqual(texts(again));
    const [other, then] = [table.replaceAs(), table.commit()];
    table.expire([...first, again]);
    const second = await poll();
    expect(second.outcome.kind).toBe('RECREATED');
    expect(ids(second)).toEqual(texts(other, then));
  });

  test('dropped and created under equal file names', async () => {
    const { table, poll } = await begun(1);
    table.drop();
    expect((await poll()).outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
    table.create();
    const next = table.commit();
    const answer = await poll();
    expect(answer).toMatchObject({ outcome: { kind: 'RECREATED' }, tableId: table.uuid });
    expect(ids(answer)).toEqual(texts(next));
    expect(answer.newSchemas.map((schema) => schema.schemaId)).toEqual(['0']);
  });
});
