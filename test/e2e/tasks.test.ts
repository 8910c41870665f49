import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { laySteps, makePlace, type Place, sluice, startServer, until } from '../support/server.ts';
import { clientOf } from '../support/server-client.ts';
import { said } from './said.ts';
import { assetsOf, ORDERS, onOrders, onPayments, shell, tableFolder, writeDeclaration } from './workflow-file.ts';

/** What a task gets, and what becomes of one that fails, takes too long, or must not start. */

const LIMIT = { timeout: 150_000 };
const waitFor = (place: Place, name: string): string =>
  `until [ -e "${join(place.folder, name)}" ]; do sleep 0.05; done`;

async function serve(place: Place, declared: object) {
  const client = clientOf(place, await startServer(place), 'e2e');
  await said(sluice(place, ['apply', '-f', writeDeclaration(place, declared)]));
  return client;
}

test('the context file, the environment and the script say the same about the pins', LIMIT, async () => {
  const place = makePlace();
  laySteps(place, 1, 2);
  const script =
    'cat "$SLUICE_CONTEXT"; echo; echo "$SLUICE_ASSET_ORDERS_SNAPSHOT_ID ${asset.orders.snapshot_id} $SLUICE_TRIGGER_KEY ${trigger.key}"';
  const tasks = [
    { name: 'tell', ...shell(`${script}; echo "\${asset.orders.read_options.spark}|$SLUICE_ATTEMPT|$SLUICE_RUN_ID"`) },
  ];
  const client = await serve(place, {
    assets: assetsOf(place),
    workflows: [{ name: 'w', timezone: 'Asia/Shanghai', triggers: onOrders, tasks }],
  });
  laySteps(place, 3);
  const [run] = await client.untilRuns(1, 'SUCCESS');
  const text = await said(sluice(place, ['logs', '1', 'tell']));
  const [context = '', rest = ''] = text.split(/(?<=^\})\n/m);
  expect(JSON.parse(context)).toMatchObject({
    workflow: { name: 'w', version: 1, project: 'e2e', timezone: 'Asia/Shanghai' },
    run: { id: 1, scheduleTime: null },
    trigger: { key: run?.triggerKey, group: 'new_orders' },
    task: { name: 'tell', type: 'SHELL', attempt: 1 },
    assets: {
      orders: {
        assetKey: ORDERS,
        format: 'paimon',
        snapshotId: '2',
        previousSnapshotId: null,
        incremental: false,
        incrementalReason: expect.any(String),
        schemaId: '0',
        tag: null,
        commitTime: expect.stringMatching(/^2026-11-30T/),
        location: tableFolder(place, ORDERS),
        readOptions: { spark: 'VERSION AS OF 2' },
      },
    },
  });
  expect(rest.trim()).toBe(`2 2 ${run?.triggerKey} ${run?.triggerKey}\nVERSION AS OF 2|1|1`);
});

test(
  'a value that does not belong into a script is kept out of it, and the environment carries it',
  LIMIT,
  async () => {
    const place = makePlace();
    const location = join(place.warehouse, '$(touch harmed)');
    laySteps(place, 1, 2);
    renameSync(join(place.warehouse, 'ods_db.db/ods_order_latest'), location);
    const tasks = [
      { name: 'unsafe', ...shell('echo ${asset.orders.location}') },
      { name: 'safe', ...shell('echo "$SLUICE_ASSET_ORDERS_LOCATION"') },
    ];
    const client = await serve(place, {
      assets: [{ key: ORDERS, location }],
      workflows: [{ name: 'w', triggers: onOrders, tasks }],
    });
    expect((await sluice(place, ['run', 'w', '--wait'])).code).toBe(1);
    const { tasks: ended } = await client.run(1);
    expect(ended.find(({ name }) => name === 'unsafe')).toMatchObject({
      state: 'FAILURE',
      startTime: null,
      reason: expect.stringMatching(/^UNSAFE_PARAMETER: .*asset\.orders\.location/),
    });
    expect(await said(sluice(place, ['logs', '1', 'safe']))).toBe(`${location}\n`);
    expect(existsSync(join(place.folder, 'harmed'))).toBe(false);
  },
);

test('a pin that expired before its task could start fails it, before any process starts', LIMIT, async () => {
  const place = makePlace();
  laySteps(place, 1, 2, 3);
  const tasks = [
    { name: 'first', ...shell(`touch "${place.folder}/begun"; ${waitFor(place, 'go')}`) },
    { name: 'second', dependsOn: ['first'], failRetryTimes: 0, ...shell(`touch "${place.folder}/harmed"`) },
  ];
  const client = await serve(place, { assets: assetsOf(place), workflows: [{ name: 'w', triggers: onOrders, tasks }] });
  await said(sluice(place, ['run', 'w', '--pin', `${ORDERS}=1`]));
  await until('the first task to begin', () => existsSync(join(place.folder, 'begun')));
  rmSync(join(tableFolder(place, ORDERS), 'snapshot/snapshot-1'));
  writeFileSync(join(tableFolder(place, ORDERS), 'snapshot/EARLIEST'), '2');
  writeFileSync(join(place.folder, 'go'), '');
  const run = await client.untilRun(1, 'FAILURE');
  expect(run.tasks).toMatchObject([
    { name: 'first', state: 'SUCCESS' },
    {
      name: 'second',
      state: 'FAILURE',
      startTime: null,
      reason: expect.stringMatching(/^PIN_EXPIRED: Version 1 of .* can no longer be read.*--repin/),
    },
  ]);
  expect(existsSync(join(place.folder, 'harmed'))).toBe(false);
  // What the sentence advises works.
  await said(sluice(place, ['runs', 'recover', '1', '--repin']));
  expect(await client.untilRun(1, 'SUCCESS')).toMatchObject({ pins: { [ORDERS]: { snapshotId: '2' } } });
});

test('a task that fails is tried again as often as it says, and each attempt keeps its log', LIMIT, async () => {
  const place = makePlace();
  const tasks = [
    {
      name: 'flaky',
      failRetryTimes: 2,
      failRetryIntervalSeconds: 1,
      ...shell('echo "try $SLUICE_ATTEMPT"; [ $SLUICE_ATTEMPT = 3 ]'),
    },
  ];
  const client = await serve(place, { workflows: [{ name: 'w', tasks }] });
  expect((await sluice(place, ['run', 'w', '--wait'])).code).toBe(0);
  const attempts = await client.attempts(1);
  expect(attempts.map(({ state, exitCode }) => [state, exitCode])).toEqual([
    ['FAILURE', 1],
    ['FAILURE', 1],
    ['SUCCESS', 0],
  ]);
  for (const [before, after] of [
    [0, 1],
    [1, 2],
  ] as const)
    expect(
      Date.parse(attempts[after]?.startTime ?? '') - Date.parse(attempts[before]?.endTime ?? ''),
    ).toBeGreaterThanOrEqual(1000);
  for (const n of [1, 2, 3])
    expect(await said(sluice(place, ['logs', '1', 'flaky', '--attempt', String(n)]))).toBe(`try ${n}\n`);
});

test(
  'a task over its time limit is killed with all that it started, and the rest of the server goes on',
  LIMIT,
  async () => {
    const place = makePlace();
    laySteps(place, 1, 2, 4);
    const child = `(echo $BASHPID > "${place.folder}/child"; ${waitFor(place, 'never')}) & ${waitFor(place, 'never')}`;
    const client = await serve(place, {
      assets: assetsOf(place),
      workflows: [
        { name: 'slow', triggers: onOrders, tasks: [{ name: 'hangs', timeoutSeconds: 1, ...shell(child) }] },
        { name: 'other', triggers: onPayments, tasks: [{ name: 'quick', ...shell('echo quick') }] },
      ],
    });
    laySteps(place, 3, 10);
    const byName = async (name: string) => (await client.runs()).find(({ workflow }) => workflow === name);
    await until('the other workflow to succeed', async () => (await byName('other'))?.state === 'SUCCESS');
    const slow = await until('the slow workflow to fail', async () => {
      const run = await byName('slow');
      return run?.state === 'FAILURE' ? run : undefined;
    });
    expect((await client.run(slow.id)).tasks).toMatchObject([
      { state: 'FAILURE', exitCode: null, reason: 'Killed after its limit of 1 s.' },
    ]);
    const pid = readFileSync(join(place.folder, 'child'), 'utf8').trim();
    expect(spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' }).stdout.trim()).toMatch(/^(Z.*)?$/); // gone, or a zombie nobody reaped
  },
);

test('what a task prints with setValue reaches the tasks behind it that declare it', LIMIT, async () => {
  const place = makePlace();
  const out = [
    { prop: 'day', direct: 'OUT' },
    { prop: 'rows', direct: 'OUT', value: '0' },
  ];
  const client = await serve(place, {
    workflows: [
      {
        name: 'w',
        globalParams: { day: 'global' },
        tasks: [
          { name: 'count', ...shell("echo '${setValue(day=2026-11-30)} ${setValue(secret=x)}'"), localParams: out },
          {
            name: 'relay',
            // Where DolphinScheduler has them.
            params: {
              ...shell('echo "${day}/${rows}"').params,
              localParams: [{ prop: 'rows', direct: 'IN', value: '' }],
            },
            dependsOn: ['count'],
          },
          { name: 'alone', ...shell('echo "${day}"') },
        ],
      },
    ],
  });
  expect((await sluice(place, ['run', 'w', '--wait'])).code).toBe(0);
  expect(await said(sluice(place, ['logs', '1', 'relay']))).toBe('2026-11-30/0\n');
  expect(await said(sluice(place, ['logs', '1', 'alone']))).toBe('global\n');
  const { tasks } = await client.run(1);
  expect(Object.fromEntries(tasks.map(({ name, outputs }) => [name, outputs]))).toEqual({
    count: { day: '2026-11-30', rows: '0' },
    relay: {},
    alone: {},
  });
  expect(await said(sluice(place, ['runs', 'show', '1']))).toContain('count gave day = "2026-11-30"');
});
