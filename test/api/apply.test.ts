import { describe, expect, test } from 'vitest';
import { apply, BASE, condition, declaration, openApi, ORDERS, PAYMENTS, segment } from './harness.ts';

const APPLY = `${BASE}/apply`;
const lines = (json: Record<string, unknown>) =>
  (json['lines'] as { kind: string; name: string; action: string }[]).map(
    ({ kind, name, action }) => `${action} ${kind} ${name}`,
  );

describe('applying a declaration', () => {
  test('creates, then changes nothing', async () => {
    const api = await openApi();
    const first = await api.post(APPLY, { declaration: declaration() });
    expect(first.status, first.text).toBe(200);
    expect(lines(first.json)).toEqual([
      `CREATE ASSET ${ORDERS}`,
      `CREATE ASSET ${PAYMENTS}`,
      'CREATE WORKFLOW trade',
      'CREATE GROUP trade/both',
    ]);
    const second = await api.post(APPLY, { declaration: declaration() });
    expect(lines(second.json).every((line) => line.startsWith('UNCHANGED'))).toBe(true);
    expect((await api.get('/api/v1/projects')).json['items']).toEqual([expect.objectContaining({ name: 'gmv' })]);
  });

  test('a dry run writes nothing', async () => {
    const api = await openApi();
    const plan = await api.post(APPLY, { declaration: declaration(), dryRun: true });
    expect([plan.status, plan.json['dryRun']]).toEqual([200, true]);
    expect(lines(plan.json)).toContain('CREATE WORKFLOW trade');
    expect((await api.get('/api/v1/projects')).json['items']).toEqual([]);
  });

  test('tables that nobody has read are looked at before the groups begin', async () => {
    const api = await openApi();
    const located = { ...declaration(), assets: [{ key: ORDERS, location: '/w/orders' }, { key: PAYMENTS }] };
    await api.post(APPLY, { declaration: located, dryRun: true });
    expect(api.scans).toEqual([]);
    await apply(api, located);
    expect(api.scans).toEqual([ORDERS]);
  });

  test('every problem comes back, and nothing was written', async () => {
    const api = await openApi();
    const bad = declaration({ timezone: 'Mars', tasks: [{ name: 'a', type: 'NOPE' }] });
    const { status, json } = await api.post(APPLY, { declaration: bad });
    expect([status, json['code']]).toEqual([400, 'BAD_FILE']);
    expect(json['problems']).toEqual([
      { path: ['workflows', 0, 'timezone'], code: 'BAD_FILE', detail: expect.any(String) },
      { path: ['workflows', 0, 'tasks', 0, 'params'], code: 'BAD_FILE', detail: 'There is no NOPE.' },
    ]);
    expect((await api.get('/api/v1/projects')).json['items']).toEqual([]);
  });

  test.each([
    [
      'WORKFLOW_CYCLE',
      {
        tasks: [
          { name: 'a', type: 'NOOP', dependsOn: ['b'] },
          { name: 'b', type: 'NOOP', dependsOn: ['a'] },
        ],
      },
    ],
    ['GROUP_NEVER_WAITS', { triggers: [{ group: 'g', all: [condition(ORDERS, { snapshotRequired: false })] }] }],
  ])('%s', async (code, changes) => {
    const api = await openApi();
    const { status, json } = await api.post(APPLY, { declaration: declaration(changes) });
    expect([status, json['code']]).toEqual([400, code]);
  });

  test('an unknown asset is a warning, and refused with strict', async () => {
    const api = await openApi();
    const file = { ...declaration(), assets: [{ key: ORDERS }] };
    const strict = await api.post(APPLY, { declaration: file, strict: true });
    expect([strict.status, strict.json['code']]).toEqual([404, 'UNKNOWN_ASSET']);
    const loose = await api.post(APPLY, { declaration: file });
    expect(loose.status).toBe(200);
    expect(loose.json['warnings']).toEqual([expect.stringContaining(PAYMENTS)]);
  });

  test('the file must name the project that it is sent to', async () => {
    const api = await openApi();
    const { status, json } = await api.post('/api/v1/projects/other/apply', { declaration: declaration() });
    expect([status, json['code']]).toEqual([400, 'BAD_FILE']);
    expect((await api.post('/api/v1/projects/42/apply', { declaration: declaration() })).status).toBe(404);
  });

  test('a project is called by its code or its name', async () => {
    const api = await openApi();
    await apply(api);
    const [project] = (await api.get('/api/v1/projects')).json['items'] as unknown as { code: number }[];
    for (const name of ['gmv', String(project?.code)])
      expect((await api.get(`/api/v1/projects/${name}/workflow-definitions`)).status).toBe(200);
    const unknown = await api.get('/api/v1/projects/nope/workflow-definitions');
    expect([unknown.status, unknown.json['code']]).toEqual([404, 'NOT_FOUND']);
  });

  test('registering an asset by itself, and updating it', async () => {
    const api = await openApi();
    const created = await api.post(`${BASE}/assets`, { key: ORDERS, location: '/w/orders', onGap: 'HOLD' });
    expect(lines(created.json)).toEqual([`CREATE ASSET ${ORDERS}`]);
    await api.post(`${BASE}/assets`, { key: ORDERS, location: '/w/orders', pollIntervalSeconds: 5 });
    const { json } = await api.get(`${BASE}/assets/${segment(ORDERS)}`);
    expect(json).toMatchObject({
      onGap: 'CONTINUE',
      pollIntervalSeconds: 5,
      pushMode: 'VERIFY',
      project: 'gmv',
      consumers: [],
    });
    expect((await api.get(`${BASE}/assets`)).json['items']).toHaveLength(1);
    const relative = await api.post(`${BASE}/assets`, { key: ORDERS, location: 'orders' });
    expect([relative.status, relative.json['code']]).toEqual([400, 'BAD_FILE']);
  });

  test('scanning an asset, and one that nobody can read', async () => {
    const api = await openApi();
    await api.post(`${BASE}/assets`, { key: ORDERS, location: '/w/orders' });
    const scanned = await api.post(`${BASE}/assets/${segment(ORDERS)}/scan`);
    expect([scanned.status, scanned.json['finished'], scanned.json['newVersions']]).toEqual([200, true, 0]);
    expect(api.scans).toEqual([ORDERS]);
    await api.post(`${BASE}/assets`, { key: PAYMENTS });
    const pushed = await api.post(`${BASE}/assets/${segment(PAYMENTS)}/scan`, {});
    expect([pushed.status, pushed.json['code']]).toEqual([409, 'CONFLICT']);
    expect((await api.post(`${BASE}/assets/${segment('paimon://no/one')}/scan`)).status).toBe(404);
  });

  test('approving a schema before its first commit', async () => {
    const api = await openApi();
    await api.post(`${BASE}/assets`, { key: ORDERS });
    const { status, json } = await api.post(`${BASE}/assets/${segment(ORDERS)}/approve-schema`, { schemaId: 3 });
    expect([status, json['accepted']]).toEqual([202, 1]);
    const { schemas } = (await api.get(`${BASE}/assets/${segment(ORDERS)}`)).json as unknown as { schemas: object[] };
    expect(schemas).toEqual([expect.objectContaining({ schemaId: '3', status: 'COMPATIBLE', decidedBy: 'PERSON' })]);
  });
});
