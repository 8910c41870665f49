import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../src/core/asset/condition.ts';
import { evaluateGroup } from '../../../src/core/asset/evaluate/evaluate.ts';
import type { DependencyGroup, MemberFacts } from '../../../src/core/asset/group.ts';
import { AssetMemory, commitOf, conditionOf, groupOf, keyOf, ORDERS, statedOf } from './memory.ts';
import { COMPACT } from './one.ts';

/** Groups of waiting tasks: what a task's run has pinned, and what releases a task although it would start no run. */

const PAYMENTS = keyOf('paimon://ods_db/payments');

const memoryOf = (...ids: readonly string[]): AssetMemory => {
  const memory = new AssetMemory();
  memory.poll({});
  for (const id of ids) memory.poll({ commits: [commitOf(id, BigInt(id))] });
  return memory;
};

const pinOf = (memory: AssetMemory, id: string) => {
  const found = memory.versions.find(({ snapshotId }) => snapshotId === id);
  if (found === undefined) throw new Error(`There is no version ${id}.`);
  return { snapshotId: id, epoch: found.epoch, ordinal: found.ordinal };
};

const facts = (group: DependencyGroup, members: readonly (readonly [typeof ORDERS, MemberFacts])[]) => ({
  group,
  members: new Map(members),
  hasActiveRun: false,
  releasesTask: true,
  paused: false,
  gate: null,
  lastFireAt: null,
  previous: [],
  now: 1_000_000n,
});

/** What releases a task with this one condition on an asset that its run has pinned; else why it waits. */
const atPin = (memory: AssetMemory, id: string, condition: Partial<Condition> = {}) => {
  const pinned = pinOf(memory, id);
  const group = groupOf([conditionOf(ORDERS, condition)]);
  const evaluation = evaluateGroup(facts(group, [[ORDERS, memory.member(null, { pinned })]]));
  if (evaluation.ready) return evaluation.pins.get(ORDERS);
  return evaluation.leaves.map((leaf) => `${leaf.code} | ${leaf.needed} | ${leaf.actual}`).join();
};

describe('an asset that the run has pinned', () => {
  it('is tested at its pin, and a newer version never takes its place', () => {
    const memory = memoryOf('1', '2', '3');
    expect(atPin(memory, '2')).toEqual(pinOf(memory, '2'));
    const passed = (id: string) =>
      memory.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId: id, checkName: 'c', eventId: id }));
    passed('3');
    expect(atPin(memory, '2', { qualityStatus: 'PASSED' })).toMatch(
      /^BLOCKED_BY_QUALITY \| version 2, which the run reads with quality PASSED \| 2 \(APPEND, .*\): quality UNKNOWN$/,
    );
    passed('2');
    expect(atPin(memory, '2', { qualityStatus: 'PASSED' })).toEqual(pinOf(memory, '2'));
  });

  it('a verdict or a tag on a later version of its cut holds, and the pin stays what it was', () => {
    const memory = memoryOf('1');
    memory.poll({ commits: [commitOf('2', 2n, COMPACT)] });
    memory.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId: '2', checkName: 'c' }));
    memory.poll({ tagChanges: [{ tag: 'eod', snapshotId: '2', before: null }] });
    expect(atPin(memory, '1', { qualityStatus: 'PASSED', tag: 'e*' })).toEqual(pinOf(memory, '1'));
  });

  it('was consumed before: it counts all the same, and what compares with that is not asked', () => {
    const memory = memoryOf('1', '2');
    const pinned = pinOf(memory, '1');
    const group = groupOf([conditionOf(ORDERS, { minAddedRecords: 1_000_000n, schemaChanged: true })]);
    const member = memory.member(pinOf(memory, '2'), { pinned });
    expect(evaluateGroup(facts(group, [[ORDERS, member]]))).toMatchObject({ ready: true });
  });

  it('that is no longer there holds the task up', () => {
    const memory = memoryOf('1', '2');
    const pinned = { snapshotId: '2', epoch: 1, ordinal: 2 };
    memory.poll({ outcome: { kind: 'ROLLBACK', to: '1', restored: commitOf('1', 1n) } });
    const group = groupOf([conditionOf(ORDERS)]);
    expect(evaluateGroup(facts(group, [[ORDERS, memory.member(null, { pinned })]])).leaves[0]).toMatchObject({
      code: 'BLOCKED_BY_SNAPSHOT',
      actual: 'the table no longer has this version',
    });
  });

  it('of advance ANY it is no reason not to wait for the others', () => {
    const orders = memoryOf('1');
    const payments = new AssetMemory({ key: PAYMENTS });
    payments.poll({});
    const group = groupOf([conditionOf(ORDERS, { alias: 'o' }), conditionOf(PAYMENTS, { alias: 'p' })], {
      advance: 'ANY',
    });
    const evaluate = () =>
      evaluateGroup(
        facts(group, [
          [ORDERS, orders.member(null, { pinned: pinOf(orders, '1') })],
          [PAYMENTS, payments.member(null)],
        ]),
      );
    expect(evaluate().ready).toBe(false);
    payments.poll({ commits: [commitOf('7', 7n)] });
    expect(evaluate()).toMatchObject({ ready: true });
  });
});

describe('a task', () => {
  const reference = groupOf([conditionOf(ORDERS, { snapshotRequired: false, qualityStatus: 'PASSED' })]);

  it('may be released by reference data alone, which would start no run', () => {
    const memory = memoryOf('1');
    const members = () => [[ORDERS, memory.member(pinOf(memory, '1'))]] as const;
    expect(evaluateGroup(facts(reference, members())).ready).toBe(false);
    memory.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId: '1', checkName: 'c' }));
    expect(evaluateGroup(facts(reference, members()))).toMatchObject({ ready: true });
    expect(evaluateGroup({ ...facts(reference, members()), releasesTask: false }).ready).toBe(false);
  });

  it('waits for what is newer than its baseline, as a group does', () => {
    const memory = memoryOf('1');
    const group = groupOf([conditionOf(ORDERS)]);
    const ready = (consumed: string | null) =>
      evaluateGroup(facts(group, [[ORDERS, memory.member(consumed === null ? null : pinOf(memory, consumed))]])).ready;
    expect([ready(null), ready('1')]).toEqual([true, false]);
    memory.poll({ commits: [commitOf('2', 2n)] });
    expect(ready('1')).toBe(true);
  });
});
