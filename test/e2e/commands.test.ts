import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunDetailsBody } from '../../src/api/contract/workflows.ts';
import { laySteps, makePlace, type Place, sluice, startServer, until } from '../support/server.ts';
import { clientOf } from '../support/server-client.ts';
import { json, jsonLines, refused, said } from './said.ts';
import { assetsOf, ORDERS, onOrders, PAYMENTS, shell, tableFolder, writeDeclaration } from './workflow-file.ts';

/** Commands as processes: what they print as JSON (contract.md 1), and their exit codes. */

const LIMIT = { timeout: 150_000 };
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const ID = expect.stringMatching(/^\d+$/);

const touch = (place: Place, name: string): void => writeFileSync(join(place.folder, name), '');
const waitFor = (place: Place, name: string): string =>
  `until [ -e "${join(place.folder, name)}" ]; do sleep 0.05; done`;

/** A server with this applied; a run state is asked of it directly where a test only waits. */
async function serve(place: Place, declared: object) {
  const server = await startServer(place);
  await said(sluice(place, ['apply', '-f', writeDeclaration(place, declared)]));
  return clientOf(place, server, 'e2e');
}

test('--json prints the shapes of the contract', LIMIT, async () => {
  const place = makePlace();
  laySteps(place, 1, 2);
  const tasks = [{ name: 'read', ...shell('echo ${asset.orders.snapshot_id}') }];
  const client = await serve(place, {
    assets: assetsOf(place),
    workflows: [{ name: 'report', triggers: onOrders, tasks }],
  });
  laySteps(place, 3, 4);
  await client.untilRuns(1, 'SUCCESS');

  const run = {
    id: 1,
    workflow: 'report',
    state: 'SUCCESS',
    commandType: expect.any(String),
    triggerGroup: 'new_orders',
    triggerKey: expect.stringMatching(/^workflow_\d+_group_new_orders_paimon:\/\/ods_db\/ods_order_latest=1:2$/),
    pins: { [ORDERS]: { snapshotId: '2', epoch: 1, ordinal: 2 } },
    startTime: TIME,
    endTime: TIME,
    params: {},
  };
  const task = {
    code: expect.any(Number),
    name: 'read',
    type: 'SHELL',
    state: 'SUCCESS',
    attempt: 1,
    startTime: TIME,
    endTime: TIME,
    exitCode: 0,
  };
  expect(await jsonLines(sluice(place, ['runs', 'list', '--json']))).toMatchObject([run]);
  expect(await json(sluice(place, ['runs', 'show', '1', '--json']))).toMatchObject({ ...run, tasks: [task] });
  expect(await jsonLines(sluice(place, ['logs', '1', 'read', '--json']))).toMatchObject([
    { text: '2\n', finished: true },
  ]);

  expect(await json(sluice(place, ['why', 'report', '--json']))).toMatchObject({
    workflow: 'report',
    groups: [
      {
        group: 'new_orders',
        ready: false,
        results: [
          {
            assetKey: ORDERS,
            met: false,
            code: 'BLOCKED_BY_SNAPSHOT',
            needed: expect.any(String),
            actual: expect.any(String),
            since: TIME,
          },
        ],
      },
    ],
  });
  await assetShapes(place);
  await inspectShapes(place);
});

async function assetShapes(place: Place): Promise<void> {
  const plan = await json(sluice(place, ['apply', '-f', 'work.yaml', '--dry-run', '--json']));
  expect(plan).toMatchObject({ project: 'e2e', dryRun: true, warnings: [] });
  expect(plan['lines']).toHaveLength(4);
  expect(await jsonLines(sluice(place, ['asset', 'list', '--json']))).toMatchObject([
    { key: ORDERS },
    { key: PAYMENTS },
  ]);
  expect(await json(sluice(place, ['asset', 'show', ORDERS, '--json']))).toMatchObject({
    key: ORDERS,
    state: { latest: { snapshotId: '2', epoch: 1, ordinal: 2 }, health: 'OK' },
    consumers: [{ workflow: 'report', group: 'new_orders' }],
  });
  const versions = await jsonLines(sluice(place, ['asset', 'versions', ORDERS, '--json']));
  expect(versions.map(({ snapshotId }) => snapshotId)).toEqual(['2', '1']);
  expect(await json(sluice(place, ['asset', 'scan', ORDERS, '--json']))).toMatchObject({
    assetKey: ORDERS,
    finished: true,
    newVersions: 0,
  });
  const emit = [
    'asset',
    'emit',
    ORDERS,
    '--type',
    'QUALITY_CHECK_PASSED',
    '--snapshot',
    '2',
    '--event-id',
    'one',
    '--json',
  ];
  expect(await json(sluice(place, emit))).toEqual({ accepted: 1, duplicates: 0, duplicate: false, rejected: [] });
  expect(await json(sluice(place, emit))).toMatchObject({ accepted: 0, duplicates: 1, duplicate: true });
  const events = await jsonLines(sluice(place, ['asset', 'events', ORDERS, '--json']));
  expect(events.map(({ eventType }) => eventType)).toEqual(
    expect.arrayContaining(['QUALITY_CHECK_PASSED', 'SNAPSHOT_COMMITTED', 'SNAPSHOT_COMMITTED']),
  );
}

async function inspectShapes(place: Place): Promise<void> {
  const lines = await jsonLines(sluice(place, ['inspect', tableFolder(place, ORDERS), '--json']));
  const version = {
    snapshotId: '2',
    dataChange: true,
    commitTime: TIME,
    watermark: null,
    schemaId: '0',
    addedRecords: ID,
    totalRecords: ID,
    tags: [],
  };
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatchObject({ ...version, operation: 'APPEND' });
  expect(lines[2]).toMatchObject({
    summary: {
      format: 'paimon',
      head: '2',
      dataHead: '2',
      branch: 'main',
      versions: 2,
      tags: {},
      schemaId: '0',
      problems: [],
    },
  });
}

test('exit codes: 0 done, 1 failed, 2 written wrongly', LIMIT, async () => {
  const place = makePlace();
  expect(await refused(sluice(place, ['runs', 'list']))).toMatch(
    /^sluice: No server is running on .*: start one with "sluice server/,
  );
  expect(await refused(sluice(place, ['runs', 'list', '--server', 'http://127.0.0.1:9']))).toMatch(
    /^sluice: No server answers at/,
  );
  await serve(place, { workflows: [{ name: 'broken', tasks: [{ name: 'fails', ...shell('exit 4') }] }] });
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['runs', 'show', '99'], 1, /99/],
    [['why', 'nobody'], 1, /nobody/],
    [['run', 'nobody'], 1, /nobody/],
    [['asset', 'show', 'paimon://a/b'], 1, /paimon:\/\/a\/b/],
    [['asset', 'show', 'not a key'], 1, /not a key|key/],
    [['apply', '-f', 'missing.yaml'], 1, /missing\.yaml/],
    [['inspect', './nowhere'], 1, /nowhere/],
    [['run', 'broken', '--wait', '--param', 'novalue'], 2, /NAME=VALUE/],
    [['run', 'broken', '--pin', 'x'], 2, /--pin KEY=ID/],
    [['run', 'broken', '--from', 'a', '--only', 'b'], 2, /not both/],
    [['runs', 'list', '--nonsense'], 2, /--nonsense/],
    [['nonsense'], 2, /nonsense/],
    [['apply'], 2, /apply -f FILE/],
    [['server', '--port', 'http'], 1, /port/],
    [['server', '--config', 'missing.yaml'], 1, /missing\.yaml/],
  ];
  const outcomes = await Promise.all(cases.map(([args]) => sluice(place, args)));
  for (const [i, [args, code, sentence]] of cases.entries()) {
    expect({ args, code: outcomes[i]?.code }).toEqual({ args, code });
    expect(outcomes[i]?.stderr).toMatch(sentence);
    expect(outcomes[i]?.stderr).not.toMatch(/\n\s+at |SLUICE_DEBUG/);
  }
  const waited = await sluice(place, ['run', 'broken', '--wait']);
  expect(waited.code).toBe(1);
  expect(waited.stdout).toMatch(/run 1: failed[\s\S]*fails\s+SHELL\s+failed\s+1\s+\S+ m?s\s+4/);
  expect((await sluice(place, ['--help'])).code).toBe(0);
});

describe('a run by hand', () => {
  test('takes parameters, pins and a part of the workflow, and can be waited for', LIMIT, async () => {
    const place = makePlace();
    laySteps(place, 1, 2, 3, 4);
    const read = 'echo "${mode} ${asset.orders.snapshot_id} ${asset.payments.snapshot_id}"';
    const triggers = [
      {
        group: 'both',
        all: [
          { assetKey: ORDERS, alias: 'orders' },
          { assetKey: PAYMENTS, alias: 'payments' },
        ],
      },
    ];
    const tasks = [
      { name: 'first', ...shell(read) },
      { name: 'second', dependsOn: ['first'], ...shell(read) },
      { name: 'third', dependsOn: ['second'], ...shell(read) },
    ];
    await serve(place, { assets: assetsOf(place), workflows: [{ name: 'w', triggers, tasks }] });
    const run = (...args: readonly string[]) =>
      json<RunDetailsBody>(sluice(place, ['run', 'w', '--wait', '--json', ...args]));
    const pinned = await run('--pin', `${ORDERS}=1`, '--param', 'mode=restate');
    expect(pinned).toMatchObject({ state: 'SUCCESS', triggerGroup: null, params: { mode: 'restate' } });
    expect(pinned.pins).toMatchObject({ [ORDERS]: { snapshotId: '1' }, [PAYMENTS]: { snapshotId: '1' } });
    expect(await said(sluice(place, ['logs', String(pinned.id), 'third']))).toBe('restate 1 1\n');
    const only = await run('--only', 'second', '--param', 'mode=x');
    expect(only.tasks.map(({ name }) => name)).toEqual(['second']);
    expect(await said(sluice(place, ['logs', String(only.id), 'second']))).toBe('x 2 1\n');
    const from = await run('--from', 'second', '--param', 'mode=x');
    expect(from.tasks.map(({ name }) => name)).toEqual(['second', 'third']);
    const key = ['run', 'w', '--idempotency-key', 'once', '--json'];
    const once = await json<RunDetailsBody>(sluice(place, key));
    expect(await json(sluice(place, key))).toMatchObject({ id: once.id, duplicate: true });
    expect(await refused(sluice(place, ['run', 'w', '--pin', `${ORDERS}=77`]))).toMatch(
      /No version 77 of .* is recorded/,
    );
    expect(await refused(sluice(place, ['run', 'w', '--pin', `${ORDERS}=tag:nope`]))).toMatch(/has no tag nope/);
  });

  test('can be paused, resumed, stopped and rerun', LIMIT, async () => {
    const place = makePlace();
    const tasks = [
      { name: 'first', ...shell(`touch begun; ${waitFor(place, 'go')}; echo done`) },
      { name: 'second', dependsOn: ['first'], ...shell('echo attempt $SLUICE_ATTEMPT') },
    ];
    const client = await serve(place, { workflows: [{ name: 'w', tasks }] });
    const operate = (name: string, id: number) =>
      json<RunDetailsBody>(sluice(place, ['runs', name, String(id), '--json']));
    const running = (id: number) =>
      until('the first task to run', async () => (await client.run(id)).tasks[0]?.state === 'RUNNING_EXECUTION');

    const { id } = await json<RunDetailsBody>(sluice(place, ['run', 'w', '--json']));
    await running(id);
    expect(await operate('pause', id)).toMatchObject({ state: 'READY_PAUSE' });
    touch(place, 'go');
    expect((await client.untilRun(id, 'PAUSE')).tasks.map(({ name }) => name)).toEqual(['first']);
    expect(await refused(sluice(place, ['runs', 'pause', String(id)]))).toMatch(
      /^sluice: Run \d+ is paused already: resume it, /,
    );
    expect(await operate('resume', id)).toMatchObject({
      state: expect.stringMatching(/SUBMITTED_SUCCESS|RUNNING_EXECUTION|SUCCESS/),
    });
    await client.untilRun(id, 'SUCCESS');
    expect((await client.attempts(id)).map(({ name, attempt }) => `${name} ${attempt}`)).toEqual([
      'first 1',
      'second 1',
    ]);

    await operate('rerun', id);
    await until('the second attempt of second', async () => (await client.attempts(id)).length === 4);
    expect(await client.untilRun(id, 'SUCCESS')).toMatchObject({ runTimes: 3 });
    expect(await said(sluice(place, ['logs', String(id), 'second']))).toBe('attempt 2\n');
    expect(await said(sluice(place, ['logs', String(id), 'second', '--attempt', '1']))).toBe('attempt 1\n');
  });

  test('that is stopped kills its task, and goes on from there when resumed', LIMIT, async () => {
    const place = makePlace();
    const tasks = [
      { name: 'first', ...shell('echo once') },
      { name: 'second', dependsOn: ['first'], ...shell(`touch "${place.folder}/begun"; ${waitFor(place, 'go')}`) },
    ];
    const client = await serve(place, { workflows: [{ name: 'w', tasks }] });
    const waiting = sluice(place, ['run', 'w', '--wait']);
    await until(
      'the second task to run',
      async () => (await client.runs()).length === 1 && (await client.attempts(1))[1]?.state === 'RUNNING_EXECUTION',
    );
    await said(sluice(place, ['runs', 'stop', '1']));
    await client.untilRun(1, 'STOP');
    expect((await waiting).code).toBe(1);
    expect((await client.attempts(1)).map(({ state }) => state)).toEqual(['SUCCESS', 'KILL']);
    touch(place, 'go');
    await said(sluice(place, ['runs', 'resume', '1']));
    await client.untilRun(1, 'SUCCESS');
    expect((await client.attempts(1)).map(({ name, state }) => `${name} ${state}`)).toEqual([
      'first SUCCESS',
      'second KILL',
      'second SUCCESS',
    ]);
  });

  test('that failed is recovered from its failed task on, with the pins that it had', LIMIT, async () => {
    const place = makePlace();
    laySteps(place, 1, 2);
    const say = 'echo "$SLUICE_ASSET_ORDERS_SNAPSHOT_ID"';
    const tasks = [
      { name: 'first', ...shell(say) },
      { name: 'second', dependsOn: ['first'], ...shell(`${say}; [ -e "${place.folder}/mended" ]`) },
      { name: 'third', dependsOn: ['second'], ...shell(say) },
    ];
    const client = await serve(place, {
      assets: assetsOf(place),
      workflows: [{ name: 'w', triggers: onOrders, tasks }],
    });
    laySteps(place, 3);
    await client.untilRuns(1, 'FAILURE');
    touch(place, 'mended');
    await said(sluice(place, ['runs', 'recover', '1']));
    await client.untilRun(1, 'SUCCESS');
    expect((await client.attempts(1)).map(({ name, state }) => `${name} ${state}`)).toEqual([
      'first SUCCESS',
      'second FAILURE',
      'second SUCCESS',
      'third SUCCESS',
    ]);
    expect(await said(sluice(place, ['logs', '1', 'third']))).toBe('2\n');
    laySteps(place, 8, 9);
    await client.untilRuns(2, 'SUCCESS');
    await said(sluice(place, ['runs', 'rerun', '1']));
    await until(
      'the rerun to end',
      async () => (await client.attempts(1)).length === 7 && (await client.run(1)).state === 'SUCCESS',
    );
    expect(await said(sluice(place, ['logs', '1', 'third']))).toBe('2\n');
    await said(sluice(place, ['runs', 'rerun', '1', '--repin']));
    await until(
      'the second rerun to end',
      async () => (await client.attempts(1)).length === 10 && (await client.run(1)).state === 'SUCCESS',
    );
    expect(await said(sluice(place, ['logs', '1', 'third']))).toBe('4\n');
  });
});
