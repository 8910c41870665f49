import { describe, expect, test } from 'vitest';
import { type Api, apply, BASE, commit, openApi, ORDERS, PAYMENTS, push, segment, work } from './harness.ts';

const START = `${BASE}/workflow-definitions/trade/start`;
const RUNS = `${BASE}/workflow-instances`;

/** Both tables have a version 1, and the run that they started has ended. */
const ran = async (): Promise<Api> => {
  const api = await openApi();
  await apply(api);
  await push(api, commit(ORDERS, 1), commit(PAYMENTS, 1));
  await work(api);
  return api;
};

const items = (json: Record<string, unknown>) => json['items'] as Record<string, unknown>[];

describe('runs over HTTP', () => {
  test('a run that tables started, as the contract shows it', async () => {
    const api = await ran();
    const [run] = items((await api.get(RUNS)).json);
    expect(run).toMatchObject({
      workflow: 'trade',
      state: 'SUCCESS',
      commandType: 'ASSET_EVENT_TRIGGER',
      triggerGroup: 'both',
      triggerKey: expect.stringContaining('group_both'),
      pins: {
        [ORDERS]: { snapshotId: '1', epoch: 1, ordinal: 1 },
        [PAYMENTS]: { snapshotId: '1', epoch: 1, ordinal: 1 },
      },
      startTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      endTime: expect.stringMatching(/Z$/),
      params: {},
    });
    const shown = (await api.get(`${RUNS}/${run?.['id'] as number}`)).json['tasks'] as unknown as object[];
    expect(shown).toEqual([
      expect.objectContaining({ name: 'dwd', type: 'NOOP', state: 'SUCCESS', attempt: 1, exitCode: 0 }),
      expect.objectContaining({ name: 'dws', type: 'NOOP', state: 'SUCCESS', attempt: 1, exitCode: 0 }),
    ]);
  });

  test('why: what it waits for now, and why it last ran', async () => {
    const api = await ran();
    await push(api, commit(ORDERS, 2));
    const { json } = await api.get(`${BASE}/workflow-definitions/trade/why`);
    const [group] = json['groups'] as unknown as Record<string, unknown>[];
    expect(group).toMatchObject({
      group: 'both',
      ready: false,
      lastFire: { runId: 1, pins: { [ORDERS]: { snapshotId: '1' } } },
    });
    const results = group?.['results'] as Record<string, unknown>[];
    expect(results.map(({ assetKey, met, code }) => [assetKey, met, code])).toEqual([
      [ORDERS, true, null],
      [PAYMENTS, false, 'BLOCKED_BY_SNAPSHOT'],
    ]);
    const [dependencies] = (await api.get(`${BASE}/asset-dependencies/trade`)).json['groups'] as unknown as object[];
    expect(dependencies).toMatchObject({
      consumed: { [ORDERS]: { snapshotId: '1' } },
      conditions: [{ assetKey: ORDERS }, { assetKey: PAYMENTS }],
    });
    const [fired] = items((await api.get(`${BASE}/asset-trigger-history?workflow=trade`)).json);
    expect(fired).toMatchObject({ group: 'both', workflowInstanceId: 1, status: 'SUCCESS', workflow: 'trade' });
  });

  test('a manual start, the same key again, another key', async () => {
    const api = await ran();
    const body = { params: { mode: 'restate', n: 3 } };
    const first = await api.post(START, body, { 'idempotency-key': 'k' });
    expect([first.status, first.json['duplicate'], first.json['commandType']]).toEqual([201, false, 'START_PROCESS']);
    expect(first.json['params']).toEqual({ mode: 'restate', n: '3' });
    const again = await api.post(START, body, { 'idempotency-key': 'k' });
    expect([again.status, again.json['duplicate'], again.json['id']]).toEqual([200, true, first.json['id']]);
    const other = await api.post(START, body, { 'idempotency-key': 'k2' });
    expect(other.json['id']).not.toBe(first.json['id']);
  });

  test('pins by id and by tag, and those that name nothing', async () => {
    const api = await ran();
    await push(api, commit(ORDERS, 2), { assetKey: ORDERS, eventType: 'TAG_CREATED', tag: 'close', snapshotId: '1' });
    const pinned = await api.post(START, { pins: { [ORDERS]: 'tag:close', [PAYMENTS]: 1 } });
    expect(pinned.status, pinned.text).toBe(201);
    expect(pinned.json['pins']).toMatchObject({
      [ORDERS]: { snapshotId: '1', tag: 'close' },
      [PAYMENTS]: { snapshotId: '1' },
    });
    for (const pins of [{ [ORDERS]: '99' }, { [ORDERS]: 'tag:nope' }]) {
      const refused = await api.post(START, { pins });
      expect([refused.status, refused.json['code']]).toEqual([400, 'BAD_PIN']);
    }
    const twice = await api.post(START, { pins: { [ORDERS]: '1', 'paimon://default/ods_db/orders': '2' } });
    expect([twice.status, twice.json['code']]).toEqual([400, 'BAD_PIN']);
  });

  test('one task alone', async () => {
    const api = await ran();
    const only = await api.post(START, { startTasks: ['dws'], taskDependType: 'TASK_ONLY' });
    await work(api);
    const { json } = await api.get(`${RUNS}/${String(only.json['id'])}`);
    expect((json['tasks'] as unknown as { name: string }[]).map(({ name }) => name)).toEqual(['dws']);
    expect((await api.post(START, { startTasks: ['nope'] })).status).toBeGreaterThanOrEqual(400);
  });

  test('every operation, and one that the state does not allow', async () => {
    const api = await ran();
    const refused = await api.post(`${RUNS}/1/pause`);
    expect([refused.status, refused.json['code'], refused.json['detail']]).toEqual([
      409,
      'CONFLICT',
      'Run 1 has succeeded and cannot be paused: rerun it (all tasks) or leave it as it is.',
    ]);
    const repinned = await api.post(`${RUNS}/1/pause`, { repin: true });
    expect([repinned.status, repinned.json['detail']]).toEqual([400, expect.stringMatching(/^Leave out repin: /)]);
    const started = (await api.post(START)).json['id'];
    expect((await api.post(`${RUNS}/${started}/pause`)).json['state']).toBe('PAUSE');
    expect((await api.post(`${RUNS}/${started}/resume`)).json['state']).toBe('SUBMITTED_SUCCESS');
    await work(api, 'FAILURE');
    expect((await api.get(`${RUNS}/${started}`)).json['state']).toBe('FAILURE');
    expect((await api.post(`${RUNS}/${started}/recover`, { repin: true })).status).toBe(200);
    await work(api);
    expect((await api.get(`${RUNS}/${started}`)).json['state']).toBe('SUCCESS');
    const attempts = (await api.get(`${RUNS}/${started}/tasks`)).json['history'] as unknown as {
      name: string;
      attempt: number;
    }[];
    expect(attempts.filter(({ name }) => name === 'dwd').length).toBeGreaterThan(1);
    expect((await api.post(`${RUNS}/${started}/rerun`)).json['state']).toBe('SUBMITTED_SUCCESS');
    expect((await api.post(`${RUNS}/${started}/stop`)).json['state']).toBe('STOP');
  });

  test('lists by workflow and state', async () => {
    const api = await ran();
    await api.post(START);
    expect(items((await api.get(`${RUNS}?state=SUCCESS`)).json)).toHaveLength(1);
    expect(items((await api.get(`${RUNS}?workflow=trade`)).json)).toHaveLength(2);
    expect((await api.get(`${RUNS}?workflow=nope`)).status).toBe(404);
  });

  test("another project's run, task and workflow are not there", async () => {
    const api = await ran();
    await api.post('/api/v1/projects/other/assets', { key: 'paimon://x/y' });
    for (const path of [
      'workflow-instances/1',
      'workflow-instances/1/tasks',
      'task-instances/1/log',
      'workflow-definitions/trade',
    ])
      expect((await api.get(`/api/v1/projects/other/${path}`)).status, path).toBe(404);
    expect((await api.post('/api/v1/projects/other/workflow-instances/1/rerun')).status).toBe(404);
    expect((await api.get(`/api/v1/projects/other/workflow-instances`)).json['items']).toEqual([]);
    expect((await api.get(`/api/v1/projects/other/asset-trigger-history`)).json['items']).toEqual([]);
  });

  test('numbers that name nothing', async () => {
    const api = await ran();
    for (const path of [`${RUNS}/99`, `${BASE}/task-instances/99/log`]) {
      const { status, json } = await api.get(path);
      expect([status, json['code']]).toEqual([404, 'NOT_FOUND']);
    }
  });

  test('a workflow definition, by name and by code', async () => {
    const api = await ran();
    const { json } = await api.get(`${BASE}/workflow-definitions/trade`);
    expect(json).toMatchObject({
      name: 'trade',
      project: 'gmv',
      version: 1,
      groups: [{ name: 'both', startFrom: 'NEXT' }],
    });
    expect((await api.get(`${BASE}/workflow-definitions/${String(json['code'])}`)).json).toEqual(json);
    expect(items((await api.get(`${BASE}/workflow-definitions`)).json)).toEqual([json]);
    expect(segment(ORDERS)).toBe('paimon%3A%2F%2Fods_db%2Forders');
  });
});
