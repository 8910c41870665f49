import { describe, expect, it } from 'vitest';
import { groupFromDeclaration } from '../../../src/core/declaration/group.ts';

const orders = { assetKey: 'paimon://ods_db/orders' };
const group = (patch: object = {}, condition: object = {}) => ({
  group: 'g',
  all: [{ ...orders, ...condition }],
  ...patch,
});

describe('groupFromDeclaration', () => {
  it('fills in the defaults', () => {
    expect(groupFromDeclaration(group())).toEqual({
      ok: true,
      value: {
        name: 'g',
        renamedFrom: null,
        advance: 'ALL',
        consume: 'LATEST',
        whileRunning: 'WAIT',
        startFrom: 'NEXT',
        minIntervalSeconds: null,
        quietSeconds: null,
        maxWaitSeconds: null,
        enabled: true,
        conditions: [
          {
            assetKey: 'paimon://ods_db/orders',
            alias: 'orders',
            snapshotRequired: true,
            minSnapshotId: null,
            operations: [],
            dataChangeOnly: true,
            qualityStatus: null,
            qualityChecks: [],
            schemaStatus: null,
            schemaChanged: false,
            watermarkGte: null,
            tag: null,
            minAddedRecords: null,
            maxAgeSeconds: null,
            backfill: 'EXCLUDE',
            cdcLag: null,
          },
        ],
      },
    });
  });

  it('takes everything that it knows, in canonical form', () => {
    const all = [
      {
        assetKey: 'paimon://default/ods_db/2-orders@main',
        minSnapshotId: 9223372036854775807n,
        operations: ['append'],
        qualityChecks: ['rows'],
        watermark: { gte: '2026-11-30T00:00:00Z' },
        minAddedRecords: 5,
      },
      {
        assetKey: 'iceberg://ref/fx_rates',
        alias: 'fx',
        snapshotRequired: false,
        maxAgeSeconds: 86400,
        cdcLag: 'RECOVERED',
      },
    ];
    const startFrom = { 'paimon://ods_db/2-orders': 5 };
    const taken = groupFromDeclaration({
      group: 'g',
      all,
      startFrom,
      quietSeconds: 5,
      maxWaitSeconds: 7,
      advance: 'ANY',
      enabled: 0,
    });
    expect(taken).toMatchObject({
      ok: true,
      value: {
        enabled: false,
        startFrom: { 'paimon://ods_db/2-orders': '5' },
        conditions: [
          {
            assetKey: 'paimon://ods_db/2-orders',
            alias: '_2_orders',
            minSnapshotId: '9223372036854775807',
            operations: ['APPEND'],
            qualityStatus: 'PASSED',
            watermarkGte: 1_795_996_800_000n,
            minAddedRecords: 5n,
          },
          { alias: 'fx', snapshotRequired: false, cdcLag: 'RECOVERED' },
        ],
      },
    });
  });

  it.each([
    [group({}, { snapshotRequired: false }), 'GROUP_NEVER_WAITS', /fire for ever/],
    [group({ all: [] }), 'BAD_FILE', /at least one condition/],
    [{ group: 'g' }, 'BAD_FILE', /under "all"/],
    [{ group: 'g', al: [orders] }, 'BAD_FILE', /the field "al" is not known: did you mean "all"\?$/],
    [{ all: [orders] }, 'BAD_FILE', /name under "group"/],
    [group({ group: 'a=b' }), 'BAD_FILE', /none of them/],
    ['g', 'BAD_FILE', /mapping/],
    [group({ all: [orders, orders] }), 'BAD_FILE', /stands in it twice/],
    [group({ all: [orders, { assetKey: 'paimon://x/orders' }] }), 'BAD_FILE', /two conditions have the alias "orders"/],
    [group({}, { alias: '1x' }), 'BAD_FILE', /letter or underscore/],
    [group({}, { assetKey: 'orders' }), 'BAD_ASSET_KEY', /has no format/],
    [group({}, { assetKey: 5 }), 'BAD_FILE', /add "assetKey"/],
    [group({}, { qualtyStatus: 'PASSED' }), 'BAD_FILE', /did you mean "qualityStatus"/],
    [group({}, { qualityStatus: 'passed' }), 'BAD_FILE', /must be PASSED/],
    [group({}, { snapshotRequired: 'yes' }), 'BAD_FILE', /true or false/],
    [group({}, { minSnapshotId: 9007199254740993 }), 'BAD_FILE', /would be rounded/],
    [group({}, { operations: 'APPEND' }), 'BAD_FILE', /list of texts/],
    [group({}, { maxAgeSeconds: -1 }), 'BAD_FILE', /seconds above 0/],
    [group({}, { minAddedRecords: 1.5 }), 'BAD_FILE', /whole number/],
    [group({}, { watermark: '2026-11-30' }), 'BAD_FILE', /\{gte: TIME\}/],
    [group({}, { watermark: { gte: '$[yyyy-MM-dd]' } }), 'BAD_FILE', /not supported by this version/],
    [group({}, { watermark: { gte: 'PERIOD_END' } }), 'BAD_FILE', /not supported by this version/],
    [group({}, { partition: { match: 'x' } }), 'BAD_FILE', /"partition" is not supported by this version/],
    [group({}, { backfill: 'COMPLETED' }), 'BAD_FILE', /not supported by this version/],
    [group({ period: 'DAY' }), 'BAD_FILE', /"period" is not supported by this version/],
    [group({ consume: 'EACH' }), 'BAD_FILE', /not supported by this version/],
    [group({ consume: 'ALL' }), 'BAD_FILE', /one of LATEST/],
    [group({ advnce: 'ANY' }), 'BAD_FILE', /did you mean "advance"/],
    [group({ startFrom: 'LAST' }), 'BAD_FILE', /NEXT, CURRENT/],
    [group({ startFrom: { 'paimon://x/y': '5' } }), 'BAD_FILE', /not in the group/],
    [group({ maxWaitSeconds: 5 }), 'BAD_FILE', /needs "quietSeconds"/],
  ])('refuses %j', (raw, code, why) => {
    const taken = groupFromDeclaration(raw);
    expect(taken).toMatchObject({ ok: false, problem: { code } });
    if (!taken.ok) expect(taken.problem.detail).toMatch(why);
  });
});
