import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Api, apply, BASE, declaration, openApi, ORDERS } from '../harness.ts';

const workflow = (name: string) => ({ name, tasks: [{ name: 'a', type: 'NOOP' }] });
const under = (key: string) => ({ 'idempotency-key': key });
const DEFINITIONS = `${BASE}/workflow-definitions`;

/** What each POST that makes something may be asked to make, twice. */
const MAKING: readonly (readonly [
  what: string,
  make: (api: Api, body: string, key: string) => ReturnType<Api['post']>,
])[] = [
  ['a workflow', (api, name, key) => api.post(DEFINITIONS, workflow(name), under(key))],
  ['a run', (api, x, key) => api.post(`${DEFINITIONS}/trade/start`, { params: { x } }, under(key))],
  ['an asset', (api, table, key) => api.post(`${BASE}/assets`, { key: `paimon://x/${table}` }, under(key))],
  [
    'dependencies',
    (api, dependencyGroup, key) =>
      api.post(
        `${BASE}/asset-dependencies`,
        [{ workflowDefinitionCode: 'trade', assetKey: ORDERS, dependencyGroup }],
        under(key),
      ),
  ],
  [
    'an event',
    (api, checkName, key) =>
      api.post(`${BASE}/asset-events`, { assetKey: ORDERS, eventType: 'QUALITY_CHECK_PASSED', checkName }, under(key)),
  ],
  [
    'a decision',
    (api, schemaId, key) =>
      api.post(`${BASE}/assets/${encodeURIComponent(ORDERS)}/approve-schema`, { schemaId }, under(key)),
  ],
  [
    'what a file declares',
    (api, name, key) => api.post(`${BASE}/apply`, { declaration: declaration({ name }) }, under(key)),
  ],
];

test.each(MAKING)('%s: the same key and body is one request, another body under it is refused', async (_what, make) => {
  const api = await openApi();
  await apply(api);
  const first = await make(api, 'one', 'k');
  expect(first.status, first.text).toBeLessThan(300);
  const again = await make(api, 'one', 'k');
  expect(again.status, again.text).toBeLessThan(300);
  const other = await make(api, 'two', 'k');
  expect([other.status, other.json['code']]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  expect((await make(api, 'two', 'k2')).status).toBeLessThan(300);
});

test('a created thing is answered as the first time, word for word', async () => {
  const api = await openApi();
  await apply(api);
  const first = await api.post(DEFINITIONS, workflow('w'), under('k'));
  const again = await api.post(DEFINITIONS, workflow('w'), under('k'));
  expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([201, first.text, 'true']);
  expect((await api.post(DEFINITIONS, workflow('w'))).status).toBe(409);
});

test('one run, however often it is asked for', async () => {
  const api = await openApi();
  await apply(api);
  const start = () => api.post(`${DEFINITIONS}/trade/start`, { params: { x: '1' } }, under('k'));
  expect([(await start()).status, (await start()).status, (await start()).json['duplicate']]).toEqual([201, 200, true]);
  expect((await api.get(`${BASE}/workflow-instances`)).json['items']).toHaveLength(1);
});

test('the order of keys in a body does not matter, and a key belongs to its route', async () => {
  const api = await openApi();
  await apply(api);
  const { name, tasks } = workflow('w');
  expect((await api.post(DEFINITIONS, { name, tasks }, under('k'))).status).toBe(201);
  expect((await api.post(DEFINITIONS, { tasks, name }, under('k'))).status).toBe(201);
  expect((await api.post(`${BASE}/assets`, { key: 'paimon://x/y' }, under('k'))).status).toBe(200);
});

test('a request that was refused leaves its key free', async () => {
  const api = await openApi();
  await apply(api);
  expect((await api.post(DEFINITIONS, { name: 'w', tasks: [] }, under('k'))).status).toBe(400);
  expect((await api.post(DEFINITIONS, workflow('trade'), under('k'))).status).toBe(409);
  expect((await api.post(DEFINITIONS, workflow('w'), under('k'))).status).toBe(201);
});

test('a key that nobody could mean is refused', async () => {
  const api = await openApi();
  await apply(api);
  expect((await api.post(DEFINITIONS, workflow('w'), under('k'.repeat(256)))).status).toBe(400);
});

test('keys survive a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const first = await openApi({}, [], join(folder, 'sluice.db'));
  await apply(first);
  const made = await first.post(DEFINITIONS, workflow('w'), under('k'));
  const second = await openApi({}, [], join(folder, 'sluice.db'));
  expect((await second.post(DEFINITIONS, workflow('w'), under('k'))).text).toBe(made.text);
  expect((await second.post(DEFINITIONS, workflow('other'), under('k'))).status).toBe(422);
});

test('what was made before the server died and could say so is answered as made, not as being in the way', async () => {
  const api = await openApi();
  await apply(api);
  vi.spyOn(api.store.idempotency, 'keep').mockRejectedValueOnce(new Error('died'));
  expect((await api.post(DEFINITIONS, workflow('w'), under('k'))).status).toBe(500);
  const again = await api.post(DEFINITIONS, workflow('w'), under('k'));
  expect([again.status, again.json['name'], again.json['version']]).toEqual([201, 'w', 1]);
  expect((await api.post(DEFINITIONS, workflow('w'), under('k'))).text).toBe(again.text);
  expect((await api.post(DEFINITIONS, workflow('w'), under('k2'))).status).toBe(409);
});

test('a server in which a POST does not say what a repetition means does not start', async () => {
  await expect(openApi({}, [(app) => app.post('/x', { config: { permission: 'read' } }, () => ({}))])).rejects.toThrow(
    /repeats/,
  );
});
