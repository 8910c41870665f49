import { describe, expect, test } from 'vitest';
import type { Poll } from '../../../src/core/asset/poll.ts';
import { createPaimonSource } from '../../../src/sources/paimon/source.ts';
import { MadeUpTable } from './made-up.ts';

const source = createPaimonSource();
const ids = (poll: Poll): string[] => poll.commits.map((commit) => commit.snapshotId);

/** A table with this many commits, and the poll that read them. */
async function tableOf(commits: number): Promise<{ table: MadeUpTable; poll: Poll }> {
  const table = new MadeUpTable().create();
  for (let left = commits; left > 0; left--) table.commit();
  return { table, poll: await source.poll(table.ref, null) };
}

describe('listings that do not show what is there', () => {
  test('a listing that misses the newest snapshots: those seen are not rewound, those not seen are found', async () => {
    const { table, poll } = await tableOf(3);
    for (const id of [2, 3]) table.files.unlisted.add(`snapshot-${id}`);
    expect(await source.poll(table.ref, poll.cursor)).toMatchObject({
      outcome: { kind: 'NONE' },
      head: '3',
      dataHead: '3',
      cursor: poll.cursor,
    });
    table.commit();
    table.commit();
    for (const id of [4, 5]) table.files.unlisted.add(`snapshot-${id}`);
    expect(ids(await source.poll(table.ref, poll.cursor))).toEqual(['4', '5']);
    expect(ids(await source.poll(table.ref, null))).toEqual(['1', '2', '3', '4', '5']);
  });

  test('a folder under the next snapshot’s name is none', async () => {
    const { table, poll } = await tableOf(1);
    table.put('snapshot/snapshot-2/x', '');
    for (const depth of ['QUICK', 'FULL'] as const)
      expect((await source.poll(table.ref, poll.cursor, { depth })).outcome.kind).toBe('NONE');
  });

  test('a listing that misses the newest data below a compaction does not forget it', async () => {
    const { table } = await tableOf(1);
    table.commit({ kind: 'COMPACT', delta: 0 });
    const { cursor } = await source.poll(table.ref, null);
    table.files.unlisted.add('snapshot-1');
    expect(await source.poll(table.ref, cursor)).toMatchObject({ outcome: { kind: 'NONE' }, head: '2', dataHead: '1' });
  });

  test('a listing without the schemas: the table is the same; created again, it is another once', async () => {
    const { table } = await tableOf(2);
    table.schema(1, { timeMillis: 9 });
    const { cursor } = await source.poll(table.ref, null);
    for (const id of [0, 1]) table.files.unlisted.add(`schema-${id}`);
    const idle = await source.poll(table.ref, cursor);
    expect(idle).toMatchObject({ outcome: { kind: 'NONE' }, schema: { schemaId: '1' }, newSchemas: [] });
    expect(idle.cursor).toBe(cursor);
    table.drop();
    table.create();
    table.commit();
    const again = await source.poll(table.ref, cursor);
    expect([again.outcome.kind, ids(again)]).toEqual(['RECREATED', ['1']]);
    table.files.unlisted.clear();
    expect((await source.poll(table.ref, again.cursor)).outcome.kind).toBe('NONE');
  });
});
