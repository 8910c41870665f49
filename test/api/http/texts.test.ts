import { describe, expect, test } from 'vitest';
import { apply, BASE, bearer, commit, condition, declaration, openApi, ORDERS, PAYMENTS, TOKEN } from '../harness.ts';

/** Texts that no database keeps: NUL, which PostgreSQL refuses, and halves of surrogate pairs, which UTF-8 has not. */

const BAD = [
  ['NUL', 'a\0b'],
  ['half a surrogate pair', 'a\ud800b'],
  ['the other half', '\udc00'],
] as const;

const said = (what: string) => `Leave NUL and halves of surrogate pairs out of ${what}: no database keeps them.`;

type Problems = { path: (string | number)[]; detail: string }[];

describe.each(BAD)('%s', (_, bad) => {
  test('in a pushed event refuses that one and no other', async () => {
    const api = await openApi();
    await apply(api);
    const { status, json } = await api.post(`${BASE}/asset-events`, [
      commit(ORDERS, 1),
      commit(ORDERS, 2, { tableId: bad }),
      commit(ORDERS, 3, { [bad]: 1 }),
      commit(PAYMENTS, bad),
      commit(PAYMENTS, 7),
    ]);
    expect([status, json['accepted']]).toEqual([202, 2]);
    expect(json['rejected']).toEqual([
      { index: 1, code: 'BAD_EVENT', detail: said('tableId') },
      { index: 2, code: 'BAD_EVENT', detail: said(`the key ${JSON.stringify(bad)} of the body`) },
      { index: 3, code: 'BAD_EVENT', detail: said('snapshotId') },
    ]);
    const one = await api.post(`${BASE}/asset-events`, commit(ORDERS, 4, { partitionKey: bad }));
    expect([one.status, one.json['detail']]).toEqual([400, said('partitionKey')]);
  });

  test('in the payload of an event is kept as JSON', async () => {
    const api = await openApi();
    await apply(api);
    const payload = { [bad]: bad };
    expect((await api.post(`${BASE}/asset-events`, commit(ORDERS, 1, { payload }))).status).toBe(202);
    const [event] = (await api.get(`${BASE}/asset-events`)).json['items'] as unknown as { payload: string }[];
    expect(event?.payload).toMatch(/^[ -~]*$/);
    expect(JSON.parse(event?.payload ?? '')).toEqual(payload);
  });

  test('in a declaration is said with every place, and nothing is written', async () => {
    const api = await openApi();
    const tasks = [{ name: 'dwd', type: 'NOOP', description: bad }];
    const file = declaration({ tasks, globalParams: { day: bad, [`n${bad}`]: 1 } });
    const { status, json } = await api.post(`${BASE}/apply`, { declaration: file });
    const problems = json['problems'] as unknown as Problems;
    expect([status, json['code']]).toEqual([400, 'BAD_FILE']);
    expect(problems.map(({ path, detail }) => [path.join('.'), detail])).toEqual([
      ['workflows.0.tasks.0.description', said('this text')],
      ['workflows.0.globalParams.day', said('this text')],
      ['workflows.0.globalParams', said(`the key ${JSON.stringify(`n${bad}`)} here`)],
    ]);
    expect((await api.get('/api/v1/projects')).json['items']).toEqual([]);
  });

  test.each<['POST' | 'PUT', string, object, string]>([
    ['POST', '/workflow-definitions', { name: 'w', description: bad, tasks: [] }, 'description'],
    ['PUT', '/workflow-definitions/trade', { name: 'trade', tasks: [{ name: bad }] }, 'tasks.0.name'],
    ['POST', '/assets', { key: 'paimon://a/b', description: bad }, 'description'],
    ['POST', '/asset-dependencies', [{ assetKey: ORDERS, dependencyGroup: bad }], '0.dependencyGroup'],
  ])('in what %s %s declares', async (method, path, payload, place) => {
    const api = await openApi();
    await apply(api);
    const { status, json } = await api.inject({ method, url: BASE + path, payload, headers: bearer(TOKEN) });
    const [problem] = json['problems'] as unknown as Problems;
    expect([status, json['code'], problem?.path.join('.'), problem?.detail]).toEqual([
      400,
      'BAD_FILE',
      place,
      said('this text'),
    ]);
  });

  test('in the parameters of a run, their names and its pins', async () => {
    const api = await openApi();
    await apply(api);
    for (const [body, what] of [
      [{ params: { mode: bad } }, 'params.mode'],
      [{ params: { [bad]: 1 } }, `the key ${JSON.stringify(bad)} of params`],
      [{ pins: { [ORDERS]: bad } }, `pins.${ORDERS}`],
      [{ startTasks: ['dwd', bad] }, 'startTasks.1'],
    ] as const) {
      const { status, json } = await api.post(`${BASE}/workflow-definitions/trade/start`, body);
      expect([status, json['code'], json['detail']]).toEqual([400, 'BAD_REQUEST', said(what)]);
    }
    expect((await api.get(`${BASE}/workflow-instances`)).json['items']).toEqual([]);
  });
});

test('NUL in an address is refused where it stands', async () => {
  const api = await openApi();
  await apply(api);
  for (const [path, what] of [
    [`${BASE}/workflow-instances?workflow=a%00`, '"workflow" after the "?"'],
    [`${BASE}/asset-events?cursor=a&cursor=%00`, '"cursor" after the "?"'],
    ['/api/v1/projects/a%00/assets', '"projectCode" in the address'],
    [`${BASE}/workflow-definitions/a%00/why`, '"code" in the address'],
  ] as const) {
    const { status, json } = await api.get(path);
    expect([status, json['code'], json['detail']], path).toEqual([400, 'BAD_REQUEST', said(what)]);
  }
});

test('characters beyond the first plane, and all others that are whole, are kept', async () => {
  const api = await openApi();
  const text = '𝄞 中文 \u0001\u2028\ufffd';
  await apply(api, declaration({ description: text, triggers: [{ group: 'g', all: [condition(ORDERS)] }] }));
  expect((await api.get(`${BASE}/workflow-definitions/trade`)).json['description']).toBe(text);
});
