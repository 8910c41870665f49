import { describe, expect, test } from 'vitest';
import { apply, BASE, bearer, commit, openApi, ORDERS, PAYMENTS, segment, TOKEN } from './harness.ts';

const EVENTS = `${BASE}/asset-events`;

describe('pushed events', () => {
  test('one event, and the same again', async () => {
    const api = await openApi();
    await apply(api);
    const first = await api.post(EVENTS, commit(ORDERS, 5));
    expect([first.status, first.json]).toEqual([202, { accepted: 1, duplicates: 0, duplicate: false, rejected: [] }]);
    expect((await api.post(EVENTS, commit(ORDERS, '5'))).json).toEqual({
      accepted: 0,
      duplicates: 1,
      duplicate: true,
      rejected: [],
    });
    const state = (await api.get(`${BASE}/assets/${segment(ORDERS)}/state`)).json;
    expect(state['latestData']).toEqual({ snapshotId: '5', epoch: 1, ordinal: 1 });
  });

  test('an id beyond 2^53 keeps its digits as a string, and is refused as a number', async () => {
    const api = await openApi();
    await apply(api);
    const id = '5412345678901234567';
    await api.post(
      EVENTS,
      commit(ORDERS, id, { deltaRecordCount: '9223372036854775807', watermark: '2026-11-30T00:00:00Z' }),
    );
    const [event] = (await api.get(`${EVENTS}?eventType=SNAPSHOT_COMMITTED`)).json['items'] as unknown as object[];
    expect(event).toMatchObject({
      snapshotId: id,
      deltaRecordCount: '9223372036854775807',
      watermark: '2026-11-30T00:00:00.000Z',
    });
    const [version] = (await api.get(`${BASE}/assets/${segment(ORDERS)}/versions`)).json[
      'items'
    ] as unknown as object[];
    expect(version).toMatchObject({ snapshotId: id, addedRecords: '9223372036854775807' });
    const refused = await api.inject({
      method: 'POST',
      url: EVENTS,
      headers: { ...bearer(TOKEN), 'content-type': 'application/json' },
      payload: `{"assetKey":"${ORDERS}","eventType":"SNAPSHOT_COMMITTED","snapshotId":${id}}`,
    });
    expect([refused.status, refused.json['code'], refused.json['detail']]).toEqual([
      400,
      'BAD_EVENT',
      expect.stringContaining(`Write ${id} as a string at snapshotId`),
    ]);
  });

  test('below payload any number stands, with all its digits', async () => {
    const api = await openApi();
    await apply(api);
    const payload = `{"id":5412345678901234567,"x":[1e400]}`;
    const answer = await api.inject({
      method: 'POST',
      url: EVENTS,
      headers: { ...bearer(TOKEN), 'content-type': 'application/json' },
      payload: `{"assetKey":"${ORDERS}","eventType":"SNAPSHOT_COMMITTED","snapshotId":7,"payload":${payload}}`,
    });
    expect(answer.status, answer.text).toBe(202);
    const [event] = (await api.get(EVENTS)).json['items'] as unknown as Record<string, string>[];
    expect(event?.['payload']).toBe(payload);
  });

  test('one bad event of an array loses no other', async () => {
    const api = await openApi();
    await apply(api);
    const bad = `{"assetKey":"${ORDERS}","eventType":"SNAPSHOT_COMMITTED","snapshotId":5412345678901234567}`;
    const list = [
      JSON.stringify(commit(ORDERS, '1')),
      '{"assetKey":"nonsense","eventType":"SNAPSHOT_COMMITTED"}',
      '7',
      bad,
      JSON.stringify({ assetKey: ORDERS, eventType: 'NOT_A_TYPE' }),
      JSON.stringify(commit('paimon://nobody/knows', 1)),
      JSON.stringify({ ...commit(ORDERS, '2'), watermark: 'yesterday' }),
      JSON.stringify(commit(PAYMENTS, 1)),
    ];
    const { status, json } = await api.inject({
      method: 'POST',
      url: EVENTS,
      headers: { ...bearer(TOKEN), 'content-type': 'application/json' },
      payload: `[${list.join(',')}]`,
    });
    expect([status, json['accepted'], json['duplicates']]).toEqual([202, 2, 0]);
    const rejected = json['rejected'] as unknown as { index: number; code: string; detail: string }[];
    expect(rejected.map(({ index, code }) => [index, code])).toEqual([
      [1, 'BAD_ASSET_KEY'],
      [2, 'BAD_EVENT'],
      [3, 'BAD_EVENT'],
      [4, 'BAD_EVENT'],
      [5, 'UNKNOWN_ASSET'],
      [6, 'BAD_EVENT'],
    ]);
    expect(rejected.every(({ detail }) => detail.length > 10)).toBe(true);
  });

  test('a single bad event is answered with its problem', async () => {
    const api = await openApi();
    await apply(api);
    const unknown = await api.post(EVENTS, commit('paimon://nobody/knows', 1));
    expect([unknown.status, unknown.json['code']]).toEqual([404, 'UNKNOWN_ASSET']);
    const shape = await api.post(EVENTS, { eventType: 'SNAPSHOT_COMMITTED' });
    expect([shape.status, shape.json['code'], shape.json['detail']]).toEqual([
      400,
      'BAD_EVENT',
      expect.stringContaining('Add "assetKey"'),
    ]);
  });

  test('1,000 events at once, and not one more', async () => {
    const api = await openApi();
    await apply(api);
    const many = Array.from({ length: 1001 }, (_, i) => commit(ORDERS, String(i + 1)));
    expect((await api.post(EVENTS, many)).status).toBe(400);
    expect((await api.post(EVENTS, many.slice(1))).json['accepted']).toBe(1000);
    expect((await api.post(EVENTS, [])).status).toBe(400);
  });

  test('the Idempotency-Key names a statement that has no eventId of its own', async () => {
    const api = await openApi();
    await apply(api);
    await api.post(EVENTS, commit(ORDERS, 1));
    const verdict = { assetKey: ORDERS, eventType: 'QUALITY_CHECK_PASSED', checkName: 'rows', snapshotId: '1' };
    const key = { 'idempotency-key': 'k1' };
    expect((await api.post(EVENTS, verdict, key)).json['accepted']).toBe(1);
    expect((await api.post(EVENTS, verdict, key)).json['duplicates']).toBe(1);
    const other = { 'idempotency-key': 'k2' };
    expect((await api.post(EVENTS, [verdict, verdict], other)).json['accepted']).toBe(2);
    expect((await api.post(EVENTS, [verdict, verdict], other)).json['duplicates']).toBe(2);
    expect((await api.post(EVENTS, verdict)).json['accepted']).toBe(1);
  });

  test("another project's asset is not this project's to speak of", async () => {
    const api = await openApi();
    await apply(api);
    await api.post('/api/v1/projects/other/assets', { key: 'paimon://x/y' });
    const answer = await api.post(EVENTS, commit('paimon://x/y', 1));
    expect([answer.status, answer.json['code']]).toEqual([404, 'UNKNOWN_ASSET']);
    expect((await api.get(`${BASE}/assets/${segment('paimon://x/y')}`)).status).toBe(404);
    await api.post('/api/v1/projects/other/asset-events', commit('paimon://x/y', 1));
    const ours = (await api.get(EVENTS)).json['items'] as unknown as { assetKey: string }[];
    expect(ours.filter(({ assetKey }) => assetKey === 'paimon://x/y')).toEqual([]);
  });

  test('pages follow each other without gap or overlap', async () => {
    const api = await openApi();
    await apply(api);
    await api.post(
      EVENTS,
      Array.from({ length: 7 }, (_, i) => commit(ORDERS, i + 1)),
    );
    const path = `${BASE}/assets/${segment(ORDERS)}/versions`;
    const seen: string[] = [];
    let cursor = '';
    do {
      const { json } = await api.get(`${path}?limit=3${cursor}`);
      seen.push(...(json['items'] as unknown as { snapshotId: string }[]).map(({ snapshotId }) => snapshotId));
      const next = json['nextCursor'] as string | null | undefined;
      cursor = next === null || next === undefined ? '' : `&cursor=${segment(next)}`;
    } while (cursor !== '');
    expect(seen).toEqual(['7', '6', '5', '4', '3', '2', '1']);
  });
});

test('whoever counts is told of everything that was stated or refused, a schema decision too', async () => {
  const stated: string[] = [];
  const refused: (string | null)[][] = [];
  const api = await openApi({
    onStated: (events, receipts) =>
      void stated.push(...events.map(({ eventType }, i) => `${eventType} ${receipts[i]?.status}`)),
    onRefused: (refusals) => void refused.push(...refusals.map(({ assetKey, problem }) => [assetKey, problem.code])),
  });
  await apply(api);
  await api.post('/api/v1/projects/other/assets', { key: 'paimon://x/y' });
  await api.post(`${BASE}/asset-events`, [
    commit(ORDERS, 1),
    commit('nonsense', 1),
    commit('paimon://x/y', 1),
    commit('paimon://no/body', 1),
    5,
  ]);
  await api.post(`${BASE}/assets/${segment(ORDERS)}/approve-schema`, { schemaId: '3' });
  expect(stated).toEqual([
    'SNAPSHOT_COMMITTED ACCEPTED',
    'SNAPSHOT_COMMITTED REJECTED',
    'SCHEMA_CHANGE_APPROVED ACCEPTED',
  ]);
  expect(refused).toEqual([
    [null, 'BAD_ASSET_KEY'],
    [null, 'BAD_EVENT'],
    ['paimon://x/y', 'UNKNOWN_ASSET'],
  ]);
});
