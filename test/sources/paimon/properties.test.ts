import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Poll } from '../../../src/core/asset/poll.ts';
import type { Commit } from '../../../src/core/asset/version.ts';
import { createPaimonSource } from '../../../src/sources/paimon/source.ts';
import { MadeUpTable } from './made-up.ts';

const source = createPaimonSource();
const marks = (commits: readonly Commit[]): string[] =>
  commits.map((commit) => `${commit.snapshotId}@${commit.commitTime}`);

/** What Sluice makes of the polls of one table: the versions that live in the newest epoch. */
function follow(live: readonly Commit[], { outcome, commits }: Poll): readonly Commit[] {
  if (outcome.kind === 'RECREATED') return commits;
  const kept =
    outcome.kind === 'ROLLBACK' ? live.filter((commit) => BigInt(commit.snapshotId) <= BigInt(outcome.to ?? 0)) : live;
  return [...kept, ...commits];
}

type Step =
  | { readonly do: 'commit' | 'compact' | 'quick' | 'full' | 'twice' | 'recreate' }
  | { readonly do: 'rollback' | 'expire'; readonly by: number };

const polls: fc.Arbitrary<Step> = fc.constantFrom('quick', 'full', 'twice').map((name) => ({ do: name }) as Step);
const commits: fc.Arbitrary<Step> = fc.constantFrom('commit', 'compact').map((name) => ({ do: name }) as Step);
const upheavals: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('rollback' as const), by: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant('expire' as const), by: fc.integer({ min: 1, max: 4 }) }),
  fc.constant({ do: 'recreate' as const }),
);

/** Runs the steps; returns the table, the versions followed, and every poll's commits in order. */
async function run(
  steps: readonly Step[],
): Promise<{ table: MadeUpTable; live: readonly Commit[]; reported: readonly Commit[] }> {
  const table = new MadeUpTable().create();
  let [live, reported, cursor]: [readonly Commit[], readonly Commit[], Poll['cursor']] = [[], [], null];
  const poll = async (depth: 'QUICK' | 'FULL'): Promise<void> => {
    const answer = await source.poll(table.ref, cursor, { depth });
    expect(answer.outcome.kind).not.toBe('UNREADABLE');
    live = follow(live, answer);
    reported = [...reported, ...answer.commits];
    cursor = JSON.parse(JSON.stringify(answer.cursor)) as Poll['cursor'];
  };
  for (const step of steps) {
    if (step.do === 'quick') await poll('QUICK');
    else if (step.do === 'full' || step.do === 'twice') {
      const before = cursor;
      await poll('FULL');
      // the same look from the same cursor says the same: a lost answer can be asked for again
      if (step.do === 'twice')
        expect(await source.poll(table.ref, before)).toMatchObject({ head: live.at(-1)?.snapshotId ?? null });
    } else change(table, step);
  }
  await poll('FULL');
  return { table, live, reported };
}

function change(table: MadeUpTable, step: Step): void {
  const ids = table.ids();
  if (step.do === 'commit') table.commit();
  else if (step.do === 'compact') table.commit({ kind: 'COMPACT' });
  else if (step.do === 'rollback') table.rollback(ids.at(-1 - step.by) ?? ids[0] ?? 0);
  else if (step.do === 'expire') table.expire(step.by);
  else if (step.do === 'recreate') {
    table.drop();
    table.create();
  }
}

const visible = (table: MadeUpTable): string[] =>
  table.ids().map((id) => {
    const { timeMillis } = JSON.parse(table.text(`snapshot/snapshot-${id}`)) as { timeMillis: number };
    return `${id}@${timeMillis}`;
  });

describe('however polls and writers interleave', () => {
  test('commits alone: each is reported exactly once, in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(commits, polls), { maxLength: 40 }), async (steps) => {
        const { table, reported } = await run(steps);
        expect(marks(reported)).toEqual(visible(table));
      }),
      { numRuns: 150 },
    );
  });

  test('with rollbacks, expiry and re-creation: what is followed ends as what the table holds', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: commits },
      { weight: 3, arbitrary: polls },
      { weight: 2, arbitrary: upheavals },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { table, live } = await run(steps);
        const now = visible(table);
        expect(marks(live).slice(-now.length || live.length)).toEqual(now);
        expect(new Set(live.map((commit) => commit.snapshotId)).size).toBe(live.length);
      }),
      { numRuns: 300 },
    );
  });
});

/** Damages of bytes: cut, changed, doubled, a digit replaced. */
const damage = fc.oneof(
  fc.record({ cut: fc.nat() }),
  fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ insert: fc.nat(), text: fc.string({ maxLength: 8 }) }),
  fc.record({
    digit: fc.nat(),
    by: fc.constantFrom('9223372036854775808', '-1', '1e400', '0.5', 'null', '[]', '{}', '""'),
  }),
);

function damaged(bytes: Uint8Array, how: Readonly<Record<string, unknown>>): Uint8Array {
  const text = Buffer.from(bytes);
  const at = (name: string): number => (how[name] as number) % (text.length + 1);
  if ('cut' in how) return text.subarray(0, at('cut'));
  if ('insert' in how) {
    return Buffer.concat([
      text.subarray(0, at('insert')),
      Buffer.from(how['text'] as string),
      text.subarray(at('insert')),
    ]);
  }
  if ('digit' in how) {
    const digits = [...text.toString().matchAll(/\d+/g)];
    const chosen = digits[(how['digit'] as number) % digits.length];
    const [start, end] = [chosen?.index ?? 0, (chosen?.index ?? 0) + (chosen?.[0].length ?? 0)];
    return Buffer.from(text.toString().slice(0, start) + (how['by'] as string) + text.toString().slice(end));
  }
  const changed = Buffer.from(text);
  if (changed.length > 0) changed[at('at') % changed.length] = how['byte'] as number;
  return changed;
}

describe('damaged metadata', () => {
  const targets = ['snapshot/snapshot-2', 'schema/schema-1', 'tag/tag-new', 'snapshot/snapshot-1', 'schema/schema-0'];
  test.each(targets)('%s: an outcome every time, and what is new is never passed over in silence', async (target) => {
    await fc.assert(
      fc.asyncProperty(damage, async (how) => {
        const table = new MadeUpTable().create();
        table.commit();
        const { cursor } = await source.poll(table.ref, null);
        table.commit();
        table.schema(1, { timeMillis: 9 });
        table.tag('new', 2);
        const path = `${table.root}/${target}`;
        table.files.files.set(path, damaged(table.files.files.get(path) ?? new Uint8Array(), how));
        const poll = await source.poll(table.ref, cursor);
        const said = poll.outcome.kind === 'UNREADABLE' || poll.problems.length > 0;
        if (!said) {
          expect(poll.head).toBe('2');
          expect(poll.newSchemas.map((schema) => schema.schemaId)).toContain('1');
          expect(Object.keys(poll.tags)).toEqual(['new']);
        }
        if (poll.outcome.kind === 'UNREADABLE') expect(poll.cursor).toBe(cursor);
      }),
      { numRuns: 200 },
    );
  });
});
