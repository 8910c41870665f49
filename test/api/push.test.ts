import { describe, expect, test } from 'vitest';
import type { AssetKey } from '../../src/core/asset/key.ts';
import { commit as committed, poll } from '../contract/store/support.ts';
import { type Api, apply, BASE, commit, condition, openApi, ORDERS, PAYMENTS, push, segment } from './harness.ts';

const EVENTS = `${BASE}/asset-events`;
const READ = 'paimon://ods_db/read_by_us';

const withRead = async (): Promise<Api> => {
  const api = await openApi();
  await apply(api, {
    apiVersion: 'sluice/v1',
    project: 'gmv',
    assets: [{ key: READ, location: '/warehouse/read_by_us' }, { key: ORDERS }, { key: PAYMENTS }],
    workflows: [
      { name: 'w', triggers: [{ group: 'g', all: [condition(ORDERS)] }], tasks: [{ name: 'a', type: 'NOOP' }] },
    ],
  });
  return api;
};

/** What the scanner would record. */
const look = async (api: Api, ids: readonly number[]): Promise<void> => {
  api.clock.advance(1_000);
  const [target] = await api.store.assets.scanTargets([READ as AssetKey]);
  const times = { startedAt: api.clock.now(), recordedAt: api.clock.now() };
  await api.store.assets.recordPoll(
    READ as AssetKey,
    target?.revision ?? -1,
    poll(ids.map((id) => committed(id, { commitTime: api.clock.now() }))),
    times,
  );
};

const events = async (api: Api, assetKey: string, eventType = '') => {
  const type = eventType === '' ? '' : `&eventType=${eventType}`;
  const { json } = await api.get(`${EVENTS}?assetKey=${segment(assetKey)}${type}`);
  return json['items'] as unknown as { snapshotId: string; status: string; sourceType: string; duplicates: number }[];
};

const state = async (api: Api, assetKey: string) =>
  (await api.get(`${BASE}/assets/${segment(assetKey)}/state`)).json as unknown as Record<string, unknown>;

describe('a push of a table that Sluice reads', () => {
  test('makes it due, and is confirmed by what the table shows, or not', async () => {
    const api = await withRead();
    await look(api, [1]);
    const answer = await api.post(EVENTS, [commit(READ, 2), commit(READ, 3)]);
    expect([answer.status, answer.json['accepted']]).toEqual([202, 2]);
    expect((await state(api, READ))['latest']).toMatchObject({ snapshotId: '1' });
    expect(await api.store.assets.scanTargets('WANTED')).toHaveLength(1);
    const pushed = async () =>
      (await events(api, READ)).filter((one) => one.sourceType === 'PUSH').map((one) => [one.snapshotId, one.status]);
    await look(api, [2]);
    expect(await pushed()).toEqual([
      ['3', 'HINT'],
      ['2', 'CONFIRMED'],
    ]);
    await look(api, []);
    await look(api, []);
    expect(await pushed()).toEqual([
      ['3', 'UNCONFIRMED'],
      ['2', 'CONFIRMED'],
    ]);
  });

  test('again after the poll is a duplicate, and counted', async () => {
    const api = await withRead();
    await look(api, [1]);
    const answer = await api.post(EVENTS, commit(READ, 1));
    expect(answer.json).toEqual({ accepted: 0, duplicates: 1, duplicate: true, rejected: [] });
    expect((await events(api, READ, 'SNAPSHOT_COMMITTED')).map((one) => one.duplicates)).toEqual([1]);
  });
});

describe('a push of a table that nobody else can read', () => {
  test('an older commit changes nothing and is listed with why', async () => {
    const api = await withRead();
    await push(api, commit(ORDERS, 7, { commitTime: 7000 }), commit(ORDERS, 5, { commitTime: 5000 }));
    expect((await state(api, ORDERS))['latest']).toMatchObject({ snapshotId: '7', ordinal: 1 });
    expect(
      (await events(api, ORDERS, 'SNAPSHOT_COMMITTED')).map(({ snapshotId, status }) => [snapshotId, status]),
    ).toEqual([
      ['5', 'IGNORED_STALE'],
      ['7', 'RECORDED'],
    ]);
    const why = (await api.get(`${BASE}/workflow-definitions/w/why`)).json as unknown as {
      ignored: { snapshotId: string; status: string; sentence: string }[];
    };
    expect(why.ignored).toMatchObject([{ snapshotId: '5', status: 'IGNORED_STALE' }]);
    const other = await api.get(`${BASE}/workflow-definitions/w/why?group=nope`);
    expect([other.status, other.json['detail']]).toEqual([404, expect.stringContaining('its groups are: g')]);
    expect((await api.get(`${BASE}/workflow-definitions/w/why?group=g`)).json['ignored']).toHaveLength(1);
  });

  test('a known id committed later is a rewind', async () => {
    const api = await withRead();
    await push(api, commit(ORDERS, 1, { commitTime: 1000 }), commit(ORDERS, 2, { commitTime: 2000 }));
    await push(api, commit(ORDERS, 1, { commitTime: 9000 }));
    expect(await state(api, ORDERS)).toMatchObject({ epoch: 2, latest: { snapshotId: '1', epoch: 2, ordinal: 3 } });
    expect(await events(api, ORDERS, 'ROLLED_BACK')).toHaveLength(1);
  });

  test('a correction of dataChange starts what waits for it', async () => {
    const api = await withRead();
    const runs = async () =>
      ((await api.get(`${BASE}/workflow-instances`)).json['items'] as unknown as unknown[]).length;
    await push(api, commit(ORDERS, 1, { dataChange: false, commitTime: 1000 }));
    expect(await runs()).toBe(0);
    await push(api, commit(ORDERS, 1, { dataChange: true, commitTime: 1000 }));
    expect(await runs()).toBe(1);
    await push(api, commit(ORDERS, 1, { dataChange: false, commitTime: 1000 }));
    expect(await runs()).toBe(1);
  });

  test('why a run was started stays with it', async () => {
    const api = await withRead();
    await push(api, commit(ORDERS, 1));
    const { items } = (await api.get(`${BASE}/asset-trigger-history?run=1`)).json as unknown as {
      items: { workflowInstanceId: number; results: { met: boolean; needed: string }[] }[];
    };
    expect(items).toMatchObject([{ workflowInstanceId: 1, results: [{ met: true, needed: 'a version' }] }]);
  });
});

describe('a server that takes no pushes', () => {
  test('says so, records nothing, and still shows what was recorded', async () => {
    const api = await openApi({ takesPushes: false });
    await apply(api, { apiVersion: 'sluice/v1', project: 'gmv', assets: [{ key: ORDERS }] });
    const refused = await api.post(EVENTS, commit(ORDERS, '1'));
    expect(refused.status).toBe(403);
    expect(refused.json).toMatchObject({ code: 'FORBIDDEN', detail: expect.stringContaining('push-receiver.enabled') });
    expect(await events(api, ORDERS)).toEqual([]);
  });
});

test('a version tells the partitions that its commit touched, and null where nobody said them', async () => {
  const api = await openApi();
  await apply(api, { apiVersion: 'sluice/v1', project: 'gmv', assets: [{ key: ORDERS }] });
  await push(api, { ...commit(ORDERS, '1'), partitionKey: 'dt=2026-11-30' }, commit(ORDERS, '2'));
  const { json } = await api.get(`${BASE}/assets/${segment(ORDERS)}/versions`);
  const versions = json['items'] as unknown as { snapshotId: string; partitions: readonly string[] | null }[];
  expect(Object.fromEntries(versions.map(({ snapshotId, partitions }) => [snapshotId, partitions]))).toEqual({
    1: ['dt=2026-11-30'],
    2: null,
  });
});

describe('what no database keeps', () => {
  test('is refused event by event, and the good ones stay', async () => {
    const api = await withRead();
    const bad = [
      commit(ORDERS, 'a\0b'),
      commit(ORDERS, 2, { commitKind: '\ud800' }),
      commit(ORDERS, 3, { watermark: '9223372036854775808' }),
      commit(ORDERS, 4, { commitTime: '-9223372036854775809' }),
    ];
    const { status, json } = await api.post(EVENTS, [...bad, commit(ORDERS, 5, { watermark: '9223372036854775807' })]);
    const rejected = json['rejected'] as unknown as { index: number; code: string; detail: string }[];
    expect([status, json['accepted']]).toEqual([202, 1]);
    expect(rejected.map(({ index, code }) => [index, code])).toEqual([0, 1, 2, 3].map((index) => [index, 'BAD_EVENT']));
    expect(rejected.map(({ detail }) => /snapshotId|commitKind|watermark|commitTime/.exec(detail)?.[0])).toEqual([
      'snapshotId',
      'commitKind',
      'watermark',
      'commitTime',
    ]);
    expect((await state(api, ORDERS))['latest']).toMatchObject({ snapshotId: '5' });
  });

  test('is kept as JSON where it is evidence', async () => {
    const api = await withRead();
    await push(api, commit(ORDERS, 1, { payload: 'a\0b' }), commit(ORDERS, 2, { payload: 'plain' }));
    const kept = (await api.get(`${EVENTS}?assetKey=${segment(ORDERS)}`)).json['items'] as unknown as object[];
    expect(kept).toMatchObject([{ payload: 'plain' }, { payload: '"a\\u0000b"' }]);
  });
});
