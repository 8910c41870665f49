import { expect, test } from 'vitest';
import { createHudiSource } from '../../../src/sources/hudi/source.ts';
import { MadeUpTable } from './made-up.ts';

const source = createHudiSource();

test.each([1, 2] as const)(
  'layout %i: a listing that misses the oldest file does not tell that version again',
  async (layout) => {
    const table = new MadeUpTable(layout);
    const id = table.begin();
    const file = table.complete(id, { inserts: 1 });
    table.commit();
    const seen = await source.poll(table.ref, null);
    table.files.unlisted.add(file);
    const blind = await source.poll(table.ref, seen.cursor);
    table.files.unlisted.clear();
    expect(blind.outcome).toMatchObject({ kind: 'UNREADABLE', retryable: true });
    expect(await source.poll(table.ref, blind.cursor)).toMatchObject({ outcome: { kind: 'NONE' }, commits: [] });
  },
);

test('what is in the archive at a first look is history, also where no version is left in the timeline', async () => {
  const table = new MadeUpTable(1);
  const old = table.commit();
  for (let left = 3; left > 0; left--) table.clean(old);
  table.archive(3);
  const first = await source.poll(table.ref, null);
  expect(first).toMatchObject({ outcome: { kind: 'NONE' }, commits: [] });
  const again = await source.poll(table.ref, first.cursor);
  expect(again).toMatchObject({ outcome: { kind: 'NONE' }, commits: [] });
  expect(again.cursor).toBe(first.cursor);
  // Written and archived before the next look: told from the archive, once.
  const fresh = table.commit();
  for (let left = 3; left > 0; left--) table.clean(old);
  table.archive(3);
  const next = await source.poll(table.ref, again.cursor);
  expect(next).toMatchObject({ outcome: { kind: 'NEW' }, commits: [{ snapshotId: fresh }] });
  expect((await source.poll(table.ref, next.cursor)).outcome.kind).toBe('NONE');
});
