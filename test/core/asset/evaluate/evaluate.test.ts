import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../../src/core/asset/condition.ts';
import type { Asset } from '../../../../src/core/asset/state.ts';
import {
  AssetMemory,
  commitOf,
  conditionOf,
  GroupMemory,
  groupOf,
  keyOf,
  ORDERS,
  schemaOf,
  statedOf,
} from '../memory.ts';
import { COMPACT, one, pinned } from '../one.ts';

const PAYMENTS = keyOf('paimon://ods_db/payments');
describe('what is chosen', () => {
  it('a new data version fires once; what carries no data does not', () => {
    const { group, commit } = one();
    expect(group.blocked()).toEqual(['BLOCKED_BY_SNAPSHOT | a version | no version yet']);
    commit('1');
    expect(pinned(group)).toBe('1');
    expect(pinned(group)).toBeNull();
    commit('2', COMPACT);
    expect(group.blocked()[0]).toMatch(
      /BLOCKED_BY_SNAPSHOT \| a version newer than 1 \| newest is 2 \(COMPACT, .*\): no new data/,
    );
    commit('3');
    commit('4');
    commit('5', COMPACT);
    expect(pinned(group)).toBe('4');
  });

  it('dataChangeOnly false: every commit counts', () => {
    const { group, commit } = one({ dataChangeOnly: false });
    commit('1');
    expect(pinned(group)).toBe('1');
    commit('2', COMPACT);
    expect(pinned(group)).toBe('2');
  });

  it('an APPEND whose rows nobody sees yet waits for the COMPACT that shows them', () => {
    const { group, commit } = one();
    commit('1', { dataChange: false, pendingData: true, totalRecords: 0n });
    expect(pinned(group)).toBeNull();
    commit('2', { operation: 'COMPACT', dataChange: true });
    expect(pinned(group)).toBe('2');
  });

  it('a fast table with slow checks moves forward on the newest version that passed', () => {
    const { group, commit, passed } = one({ qualityStatus: 'PASSED' });
    commit('1');
    commit('2');
    commit('3');
    expect(group.blocked()).toEqual([
      'BLOCKED_BY_QUALITY | quality PASSED for a version | newest is 3 (APPEND, 1970-01-01T00:00:00.003Z): quality UNKNOWN',
    ]);
    passed('2');
    expect(pinned(group)).toBe('2');
    passed('1');
    expect(pinned(group)).toBeNull();
    passed('3');
    expect(pinned(group)).toBe('3');
  });

  it('verdicts on a later version of the cut hold for the cut; a failed check blocks until it passes', () => {
    const { group, commit, passed, failed } = one({ qualityStatus: 'PASSED' });
    commit('1');
    commit('2', COMPACT);
    passed('2');
    failed('1', 'other');
    expect(group.blocked()[0]).toMatch(/quality FAILED/);
    passed('2', 'other');
    expect(group.blocked()[0]).toMatch(/quality FAILED/);
    passed('1', 'other');
    expect(pinned(group)).toBeNull();
  });

  it('a later verdict of the same check wins', () => {
    const { memory, group, commit, failed } = one({ qualityStatus: 'PASSED' });
    commit('1');
    failed('1');
    memory.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId: '1', checkName: 'c', commitTime: 2_000_000n }));
    expect(pinned(group)).toBe('1');
  });

  it('a verdict on the consumed cut does not fire it again', () => {
    const { group, commit, passed } = one();
    commit('1');
    expect(pinned(group)).toBe('1');
    commit('2', COMPACT);
    passed('2');
    expect(pinned(group)).toBeNull();
  });

  it('qualityChecks name what must pass, else the asset does', () => {
    const { group, commit, passed, failed } = one(
      { qualityStatus: 'PASSED', qualityChecks: ['a', 'b'] },
      { requiredChecks: ['z'] },
    );
    commit('1');
    passed('1', 'a');
    failed('1', 'unasked');
    expect(group.blocked()[0]).toMatch(/quality PASSED \(a, b\)/);
    passed('1', 'b');
    expect(pinned(group)).toBe('1');
    const other = one({ qualityStatus: 'PASSED' }, { requiredChecks: ['z'] });
    other.commit('1');
    other.passed('1', 'a');
    expect(pinned(other.group)).toBeNull();
    other.passed('1', 'z');
    expect(pinned(other.group)).toBe('1');
  });

  it('the tag pins the version that carries it', () => {
    const { group, commit, tag } = one({ tag: '2026-*' });
    commit('1');
    commit('2', COMPACT);
    commit('3');
    expect(group.blocked()[0]).toMatch(/BLOCKED_BY_TAG \| a tag 2026-\* for a version \| newest is 3 .*: no tag/);
    tag('2026-11-29', '2');
    const evaluation = group.evaluate();
    expect(evaluation.ready && [...evaluation.pins.values()][0]).toMatchObject({ snapshotId: '2', tag: '2026-11-29' });
    expect(pinned(group)).toBe('2');
    tag('2026-11-30', '1');
    expect(pinned(group)).toBeNull();
    tag('2026-12-01', '3');
    expect(pinned(group)).toBe('3');
  });

  it.each([
    ['paimon://db/t', '3', '10', '9', '10'],
    ['delta://db/t', '0', '2', '1', '3'],
    ['hudi://db/t', '20260101000000000', '20260102000000000', '20260101120000000', '20260102000000001'],
  ])('minSnapshotId not seen yet: %s', (key, first, minimum, before, reached) => {
    const { group, commit } = one({ minSnapshotId: minimum }, { key: keyOf(key) });
    commit(first, { commitTime: 1n });
    commit(before, { commitTime: 2n });
    expect(group.blocked()[0]).toMatch(/BLOCKED_BY_SNAPSHOT \| version \d+ or later/);
    commit(reached, { commitTime: 3n });
    expect(pinned(group)).toBe(reached);
  });

  it('minSnapshotId of Iceberg waits until that version was seen, then takes it or a later one', () => {
    const { group, commit } = one({ minSnapshotId: '5' }, { key: keyOf('iceberg://db/t') });
    commit('900', { commitTime: 1n });
    expect(pinned(group)).toBeNull();
    commit('5', { commitTime: 2n });
    commit('3', { commitTime: 3n });
    expect(pinned(group)).toBe('3');
  });

  it('operations, by the format’s own word in any case', () => {
    const { group, commit } = one({ operations: ['overwrite'] });
    commit('1');
    expect(group.blocked()[0]).toMatch(
      /BLOCKED_BY_OPERATION \| operation OVERWRITE for a version \| .*: operation APPEND/,
    );
    commit('2', { operation: 'OVERWRITE' });
    commit('3');
    expect(pinned(group)).toBe('2');
  });

  it('watermarks hold for the cut, and a commit without one does not clear them', () => {
    const { group, commit } = one({ watermarkGte: 100n });
    commit('1', { watermark: 99n });
    expect(group.blocked()[0]).toMatch(/BLOCKED_BY_WATERMARK .*watermark 1970-01-01T00:00:00.099Z/);
    commit('2', { ...COMPACT, watermark: 100n });
    expect(pinned(group)).toBe('1');
    commit('3');
    expect(pinned(group)).toBe('3');
  });

  it('a watermark reached before holds for a later cut that had none, also when that is not the newest', () => {
    const { group, commit, passed } = one({ watermarkGte: 100n, qualityStatus: 'PASSED' });
    commit('1', { watermark: 100n });
    commit('2');
    commit('3');
    passed('2');
    expect(pinned(group)).toBe('2');
  });

  it('a pushed watermark holds for the newest cut', () => {
    const { memory, group } = one({ watermarkGte: 100n }, { location: null });
    memory.push(statedOf('SNAPSHOT_COMMITTED', { snapshotId: '1', commitTime: 1n }));
    expect(pinned(group)).toBeNull();
    memory.push(statedOf('WATERMARK_ADVANCED', { watermark: 100n }));
    expect(pinned(group)).toBe('1');
  });

  it('rows are counted since the consumed version, without compactions; unknown and negative counts hold', () => {
    const { group, commit } = one({ minAddedRecords: 5n });
    commit('1', { addedRecords: 3n });
    expect(group.blocked()[0]).toMatch(/BLOCKED_BY_ROWS \| 5 rows added for a version \| .*: 3 rows added/);
    commit('2', { ...COMPACT, addedRecords: -3n });
    commit('3', { addedRecords: 2n });
    expect(pinned(group)).toBe('3');
    commit('4', { addedRecords: null });
    expect(pinned(group)).toBe('4');
    expect(group.leaves[0]?.actual).toMatch(/rows added unknown/);
    commit('5', { operation: 'OVERWRITE', addedRecords: -9n });
    expect(pinned(group)).toBe('5');
    expect(group.leaves[0]?.actual).toMatch(/9 rows fewer/);
  });

  it('an age limit: met until it runs out, and the instant is told', () => {
    const { memory, group, commit } = one({ maxAgeSeconds: 60 }, {}, {});
    commit('1', { commitTime: 1_000_000n });
    group.now = 1_060_000n;
    group.gates = { paused: true };
    expect(group.evaluate()).toMatchObject({ ready: false, nextAt: 1_060_001n });
    group.now = 1_060_001n;
    expect(group.evaluate()).toMatchObject({ ready: false, nextAt: null });
    expect(group.blocked()[0]).toMatch(/BLOCKED_BY_FRESHNESS \| an age of at most 1 minute for/);
    expect(memory.state.lastOrdinal).toBe(1);
  });

  it('schemas: compatible or approved', () => {
    const { memory, group } = one({ schemaStatus: 'COMPATIBLE' });
    const s0 = schemaOf('0', { a: 'INT' });
    const s1 = schemaOf('1', { a: 'STRING' });
    memory.poll({ schema: s0, newSchemas: [s0], commits: [commitOf('1', 1n)] });
    expect(pinned(group)).toBe('1');
    memory.poll({ schema: s1, newSchemas: [s1], commits: [commitOf('2', 2n, { schemaId: '1' })] });
    expect(group.blocked()[0]).toMatch(
      /BLOCKED_BY_SCHEMA \| schema COMPATIBLE for a version newer than 1 \| .*: schema 1 PENDING_APPROVAL/,
    );
    memory.push(statedOf('SCHEMA_CHANGE_APPROVED', { schemaId: '1' }));
    expect(pinned(group)).toBe('2');
  });

  it('schemaChanged: only when an accepted schema differs from the consumed one', () => {
    const { memory, group } = one({ schemaChanged: true });
    const s0 = schemaOf('0', { a: 'INT' });
    const s1 = schemaOf('1', { a: 'INT', b: 'INT' });
    memory.poll({ schema: s0, newSchemas: [s0], commits: [commitOf('1', 1n)] });
    expect(pinned(group)).toBe('1');
    memory.poll({ schema: s0, commits: [commitOf('2', 2n)] });
    expect(group.blocked()[0]).toMatch(/BLOCKED_BY_SCHEMA \| an accepted schema other than 0/);
    memory.poll({ schema: s1, newSchemas: [s1], commits: [commitOf('3', 3n, { schemaId: '1' })] });
    expect(pinned(group)).toBe('3');
  });

  it('backfill commits: left out, taken too, or alone', () => {
    const taken = (backfill: Condition['backfill']) => {
      const { group, commit } = one(backfill === undefined ? {} : { backfill });
      commit('1');
      commit('2', { backfill: true });
      return pinned(group);
    };
    expect(taken(undefined)).toBe('1');
    expect(taken('EXCLUDE')).toBe('1');
    expect(taken('INCLUDE')).toBe('2');
    expect(taken('ONLY')).toBe('2');
    const { group, commit } = one();
    commit('1', { backfill: true });
    expect(group.blocked()[0]).toMatch(/BLOCKED_BY_BACKFILL \| a version \| .*a backfill, which this group leaves out/);
  });

  it('a lagging CDC feed blocks until it recovered', () => {
    const { memory, group, commit } = one({ cdcLag: 'RECOVERED' });
    commit('1');
    memory.push(statedOf('CDC_LAG_DETECTED'));
    expect(group.blocked()[0]).toMatch(/BLOCKED_BY_CDC_LAG/);
    memory.push(statedOf('CDC_LAG_RECOVERED'));
    expect(pinned(group)).toBe('1');
  });
});

describe('surprises of the table', () => {
  const rolledBack = (onRollback: Asset['onRollback']) => {
    const setup = one({}, { onRollback });
    for (const id of ['1', '2', '3']) setup.commit(id);
    expect(pinned(setup.group)).toBe('3');
    setup.memory.poll({ outcome: { kind: 'ROLLBACK', to: '2', restored: commitOf('2', 2n) } });
    return setup;
  };

  it('after a rewind nothing triggers until the next commit', () => {
    const { group, commit } = rolledBack('IGNORE');
    expect(group.blocked()[0]).toMatch(
      /BLOCKED_BY_ROLLED_BACK \| a version newer than 3 \| the table was rolled back to 2/,
    );
    commit('3', { commitTime: 9n });
    expect(pinned(group)).toBe('3');
  });

  it('TRIGGER: the restored head is new data', () => {
    const { group } = rolledBack('TRIGGER');
    const evaluation = group.evaluate();
    expect(evaluation.ready && [...evaluation.pins.values()]).toEqual([{ snapshotId: '2', epoch: 2, ordinal: 4 }]);
    expect(pinned(group)).toBe('2');
    expect(pinned(group)).toBeNull();
  });

  it('HOLD: a person is waited for', () => {
    const { group, commit } = rolledBack('HOLD');
    commit('3', { commitTime: 9n });
    expect(group.blocked()[0]).toMatch(/BLOCKED_BY_HOLD \| .* \| The table was rolled back to version 2/);
  });

  it('dataChangeOnly false does not make an ignored restored head count', () => {
    const { memory, group, commit } = one({ dataChangeOnly: false });
    commit('1');
    commit('2');
    expect(pinned(group)).toBe('2');
    memory.poll({ outcome: { kind: 'ROLLBACK', to: '1', restored: commitOf('1', 1n) } });
    expect(pinned(group)).toBeNull();
  });

  it('what is withdrawn is never chosen, whatever verdict arrives for it', () => {
    const { memory, group, commit, passed } = one({ qualityStatus: 'PASSED' });
    for (const id of ['1', '2', '3']) commit(id);
    memory.poll({ outcome: { kind: 'ROLLBACK', to: '1', restored: commitOf('1', 1n) } });
    passed('3');
    expect(pinned(group)).toBeNull();
    passed('1');
    expect(pinned(group)).toBe('1');
  });

  it('after a gap the newest counts, even a compaction', () => {
    const { memory, group, commit } = one();
    commit('1');
    expect(pinned(group)).toBe('1');
    memory.poll({ outcome: { kind: 'GAP', from: '2', to: '3' }, commits: [commitOf('4', 4n, COMPACT)] });
    expect(pinned(group)).toBe('4');
  });

  it('a gap may have hidden any operation', () => {
    const { memory, group, commit } = one({ operations: ['APPEND'] });
    commit('1', { operation: 'OVERWRITE' });
    memory.poll({ outcome: { kind: 'GAP', from: '2', to: '3' }, commits: [commitOf('4', 4n, COMPACT)] });
    expect(pinned(group)).toBe('4');
  });

  it('withdrawn versions are left out even if they are given, and begin no cut', () => {
    const { memory, group, commit } = one();
    commit('1');
    commit('2', COMPACT);
    const open = group.facts();
    const given = memory.versions.map((version) => memory.facts(version));
    const undone = given.map((version) =>
      version.ordinal === 1 ? { ...version, status: 'WITHDRAWN' as const } : version,
    );
    group.gates = { members: new Map([[ORDERS, memory.member(null, { versions: undone })]]) };
    expect(group.evaluate().ready).toBe(false);
    group.gates = { members: open.members };
    expect(group.evaluate().ready).toBe(true);
  });

  it('where the data version expired, the cut’s oldest readable version stands for it', () => {
    const { memory, group, commit } = one();
    commit('1');
    commit('2', COMPACT);
    memory.versions = memory.versions.map((version) =>
      version.ordinal === 1 ? { ...version, status: 'EXPIRED' } : version,
    );
    expect(pinned(group)).toBe('2');
  });

  it('an unreadable source blocks only when nothing is left to choose', () => {
    const { memory, group, commit } = one();
    commit('1');
    memory.poll({ outcome: { kind: 'UNREADABLE', reason: 'no such folder', retryable: true } });
    expect(pinned(group)).toBe('1');
    expect(group.blocked()[0]).toMatch(
      /BLOCKED_BY_SOURCE \| a version newer than 1 \| the table cannot be read: no such folder/,
    );
  });

  it('unknown assets and tables never read say so', () => {
    const nobody = new GroupMemory(groupOf([conditionOf(PAYMENTS)]), []);
    expect(nobody.blocked()[0]).toMatch(/BLOCKED_BY_UNKNOWN_ASSET/);
    const unread = new GroupMemory(groupOf([conditionOf()]), [new AssetMemory()]);
    expect(unread.blocked()[0]).toMatch(/BLOCKED_BY_SOURCE .* was not read yet/);
    const pushed = new GroupMemory(groupOf([conditionOf()]), [new AssetMemory({ location: null })]);
    expect(pushed.blocked()[0]).toMatch(/BLOCKED_BY_SNAPSHOT \| a version \| no version yet/);
  });

  it('a baseline that is not known yet blocks, even with versions there', () => {
    const { memory, group, commit } = one();
    commit('1');
    const facts = group.facts();
    const members = new Map([[ORDERS, memory.member(null, { baselineKnown: false })]]);
    group.gates = { members };
    expect(group.blocked()[0]).toMatch(/BLOCKED_BY_SOURCE \| a first look/);
    group.gates = { members: facts.members };
    expect(group.evaluate().ready).toBe(true);
  });
});
