import { describe, expect, it } from 'vitest';
import type { StatedEvent } from '../../../../src/core/asset/event.ts';
import { ingestStated, releaseHold } from '../../../../src/core/asset/ingest/stated.ts';
import { AssetMemory, commitOf, keyOf, statedOf } from '../memory.ts';

const trusted = () => new AssetMemory({ pushMode: 'TRUST', location: null });
const commit = (id: string, commitTime: bigint | null, patch: Partial<StatedEvent> = {}): StatedEvent =>
  statedOf('SNAPSHOT_COMMITTED', { snapshotId: id, commitTime, commitKind: 'APPEND', ...patch });
const statuses = (memory: AssetMemory) =>
  [...memory.events.values()].map((event) => [event.eventType, event.snapshotId, event.status]);
const live = (memory: AssetMemory) =>
  memory.versions.filter((v) => v.status === 'LIVE').map((v) => `${v.epoch}:${v.snapshotId}`);

describe('a pushed commit under VERIFY', () => {
  it('is a hint: nothing is recorded, the table is looked at', () => {
    const memory = new AssetMemory();
    const effects = memory.push(commit('7', 7n));
    expect(effects).toMatchObject({ wantsScan: true, duplicate: false, touchesGroups: false });
    expect(memory.versions).toEqual([]);
    expect(memory.state.version).toBe(0);
    expect(statuses(memory)).toEqual([['SNAPSHOT_COMMITTED', '7', 'HINT']]);
  });

  it('the same commit by poll and by push is one: the push is a duplicate, or confirmed beside it', () => {
    const memory = new AssetMemory();
    memory.poll({ commits: [commitOf('7', 7n)] });
    expect(memory.push(commit('7', 7n))).toMatchObject({ duplicate: true, wantsScan: false });
    expect(memory.push(commit('8', 8n)).duplicate).toBe(false);
    memory.poll({ commits: [commitOf('8', 8n)] });
    expect(statuses(memory).filter(([, id]) => id === '8')).toEqual([
      ['SNAPSHOT_COMMITTED', '8', 'HINT'],
      ['SNAPSHOT_COMMITTED', '8', 'RECORDED'],
    ]);
  });

  it('a known id with a later time asks for a look: the table may have been rewound', () => {
    const memory = new AssetMemory();
    memory.poll({ commits: [commitOf('7', 7n)] });
    expect(memory.push(commit('7', 9n))).toMatchObject({ duplicate: false, wantsScan: true });
  });

  it('hints need no id', () => {
    const memory = new AssetMemory();
    expect(memory.push(statedOf('SNAPSHOT_COMMITTED')).wantsScan).toBe(true);
    expect(memory.push(statedOf('SNAPSHOT_COMMITTED')).duplicate).toBe(false);
  });
});

describe('a pushed commit under TRUST', () => {
  it('is recorded as stated, once', () => {
    const memory = trusted();
    memory.push(commit('1', 1n, { watermark: 50n, schemaId: '0', deltaRecordCount: 3n, payload: '{}' }));
    expect(memory.push(commit('1', 1n)).duplicate).toBe(true);
    expect(memory.versions).toHaveLength(1);
    expect(memory.versions[0]).toMatchObject({
      operation: 'APPEND',
      dataChange: true,
      addedRecords: 3n,
      watermark: 50n,
    });
    expect(memory.state).toMatchObject({ watermark: 50n, schemaStatus: 'COMPATIBLE', health: 'OK' });
    expect([...memory.events.values()].map((event) => event.eventType)).toEqual([
      'SNAPSHOT_COMMITTED',
      'WATERMARK_ADVANCED',
    ]);
  });

  it('numbers are compared as numbers, of any size', () => {
    const memory = trusted();
    memory.push(commit('9', 1n));
    memory.push(commit('10', 2n));
    memory.push(commit('9223372036854775807', 3n));
    expect(memory.state.latest?.snapshotId).toBe('9223372036854775807');
  });

  it('an older one makes no version, but its watermark rises and its rows count at the next version', () => {
    const memory = trusted();
    memory.push(commit('3', 3n, { dataChange: false, commitKind: 'COMPACT' }));
    expect(memory.state.latestData).toBeNull();
    const effects = memory.push(commit('2', 2n, { watermark: 20n }));
    expect(effects.nowDataChange).toEqual([1]);
    expect(memory.state).toMatchObject({ watermark: 20n, latestData: { snapshotId: '3' }, lastOrdinal: 1 });
    const before = memory.state;
    memory.push(commit('1', 1n));
    expect(memory.state).toBe(before);
    expect(statuses(memory).at(-1)).toEqual(['SNAPSHOT_COMMITTED', '1', 'IGNORED_STALE']);
  });

  it('a lower or known id with a later time is a rewind', () => {
    const memory = trusted();
    for (const id of ['1', '2', '3', '4']) memory.push(commit(id, BigInt(id)));
    memory.push(commit('3', 9n));
    expect(live(memory)).toEqual(['1:1', '1:2', '2:3']);
    memory.push(commit('2', 10n));
    expect(live(memory)).toEqual(['1:1', '3:2']);
    expect(memory.state).toMatchObject({ epoch: 3, latest: { snapshotId: '2' }, lastOrdinal: 6 });
    // What the undone history still has to say comes too late.
    memory.push(commit('5', 5n));
    expect(statuses(memory).at(-1)).toEqual(['SNAPSHOT_COMMITTED', '5', 'IGNORED_STALE']);
    expect(live(memory)).toEqual(['1:1', '3:2']);
  });

  it('another table id with a later time is a re-creation, with an earlier one a late word', () => {
    const memory = trusted();
    memory.push(commit('5', 5n, { tableId: 'a' }));
    memory.push(commit('9', 1n, { tableId: 'z' }));
    expect(live(memory)).toEqual(['1:5']);
    memory.push(commit('6', 6n, { tableId: 'b' }));
    expect(live(memory)).toEqual(['2:6']);
    expect(memory.state.tableId).toBe('b');
    expect([...memory.events.values()].map((event) => event.eventType)).toContain('RECREATED');
  });

  it('formats without numbers go by sequence number, else by time', () => {
    const iceberg = new AssetMemory({ key: keyOf('iceberg://db/t'), location: null });
    iceberg.push(commit('900', 3n, { sequenceNumber: 3n }));
    iceberg.push(commit('100', 2n, { sequenceNumber: 2n }));
    iceberg.push(commit('500', 4n, { sequenceNumber: 4n }));
    expect(live(iceberg)).toEqual(['1:900', '1:500']);
    const custom = new AssetMemory({ key: keyOf('custom://db/t'), location: null });
    custom.push(commit('b', 2n));
    custom.push(commit('a', 1n));
    custom.push(commit('c', 3n));
    expect(live(custom)).toEqual(['1:b', '1:c']);
  });

  it('a known id told again later rewinds to before its first use, also where ids do not count', () => {
    const memory = new AssetMemory({ key: keyOf('custom://db/t'), location: null });
    for (const [id, time] of [
      ['x', 1n],
      ['a', 2n],
      ['m', 3n],
    ] as const)
      memory.push(commit(id, time));
    memory.push(commit('a', 9n));
    expect(live(memory)).toEqual(['1:x', '2:a']);
  });

  it('a schema after one that was never accepted is not the first one', () => {
    const memory = trusted();
    memory.push(statedOf('SCHEMA_CHANGE_REJECTED', { schemaId: '0' }));
    memory.push(commit('1', 1n, { schemaId: '0' }));
    memory.push(commit('2', 2n, { schemaId: '1' }));
    expect(memory.state.schemaStatus).toBe('PENDING_APPROVAL');
  });

  it('a correction to true counts once, one to false never', () => {
    const memory = trusted();
    memory.push(commit('1', 1n, { dataChange: false }));
    const effects = memory.push(commit('1', 1n, { dataChange: true }));
    expect(effects).toMatchObject({ nowDataChange: [1], touchesGroups: true, duplicate: false });
    expect(memory.state.latestData?.snapshotId).toBe('1');
    expect(memory.push(commit('1', 1n, { dataChange: true })).duplicate).toBe(true);
    expect(memory.push(commit('1', 1n, { dataChange: false })).duplicate).toBe(true);
    expect(memory.state.latestData?.snapshotId).toBe('1');
  });

  it('a rollback by name restores the version named', () => {
    const memory = trusted();
    for (const id of ['1', '2', '3']) memory.push(commit(id, BigInt(id), { watermark: BigInt(id) }));
    memory.push(statedOf('ROLLED_BACK', { snapshotId: '2' }));
    expect(live(memory)).toEqual(['1:1', '1:2', '2:2']);
    expect(memory.state.watermark).toBe(2n);
    expect(memory.push(statedOf('ROLLED_BACK', { snapshotId: '2' })).duplicate).toBe(true);
  });

  it('a re-creation by name withdraws all, once', () => {
    const memory = trusted();
    memory.push(commit('1', 1n));
    memory.push(statedOf('RECREATED'));
    expect(live(memory)).toEqual([]);
    expect(memory.push(statedOf('RECREATED')).duplicate).toBe(true);
    expect(memory.state.epoch).toBe(2);
  });
});

describe('statements', () => {
  it('PASSED, FAILED, PASSED are three events, and the last by its time holds', () => {
    const memory = new AssetMemory();
    memory.poll({ commits: [commitOf('1', 1n)] });
    const verdict = (type: 'PASSED' | 'FAILED', at: bigint, eventId: string | null = null) =>
      memory.push(statedOf(`QUALITY_CHECK_${type}`, { snapshotId: '1', commitTime: at, eventId }));
    verdict('PASSED', 10n);
    verdict('FAILED', 20n);
    expect(memory.state.qualityStatus).toBe('FAILED');
    verdict('PASSED', 30n, 'e');
    expect(memory.state.qualityStatus).toBe('PASSED');
    expect(verdict('FAILED', 40n, 'e').duplicate).toBe(true);
    verdict('FAILED', 25n);
    expect(memory.state.qualityStatus).toBe('PASSED');
    verdict('FAILED', 30n);
    expect(memory.state.qualityStatus).toBe('FAILED');
    expect([...memory.events.keys()].filter((key) => key.includes('NEW') || key.includes('STATED'))).toHaveLength(5);
  });

  it('a verdict for a version not known yet is kept for it', () => {
    const memory = new AssetMemory();
    memory.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId: '1' }));
    memory.poll({ commits: [commitOf('1', 1n)] });
    expect(memory.state.qualityStatus).toBe('PASSED');
    memory.poll({ commits: [commitOf('2', 2n)] });
    expect(memory.state.qualityStatus).toBe('UNKNOWN');
  });

  it('a verdict with nothing named is for the newest now, and holds for its cut', () => {
    const memory = new AssetMemory({ requiredChecks: ['a', 'b'] });
    memory.poll({ commits: [commitOf('1', 1n), commitOf('2', 2n, { dataChange: false })] });
    memory.push(statedOf('QUALITY_CHECK_PASSED', { checkName: 'a' }));
    expect(memory.state.qualityStatus).toBe('UNKNOWN');
    memory.push(statedOf('QUALITY_CHECK_PASSED', { checkName: 'b', snapshotId: '1' }));
    expect(memory.state.qualityStatus).toBe('PASSED');
  });

  it('a verdict before the first version says so and binds to nothing', () => {
    const memory = new AssetMemory();
    memory.push(statedOf('QUALITY_CHECK_PASSED'));
    expect(memory.verdicts.size + memory.waiting.length).toBe(0);
    expect([...memory.events.values()][0]?.sentence).toMatch(/no version yet/);
  });

  it('commits made in a backfill window are marked, also when they are seen after it closed', () => {
    const memory = new AssetMemory();
    memory.push(statedOf('BACKFILL_STARTED', { commitTime: 100n }));
    expect(memory.state.backfillStatus).toBe('RUNNING');
    memory.push(statedOf('BACKFILL_COMPLETED', { commitTime: 200n }));
    memory.poll({ commits: [commitOf('1', 99n), commitOf('2', 150n), commitOf('3', 201n)] });
    expect(memory.versions.map((version) => version.backfill ?? false)).toEqual([false, true, false]);
  });

  it('a window that nobody closes ends by itself; an end that overtook its begin closes it', () => {
    const memory = new AssetMemory();
    memory.push(statedOf('BACKFILL_STARTED', { commitTime: 0n }));
    memory.poll({ commits: [commitOf('1', 86_400_001n)] });
    expect(memory.versions[0]?.backfill).toBeUndefined();
    const other = new AssetMemory();
    other.push(statedOf('BACKFILL_COMPLETED', { commitTime: 200n }));
    other.push(statedOf('BACKFILL_STARTED', { commitTime: 100n }));
    expect(other.state).toMatchObject({ backfillStatus: 'COMPLETED', backfillSince: 100n, backfillUntil: 200n });
  });

  it('CDC lag, partitions, watermarks and tags', () => {
    const memory = trusted();
    memory.push(statedOf('CDC_LAG_DETECTED'));
    expect(memory.state.cdcStatus).toBe('LAGGING');
    memory.push(statedOf('CDC_LAG_RECOVERED'));
    expect(memory.state.cdcStatus).toBe('RECOVERED');
    memory.push(statedOf('PARTITION_DONE', { partitionKey: 'dt=1' }));
    expect(memory.push(statedOf('PARTITION_DONE', { partitionKey: 'dt=1' })).duplicate).toBe(true);
    memory.push(statedOf('WATERMARK_ADVANCED', { watermark: 9n }));
    expect(memory.push(statedOf('WATERMARK_ADVANCED', { watermark: 8n })).duplicate).toBe(true);
    expect(memory.state.watermark).toBe(9n);
    memory.push(statedOf('TAG_CREATED', { tag: 't', snapshotId: '1' }));
    expect(memory.push(statedOf('TAG_CREATED', { tag: 't', snapshotId: '1' })).duplicate).toBe(true);
    expect(memory.state.latestTag).toBe('t');
    // Told again later: a move that was said in between must not win.
    const tag = (snapshotId: string, at: bigint) =>
      memory.push(statedOf('TAG_MOVED', { tag: 'm', snapshotId, commitTime: at })).duplicate;
    expect([tag('1', 10n), tag('1', 30n), tag('2', 20n)]).toEqual([false, false, true]);
    expect(memory.tags.get('m')?.snapshotId).toBe('1');
    expect([...memory.events.values()].map((event) => event.eventType)).toEqual([
      'CDC_LAG_DETECTED',
      'CDC_LAG_RECOVERED',
      'PARTITION_DONE',
      'WATERMARK_ADVANCED',
      'TAG_CREATED',
      'TAG_CREATED',
      'TAG_MOVED',
    ]);
  });

  it.each([
    ['SNAPSHOT_COMMITTED', /needs snapshotId/],
    ['WATERMARK_ADVANCED', /needs watermark/],
    ['TAG_CREATED', /needs tag and snapshotId/],
    ['SCHEMA_CHANGE_APPROVED', /needs schemaId/],
    ['PARTITION_DONE', /needs partitionKey/],
    ['HISTORY_GAP', /recorded by Sluice itself/],
    ['SOURCE_UNREADABLE', /recorded by Sluice itself/],
  ] as const)('%s without what it needs is refused', (type, why) => {
    const taken = ingestStated(trusted().history(), statedOf(type), 1n, 'n');
    expect(taken).toMatchObject({ ok: false, problem: { code: 'BAD_EVENT' } });
    if (!taken.ok) expect(taken.problem.detail).toMatch(why);
  });

  it('a person lets a held asset go on', () => {
    const memory = new AssetMemory({ onRecreate: 'HOLD' });
    memory.poll({ commits: [commitOf('1', 1n)] });
    memory.poll({ outcome: { kind: 'RECREATED' }, commits: [commitOf('1', 2n)] });
    const released = releaseHold(memory.history(), 5n);
    expect(released.state).toMatchObject({ health: 'OK', healthReason: null, version: memory.state.version + 1 });
    expect(released.touchesGroups).toBe(true);
  });
});
