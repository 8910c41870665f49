import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../../src/core/asset/condition.ts';
import { sameLeaves } from '../../../../src/core/asset/evaluate/evaluate.ts';
import type { DependencyGroup } from '../../../../src/core/asset/group.ts';
import type { Commit } from '../../../../src/core/asset/version.ts';
import { AssetMemory, commitOf, conditionOf, GroupMemory, groupOf, keyOf, ORDERS, statedOf } from '../memory.ts';
import { COMPACT, one, pinned } from '../one.ts';

const PAYMENTS = keyOf('paimon://ods_db/payments');

describe('groups', () => {
  const two = (patch: Partial<DependencyGroup> = {}, second: Partial<Condition> = {}) => {
    const orders = new AssetMemory();
    const payments = new AssetMemory({ key: PAYMENTS });
    for (const memory of [orders, payments]) memory.poll({});
    const group = new GroupMemory(
      groupOf([conditionOf(ORDERS, { alias: 'o' }), conditionOf(PAYMENTS, { alias: 'p', ...second })], patch),
      [orders, payments],
    );
    const commit = (memory: AssetMemory, id: string, patchCommit: Partial<Commit> = {}) =>
      memory.poll({ commits: [commitOf(id, BigInt(id), patchCommit)] });
    return { orders, payments, group, commit };
  };

  it('ALL waits for every member, then takes the newest of each', () => {
    const { orders, payments, group, commit } = two();
    commit(orders, '1');
    expect(group.blocked()).toEqual(['BLOCKED_BY_SNAPSHOT | a version | no version yet']);
    expect(group.leaves.map((leaf) => leaf.met)).toEqual([true, false]);
    commit(orders, '2');
    commit(payments, '1');
    expect(group.fire()).toEqual({ ods_order_latest: '2', payments: '1' });
    commit(orders, '3');
    expect(group.fire()).toBeNull();
  });

  it('ANY fires for one; the other keeps what it had while that still holds', () => {
    const { orders, payments, group, commit } = two({ advance: 'ANY' }, { qualityStatus: 'PASSED' });
    commit(orders, '1');
    expect(group.fire()).toBeNull();
    commit(payments, '1');
    payments.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId: '1', commitTime: 1n }));
    expect(group.fire()).toEqual({ ods_order_latest: '1', payments: '1' });
    expect(group.fire()).toBeNull();
    commit(payments, '2');
    expect(group.fire()).toBeNull();
    commit(orders, '2');
    expect(group.fire()).toEqual({ ods_order_latest: '2', payments: '1' });
    commit(orders, '3');
    payments.push(statedOf('QUALITY_CHECK_FAILED', { snapshotId: '1', commitTime: 2n }));
    expect(group.blocked()[0]).toMatch(/BLOCKED_BY_QUALITY/);
  });

  it('ANY: a demand on change does not keep back the member that did not move', () => {
    const { orders, payments, group, commit } = two({ advance: 'ANY' }, { minAddedRecords: 1n, schemaChanged: false });
    commit(orders, '1');
    commit(payments, '1');
    expect(group.fire()).not.toBeNull();
    commit(orders, '2');
    expect(group.fire()).toEqual({ ods_order_latest: '2', payments: '1' });
  });

  it('reference data is pinned at the newest that meets the rest, consumed or not, and never fires', () => {
    const { orders, payments, group, commit } = two({}, { snapshotRequired: false, qualityStatus: 'PASSED' });
    commit(orders, '1');
    commit(payments, '1');
    expect(group.fire()).toBeNull();
    payments.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId: '1' }));
    expect(group.fire()).toEqual({ ods_order_latest: '1', payments: '1' });
    commit(payments, '2');
    payments.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId: '2' }));
    expect(group.fire()).toBeNull();
    commit(payments, '3');
    commit(orders, '2');
    expect(group.fire()).toEqual({ ods_order_latest: '2', payments: '2' });
    commit(orders, '3');
    expect(group.fire()).toEqual({ ods_order_latest: '3', payments: '2' });
  });

  it('reference data alone never fires, even if such a group came to be', () => {
    const { group, commit } = one({ snapshotRequired: false });
    commit('1');
    const evaluation = group.evaluate();
    expect(evaluation.ready).toBe(false);
    expect(evaluation.leaves.map((leaf) => leaf.met)).toEqual([true]);
  });

  it.each([
    ['BLOCKED_BY_PAUSED', {}, { paused: true }, null],
    ['BLOCKED_BY_PAUSED', {}, { gate: 'workflow trade is offline' }, null],
    ['BLOCKED_BY_DISABLED', { enabled: false }, {}, null],
    ['BLOCKED_BY_ACTIVE_RUN', {}, { hasActiveRun: true }, null],
    ['BLOCKED_BY_MIN_INTERVAL', { minIntervalSeconds: 60 }, { lastFireAt: 950_000n }, 1_010_000n],
  ] as const)('%s: a closed gate is a leaf of its own', (code, patch, gates, nextAt) => {
    const { group, commit } = one({}, {}, patch);
    commit('1');
    group.gates = gates;
    const evaluation = group.evaluate();
    expect(evaluation).toMatchObject({ ready: false, nextAt });
    expect(evaluation.leaves.map((leaf) => [leaf.assetKey, leaf.met, leaf.code])).toEqual([
      [ORDERS, true, null],
      [null, false, code],
    ]);
    group.gates = {};
    group.now = 2_000_000n;
    expect(pinned(new GroupMemory({ ...group.group, enabled: true }, [...group.assets.values()]))).toBe('1');
  });

  it('PARALLEL does not wait for the run', () => {
    const { group, commit } = one({}, {}, { whileRunning: 'PARALLEL' });
    commit('1');
    group.gates = { hasActiveRun: true };
    expect(pinned(group)).toBe('1');
  });

  it('a quiet period waits until nothing moved for that long, but not longer than maxWait', () => {
    const { group, commit } = one({}, {}, { quietSeconds: 10, maxWaitSeconds: 15 });
    commit('1', {}, 1_000_000n);
    group.now = 1_009_999n;
    expect(group.evaluate()).toMatchObject({ ready: false, nextAt: 1_010_000n });
    commit('2', {}, 1_009_000n);
    expect(group.evaluate()).toMatchObject({ nextAt: 1_015_000n });
    commit('3', COMPACT, 1_012_000n);
    expect(group.evaluate()).toMatchObject({ nextAt: 1_015_000n });
    group.now = 1_015_000n;
    expect(pinned(group)).toBe('2');
    expect(group.evaluate().leaves).toHaveLength(1);
  });

  it('since stays while met and code stay, and leaves are the same until they say something else', () => {
    const { group, commit } = one({ qualityStatus: 'PASSED' });
    group.now = 10n;
    const first = group.evaluate().leaves;
    group.now = 20n;
    const second = group.evaluate().leaves;
    expect(second[0]?.since).toBe(10n);
    expect(sameLeaves(first, second)).toBe(true);
    commit('1');
    group.now = 30n;
    const third = group.evaluate().leaves;
    expect(third[0]).toMatchObject({ code: 'BLOCKED_BY_QUALITY', since: 30n });
    commit('2');
    group.now = 40n;
    const fourth = group.evaluate().leaves;
    expect(fourth[0]?.since).toBe(30n);
    expect(sameLeaves(third, fourth)).toBe(false);
    expect(sameLeaves(third, [])).toBe(false);
  });
});
