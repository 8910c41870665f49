import { describe, expect, test } from 'vitest';
import {
  type Api,
  apply,
  BASE,
  bearer,
  commit,
  condition,
  openApi,
  ORDERS,
  PAYMENTS,
  push,
  segment,
  TOKEN,
  work,
} from './harness.ts';

const DEFINITIONS = `${BASE}/workflow-definitions`;
const remove = (api: Api, url: string) => api.inject({ method: 'DELETE', url, headers: bearer(TOKEN) });
const put = (api: Api, url: string, payload: object) =>
  api.inject({ method: 'PUT', url, headers: bearer(TOKEN), payload });

const report = (more: object = {}) => ({
  name: 'report',
  triggers: [{ group: 'g', all: [condition(ORDERS)] }],
  tasks: [{ name: 'a', type: 'NOOP' }],
  ...more,
});

describe('workflow definitions', () => {
  test('made, read, changed, listed in versions', async () => {
    const api = await openApi();
    await apply(api);
    const made = await api.post(DEFINITIONS, report());
    expect([made.status, made.json['version'], made.json['name']], made.text).toEqual([201, 1, 'report']);
    expect((made.json['plan'] as unknown as { kind: string; action: string }[]).map((line) => line.action)).toEqual([
      'CREATE',
      'CREATE',
    ]);
    expect((await api.post(DEFINITIONS, report())).status).toBe(409);
    const changed = await put(api, `${DEFINITIONS}/report`, report({ description: 'better' }));
    expect([changed.status, changed.json['version'], changed.json['description']]).toEqual([200, 2, 'better']);
    const same = await put(api, `${DEFINITIONS}/report`, report({ description: 'better' }));
    expect([same.status, same.json['version']]).toEqual([200, 2]);
    const versions = (await api.get(`${DEFINITIONS}/report/versions`)).json['items'] as unknown as object[];
    expect(versions.map((each) => (each as { version: number }).version)).toEqual([2, 1]);
    const first = await api.get(`${DEFINITIONS}/report/versions/1`);
    expect([first.json['version'], first.json['description']]).toEqual([1, '']);
    expect((await api.get(`${DEFINITIONS}/report/versions/9`)).status).toBe(404);
  });

  test('what is wrong is said all at once, with its place', async () => {
    const api = await openApi();
    await apply(api);
    const answer = await api.post(
      DEFINITIONS,
      report({ triggers: [{ group: 'g', all: [] }], tasks: [{ name: 'a', type: 'MAGIC' }] }),
    );
    const problems = answer.json['problems'] as unknown as { path: (string | number)[] }[];
    expect([answer.status, problems.map(({ path }) => path.join('.'))]).toEqual([
      400,
      ['triggers.0', 'tasks.0.params'],
    ]);
    expect(
      (
        await api.post(
          `${DEFINITIONS}?strict=true`,
          report({ triggers: [{ group: 'g', all: [condition('paimon://x/y')] }] }),
        )
      ).status,
    ).toBe(404);
  });

  test('a change for another version, or under another name, is refused', async () => {
    const api = await openApi();
    await apply(api);
    await api.post(DEFINITIONS, report());
    await put(api, `${DEFINITIONS}/report?version=1`, report({ description: 'b' }));
    expect((await put(api, `${DEFINITIONS}/report?version=1`, report({ description: 'c' }))).status).toBe(409);
    expect((await put(api, `${DEFINITIONS}/report`, report({ name: 'other' }))).status).toBe(400);
    expect((await put(api, `${DEFINITIONS}/nobody`, report())).status).toBe(404);
  });

  test('offline, its groups say so and do not fire; online again they do; only offline it is removed', async () => {
    const api = await openApi();
    await apply(api);
    await api.post(DEFINITIONS, report());
    const release = (releaseState: string) => api.post(`${DEFINITIONS}/report/release`, { releaseState });
    const reportRuns = async () =>
      ((await api.get(`${BASE}/workflow-instances?workflow=report`)).json['items'] as unknown as unknown[]).length;
    expect((await release('OFFLINE')).json['releaseState']).toBe('OFFLINE');
    await push(api, commit(ORDERS, 1));
    expect(await reportRuns()).toBe(0);
    const why = (await api.get(`${DEFINITIONS}/report/why`)).json['groups'] as unknown as {
      results: { actual: string }[];
    }[];
    expect(why[0]?.results.map(({ actual }) => actual)).toContain('the workflow is offline');
    await release('ONLINE');
    await api.store.groups.evaluateDue(10);
    expect(await reportRuns()).toBe(1);
    expect((await remove(api, `${DEFINITIONS}/report`)).status).toBe(409);
    await release('OFFLINE');
    expect((await remove(api, `${DEFINITIONS}/report`)).json['detail']).toMatch(/Stop run 1 of workflow report/);
    await work(api);
    expect((await remove(api, `${DEFINITIONS}/report`)).status).toBe(204);
    expect((await api.get(`${DEFINITIONS}/report`)).status).toBe(404);
    const run = await api.get(`${BASE}/workflow-instances/1`);
    expect([run.status, run.json['workflow']]).toEqual([200, 'report']);
  });
});

describe('groups', () => {
  test('paused, it says so and starts nothing; resumed, it starts one run for what arrived, or with skip none', async () => {
    const api = await openApi();
    await apply(api);
    await api.post(DEFINITIONS, report());
    const steer = (what: string, body?: object) => api.post(`${DEFINITIONS}/report/groups/g/${what}`, body);
    const runs = async () =>
      ((await api.get(`${BASE}/workflow-instances?workflow=report`)).json['items'] as unknown as unknown[]).length;
    expect((await steer('pause')).json).toMatchObject({ group: 'g', paused: true });
    await push(api, commit(ORDERS, 1), commit(ORDERS, 2));
    expect(await runs()).toBe(0);
    const why = (await api.get(`${DEFINITIONS}/report/why`)).json['groups'] as unknown as object[];
    expect(why[0]).toMatchObject({
      paused: true,
      results: expect.arrayContaining([expect.objectContaining({ code: 'BLOCKED_BY_PAUSED' })]) as unknown,
    });
    expect((await steer('resume')).json).toMatchObject({ paused: false, ready: true });
    await api.store.groups.evaluateDue(10);
    expect(await runs()).toBe(1);
    await work(api);
    await steer('pause');
    await push(api, commit(ORDERS, 3));
    expect((await steer('resume', { skip: true })).json).toMatchObject({ paused: false, ready: false });
    await api.store.groups.evaluateDue(10);
    expect(await runs()).toBe(1);
    expect((await steer('resume')).status).toBe(409);
    expect((await api.post(`${DEFINITIONS}/report/groups/h/pause`)).status).toBe(404);
  });

  test('online with skip, what arrived while it was offline starts nothing', async () => {
    const api = await openApi();
    await apply(api);
    await api.post(DEFINITIONS, report());
    await api.post(`${DEFINITIONS}/report/release`, { releaseState: 'OFFLINE' });
    await push(api, commit(ORDERS, 1));
    await api.post(`${DEFINITIONS}/report/release`, { releaseState: 'ONLINE', skip: true });
    await api.store.groups.evaluateDue(10);
    expect((await api.get(`${BASE}/workflow-instances?workflow=report`)).json['items']).toEqual([]);
    const again = await api.post(`${DEFINITIONS}/report/release`, { releaseState: 'ONLINE', skip: true });
    expect([again.status, again.json['detail']]).toEqual([409, expect.stringMatching(/report is online already/)]);
    expect((await api.post(`${DEFINITIONS}/report/release`, { releaseState: 'ONLINE' })).status).toBe(200);
    const offline = await api.post(`${DEFINITIONS}/report/release`, { releaseState: 'OFFLINE', skip: true });
    expect([offline.status, offline.json['code']]).toEqual([400, 'BAD_REQUEST']);
    expect((await api.get(`${DEFINITIONS}/report`)).json['releaseState']).toBe('ONLINE');
  });
});

describe('projects', () => {
  test('paused, why says so of every group and none starts a run; resumed, one run for what arrived, or with skip none', async () => {
    const api = await openApi();
    await apply(api);
    await api.post(DEFINITIONS, report());
    const runs = async () =>
      ((await api.get(`${BASE}/workflow-instances`)).json['items'] as unknown as { workflow: string }[]).map(
        ({ workflow }) => workflow,
      );
    const results = async (workflow: string) => {
      const { json } = await api.get(`${DEFINITIONS}/${workflow}/why`);
      const groups = json['groups'] as unknown as { paused: boolean; ready: boolean; results: object[] }[];
      return groups.map(({ paused, ready, results: all }) => [paused, ready, all.at(-1)]);
    };
    expect((await api.post(`${BASE}/pause`)).json).toEqual({ code: 1, name: 'gmv', paused: true });
    expect((await api.post(`${BASE}/pause`)).json).toEqual({ code: 1, name: 'gmv', paused: true });
    expect((await api.get('/api/v1/projects')).json['items']).toEqual([{ code: 1, name: 'gmv', paused: true }]);
    await push(api, commit(ORDERS, 1), commit(PAYMENTS, 1));
    expect(await runs()).toEqual([]);
    const gate = expect.objectContaining({
      assetKey: null,
      met: false,
      code: 'BLOCKED_BY_PAUSED',
      actual: 'the project is paused',
    }) as unknown;
    expect(await results('report')).toEqual([[false, false, gate]]);
    expect(await results('trade')).toEqual([[false, false, gate]]);
    const group = await api.post(`${DEFINITIONS}/report/groups/g/resume`);
    expect([group.status, group.json['detail']]).toEqual([
      409,
      'Leave group g as it is: it is not paused itself; it starts no run as long as the project is paused.',
    ]);
    expect((await api.post('/api/v1/projects/1/resume')).json).toEqual({ code: 1, name: 'gmv', paused: false });
    await api.store.groups.evaluateDue(10);
    expect((await runs()).toSorted()).toEqual(['report', 'trade']);
    await work(api);
    await api.post(`${BASE}/pause`);
    await push(api, commit(ORDERS, 2), commit(PAYMENTS, 2));
    expect((await api.post(`${BASE}/resume`, { skip: true })).json['paused']).toBe(false);
    await api.store.groups.evaluateDue(10);
    expect(await runs()).toHaveLength(2);
    const again = await api.post(`${BASE}/resume`);
    expect([again.status, again.json['detail']]).toEqual([409, 'Leave project gmv as it is: it is not paused.']);
    expect((await api.post('/api/v1/projects/nobody/pause')).status).toBe(404);
    expect((await api.inject({ method: 'POST', url: `${BASE}/pause`, headers: bearer('read-token') })).status).toBe(
      403,
    );
  });
});

describe('assets', () => {
  test('are named by their code wherever they are by their key', async () => {
    const api = await openApi();
    await apply(api);
    await push(api, commit(ORDERS, 1), commit(PAYMENTS, 7));
    const items = (await api.get(`${BASE}/assets`)).json['items'] as unknown as { key: string; code: number }[];
    const code = items.find(({ key }) => key === PAYMENTS)?.code;
    const at = async (path: string) => (await api.get(`${BASE}/assets/${code}${path}`)).json;
    expect(await at('')).toMatchObject({ key: PAYMENTS, code });
    expect(await at('/state')).toMatchObject({ assetKey: PAYMENTS });
    expect(await at('/versions')).toMatchObject({ items: [{ assetKey: PAYMENTS, snapshotId: '7' }] });
    const events = (await api.get(`${BASE}/asset-events?assetKey=${code}`)).json['items'] as unknown as object[];
    expect(events).toEqual([expect.objectContaining({ assetKey: PAYMENTS })]);
    const started = await api.post(`${DEFINITIONS}/trade/start`, { pins: { [String(code)]: '7' } });
    expect(started.json['pins']).toMatchObject({ [PAYMENTS]: { snapshotId: '7' } });
    const unknown = await api.get(`${BASE}/assets/9007199254740991/state`);
    expect([unknown.status, unknown.json['code']]).toEqual([404, 'UNKNOWN_ASSET']);
    expect((await api.get(`${BASE}/assets/9007199254740993/state`)).json['code']).toBe('BAD_ASSET_KEY');
    await api.post('/api/v1/projects/other/assets', { key: 'paimon://x/y' });
    expect((await api.get(`/api/v1/projects/other/assets/${code}/state`)).status).toBe(404);
  });

  test('removed when no group waits for them', async () => {
    const api = await openApi();
    await apply(api);
    const url = (key: string) => `${BASE}/assets/${segment(key)}`;
    const refused = await remove(api, url(ORDERS));
    expect([refused.status, refused.json['detail']]).toEqual([
      409,
      expect.stringContaining('group both of workflow trade'),
    ]);
    await api.post(`${BASE}/assets`, { key: 'paimon://x/y' });
    expect((await remove(api, url('paimon://x/y'))).status).toBe(204);
    expect((await api.get(url('paimon://x/y'))).status).toBe(404);
  });

  test('a held one goes on when a person says so', async () => {
    const api = await openApi();
    await apply(api);
    await api.post(`${BASE}/assets`, { key: PAYMENTS, onRollback: 'HOLD' });
    const url = `${BASE}/assets/${segment(PAYMENTS)}/release`;
    expect((await api.post(url)).status).toBe(409);
    await push(api, commit(PAYMENTS, 1), commit(PAYMENTS, 2));
    await push(api, { assetKey: PAYMENTS, eventType: 'ROLLED_BACK', snapshotId: '1' });
    expect((await api.get(`${BASE}/assets/${segment(PAYMENTS)}/state`)).json['health']).toBe('HELD');
    expect((await api.post(url)).json['health']).toBe('OK');
  });
});
