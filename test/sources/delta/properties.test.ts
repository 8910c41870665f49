import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Poll } from '../../../src/core/asset/poll.ts';
import type { Commit } from '../../../src/core/asset/version.ts';
import { createDeltaSource } from '../../../src/sources/delta/source.ts';
import { add, column, MadeUpTable, name, remove, schemaString } from './made-up.ts';

const source = createDeltaSource();
const marks = (commits: readonly Commit[]): string[] =>
  commits.map((commit) => `${commit.snapshotId}@${commit.commitTime} ${commit.dataChange} ${commit.schemaId}`);

/** What Sluice makes of the polls of one table: the versions that live in the newest epoch. */
function follow(live: readonly Commit[], { outcome, commits }: Poll): readonly Commit[] {
  if (outcome.kind === 'RECREATED') return commits;
  const to = outcome.kind === 'ROLLBACK' ? BigInt(outcome.to ?? -1) : null;
  return [...live.filter(({ snapshotId }) => to === null || BigInt(snapshotId) <= to), ...commits];
}

type Step = 'commit' | 'optimize' | 'column' | 'quick' | 'full' | 'rewind' | 'recreate' | 'checkpoint';

const steps = (...of: readonly Step[]): fc.Arbitrary<readonly Step[]> =>
  fc.array(fc.constantFrom<Step>(...of, 'commit', 'quick', 'full'), { maxLength: 40 });

function change(table: MadeUpTable, step: Step, at: number): void {
  const newest = table.versions().at(-1) ?? 0;
  if (step === 'commit') table.commit();
  else if (step === 'optimize') table.optimize();
  else if (step === 'column')
    table.commit([{ metaData: { id: 'table-1', schemaString: schemaString(column(`c${at}`)) } }]);
  else if (step === 'rewind') table.rewind(Math.max(0, newest - 2));
  else if (step === 'checkpoint') table.checkpoint(newest, [table.metaData()]);
  else if (step === 'recreate') {
    table.drop();
    table.create();
  }
}

/** Runs the steps and a last poll; returns the versions followed, and every poll's commits in order. */
async function run(all: readonly Step[], folderTimes: boolean) {
  const table = new MadeUpTable().create();
  table.files.folderTimes = folderTimes;
  let [live, reported, cursor]: [readonly Commit[], readonly Commit[], Poll['cursor']] = [[], [], null];
  const poll = async (depth: 'QUICK' | 'FULL'): Promise<void> => {
    const answer = await source.poll(table.ref, cursor, { depth });
    expect(answer.outcome.kind).not.toBe('UNREADABLE');
    live = follow(live, answer);
    reported = [...reported, ...answer.commits];
    cursor = JSON.parse(JSON.stringify(answer.cursor)) as Poll['cursor'];
  };
  for (const [at, step] of all.entries()) {
    if (step === 'quick') await poll('QUICK');
    else if (step === 'full') await poll('FULL');
    else change(table, step, at);
  }
  await poll('FULL');
  return { table, live, reported };
}

describe('however polls and writers interleave', () => {
  test('commits alone: any chopping of the history gives the same versions, each once', async () => {
    await fc.assert(
      fc.asyncProperty(steps('optimize', 'column', 'checkpoint'), fc.boolean(), async (all, folderTimes) => {
        const { table, reported } = await run(all, folderTimes);
        const atOnce = await source.poll(table.ref, null);
        expect(marks(reported)).toEqual(marks(atOnce.commits));
      }),
    );
  });

  test('with rewinds and re-creation too, what is followed is what stands there', async () => {
    await fc.assert(
      fc.asyncProperty(steps('optimize', 'rewind', 'recreate'), fc.boolean(), async (all, folderTimes) => {
        const { table, live } = await run(all, folderTimes);
        const atOnce = await source.poll(table.ref, null);
        expect(marks(live)).toEqual(marks(atOnce.commits));
      }),
    );
  });
});

/** Metadata as a storm leaves them: bytes flipped, cut short, doubled, or replaced. */
const damage = fc.oneof(
  fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), byte: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ cut: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({
    text: fc.oneof(fc.json(), fc.constantFrom('', '{}', '[]', 'null', '{"add":1}', '{"metaData":{"id":7}}', '\n\n')),
  }),
);

function damaged(bytes: Uint8Array, how: typeof damage extends fc.Arbitrary<infer D> ? D : never): Uint8Array {
  if ('text' in how) return Buffer.from(how.text);
  if ('cut' in how) return bytes.slice(0, Math.floor(bytes.length * how.cut));
  const copy = Uint8Array.from(bytes);
  copy[Math.floor((bytes.length - 1) * how.at)] = how.byte;
  return copy;
}

describe('damaged metadata', () => {
  test('a new commit is told or the table is unreadable, never nothing; no crash', async () => {
    await fc.assert(
      fc.asyncProperty(damage, fc.integer({ min: 0, max: 4 }), async (how, version) => {
        const table = new MadeUpTable().create();
        table.commit([remove(), add({ stats: '{"numRecords":1}' })]);
        const { cursor } = await source.poll(table.ref, null);
        for (let left = 3; left > 0; left--) table.commit();
        const path = `/w/t/_delta_log/${name(version)}`;
        table.files.put(path, damaged(table.files.files.get(path) ?? Buffer.of(), how));
        const next = await source.poll(table.ref, cursor);
        expect(next.outcome.kind).not.toBe('NONE');
        await source.poll(table.ref, null);
      }),
      { numRuns: 300 },
    );
  });
});
