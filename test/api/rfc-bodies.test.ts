import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { describeShared } from '../support/shared.ts';
import { type Api, apply, bearer, commit, condition, openApi, push, segment, TOKEN, work } from './harness.ts';

const ORDERS = 'paimon://ods_db/ods_order_latest';
const PAYMENTS = 'paimon://ods_db/ods_payment_latest';
const FACT = 'paimon://dw_db/dwd_trade_event_fact';
const GMV = '/api/v1/projects/gmv';

/** The RFC's own text, as it was posted. */
describeShared('bodies as the RFC writes them', (folder) => {
  const rfc = readFileSync(join(folder, 'seeds/asset-scheduling-rfc.txt'), 'utf8');
  const section = (from: string, to: string): string => rfc.slice(rfc.indexOf(from), rfc.indexOf(to));
  const jsonBlocks = (text: string): readonly string[] =>
    [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, body]) => body ?? '');
  const [dwd = '', dws = ''] = jsonBlocks(section('### 5.3 ', '## 6. '));

  const send = (api: Api, url: string, payload: string) =>
    api.inject({ method: 'POST', url, headers: { ...bearer(TOKEN), 'content-type': 'application/json' }, payload });

  /** An installation whose next codes are those of the RFC's example: workflow 12345, tasks 100 and 200. */
  const install = async (): Promise<Api> => {
    const home = mkdtempSync(join(tmpdir(), 'sluice-rfc-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const file = join(home, 'sluice.db');
    const api = await openApi({}, [], file);
    const database = new DatabaseSync(file);
    const next = database.prepare(
      'insert into t_ds_code_sequence (name, next_code) values (?, ?) on conflict (name) do update set next_code = excluded.next_code',
    );
    for (const key of [ORDERS, PAYMENTS, FACT]) await api.post(`${GMV}/assets`, { assetKey: key });
    next.run('workflow', 12_345);
    next.run('task', 100);
    const dwdTask = { name: 'dwd_trade_event_fact', type: 'NOOP' };
    const trade = (tasks: object[]) => ({
      apiVersion: 'sluice/v1',
      project: 'gmv',
      workflows: [{ name: 'trade', tasks }],
    });
    await apply(api, trade([dwdTask]));
    next.run('task', 200);
    await apply(api, trade([dwdTask, { name: 'dws_gmv_daily', type: 'NOOP', dependsOn: ['dwd_trade_event_fact'] }]));
    database.close();
    return api;
  };

  test('the arrays of 5.3, comments included, make tasks wait', async () => {
    const api = await install();
    expect(dwd).toContain('// DWD_trade_event_fact');
    for (const body of [dwd, dws]) {
      const answer = await send(api, `${GMV}/asset-dependencies`, body);
      expect([answer.status, answer.json['warnings']], answer.text).toEqual([200, []]);
    }
    const workflow = (await api.get(`${GMV}/workflow-definitions/12345`)).json as unknown as {
      tasks: { code: number; wait: { groups: { name: string; enabled: boolean; conditions: object[] }[] } | null }[];
    };
    expect(
      workflow.tasks.map(({ code, wait }) => [
        code,
        wait?.groups.map(({ name, enabled, conditions }) => [name, enabled, conditions.length]),
      ]),
    ).toEqual([
      [100, [['trade_event_group', true, 2]]],
      [200, [['gmv_group', true, 1]]],
    ]);
    expect(workflow.tasks[0]?.wait?.groups[0]?.conditions[0]).toMatchObject({
      assetKey: ORDERS,
      snapshotRequired: true,
      qualityStatus: 'PASSED',
      schemaStatus: 'COMPATIBLE',
    });
    const again = await send(api, `${GMV}/asset-dependencies`, dwd);
    expect((again.json['lines'] as unknown as { action: string }[]).map(({ action }) => action)).toEqual(['UNCHANGED']);
  });

  test('the run of such a workflow waits as 5.3 describes, and goes on step by step', async () => {
    const api = await install();
    await send(api, `${GMV}/asset-dependencies`, dwd);
    await send(api, `${GMV}/asset-dependencies`, dws);
    const started = await api.post(`${GMV}/workflow-definitions/12345/start`);
    expect(started.status, started.text).toBe(201);
    const done = async () => {
      await work(api);
      const { tasks } = (await api.get(`${GMV}/workflow-instances/1/tasks`)).json as unknown as {
        tasks: { name: string; state: string }[];
      };
      return tasks.filter(({ state }) => state === 'SUCCESS').map(({ name }) => name);
    };
    const good = (assetKey: string, snapshotId: number) => [
      commit(assetKey, snapshotId, { schemaId: 0 }),
      { assetKey, eventType: 'QUALITY_CHECK_PASSED', snapshotId, checkName: 'rows' },
    ];
    await work(api);
    await push(api, ...good(ORDERS, 1001), commit(PAYMENTS, 1002, { schemaId: 0 }));
    expect(await done()).toEqual([]);
    await push(api, ...good(PAYMENTS, 1003));
    expect(await done()).toEqual(['dwd_trade_event_fact']);
    await push(api, ...good(FACT, 2001));
    expect(await done()).toEqual(['dwd_trade_event_fact', 'dws_gmv_daily']);
  });

  test('the array of the FAQ names the task alone', async () => {
    const api = await install();
    const [faq = ''] = jsonBlocks(section('**Q1: ', '**Q2: '));
    const answer = await send(api, `${GMV}/asset-dependencies`, faq);
    expect(answer.status, answer.text).toBe(200);
    const { tasks } = (await api.get(`${GMV}/workflow-definitions/trade`)).json as unknown as {
      tasks: { wait: { groups: { name: string; conditions: { assetKey: string }[] }[] } | null }[];
    };
    expect(tasks[1]?.wait?.groups.map(({ name, conditions }) => [name, conditions.map((one) => one.assetKey)])).toEqual(
      [['dws_gmv', ['paimon://dw_db/dwd_trade_event', 'paimon://dw_db/dwd_order_dim']]],
    );
    expect((answer.json['warnings'] as unknown as string[]).length).toBe(2);
  });

  test('the keys of 7.1 name assets, also by the parts of 3.2 and 7.2', async () => {
    const api = await openApi();
    const keys = [...section('### 7.1 ', '### 7.2 ').matchAll(/`(paimon:\/\/\w+\/\w+)`/g)].map(([, key]) => key ?? '');
    expect(keys).toHaveLength(3);
    for (const assetKey of keys) expect((await api.post(`${GMV}/assets`, { assetKey })).status).toBe(200);
    for (const key of keys) expect((await api.get(`${GMV}/assets/${segment(key)}/state`)).status).toBe(200);
    const parts = { storageFormat: 'PAIMON', catalogName: 'default', databaseName: 'ods_db', tableName: 'refunds' };
    expect((await api.post(`${GMV}/assets`, parts)).status).toBe(200);
    expect((await api.get(`${GMV}/assets/${segment('paimon://ods_db/refunds')}`)).status).toBe(200);
    const both = await api.post(`${GMV}/assets`, { ...parts, assetKey: ORDERS });
    expect([both.status, both.json['detail']]).toEqual([400, expect.stringContaining('Name one table')]);
    const nothing = await api.post(`${GMV}/assets`, { ...parts, tableName: null });
    expect(nothing.status).toBe(400);
  });
});

test('rows add to a group, take the place of a condition, and switch the whole group', async () => {
  const api = await openApi();
  await apply(api, {
    apiVersion: 'sluice/v1',
    project: 'gmv',
    assets: [{ key: ORDERS }, { key: PAYMENTS }],
    workflows: [
      {
        name: 'trade',
        triggers: [{ group: 'default', quietSeconds: 5, all: [condition(ORDERS)] }],
        tasks: [{ name: 'a', type: 'NOOP' }],
      },
    ],
  });
  const groups = async () => {
    const { groups: all } = (await api.get(`${GMV}/workflow-definitions/trade`)).json as unknown as {
      groups: { enabled: boolean; quietSeconds: number; conditions: { assetKey: string; qualityStatus: string }[] }[];
    };
    return all.map((one) => [
      one.enabled,
      one.quietSeconds,
      one.conditions.map(({ assetKey, qualityStatus }) => [assetKey, qualityStatus]),
    ]);
  };
  const row = (assetKey: string, more: object = {}) => ({ workflowDefinitionCode: 'trade', assetKey, ...more });
  await api.post(`${GMV}/asset-dependencies`, row(PAYMENTS));
  expect(await groups()).toEqual([
    [
      true,
      5,
      [
        [ORDERS, null],
        [PAYMENTS, null],
      ],
    ],
  ]);
  const text = JSON.stringify({ qualityStatus: 'PASSED' });
  await api.post(`${GMV}/asset-dependencies`, [row(ORDERS, { conditionJson: text, enabledFlag: 0 })]);
  expect(await groups()).toEqual([
    [
      false,
      5,
      [
        [ORDERS, 'PASSED'],
        [PAYMENTS, null],
      ],
    ],
  ]);
});

test.each([
  [[{ assetKey: ORDERS }], /Add "workflowDefinitionCode"/],
  [[{ workflowDefinitionCode: 'trade', assetKey: 'nonsense' }], /Asset key/],
  [[{ workflowDefinitionCode: 'nobody', assetKey: ORDERS }], /there is no nobody/],
  [[{ workflowDefinitionCode: 'trade', taskDefinitionCode: 77, assetKey: ORDERS }], /there is no 77/],
  [
    [{ workflowDefinitionCode: 'trade', assetKey: ORDERS, conditionJson: { snapshotRequired: false } }],
    /fire for ever/,
  ],
  [[{ workflowDefinitionCode: 'trade', assetKey: ORDERS, conditionJson: { assetKey: PAYMENTS } }], /Name one asset/],
  [[{ workflowDefinitionCode: 'trade', assetKey: ORDERS, conditionJson: '{' }], /Write JSON/],
  [[{ workflowDefinitionCode: 'trade', assetKey: ORDERS, enabledFlag: 2 }], /Write 1 or 0/],
  [[{ workflowDefinitionCode: 'trade', assetKey: ORDERS, depGroup: 'x' }], /"depGroup" is not a key/],
  [[], /must NOT have fewer than 1|at least one/],
])('rows that are not right: %j', async (body, detail) => {
  const api = await openApi();
  await apply(api, {
    apiVersion: 'sluice/v1',
    project: 'gmv',
    workflows: [{ name: 'trade', tasks: [{ name: 'a', type: 'NOOP' }] }],
  });
  const answer = await api.post(`${GMV}/asset-dependencies`, body);
  expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
  expect(answer.json['detail']).toMatch(detail);
});
