import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Cursor, Poll } from '../../../src/core/asset/poll.ts';
import { partNames, pastCount } from '../../../src/sources/hudi/past.ts';
import { createHudiSource } from '../../../src/sources/hudi/source.ts';
import { EVENTS, History } from './history.ts';
import { MadeUpTable } from './made-up.ts';

vi.setConfig({ testTimeout: 60_000 }); // long histories, many times, on machines that have other work

const source = createHudiSource();

interface WithPast {
  readonly past?: { readonly until: string; readonly names: string; readonly versions: string };
  readonly seen: string;
}

/** The same memory without a past of its own, as it would be of a short timeline. */
function withoutPast(cursor: Cursor | null): Cursor | null {
  if (cursor === null) return null;
  const { past, ...rest } = cursor as Cursor & WithPast;
  return past === undefined ? cursor : { ...rest, seen: `${past.versions} ${rest.seen}`.trim() };
}

const hasPast = (cursor: Cursor | null): boolean => cursor !== null && 'past' in cursor;

/** A long table, seen once. */
async function longTable(layout: 1 | 2, versions: number): Promise<{ table: MadeUpTable; cursor: Cursor | null }> {
  const table = new MadeUpTable(layout);
  for (let left = versions; left > 0; left--) table.commit();
  const { cursor } = await source.poll(table.ref, null);
  return { table, cursor };
}

describe('how many versions are past', () => {
  const row = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => ({ time: String(from + at), hasSchema: true }));

  test('none of 255, half of 256, all but the newest 128 of more', () => {
    expect(pastCount(row(1000, 1255), [], 8)).toBe(0);
    expect(pastCount(row(1000, 1256), [], 8)).toBe(128);
    expect(pastCount(row(1000, 1900), [], 8)).toBe(772);
  });

  test('none that was requested after one that stays', () => {
    const late = row(1000, 1300);
    late[280] = { time: '1010', hasSchema: true }; // requested early, completed late
    late.splice(10, 1);
    expect(pastCount(late, [], 8)).toBe(9);
    const early = row(1000, 1300);
    early[5] = { time: '1299', hasSchema: true }; // the other way round
    expect(pastCount(early, [], 8)).toBe(4);
  });

  test('none after one that cannot be read yet, and not the newest that tell the schema', () => {
    expect(pastCount(row(1000, 1300), ['1100', '1200'], 8)).toBe(100);
    expect(pastCount(row(1000, 1300), ['0999'], 8)).toBe(0);
    const silent = row(1000, 1300).map((version, at) => ({ ...version, hasSchema: at < 60 }));
    expect(pastCount(silent, [], 8)).toBe(52);
    expect(
      pastCount(
        silent.map((version) => ({ ...version, hasSchema: false })),
        [],
        8,
      ),
    ).toBe(172);
  });
});

test('the past of a folder is told by the names in it, in any order, and by no others', () => {
  const names = ['20260101000000.commit', '20260102000000.commit', '20260103000000.commit', 'hoodie.properties'];
  const parted = partNames(names, '20260103000000');
  expect(parted.after).toEqual(['20260103000000.commit']);
  expect(partNames([...names].reverse(), '20260103000000')).toEqual(parted);
  expect(partNames([...names, '.20260101000000.commit.crc', 'x'], '20260103000000')).toEqual(parted);
  expect(partNames([...names, '20260101000000.clean'], '20260103000000').before).not.toBe(parted.before);
  expect(partNames(names.slice(1), '20260103000000').before).not.toBe(parted.before);
});

test.each([1, 2] as const)('layout %i: what happens in the past is seen as well', async (layout) => {
  const { table, cursor } = await longTable(layout, 300);
  expect(hasPast(cursor)).toBe(true);
  const oldest = table.written[0]?.time ?? '';
  // A write that began before everything is completed after everything.
  const late = String(BigInt(oldest) - 1n);
  table.complete(late, { inserts: 1 });
  for (const depth of ['QUICK', 'FULL'] as const) {
    const poll = await source.poll(table.ref, cursor, { depth });
    expect(poll).toMatchObject({ outcome: { kind: 'NEW' }, commits: [{ snapshotId: late }] });
  }
  table.restore(late, oldest);
  expect((await source.poll(table.ref, cursor)).outcome).toMatchObject({ kind: 'ROLLBACK' });
});

test.each([1, 2] as const)('layout %i: requests of a long timeline are those of a short one', async (layout) => {
  const { table, cursor } = await longTable(layout, 300);
  const folder = layout === 1 ? '.hoodie' : '.hoodie/timeline';
  table.files.requests.length = 0;
  expect((await source.poll(table.ref, cursor, { depth: 'QUICK' })).outcome.kind).toBe('NONE');
  expect(table.files.requests).toEqual([`list ${folder}`]);
  const idle = await source.poll(table.ref, cursor);
  expect(idle.cursor).toBe(cursor);
  expect(table.files.requests.filter((request) => request.startsWith('list'))).toHaveLength(2);
});

/** What a poll tells, with the memory in its plain form. */
const plain = (poll: Poll): object => ({ ...poll, cursor: withoutPast(poll.cursor) });

test('with its past set aside, a long timeline is told as it is without', async () => {
  let parted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(1 as const, 2 as const),
      fc.integer({ min: 250, max: 400 }),
      fc.array(fc.constantFrom(...EVENTS), { minLength: 1, maxLength: 30 }),
      async (layout, versions, events) => {
        const history = new History(layout);
        for (let left = versions; left > 0; left--) history.happen(left % 50 === 0 ? 'begin' : 'commit');
        let { cursor } = await source.poll(history.table.ref, null);
        for (const event of [...events, 'poll' as const]) {
          history.happen(event);
          if (event !== 'poll') continue;
          if (hasPast(cursor)) parted++;
          for (const depth of ['QUICK', 'FULL'] as const) {
            const one = await source.poll(history.table.ref, cursor, { depth });
            const other = await source.poll(history.table.ref, withoutPast(cursor), { depth });
            expect(one.outcome).toEqual(other.outcome);
            expect(one.commits).toEqual(other.commits);
            // A quick look that finds anything at all in the past looks at the whole.
            if (depth === 'FULL') expect(plain(one)).toEqual(plain(other));
            if (depth === 'FULL')
              cursor = one.cursor === null ? null : (JSON.parse(JSON.stringify(one.cursor)) as Cursor);
          }
        }
      },
    ),
    { numRuns: 40 },
  );
  expect(parted).toBeGreaterThan(40);
});
