import { describe, expect, it } from 'vitest';
import { AssetMemory, commitOf, schemaOf, statedOf } from '../memory.ts';

const kinds = (memory: AssetMemory) => [...memory.events.values()].map((event) => event.eventType);
const ordinals = (memory: AssetMemory) =>
  memory.versions.map((version) => [
    version.snapshotId,
    version.epoch,
    version.ordinal,
    version.status,
    version.origin,
  ]);

const read = (...ids: readonly number[]): AssetMemory => {
  const memory = new AssetMemory();
  memory.poll({ commits: ids.map((id) => commitOf(`${id}`, BigInt(id) * 1000n)) });
  return memory;
};

describe('outcomes of a poll', () => {
  it('NEW records versions in order and advances the state by one', () => {
    const memory = new AssetMemory();
    const effects = memory.poll({
      commits: [commitOf('1', 10n), commitOf('2', 20n, { dataChange: false, operation: 'COMPACT' })],
    });
    expect(ordinals(memory)).toEqual([
      ['1', 1, 1, 'LIVE', 'COMMIT'],
      ['2', 1, 2, 'LIVE', 'COMMIT'],
    ]);
    expect(memory.state).toMatchObject({ lastOrdinal: 2, health: 'OK', version: 1 });
    expect(memory.state.latest?.snapshotId).toBe('2');
    expect(memory.state.latestData?.snapshotId).toBe('1');
    expect(effects.touchesGroups).toBe(true);
    expect(effects.events.every((event) => event.sentence.endsWith('.'))).toBe(true);
  });

  it.each([
    [{}, '(APPEND) was committed at 1970-01-01T00:00:00.010Z.'],
    [{ addedRecords: 3n }, '.010Z, 3 rows added.'],
    [{ addedRecords: -1n }, '.010Z, 1 row fewer.'],
    // Paimon counts the rows that a compaction merged.
    [
      { addedRecords: -3n, dataChange: false, operation: 'COMPACT' },
      '(COMPACT) was committed at 1970-01-01T00:00:00.010Z, no new data.',
    ],
    [{ addedRecords: 3n, dataChange: false, pendingData: true }, '.010Z, rows that no batch reader sees yet.'],
  ])('a version with %o is told as %s', (fields, ending) => {
    const [event] = new AssetMemory().poll({ commits: [commitOf('1', 10n, { addedRecords: null, ...fields })] }).events;
    expect(event?.sentence).toMatch(new RegExp(`^Version 1 .*${ending.replace(/[.()]/g, '\\$&')}$`));
  });

  it('NONE changes nothing, not even the state version', () => {
    const memory = read(1);
    const before = memory.state;
    const effects = memory.poll({});
    expect(memory.state).toBe(before);
    expect(effects.touchesGroups).toBe(false);
    expect(effects.events).toEqual([]);
  });

  it('a commit that is known already is not recorded twice', () => {
    const memory = read(1, 2);
    memory.poll({ commits: [commitOf('1', 1000n), commitOf('2', 2000n), commitOf('3', 3000n)] });
    expect(memory.versions.map((version) => version.snapshotId)).toEqual(['1', '2', '3']);
  });

  it('GAP says what is missing; the newest counts as data if no readable one does', () => {
    const memory = read(1);
    const compact = { operation: 'COMPACT', dataChange: false };
    memory.poll({
      outcome: { kind: 'GAP', from: '2', to: '6' },
      commits: [commitOf('7', 7000n, compact), commitOf('8', 8000n, compact)],
    });
    expect(ordinals(memory).slice(1)).toEqual([
      ['7', 1, 2, 'LIVE', 'COMMIT'],
      ['8', 1, 3, 'LIVE', 'AFTER_GAP'],
    ]);
    expect(memory.state.latestData?.snapshotId).toBe('8');
    expect([...memory.events.values()].find((event) => event.eventType === 'HISTORY_GAP')?.sentence).toMatch(/2 to 6/);
  });

  it('GAP with a readable data commit needs no mark', () => {
    const memory = read(1);
    const commits = [commitOf('7', 7000n), commitOf('8', 8000n, { dataChange: false })];
    memory.poll({ outcome: { kind: 'GAP', from: null, to: null }, commits });
    expect(memory.versions.map((version) => version.origin)).toEqual(['COMMIT', 'COMMIT', 'COMMIT']);
    expect(memory.state.latestData?.snapshotId).toBe('7');
  });

  it('GAP and HOLD: held until a person lets it go on, through polls and failures', () => {
    const memory = new AssetMemory({ onGap: 'HOLD' });
    memory.poll({ commits: [commitOf('1', 1n)] });
    memory.poll({ outcome: { kind: 'GAP', from: '2', to: '3' }, commits: [commitOf('4', 4n)] });
    expect(memory.state.health).toBe('HELD');
    memory.poll({ commits: [commitOf('5', 5n)] });
    memory.poll({ outcome: { kind: 'UNREADABLE', reason: 'gone', retryable: true } });
    expect(memory.state).toMatchObject({ health: 'HELD', lastOrdinal: 3 });
  });

  it('ROLLBACK: new epoch, what was undone is withdrawn, the head is recorded once more', () => {
    const memory = read(1, 2, 3, 4);
    memory.poll({
      outcome: { kind: 'ROLLBACK', to: '2', restored: commitOf('2', 2000n) },
      commits: [commitOf('3', 9000n)],
    });
    expect(ordinals(memory)).toEqual([
      ['1', 1, 1, 'LIVE', 'COMMIT'],
      ['2', 1, 2, 'LIVE', 'COMMIT'],
      ['3', 1, 3, 'WITHDRAWN', 'COMMIT'],
      ['4', 1, 4, 'WITHDRAWN', 'COMMIT'],
      ['2', 2, 5, 'LIVE', 'RESTORED'],
      ['3', 2, 6, 'LIVE', 'COMMIT'],
    ]);
    expect(memory.state.epoch).toBe(2);
    expect(kinds(memory).filter((kind) => kind === 'ROLLED_BACK')).toHaveLength(1);
  });

  it('ROLLBACK to before the first version withdraws all', () => {
    const memory = read(1, 2);
    memory.poll({ outcome: { kind: 'ROLLBACK', to: null, restored: null } });
    expect(memory.versions.map((version) => version.status)).toEqual(['WITHDRAWN', 'WITHDRAWN']);
    expect(memory.state).toMatchObject({ latest: null, latestData: null, epoch: 2 });
  });

  it('ROLLBACK to a version that was never recorded keeps what is older by number', () => {
    const memory = read(1, 2, 9);
    memory.poll({ outcome: { kind: 'ROLLBACK', to: '5', restored: commitOf('5', 5000n) } });
    expect(memory.versions.map((version) => version.status)).toEqual(['LIVE', 'LIVE', 'WITHDRAWN', 'LIVE']);
  });

  it('the watermark only rises within an epoch, and a new epoch begins where its head is', () => {
    const memory = new AssetMemory();
    memory.poll({
      commits: [commitOf('1', 1n, { watermark: 100n }), commitOf('2', 2n), commitOf('3', 3n, { watermark: 50n })],
    });
    expect(memory.state.watermark).toBe(100n);
    memory.poll({ outcome: { kind: 'ROLLBACK', to: '3', restored: commitOf('3', 3n, { watermark: 50n }) } });
    expect(memory.state.watermark).toBe(50n);
    expect(kinds(memory).filter((kind) => kind === 'WATERMARK_ADVANCED')).toHaveLength(1);
  });

  it('a restored head keeps its verdicts and tags; a verdict on what was undone does not reach its replacement', () => {
    const memory = read(1, 2, 3);
    memory.poll({ tagChanges: [{ tag: 'ok', snapshotId: '2', before: null }], tags: { ok: '2' } });
    memory.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId: '2', commitTime: 2500n }));
    memory.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId: '3', commitTime: 3500n }));
    const outcome = { kind: 'ROLLBACK', to: '2', restored: commitOf('2', 2000n) } as const;
    memory.poll({ outcome, commits: [commitOf('3', 9000n)], tags: { ok: '2' } });
    const [restored, replaced] = memory.versions.slice(-2).map((version) => memory.facts(version));
    expect(restored?.verdicts.map((verdict) => verdict.status)).toEqual(['PASSED']);
    expect(restored?.tags).toEqual(['ok']);
    expect(replaced?.verdicts).toEqual([]);
    expect(memory.state.qualityStatus).toBe('UNKNOWN');
  });

  it('a restored head keeps its verdict though the checker’s clock is slow', () => {
    const memory = read(1, 2, 3);
    memory.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId: '2', commitTime: 1500n }));
    memory.poll({ outcome: { kind: 'ROLLBACK', to: '2', restored: commitOf('2', 2000n) } });
    expect(memory.state.qualityStatus).toBe('PASSED');
    expect(memory.versions.slice(-1).flatMap((version) => memory.facts(version).verdicts)).toHaveLength(1);
  });

  it('a verdict pushed before the rewind was noticed goes with the version that it was for', () => {
    const memory = read(1, 2, 3);
    memory.push(statedOf('QUALITY_CHECK_PASSED', { snapshotId: '3', commitTime: 9500n }));
    const outcome = { kind: 'ROLLBACK', to: '2', restored: commitOf('2', 2000n) } as const;
    memory.poll({ outcome, commits: [commitOf('3', 9000n)] });
    expect(memory.state.qualityStatus).toBe('PASSED');
  });

  it('RECREATED: new epoch, all former versions withdrawn, the new ones count', () => {
    const memory = read(1, 2);
    memory.poll({ outcome: { kind: 'RECREATED' }, commits: [commitOf('1', 9000n)], tableId: 'b' });
    expect(ordinals(memory)).toEqual([
      ['1', 1, 1, 'WITHDRAWN', 'COMMIT'],
      ['2', 1, 2, 'WITHDRAWN', 'COMMIT'],
      ['1', 2, 3, 'LIVE', 'COMMIT'],
    ]);
    expect(memory.state).toMatchObject({ epoch: 2, tableId: 'b' });
    expect([...memory.events.keys()].filter((key) => key.includes('"1"') && key.includes('SNAPSHOT'))).toHaveLength(2);
  });

  it.each([
    ['ROLLED_BACK', { onRollback: 'HOLD' }, { kind: 'ROLLBACK', to: '1', restored: commitOf('1', 1n) }],
    ['RECREATED', { onRecreate: 'HOLD' }, { kind: 'RECREATED' }],
  ] as const)('%s and HOLD: held', (_, policy, outcome) => {
    const memory = new AssetMemory(policy);
    memory.poll({ commits: [commitOf('1', 1n), commitOf('2', 2n)] });
    memory.poll({ outcome });
    expect(memory.state.health).toBe('HELD');
    expect(memory.state.healthReason).toMatch(/person/);
  });

  it('BEHIND is shown and what is published counts', () => {
    const memory = read(1);
    memory.poll({ outcome: { kind: 'BEHIND', reason: 'the catalog names v9' }, commits: [commitOf('2', 2000n)] });
    expect(memory.state).toMatchObject({ health: 'BEHIND', healthReason: 'the catalog names v9', lastOrdinal: 2 });
  });

  it('UNREADABLE is one event when it begins and one when it ends, for each spell', () => {
    const memory = read(1);
    const gone = { outcome: { kind: 'UNREADABLE', reason: 'no such folder', retryable: true } } as const;
    memory.poll(gone, 2_000_000n);
    memory.poll(gone, 3_000_000n);
    expect(memory.state).toMatchObject({ health: 'UNREADABLE', healthSince: 2_000_000n, lastOrdinal: 1 });
    memory.poll({}, 4_000_000n);
    memory.poll({}, 5_000_000n);
    memory.poll(gone, 6_000_000n);
    memory.poll({}, 7_000_000n);
    expect(kinds(memory).slice(1)).toEqual([
      'SOURCE_UNREADABLE',
      'SOURCE_RECOVERED',
      'SOURCE_UNREADABLE',
      'SOURCE_RECOVERED',
    ]);
  });

  it('the first version ever recorded counts as data if rows were there before it', () => {
    const full = new AssetMemory();
    full.poll({ commits: [commitOf('9', 9n, { operation: 'COMPACT', dataChange: false, totalRecords: 5n })] });
    expect(full.versions[0]?.origin).toBe('AFTER_GAP');
    const empty = new AssetMemory();
    empty.poll({ commits: [commitOf('1', 9n, { dataChange: false, totalRecords: 0n })] });
    expect(empty.versions[0]?.origin).toBe('COMMIT');
    expect(empty.state.latestData).toBeNull();
  });
});

describe('tags', () => {
  it('made, moved, deleted and made again are four events', () => {
    const memory = read(1, 2);
    memory.poll({ tagChanges: [{ tag: 'd', snapshotId: '1', before: null }] }, 1n);
    memory.poll({ tagChanges: [{ tag: 'd', snapshotId: '2', before: '1' }] }, 2n);
    expect(memory.state.latestTag).toBe('d');
    memory.poll({ tagChanges: [{ tag: 'd', snapshotId: null, before: '2' }] }, 3n);
    expect(memory.state.latestTag).toBeNull();
    memory.poll({ tagChanges: [{ tag: 'd', snapshotId: '1', before: null }] }, 4n);
    expect(kinds(memory).filter((kind) => kind.startsWith('TAG'))).toEqual([
      'TAG_CREATED',
      'TAG_MOVED',
      'TAG_DELETED',
      'TAG_CREATED',
    ]);
    expect(memory.versions.map((version) => memory.facts(version).tags)).toEqual([['d'], []]);
  });

  it('a tag that the rewound table lost is gone', () => {
    const memory = read(1, 2);
    memory.poll({ tagChanges: [{ tag: 'd', snapshotId: '2', before: null }], tags: { d: '2' } });
    memory.poll({ outcome: { kind: 'ROLLBACK', to: '1', restored: commitOf('1', 1000n) }, tags: {} });
    expect(memory.state.latestTag).toBeNull();
    expect(memory.tags.get('d')?.deleted).toBe(true);
  });
});

describe('schemas', () => {
  const s0 = schemaOf('0', { id: 'BIGINT', amount: 'INT' });
  const s1 = schemaOf('1', { id: 'BIGINT', amount: 'INT', coupon: 'STRING' });
  const s2 = schemaOf('2', { id: 'BIGINT', amount: 'STRING', coupon: 'STRING' });
  const s3 = schemaOf('3', { id: 'BIGINT', amount: 'STRING', coupon: 'STRING', note: 'STRING' });
  const status = (memory: AssetMemory) => [...memory.schemas.values()].map((r) => [r.schemaId, r.status, r.decidedBy]);

  const start = (policy: 'AUTO' | 'ALWAYS_APPROVE' | 'MANUAL' = 'AUTO') => {
    const memory = new AssetMemory({ schemaPolicy: policy });
    memory.poll({ schema: s0, newSchemas: [s0], commits: [commitOf('1', 1n)] });
    return memory;
  };

  it('the first is accepted without an event, a compatible one at once, another waits', () => {
    const memory = start();
    expect(kinds(memory)).not.toContain('SCHEMA_CHANGED');
    memory.poll({ schema: s1, newSchemas: [s1] });
    memory.poll({ schema: s2, newSchemas: [s2] });
    expect(status(memory)).toEqual([
      ['0', 'COMPATIBLE', 'FIRST'],
      ['1', 'COMPATIBLE', 'COMPARISON'],
      ['2', 'PENDING_APPROVAL', 'COMPARISON'],
    ]);
    expect(memory.state).toMatchObject({ schemaId: '2', acceptedSchemaId: '1', schemaStatus: 'COMPATIBLE' });
    memory.poll({ schema: s2, commits: [commitOf('2', 2n, { schemaId: '2' })] });
    expect(memory.state.schemaStatus).toBe('PENDING_APPROVAL');
  });

  it('is compared with the newest accepted one, not with its predecessor; an approval lets what waits behind it be compared again', () => {
    const memory = start();
    memory.poll({ schema: s3, newSchemas: [s2, s3] });
    expect(status(memory).map(([, what]) => what)).toEqual(['COMPATIBLE', 'PENDING_APPROVAL', 'PENDING_APPROVAL']);
    memory.push(statedOf('SCHEMA_CHANGE_APPROVED', { schemaId: '2' }));
    expect(status(memory)).toEqual([
      ['0', 'COMPATIBLE', 'FIRST'],
      ['2', 'COMPATIBLE', 'PERSON'],
      ['3', 'COMPATIBLE', 'COMPARISON'],
    ]);
  });

  it('can be approved before it is seen, and rejected', () => {
    const memory = start();
    memory.push(statedOf('SCHEMA_CHANGE_APPROVED', { schemaId: '2' }));
    memory.poll({ schema: s2, newSchemas: [s2], commits: [commitOf('2', 2n, { schemaId: '2' })] });
    expect(memory.state).toMatchObject({ schemaStatus: 'COMPATIBLE', acceptedSchemaId: '2' });
    expect(memory.schemas.get('[1,"2"]')?.changes.length).toBeGreaterThan(0);
    memory.push(statedOf('SCHEMA_CHANGE_REJECTED', { schemaId: '2' }));
    expect(memory.state).toMatchObject({ schemaStatus: 'REJECTED', acceptedSchemaId: '0' });
  });

  it.each([
    ['ALWAYS_APPROVE', 'COMPATIBLE'],
    ['MANUAL', 'PENDING_APPROVAL'],
  ] as const)('policy %s: %s', (policy, expected) => {
    const memory = start(policy);
    memory.poll({ schema: s2, newSchemas: [s2] });
    expect(status(memory)[1]).toEqual(['2', expected, 'POLICY']);
  });

  it('decisions are carried over a rewind, but not to other columns under the same id', () => {
    const memory = start();
    memory.poll({ schema: s2, newSchemas: [s2] });
    memory.push(statedOf('SCHEMA_CHANGE_APPROVED', { schemaId: '2' }));
    const outcome = { kind: 'ROLLBACK', to: '1', restored: commitOf('1', 1n) } as const;
    memory.poll({ outcome, schema: s2 });
    expect(memory.schemas.get('[2,"2"]')).toMatchObject({ status: 'COMPATIBLE', decidedBy: 'PERSON' });
    const other = schemaOf('2', { id: 'STRING', amount: 'INT' });
    memory.poll({ outcome, schema: other, newSchemas: [other] });
    expect(memory.schemas.get('[3,"2"]')).toMatchObject({ status: 'PENDING_APPROVAL' });
  });

  it('a re-created table is compared with what was accepted before', () => {
    const memory = start();
    memory.poll({ outcome: { kind: 'RECREATED' }, schema: s0, newSchemas: [s0] });
    expect(memory.schemas.get('[2,"0"]')?.status).toBe('COMPATIBLE');
    const other = schemaOf('0', { id: 'STRING' });
    memory.poll({ outcome: { kind: 'RECREATED' }, schema: other, newSchemas: [other] });
    expect(memory.schemas.get('[3,"0"]')?.status).toBe('PENDING_APPROVAL');
  });
});

describe('verdicts that wait for a scan', () => {
  const minute = 60_000n;

  it('bind to what was newest when the check began', () => {
    const memory = new AssetMemory();
    memory.poll({ commits: [commitOf('1', 0n), commitOf('2', 60n * minute)] });
    memory.push(statedOf('QUALITY_CHECK_PASSED', { startedAt: 90n * minute }), 95n * minute);
    expect(memory.waiting).toHaveLength(1);
    memory.poll({ commits: [commitOf('3', 85n * minute)] }, 89n * minute);
    expect(memory.waiting).toHaveLength(1);
    memory.poll({}, 96n * minute);
    expect(memory.waiting).toHaveLength(0);
    // 3 was committed within the tolerance of the start: PASSED is only sure of 2.
    expect([...memory.verdicts.values()].map((verdict) => verdict.snapshotId)).toEqual(['2']);
  });

  it('FAILED binds to the older and to all in doubt', () => {
    const memory = new AssetMemory();
    memory.poll({
      commits: [
        commitOf('1', 0n),
        commitOf('2', 60n * minute),
        commitOf('3', 85n * minute),
        commitOf('4', 99n * minute),
      ],
    });
    memory.push(statedOf('QUALITY_CHECK_FAILED', { startedAt: 90n * minute }), 95n * minute);
    memory.poll({}, 200n * minute);
    expect([...memory.verdicts.values()].map((verdict) => verdict.snapshotId)).toEqual(['2', '3', '4']);
  });

  it('with nothing older, the only version there was the one that was read', () => {
    const memory = new AssetMemory();
    memory.poll({ commits: [commitOf('1', 89n * minute)] });
    memory.push(statedOf('QUALITY_CHECK_PASSED', { startedAt: 90n * minute }), 95n * minute);
    memory.poll({}, 96n * minute);
    expect(memory.state.qualityStatus).toBe('PASSED');
  });

  it('waits while the table is behind its catalog', () => {
    const memory = read(1);
    memory.push(statedOf('QUALITY_CHECK_PASSED', { startedAt: 90n * minute }), 95n * minute);
    memory.poll({ outcome: { kind: 'BEHIND', reason: 'x' } }, 96n * minute);
    expect(memory.waiting).toHaveLength(1);
  });
});
