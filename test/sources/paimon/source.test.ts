import { describe, expect, test } from 'vitest';
import type { Poll } from '../../../src/core/asset/poll.ts';
import { FilesError } from '../../../src/files/files.ts';
import { createPaimonSource } from '../../../src/sources/paimon/source.ts';
import { MadeUpTable } from './made-up.ts';

const source = createPaimonSource();
const ids = (poll: Poll): string[] => poll.commits.map((commit) => commit.snapshotId);
const data = (poll: Poll): string[] =>
  poll.commits.map(({ snapshotId, dataChange }) => `${snapshotId}${dataChange ? '+' : '-'}`);

/** A table with this many commits, and the poll that read them. */
async function tableOf(commits: number): Promise<{ table: MadeUpTable; poll: Poll }> {
  const table = new MadeUpTable().create();
  for (let left = commits; left > 0; left--) table.commit();
  return { table, poll: await source.poll(table.ref, null) };
}

describe('what happened', () => {
  test('a table without commits is NONE, its first commit NEW', async () => {
    const { table, poll } = await tableOf(0);
    expect(poll).toMatchObject({ outcome: { kind: 'NONE' }, head: null, dataHead: null, schema: { schemaId: '0' } });
    table.commit();
    expect(await source.poll(table.ref, poll.cursor)).toMatchObject({
      outcome: { kind: 'NEW' },
      head: '1',
      dataHead: '1',
    });
  });

  test('a first read takes at most the newest', async () => {
    const { table } = await tableOf(20);
    expect(ids(await source.poll(table.ref, null, { firstReadLimit: 3 }))).toEqual(['18', '19', '20']);
  });

  test('a poll at rest returns the cursor that it was given', async () => {
    const { table, poll } = await tableOf(3);
    const again = await source.poll(table.ref, poll.cursor);
    expect(again.outcome.kind).toBe('NONE');
    expect(again.cursor).toBe(poll.cursor);
  });

  test('expiry: a gap names what is missing, and expiry of the cursor alone is none', async () => {
    const { table, poll } = await tableOf(3);
    for (let left = 5; left > 0; left--) table.commit();
    table.expire(2);
    const gap = await source.poll(table.ref, poll.cursor);
    expect(gap.outcome).toEqual({ kind: 'GAP', from: '4', to: '6' });
    expect(ids(gap)).toEqual(['7', '8']);
    table.commit();
    table.expire(1);
    const next = await source.poll(table.ref, gap.cursor);
    expect(next.outcome.kind).toBe('NEW');
    expect(ids(next)).toEqual(['9']);
  });

  test('a table that was empty and whose first commits expired has a gap from 1', async () => {
    const { table, poll } = await tableOf(0);
    table.commit();
    table.commit();
    table.expire(1);
    expect((await source.poll(table.ref, poll.cursor)).outcome).toEqual({ kind: 'GAP', from: '1', to: '1' });
  });

  test('rollback, and ids used again up to the same and beyond the old head', async () => {
    const { table, poll } = await tableOf(5);
    table.rollback(3);
    const back = await source.poll(table.ref, poll.cursor);
    expect(back.outcome).toMatchObject({ kind: 'ROLLBACK', to: '3', restored: { snapshotId: '3' } });
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

  test('a rewind farther back than fingerprints are kept is found by commit times', async () => {
    const { table, poll } = await tableOf(200);
    table.rollback(20);
    for (let left = 200; left > 0; left--) table.commit();
    const back = await source.poll(table.ref, poll.cursor);
    expect(back.outcome).toMatchObject({ kind: 'ROLLBACK', to: '20' });
    expect(ids(back)).toHaveLength(200);
  });

  test('rollback to a tag older than the earliest snapshot brings that snapshot back', async () => {
    const { table, poll } = await tableOf(3);
    table.tag('keep', 2);
    for (let left = 4; left > 0; left--) table.commit();
    table.expire(1);
    const gap = await source.poll(table.ref, poll.cursor);
    table.put('snapshot/snapshot-2', table.text('tag/tag-keep'));
    table.rollback(2);
    const back = await source.poll(table.ref, gap.cursor);
    expect(back.outcome).toMatchObject({ kind: 'ROLLBACK', to: '2', restored: { snapshotId: '2' } });
    expect(back).toMatchObject({ head: '2', dataHead: '2', commits: [] });
  });

  test('after a rewind the newest data is looked for among what is left', async () => {
    const table = new MadeUpTable().create();
    for (const kind of ['APPEND', 'COMPACT', 'ANALYZE', 'APPEND']) table.commit({ kind });
    const poll = await source.poll(table.ref, null);
    table.rollback(3);
    expect(await source.poll(table.ref, poll.cursor)).toMatchObject({ head: '3', dataHead: '1' });
  });

  test.each([0, 1, 3, 5])('drop and re-create with %i commits after 3', async (commits) => {
    const { table, poll } = await tableOf(3);
    table.drop();
    const gone = await source.poll(table.ref, poll.cursor);
    expect(gone.outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
    expect(gone).toMatchObject({ head: '3', cursor: poll.cursor });
    table.create();
    for (let left = commits; left > 0; left--) table.commit();
    const reborn = await source.poll(table.ref, poll.cursor);
    expect(reborn.outcome.kind).toBe('RECREATED');
    expect(ids(reborn)).toHaveLength(commits);
    expect(reborn.head).toBe(commits === 0 ? null : `${commits}`);
  });

  test('a re-created table that looks like the next id is told by its first schema alone', async () => {
    const { table, poll } = await tableOf(1);
    table.drop();
    table.create();
    table.commit();
    table.commit();
    table.expire(1);
    const reborn = await source.poll(table.ref, poll.cursor);
    expect(reborn.outcome.kind).toBe('RECREATED');
    expect(ids(reborn)).toEqual(['2']);
    expect(reborn.problems).toEqual(['Snapshots 1 to 1 expired before they were read.']);
  });

  test('all snapshots of a table that is still there gone: not a rollback, not nothing', async () => {
    const { table, poll } = await tableOf(2);
    table.expire(0);
    table.rollback(0);
    expect((await source.poll(table.ref, poll.cursor)).outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
  });

  test('a branch has its own ids; what is no name of a branch is refused', async () => {
    const table = new MadeUpTable('test').create();
    table.commit({}, 7);
    expect(await source.poll(table.ref, null)).toMatchObject({ outcome: { kind: 'NEW' }, head: '7' });
    const main = await source.poll({ ...table.ref, branch: null }, null);
    expect(main.outcome.kind).toBe('UNREADABLE');
    const climbing = await source.poll({ ...table.ref, branch: '../../x' }, null);
    expect(climbing.outcome).toMatchObject({ kind: 'UNREADABLE', retryable: false });
  });
});

describe('tags and schemas', () => {
  test('made, moved, deleted, seen without any commit', async () => {
    const { table, poll } = await tableOf(2);
    table.tag('daily 01', 1);
    table.put('tag/tag-success-file/daily_SUCCESS', '{}');
    const made = await source.poll(table.ref, poll.cursor);
    expect(made.outcome.kind).toBe('NONE');
    expect(made.tagChanges).toEqual([{ tag: 'daily 01', snapshotId: '1', before: null }]);
    table.tag('daily 01', 2);
    const moved = await source.poll(table.ref, made.cursor);
    expect(moved.tagChanges).toEqual([{ tag: 'daily 01', snapshotId: '2', before: '1' }]);
    table.remove('tag/tag-daily 01');
    const deleted = await source.poll(table.ref, moved.cursor);
    expect(deleted.tagChanges).toEqual([{ tag: 'daily 01', snapshotId: null, before: '2' }]);
    expect(deleted.tags).toEqual({});
  });

  test('a half-written tag keeps what it named and is said', async () => {
    const { table } = await tableOf(2);
    table.tag('t', 1);
    const poll = await source.poll(table.ref, null);
    table.put('tag/tag-t', '{"id": 2, "sche');
    const half = await source.poll(table.ref, poll.cursor);
    expect(half.tags).toEqual({ t: '1' });
    expect(half.problems.join()).toContain('Tag t cannot be read');
    table.tag('t', 2);
    expect((await source.poll(table.ref, half.cursor)).tags).toEqual({ t: '2' });
  });

  test('a new schema without a snapshot, one used again under the same id, and one that is half-written', async () => {
    const { table, poll } = await tableOf(1);
    table.schema(1, { timeMillis: 6 });
    const first = await source.poll(table.ref, poll.cursor);
    expect(first.newSchemas.map((schema) => schema.schemaId)).toEqual(['1']);
    table.schema(1, { timeMillis: 7 });
    table.schema(2);
    const second = await source.poll(table.ref, first.cursor);
    expect(second.newSchemas.map((schema) => schema.schemaId)).toEqual(['1', '2']);
    table.put('schema/schema-3', '{"id": 3,');
    table.commit();
    const third = await source.poll(table.ref, second.cursor);
    expect(third).toMatchObject({ outcome: { kind: 'NEW' }, newSchemas: [], schema: { schemaId: '2' } });
    expect(third.problems.join()).toContain('schema-3 cannot be used: it is not whole JSON');
    table.schema(3);
    expect((await source.poll(table.ref, third.cursor)).newSchemas.map((schema) => schema.schemaId)).toEqual(['3']);
  });

  test('a commit waits for its schema while that is half-written, and is read without it when it is missing', async () => {
    const { table, poll } = await tableOf(1);
    table.commit({ schemaId: 1 });
    table.put('schema/schema-1', '');
    const half = await source.poll(table.ref, poll.cursor);
    expect(half.outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
    table.remove('schema/schema-1');
    const missing = await source.poll(table.ref, poll.cursor);
    expect(data(missing)).toEqual(['2+']);
    expect(missing.problems).toEqual(['The schema of snapshot 2 is missing, so default options are assumed for it.']);
  });
});

describe('bad input', () => {
  test('an unknown path and a folder that holds no table', async () => {
    const table = new MadeUpTable();
    const unknown = await source.poll(table.ref, null);
    expect(unknown).toMatchObject({ outcome: { kind: 'UNREADABLE', retryable: true }, cursor: null, head: null });
    expect(JSON.stringify(unknown.outcome)).toContain('does not exist');
    table.put('snapshot/snapshot-v3.json', '{}');
    expect(JSON.stringify((await source.poll(table.ref, null)).outcome)).toContain('is not a Paimon table');
  });

  test('half a snapshot: the commits before it are read, the cursor waits at it, nothing is skipped', async () => {
    const { table, poll } = await tableOf(2);
    table.commit();
    table.commit();
    table.commit();
    const whole = table.text('snapshot/snapshot-4');
    table.put('snapshot/snapshot-4', whole.slice(0, whole.length / 2));
    const before = await source.poll(table.ref, poll.cursor);
    expect(before.outcome.kind).toBe('NEW');
    expect(ids(before)).toEqual(['3']);
    expect(before.problems.join()).toContain('snapshot-4 cannot be used: it is not whole JSON');
    const waits = await source.poll(table.ref, before.cursor);
    expect(waits.outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
    expect(waits.cursor).toBe(before.cursor);
    table.put('snapshot/snapshot-4', whole);
    expect(ids(await source.poll(table.ref, waits.cursor))).toEqual(['4', '5']);
  });

  test('the newest snapshot, already read, is empty: neither a rollback nor nothing', async () => {
    const { table, poll } = await tableOf(2);
    table.put('snapshot/snapshot-2', '');
    expect((await source.poll(table.ref, poll.cursor)).outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
  });

  test('an id above 2^63 is a clear problem, and the rest is unharmed', async () => {
    const { table, poll } = await tableOf(2);
    table.put('snapshot/snapshot-9223372036854775808', '{}');
    table.commit({ watermark: -(2n ** 63n), delta: 2n ** 62n + 1n }, 3);
    const next = await source.poll(table.ref, poll.cursor);
    expect(next.problems.join()).toContain('snapshot-9223372036854775808: no snapshot can have an id above');
    expect(next.commits).toMatchObject([{ snapshotId: '3', watermark: null, addedRecords: 2n ** 62n + 1n }]);
  });

  test('a body that names an id above 2^63, or another one, is not that snapshot', async () => {
    const { table, poll } = await tableOf(1);
    for (const id of ['9223372036854775808', '1', '"2"', '2.5', 'null']) {
      table.commit({}, 2);
      table.put('snapshot/snapshot-2', table.text('snapshot/snapshot-2').replace('"id":2', `"id":${id}`));
      expect((await source.poll(table.ref, poll.cursor)).outcome.kind).toBe('UNREADABLE');
    }
  });

  test('hints that lead, lag, are empty, negative or gone change nothing', async () => {
    const { table, poll } = await tableOf(3);
    for (const hint of ['9', '1', '', '-1', 'x', '3\n']) {
      table.put('snapshot/LATEST', hint);
      table.put('snapshot/EARLIEST', hint);
      expect(await source.poll(table.ref, poll.cursor)).toMatchObject({ outcome: { kind: 'NONE' }, problems: [] });
    }
  });

  test('stray files beside the snapshots are named and ignored', async () => {
    const { table, poll } = await tableOf(2);
    for (const name of [
      'snapshot-3.bak',
      'snapshot-03',
      'snapshot-38f1c2d4-0000-4000-8000-000000000000.tmp',
      '.snapshot-3.x.tmp',
    ])
      table.put(`snapshot/${name}`, 'x');
    table.put('tag/tag-a8f1c2d4-0000-4000-8000-000000000000.tmp', 'x');
    const next = await source.poll(table.ref, poll.cursor);
    expect(next).toMatchObject({ outcome: { kind: 'NONE' }, head: '2', tags: {} });
    expect(next.problems).toHaveLength(1);
    expect(next.problems[0]).toContain('snapshot-3.bak');
  });

  test('a cursor of another layout is refused, not misread', async () => {
    const { table, poll } = await tableOf(1);
    for (const cursor of [{ v: 2 }, { v: 1 }, { ...poll.cursor, v: 1, head: { id: 'x' } }]) {
      const refused = await source.poll(table.ref, cursor);
      expect(refused).toMatchObject({ outcome: { kind: 'UNREADABLE', retryable: false }, cursor });
    }
  });

  test('a failing store is UNREADABLE with its own word on whether to retry; the cursor stays', async () => {
    const { table, poll } = await tableOf(1);
    for (const retryable of [true, false]) {
      table.files.before = () => {
        throw new FilesError('The bucket does not answer.', retryable);
      };
      const refused = await source.poll(table.ref, poll.cursor);
      expect(refused.outcome).toEqual({ kind: 'UNREADABLE', reason: 'The bucket does not answer.', retryable });
      expect(refused).toMatchObject({ head: '1', cursor: poll.cursor });
      expect(await source.detect(table.ref)).toBe(false);
    }
  });

  test('an aborted signal throws, and so does a defect', async () => {
    const { table } = await tableOf(1);
    await expect(source.poll(table.ref, null, { signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow(
      'stop',
    );
    table.files.before = () => {
      throw new TypeError('defect');
    };
    await expect(source.poll(table.ref, null)).rejects.toThrow('defect');
  });
});

describe('a table that changes while it is read', () => {
  test('a snapshot that vanishes between listing and reading: looked at anew', async () => {
    const { table, poll } = await tableOf(2);
    table.commit();
    table.commit();
    table.files.before = (operation, path) => {
      if (operation !== 'read' || !path.endsWith('snapshot-3')) return;
      table.files.before = () => {};
      table.expire(1);
    };
    const next = await source.poll(table.ref, poll.cursor);
    expect(next.outcome).toEqual({ kind: 'GAP', from: '3', to: '3' });
    expect(ids(next)).toEqual(['4']);
  });

  test('one that goes on vanishing is UNREADABLE after three looks', async () => {
    const { table, poll } = await tableOf(1);
    table.commit();
    const body = table.text('snapshot/snapshot-2');
    table.files.requests.length = 0;
    table.files.before = (operation, path) => {
      if (operation === 'list') table.put('snapshot/snapshot-2', body);
      else if (path.endsWith('snapshot-2')) table.remove('snapshot/snapshot-2');
    };
    const refused = await source.poll(table.ref, poll.cursor);
    expect(refused.outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
    expect(refused.cursor).toBe(poll.cursor);
    expect(table.files.requests.filter((request) => request === 'list /w/t/snapshot')).toHaveLength(3);
  });

  test('a rewind between reading the new commit and the end of the poll is not missed', async () => {
    const { table, poll } = await tableOf(5);
    table.files.before = (operation, path) => {
      if (operation !== 'read' || !path.endsWith('snapshot-5')) return;
      // the cursor's snapshot is about to be found unchanged: now the table is rewound, and its ids are used again
      table.files.before = (then, at) => {
        if (then !== 'read' || !at.endsWith('snapshot-6')) return;
        table.files.before = () => {};
        table.rollback(3);
        for (let left = 3; left > 0; left--) table.commit();
      };
    };
    table.commit();
    const next = await source.poll(table.ref, poll.cursor);
    expect(next.outcome).toMatchObject({ kind: 'ROLLBACK', to: '3' });
    expect(ids(next)).toEqual(['4', '5', '6']);
  });

  test('a listing that missed a file is not believed to show a gap', async () => {
    const { table, poll } = await tableOf(1);
    table.commit();
    table.commit();
    const body = table.text('snapshot/snapshot-2');
    table.remove('snapshot/snapshot-2');
    table.files.before = (operation) => {
      if (operation === 'stat') table.put('snapshot/snapshot-2', body);
    };
    expect(ids(await source.poll(table.ref, poll.cursor))).toEqual(['2', '3']);
  });
});

test('detect and isReadable', async () => {
  const { table } = await tableOf(2);
  expect(await source.detect(table.ref)).toBe(true);
  expect(await source.detect({ ...table.ref, location: '/w/other' })).toBe(false);
  table.expire(1);
  const answers = await Promise.all(['1', '2', '3', '02', 'x', ''].map((id) => source.isReadable(table.ref, id)));
  expect(answers).toEqual([false, true, false, false, false, false]);
});
