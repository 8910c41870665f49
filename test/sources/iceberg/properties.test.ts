import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cursor, Poll } from '../../../src/core/asset/poll.ts';
import { createIcebergSource } from '../../../src/sources/iceberg/source.ts';
import { MadeUpTable } from './made-up.ts';

const source = createIcebergSource();

type Step =
  | {
      readonly do:
        | 'commit'
        | 'compact'
        | 'several'
        | 'stage'
        | 'tag'
        | 'column'
        | 'quick'
        | 'full'
        | 'twice'
        | 'replace'
        | 'recreate';
    }
  | { readonly do: 'rollback' | 'expire'; readonly by: number };

const of = (
  ...names: readonly ('commit' | 'compact' | 'several' | 'stage' | 'tag' | 'column' | 'quick' | 'full' | 'twice')[]
): fc.Arbitrary<Step> => fc.constantFrom(...names).map((name) => ({ do: name }));
const commits = of('commit', 'compact', 'several', 'stage', 'tag', 'column');
const polls = of('quick', 'full', 'twice');
const number = fc.integer({ min: 1, max: 4 });
const upheavals: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('rollback' as const), by: number }),
  fc.record({ do: fc.constant('expire' as const), by: number }),
  fc.constantFrom<Step>({ do: 'replace' }, { do: 'recreate' }),
);

function change(table: MadeUpTable, step: Step, cutLinks: boolean): void {
  const chain = table.chain().map((snapshot) => snapshot.id);
  if (step.do === 'commit') table.commit();
  else if (step.do === 'compact') table.commit({ operation: 'replace', rows: 0 });
  else if (step.do === 'several') {
    table.add();
    table.commit();
  } else if (step.do === 'stage') table.commit({ staged: true });
  else if (step.do === 'tag' && chain.length > 0) table.tag('daily', chain.at(-1) ?? null);
  else if (step.do === 'column') table.addColumn('id', `c${table.version}`);
  else if (step.do === 'replace') table.replaceAs();
  else if (step.do === 'recreate') {
    table.drop();
    table.create();
  } else if (step.do === 'rollback' && chain.length > 0) table.setHead(chain.at(-1 - step.by) ?? chain[0] ?? 0n);
  else if (step.do === 'expire') table.expire(chain.slice(0, Math.min(step.by, chain.length - 1)), cutLinks);
}

/** What Sluice makes of the polls of one table: the ids that live in the newest epoch. */
function followed(live: readonly string[], { outcome, commits: fresh }: Poll): readonly string[] {
  const ids = fresh.map((commit) => commit.snapshotId);
  if (outcome.kind === 'RECREATED') return ids;
  if (outcome.kind !== 'ROLLBACK') return [...live, ...ids];
  const at = outcome.to === null ? -1 : live.indexOf(outcome.to);
  const back = at !== -1 || outcome.to === null ? live.slice(0, at + 1) : [outcome.to];
  return [...back, ...ids];
}

interface Kind {
  readonly style: 'hadoop' | 'catalog';
  readonly formatVersion: number;
  /** Expiry takes the parent from the children of what it expires. */
  readonly cutLinks: boolean;
}

const kinds: fc.Arbitrary<Kind> = fc.record({
  style: fc.constantFrom('hadoop' as const, 'catalog' as const),
  formatVersion: fc.constantFrom(1, 2, 3),
  cutLinks: fc.boolean(),
});

interface Ending {
  readonly table: MadeUpTable;
  readonly live: readonly string[];
  readonly reported: readonly string[];
  readonly last: Poll;
}

async function run(steps: readonly Step[], kind: Partial<Kind> = {}): Promise<Ending> {
  const table = new MadeUpTable(null, kind.style).create();
  table.formatVersion = kind.formatVersion ?? 2;
  let [live, reported]: (readonly string[])[] = [[], []];
  let cursor: Cursor | null = null;
  const poll = async (depth: 'QUICK' | 'FULL'): Promise<Poll> => {
    const answer = await source.poll(table.ref, cursor, { depth });
    expect(answer.outcome.kind).not.toBe('UNREADABLE');
    expect(answer.head).toBe(
      depth === 'QUICK' && answer.outcome.kind === 'NONE' ? answer.head : (table.head()?.toString() ?? null),
    );
    live = followed(live ?? [], answer);
    reported = [...(reported ?? []), ...answer.commits.map((commit) => commit.snapshotId)];
    cursor = answer.cursor === null ? null : (JSON.parse(JSON.stringify(answer.cursor)) as Cursor);
    return answer;
  };
  for (const step of steps) {
    if (step.do === 'quick') await poll('QUICK');
    else if (step.do === 'full') await poll('FULL');
    else if (step.do === 'twice') {
      const before: Cursor | null = cursor;
      const { outcome, commits: fresh } = await poll('FULL');
      // the same look from the same cursor says the same: a lost answer can be asked for again
      expect(await source.poll(table.ref, before)).toMatchObject({ outcome, commits: fresh });
    } else change(table, step, kind.cutLinks ?? false);
  }
  const last = await poll('FULL');
  return { table, live: live ?? [], reported: reported ?? [], last };
}

describe('however polls and writers interleave', () => {
  test('without upheavals each commit of the branch is told exactly once, in order', async () => {
    const steps = fc.array(fc.oneof(commits, polls), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(steps, kinds, async (some, kind) => {
        const { table, reported } = await run(some, kind);
        expect(reported).toEqual(table.chain().map((snapshot) => snapshot.id.toString()));
      }),
      { numRuns: 150 },
    );
  });

  test('with rollbacks, expiry, replaced and re-created tables: what lives at the end is the table’s own history', async () => {
    const steps = fc.array(fc.oneof({ weight: 3, arbitrary: commits }, { weight: 2, arbitrary: polls }, upheavals), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(steps, kinds, async (some, kind) => {
        const { table, live, last } = await run(some, { ...kind, style: 'hadoop' });
        const visible = table.chain().map((snapshot) => snapshot.id.toString());
        // what expired may still be known; what is visible is known, in its order, and is the end of what is known
        expect(live.slice(-visible.length || live.length)).toEqual(visible);
        expect(last.head).toBe(visible.at(-1) ?? null);
      }),
      { numRuns: 300 },
    );
  });
});

/** Ways to damage a file. */
const damage: fc.Arbitrary<(bytes: Uint8Array) => Uint8Array> = fc.oneof(
  fc
    .double({ min: 0, max: 0.999, noNaN: true })
    .map((part) => (bytes: Uint8Array) => bytes.subarray(0, Math.floor(bytes.length * part))),
  fc.tuple(fc.nat(), fc.nat({ max: 255 })).map(([at, byte]) => (bytes: Uint8Array) => {
    const copy = Uint8Array.from(bytes);
    copy[at % copy.length] = byte;
    return copy;
  }),
  fc.tuple(fc.nat(), fc.nat({ max: 40 })).map(([at, size]) => (bytes: Uint8Array) => {
    const from = at % bytes.length;
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + size)]);
  }),
  fc.tuple(fc.nat(), fc.string({ maxLength: 12 })).map(([at, text]) => (bytes: Uint8Array) => {
    const from = at % bytes.length;
    return Buffer.concat([bytes.subarray(0, from), Buffer.from(text), bytes.subarray(from)]);
  }),
  fc.uint8Array({ maxLength: 64 }).map((noise) => () => noise),
  fc
    .constantFrom('[]', '{}', 'null', '{"metadata":{}}', '{"format-version":2}', '[[[[', '"')
    .map((text) => () => Buffer.from(text)),
);

describe('damaged metadata', () => {
  test('never a crash, and never "nothing new" for the commit in it', async () => {
    await fc.assert(
      fc.asyncProperty(damage, fc.boolean(), async (spoil, catalogued) => {
        const table = new MadeUpTable(null, catalogued ? 'catalog' : 'hadoop').create();
        table.commit();
        table.tag('t', table.head());
        const { cursor } = await source.poll(table.ref, null);
        const next = table.commit();
        const whole = Buffer.from(table.json());
        const spoilt = spoil(whole);
        table.files.put(table.current(), spoilt);
        const answer = await source.poll(table.ref, cursor);
        if (answer.outcome.kind === 'UNREADABLE') expect(answer.cursor).toBe(cursor);
        // A changed byte may change the head itself; it must then be the head that the file names, never silence.
        else if (answer.outcome.kind === 'NONE')
          expect(Buffer.from(spoilt).includes(`"main":{"snapshot-id":${next},`)).toBe(false);
      }),
      { numRuns: 600 },
    );
  });

  test('damaged hints and cursors are answered', async () => {
    await fc.assert(
      fc.asyncProperty(damage, damage, async (spoilHint, spoilCursor) => {
        const table = new MadeUpTable().create();
        table.commit();
        const { cursor } = await source.poll(table.ref, null);
        table.hint(Buffer.from(spoilHint(Buffer.from('2'))).toString('latin1'));
        expect((await source.poll(table.ref, cursor)).head).toBe(`${table.head()}`);
        let spoilt: unknown = null;
        try {
          spoilt = JSON.parse(Buffer.from(spoilCursor(Buffer.from(JSON.stringify(cursor)))).toString('utf8'));
        } catch {
          return;
        }
        if (typeof spoilt !== 'object' || spoilt === null || !('v' in spoilt)) return;
        expect((await source.poll(table.ref, spoilt as Cursor)).outcome.kind).toMatch(/^[A-Z]+$/);
      }),
      { numRuns: 300 },
    );
  });
});
