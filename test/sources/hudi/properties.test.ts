import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { Cursor, Poll } from '../../../src/core/asset/poll.ts';
import { createHudiSource } from '../../../src/sources/hudi/source.ts';
import { parseProperties } from '../../../src/sources/hudi/properties.ts';
import { EVENTS, History, type Event } from './history.ts';
import { MadeUpTable } from './made-up.ts';

vi.setConfig({ testTimeout: 30_000 }); // many runs of a property, on machines that have other work

const source = createHudiSource();

/** Everything that polls told, in order; polls where the events say so, and at the end. */
async function told(layout: 1 | 2, events: readonly Event[]): Promise<{ history: History; polls: readonly Poll[] }> {
  const history = new History(layout);
  const polls: Poll[] = [];
  let cursor: Cursor | null = (await source.poll(history.table.ref, null)).cursor; // before the first commit
  for (const event of [...events, 'poll' as const]) {
    history.happen(event);
    if (event !== 'poll') continue;
    const quick = await source.poll(history.table.ref, cursor, { depth: 'QUICK' });
    const poll = await source.poll(history.table.ref, cursor);
    if (poll.outcome.kind !== 'NONE') expect(quick.outcome.kind).toBe(poll.outcome.kind);
    polls.push(poll);
    cursor = poll.cursor === null ? null : (JSON.parse(JSON.stringify(poll.cursor)) as Cursor); // as a database keeps it
  }
  return { history, polls };
}

test('however a history is chopped into polls, every version that stands at its end was told exactly once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(1 as const, 2 as const),
      fc.array(fc.constantFrom(...EVENTS), { maxLength: 40 }),
      async (layout, events) => {
        const { history, polls } = await told(layout, events);
        const commits = polls.flatMap((poll) =>
          poll.commits.map((commit) => [commit.snapshotId, commit.dataChange] as const),
        );
        expect(new Set(commits.map(([id]) => id)).size).toBe(commits.length);
        const lost = commits.filter(([id]) => !history.standing.has(id));
        if (lost.length > 0) expect(polls.map(({ outcome }) => outcome.kind)).toContain('ROLLBACK');
        expect(commits.filter(([id]) => history.standing.has(id)).sort()).toEqual([...history.standing].sort());
        for (const { outcome } of polls) expect(['NEW', 'NONE', 'ROLLBACK']).toContain(outcome.kind);
      },
    ),
    // The example: a rollback that was archived, with all around it, before the next poll.
    { numRuns: 150, examples: [[1, ['commit', 'poll', 'rollback', 'commit', 'commit', 'commit', 'archive']]] },
  );
});

test('a second look finds nothing and changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(1 as const, 2 as const),
      fc.array(fc.constantFrom(...EVENTS), { maxLength: 20 }),
      async (layout, events) => {
        const { history, polls } = await told(layout, events);
        const last = polls.at(-1)?.cursor ?? null;
        const again = await source.poll(history.table.ref, last);
        expect(again).toMatchObject({ outcome: { kind: 'NONE' }, commits: [], newSchemas: [] });
        expect(again.cursor).toBe(last);
      },
    ),
    // The examples: what was told from the archive, or before it was archived, while no version stands in the timeline.
    {
      examples: [
        [1, ['commit', 'clean', 'commit', 'rollback', 'commit', 'archive', 'rollback']],
        [1, ['commit', 'clean', 'poll', 'clean', 'clean', 'archive']],
      ],
    },
  );
});

test('whatever happens to the bytes of its files, a table gets an answer, and a new commit is never passed over in silence', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(1 as const, 2 as const),
      fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(255), fc.boolean()), { minLength: 1, maxLength: 4 }),
      async (layout, damages) => {
        const table = new MadeUpTable(layout);
        const kept = table.commit();
        table.rollback(table.commit());
        const { cursor } = await source.poll(table.ref, null);
        const fresh = table.commit();
        for (const [file, at, byte, cut] of damages) {
          const paths = [...table.files.files.keys()];
          const path = paths[file % paths.length] ?? '';
          const bytes = Buffer.from(table.files.files.get(path) ?? '');
          if (bytes.length === 0) continue;
          if (!cut) bytes[at % bytes.length] = byte;
          table.files.files.set(path, cut ? bytes.subarray(0, at % bytes.length) : bytes);
        }
        const began = performance.now();
        const poll = await source.poll(table.ref, cursor);
        expect(performance.now() - began).toBeLessThan(1_000);
        if (poll.outcome.kind === 'UNREADABLE') expect(poll.cursor).toBe(cursor);
        else expect(poll.commits.map(({ snapshotId }) => snapshotId)).toEqual([fresh]);
        expect((await source.poll(table.ref, null)).outcome.kind).not.toBe('NONE');
        expect(kept).toHaveLength(17);
      },
    ),
    { numRuns: 200 },
  );
});

test('cursors of any content are refused or used, never thrown at', async () => {
  const table = new MadeUpTable(2);
  table.commit();
  const { cursor } = await source.poll(table.ref, null);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(cursor ?? {})), fc.jsonValue(), async (key, value) => {
      const bent = { ...cursor, [key]: value } as Cursor;
      for (const depth of ['QUICK', 'FULL'] as const) await source.poll(table.ref, bent, { depth });
    }),
  );
});

test('properties as Java writes them', () => {
  const parsed = parseProperties(
    Buffer.from(
      '#c\r\nhoodie.table.name=t\nhoodie.table.version : 8\nhoodie.timeline.path=../up\nhoodie.table.partition.fields=dt\\:SIMPLE,r\\u00e9gion\nno value\n',
    ),
  );
  expect(parsed).toMatchObject({ version: 8, timeline: 'timeline', partitionKeys: ['dt', 'région'], comments: ['c'] });
  expect(parseProperties(Buffer.from('#only a comment'))).toBeNull();
  fc.assert(fc.property(fc.uint8Array(), (bytes) => void parseProperties(bytes)));
});
