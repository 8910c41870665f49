import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutsOf } from '../../../src/core/asset/cuts.ts';
import type { StatedEvent } from '../../../src/core/asset/event.ts';
import { qualityOf } from '../../../src/core/asset/quality.ts';
import { triggerKeyText } from '../../../src/core/asset/trigger-key.ts';
import type { TagChange } from '../../../src/core/asset/poll.ts';
import type { Commit } from '../../../src/core/asset/version.ts';
import {
  AssetMemory,
  assetOf,
  commitOf,
  conditionOf,
  GroupMemory,
  groupOf,
  keyOf,
  ORDERS,
  schemaOf,
  statedOf,
} from './memory.ts';

const PAYMENTS = keyOf('paimon://ods_db/payments');

/** State without what depends on when and in how many steps it was told: the instants, the counter, and the ordinals of versions. */
const essence = (memory: AssetMemory) => {
  const { version, healthSince, lastOrdinal, latest, latestData, ...rest } = memory.state;
  return { ...rest, latest: latest?.snapshotId, latestData: latestData?.snapshotId };
};

const told = (memory: AssetMemory, events: readonly StatedEvent[]) => {
  for (const event of events) memory.push(event);
  return memory;
};

const risesAlways = (memory: AssetMemory): boolean =>
  memory.versions.every((version, index) => version.ordinal === index + 1);

/** A table's life as its writers push it: commits, and what is said about them. */
const historyOf = (dataChange: fc.Arbitrary<boolean>) =>
  fc
    .array(
      fc.record({
        dataChange,
        watermark: fc.option(fc.bigInt({ min: 0n, max: 50n }), { nil: null }),
        newSchema: fc.boolean(),
        verdicts: fc.array(
          fc.record({ status: fc.constantFrom('PASSED', 'FAILED'), check: fc.constantFrom('a', 'b') } as const),
          { maxLength: 3 },
        ),
        tag: fc.option(fc.tuple(fc.constantFrom('t', 'u'), fc.nat({ max: 3 })), { nil: null }),
        approve: fc.boolean(),
      }),
      { minLength: 1, maxLength: 7 },
    )
    .map((steps) => {
      let schema = 0;
      let clock = 0n;
      const tick = () => (clock += 7n);
      return steps.flatMap((step, index) => {
        const snapshotId = `${index + 1}`;
        if (step.newSchema) schema += 1;
        const facts = { snapshotId, schemaId: `${schema}`, watermark: step.watermark, dataChange: step.dataChange };
        const commit = statedOf('SNAPSHOT_COMMITTED', { ...facts, commitTime: tick(), commitKind: 'X' });
        const verdicts = step.verdicts.map(({ status, check }) =>
          statedOf(`QUALITY_CHECK_${status}`, {
            snapshotId,
            checkName: check,
            commitTime: tick(),
            eventId: `e${clock}`,
          }),
        );
        const [tag, behind] = step.tag ?? [null, 0];
        const tagged = `${Math.max(1, index + 1 - behind)}`;
        const said = behind === 3 ? 'TAG_DELETED' : 'TAG_CREATED';
        const tags = tag === null ? [] : [statedOf(said, { tag, snapshotId: tagged, commitTime: tick() })];
        const approvals = step.approve
          ? [statedOf('SCHEMA_CHANGE_APPROVED', { schemaId: `${schema}`, eventId: `a${clock}-${index}` })]
          : [];
        return [commit, ...verdicts, ...tags, ...approvals];
      });
    });

/** The history, and the same with events repeated and in any order. */
const shuffled = (history: fc.Arbitrary<StatedEvent[]>) =>
  history.chain((events) =>
    fc.tuple(
      fc.constant(events),
      fc
        .array(fc.nat({ max: events.length - 1 }), { maxLength: 6 })
        .map((again) => [...events, ...again.flatMap((index) => events[index] ?? [])])
        .chain((all) => fc.shuffledSubarray(all, { minLength: all.length })),
    ),
  );

describe('whatever order events arrive in', () => {
  it('any permutation, duplication and interleaving gives the same final state', () => {
    fc.assert(
      fc.property(shuffled(historyOf(fc.constant(true))), ([events, mixed]) => {
        const inOrder = told(new AssetMemory({ location: null }), events);
        const anyOrder = told(new AssetMemory({ location: null }), mixed);
        expect(essence(anyOrder)).toEqual(essence(inOrder));
        expect(risesAlways(anyOrder)).toBe(true);
        const latest = anyOrder.versions.at(-1);
        const sameLatest = inOrder.versions.at(-1);
        if (latest === undefined || sameLatest === undefined) throw new Error('no version');
        const { ordinal: _one, recordedAt: _at, ...facts } = anyOrder.facts(latest);
        const { ordinal: _other, recordedAt: _then, ...sameFacts } = inOrder.facts(sameLatest);
        expect({
          ...facts,
          verdicts: facts.verdicts.toSorted((a, b) => (a.checkName < b.checkName ? -1 : 1)),
          tags: facts.tags.toSorted(),
        }).toEqual({
          ...sameFacts,
          verdicts: sameFacts.verdicts.toSorted((a, b) => (a.checkName < b.checkName ? -1 : 1)),
          tags: sameFacts.tags.toSorted(),
        });
      }),
      { numRuns: 400 },
    );
  });

  it('commits without data among them: the same head, and no data is lost', () => {
    fc.assert(
      fc.property(shuffled(historyOf(fc.boolean())), ([events, mixed]) => {
        const inOrder = told(new AssetMemory({ location: null }), events);
        const anyOrder = told(new AssetMemory({ location: null }), mixed);
        const { latestData: told1, qualityStatus: _q, ...rest } = essence(anyOrder);
        const { latestData: told2, qualityStatus: _p, ...same } = essence(inOrder);
        expect(rest).toEqual(same);
        // The newest data is found at the version that brought it, or at a later one of its cut; never before it, never not at all.
        expect(told1 === undefined).toBe(told2 === undefined);
        expect(Number(told1 ?? 0)).toBeGreaterThanOrEqual(Number(told2 ?? 0));
      }),
      { numRuns: 400 },
    );
  });

  it('a rewind: late words from the undone history change nothing', () => {
    const rewound = fc.record({
      length: fc.integer({ min: 2, max: 6 }),
      back: fc.integer({ min: 1, max: 6 }),
      more: fc.integer({ min: 1, max: 4 }),
    });
    const lives = rewound.chain(({ length, back, more }) => {
      const commit = (id: number, time: number) =>
        statedOf('SNAPSHOT_COMMITTED', { snapshotId: `${id}`, commitTime: BigInt(time) });
      const first = Array.from({ length }, (_, index) => commit(index + 1, index + 1));
      const from = Math.min(back, length);
      const second = Array.from({ length: more }, (_, index) => commit(from + index, 1000 + index));
      return fc.tuple(fc.constant([first, second] as const), fc.array(fc.constantFrom(...first), { maxLength: 8 }));
    });
    fc.assert(
      fc.property(lives, ([[first, second], late]) => {
        const memory = told(new AssetMemory({ location: null }), [...first, ...second]);
        const before = memory.state;
        expect(before.epoch).toBe(2);
        told(memory, late);
        expect(memory.state).toBe(before);
        expect(risesAlways(memory)).toBe(true);
        const live = memory.versions
          .filter((version) => version.status === 'LIVE')
          .map((version) => Number(version.snapshotId));
        expect(live).toEqual(live.toSorted((a, b) => a - b));
        expect(new Set(live).size).toBe(live.length);
      }),
    );
  });
});

describe('however a history is chopped into polls', () => {
  const S = ['0', '1', '2'].map((id) =>
    schemaOf(id, { a: id === '2' ? 'STRING' : 'INT', ...(id === '0' ? {} : { b: 'INT' }) }),
  );
  type Step = { readonly commit: Commit } | { readonly tag: TagChange } | { readonly schema: number };
  const lives = fc
    .array(
      fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({
            data: fc.boolean(),
            watermark: fc.option(fc.bigInt({ min: 0n, max: 9n }), { nil: null }),
          }),
        },
        fc.constant('schema' as const),
        fc.constant('tag' as const),
      ),
      { minLength: 1, maxLength: 12 },
    )
    .map((choices) => {
      let schema = 0;
      let id = 0;
      let tags = 0;
      return choices.flatMap((choice): Step[] => {
        if (choice === 'schema') return schema < 2 ? [{ schema: ++schema }] : [];
        if (choice === 'tag')
          return id === 0 ? [] : [{ tag: { tag: `t${tags++}`, snapshotId: `${id}`, before: null } }];
        id += 1;
        const patch = { dataChange: choice.data, watermark: choice.watermark, schemaId: `${schema}`, totalRecords: 0n };
        return [{ commit: commitOf(`${id}`, BigInt(id), patch) }];
      });
    });

  const polled = (memory: AssetMemory, steps: readonly Step[]) => {
    const schemas = steps.flatMap((step) => ('schema' in step ? (S[step.schema] ?? []) : []));
    memory.poll({
      commits: steps.flatMap((step) => ('commit' in step ? step.commit : [])),
      tagChanges: steps.flatMap((step) => ('tag' in step ? step.tag : [])),
      newSchemas: schemas,
      schema: schemas.at(-1) ?? null,
    });
  };
  const started = () => {
    const memory = new AssetMemory();
    memory.poll({ schema: S[0] ?? null, newSchemas: S.slice(0, 1) });
    return memory;
  };

  it('versions, ordinals and state are the same', () => {
    const chopped = lives.chain((steps) =>
      fc.tuple(
        fc.constant(steps),
        fc
          .array(fc.nat({ max: steps.length }), { maxLength: 6 })
          .map((at) => [0, ...at.toSorted((a, b) => a - b), steps.length]),
      ),
    );
    fc.assert(
      fc.property(chopped, ([steps, bounds]) => {
        const whole = started();
        polled(whole, steps);
        const parts = started();
        bounds.slice(1).forEach((end, index) => polled(parts, steps.slice(bounds[index], end)));
        expect(parts.versions).toEqual(whole.versions);
        expect(parts.state.lastOrdinal).toBe(whole.state.lastOrdinal);
        expect({ ...essence(parts), schemaId: '' }).toEqual({ ...essence(whole), schemaId: '' });
        expect([...parts.schemas.values()]).toEqual([...whole.schemas.values()]);
      }),
      { numRuns: 400 },
    );
  });

  it('a cut never splits: it has one data version, at its begin, and every version lies in exactly one', () => {
    fc.assert(
      fc.property(lives, (steps) => {
        const memory = started();
        polled(memory, steps);
        const cuts = cutsOf(memory.versions, assetOf());
        expect(cuts.flatMap((cut) => cut.versions)).toEqual(memory.versions);
        cuts.forEach((cut, index) => {
          expect(cut.versions.filter((version) => version.dataChange)).toEqual(
            cut.data === null ? [] : [cut.versions[0]],
          );
          if (cut.data === null) expect(index).toBe(0);
        });
      }),
    );
  });
});

describe('decisions', () => {
  type Act = {
    readonly table: 0 | 1;
    readonly what: 'DATA' | 'NO_DATA' | 'PASSED' | 'FAILED' | 'BACK' | 'EVALUATE';
    readonly pick: number;
  };
  const acts = fc.array(
    fc.record({
      table: fc.constantFrom(0 as const, 1 as const),
      what: fc.constantFrom('DATA', 'DATA', 'NO_DATA', 'PASSED', 'PASSED', 'FAILED', 'BACK', 'EVALUATE', 'EVALUATE'),
      pick: fc.nat(),
    }) as fc.Arbitrary<Act>,
    { maxLength: 40 },
  );

  const play = (memory: AssetMemory, act: Act, clock: bigint) => {
    const live = memory.versions.filter((version) => version.status === 'LIVE' && version.epoch === memory.state.epoch);
    const chosen = live[act.pick % Math.max(1, live.length)];
    const next = `${Number(live.at(-1)?.snapshotId ?? 0) + 1}`;
    switch (act.what) {
      case 'DATA':
      case 'NO_DATA':
        memory.poll({ commits: [commitOf(next, clock, { dataChange: act.what === 'DATA' })] });
        return;
      case 'PASSED':
      case 'FAILED':
        if (chosen)
          memory.push(statedOf(`QUALITY_CHECK_${act.what}`, { snapshotId: chosen.snapshotId, commitTime: clock }));
        return;
      case 'BACK':
        if (chosen) memory.poll({ outcome: { kind: 'ROLLBACK', to: chosen.snapshotId, restored: chosen } });
        return;
      case 'EVALUATE':
        return;
    }
  };

  it.each(['ALL', 'ANY'] as const)(
    'advance %s: a combination fires once, pins are live, newer, and never failed',
    (advance) => {
      fc.assert(
        fc.property(acts, fc.constantFrom('IGNORE', 'TRIGGER'), (steps, onRollback) => {
          const tables = [ORDERS, PAYMENTS].map((key) => new AssetMemory({ key, onRollback }));
          for (const table of tables) table.poll({});
          const conditions = [
            conditionOf(ORDERS, { qualityStatus: 'PASSED' }),
            conditionOf(PAYMENTS, { alias: 'b', qualityStatus: 'PASSED' }),
          ];
          const group = new GroupMemory(groupOf(conditions, { advance }), tables);
          const fired = new Set<string>();
          steps.forEach((act, index) => {
            const table = tables[act.table];
            if (table) play(table, act, BigInt(index + 1));
            const consumed = group.consumed;
            const evaluation = group.evaluate();
            if (!evaluation.ready) return;
            const key = triggerKeyText({ workflowCode: 1, task: null, group: 'g', pins: evaluation.pins });
            expect(fired.has(key)).toBe(false);
            fired.add(key);
            let moved = 0;
            for (const [asset, pin] of evaluation.pins) {
              const memory = tables.find((one) => one.asset.key === asset);
              const version = memory?.versions.find((one) => one.ordinal === pin.ordinal);
              if (memory === undefined || version === undefined) throw new Error('pinned what is not there');
              expect(version.status).toBe('LIVE');
              const live = memory.versions.filter((one) => one.status === 'LIVE');
              const cut = cutsOf(live, memory.asset).find((one) => one.versions.includes(version));
              const verdicts = cut?.versions.flatMap((one) => memory.facts(one).verdicts) ?? [];
              expect(qualityOf(verdicts, [])).toBe('PASSED');
              if (pin.ordinal > (consumed.get(asset)?.ordinal ?? 0)) moved += 1;
              else expect(advance).toBe('ANY');
            }
            expect(moved).toBeGreaterThanOrEqual(advance === 'ALL' ? 2 : 1);
            expect(group.fire()).not.toBeNull();
            expect(group.fire()).toBeNull();
          });
        }),
        { numRuns: 200 },
      );
    },
  );
});
