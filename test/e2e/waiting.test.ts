import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TaskWhyBody } from '../../src/api/contract/task-why.ts';
import type { RunDetailsBody, TaskRunBody } from '../../src/api/contract/workflows.ts';
import { laySteps, makePlace, type Place, sluice, startServer, until } from '../support/server.ts';
import { clientOf, type TestClient } from '../support/server-client.ts';
import { json, said } from './said.ts';
import { assetsOf, ORDERS, PAYMENTS, shell, writeDeclaration } from './workflow-file.ts';

/** Tasks that wait for tables, with real servers: what they are given, how they end, and what survives of them. */

const LIMIT = { timeout: 60_000 };
const SECOND_MINUTES = 1 / 60;

const orders = { group: 'new_orders', all: [{ assetKey: ORDERS, alias: 'orders' }] };
const payments = { group: 'new_payments', all: [{ assetKey: PAYMENTS, alias: 'payments' }] };
const sensor = (params: object, more: object = {}) => ({ name: 'wait', type: 'ASSET_SENSOR', params, ...more });

async function serve(place: Place, tasks: readonly object[], more: object = {}): Promise<TestClient> {
  const client = clientOf(place, await startServer(place), 'e2e');
  const declared = { assets: assetsOf(place), workflows: [{ name: 'w', tasks, ...more }] };
  await said(sluice(place, ['apply', '-f', writeDeclaration(place, declared)]));
  return client;
}

const taskOf = (run: RunDetailsBody, name: string): TaskRunBody | undefined =>
  run.tasks.find((task) => task.name === name);

/** Waits until the task waits, has been looked at, and has come to its nth attempt; what it waits for. */
const untilWaits = (client: TestClient, runId: number, name = 'wait', attempt = 1): Promise<string> =>
  until(`${name} of run ${runId} to wait`, async () => {
    const task = taskOf(await client.run(runId), name);
    if (task?.attempt !== attempt || !task.waiting || task.waitingFor === null) return undefined;
    return task.waitingFor.includes('to be looked at') ? undefined : task.waitingFor;
  });

const written = (place: Place, file: string): string => readFileSync(join(place.folder, file), 'utf8').trim();

test('a sensor waits, is released by a commit, and a task with groups gets what released it', LIMIT, async () => {
  const place = makePlace('worker: {concurrency: 1}\n');
  laySteps(place, 1, 2);
  const tell =
    'echo "$SLUICE_ASSET_PAYMENTS_SNAPSHOT_ID ${asset.payments.snapshot_id} [$SLUICE_ASSET_ORDERS_SNAPSHOT_ID]"';
  const client = await serve(place, [
    sensor({ groups: [orders], baseline: 'RUN_START' }),
    { name: 'free', ...shell('true') },
    { name: 'load', dependsOn: ['wait'], groups: [payments], ...shell(`${tell} >"${place.folder}/told"`) },
  ]);
  await said(sluice(place, ['run', 'w']));
  expect(await untilWaits(client, 1)).toMatch(/^orders: a version newer than 1 \(newest is 1\)$/);
  // The only slot is free while it waits.
  await until('the other task to succeed', async () => taskOf(await client.run(1), 'free')?.state === 'SUCCESS');
  expect(await said(sluice(place, ['runs', 'show', '1']))).toMatch(
    /wait +ASSET_SENSOR +waiting +1 .*waiting for orders: a version newer than 1 \(newest is 1\)/,
  );
  const why = await json<TaskWhyBody>(sluice(place, ['why', 'w', '--task', 'wait', '--json']));
  expect(why).toMatchObject({
    workflow: 'w',
    task: 'wait',
    waits: true,
    groups: [
      { group: 'new_orders', ready: false, results: [{ assetKey: ORDERS, met: false, code: 'BLOCKED_BY_SNAPSHOT' }] },
    ],
    waiting: [{ runId: 1, attempt: 1, deadline: null }],
    waitingCount: 1,
    lastRelease: null,
  });
  expect(await said(sluice(place, ['why', 'w', '--task', 'wait']))).toMatch(
    /In run 1 it has waited for .*:\n +group new_orders: waits for 1 of 1\n +✗ +orders +needs a version newer than 1 +now: newest is 1/,
  );
  laySteps(place, 3);
  expect(await untilWaits(client, 1, 'load')).toMatch(/^payments: a version \(no version yet\)$/);
  laySteps(place, 4);
  const run = await client.untilRun(1, 'SUCCESS');
  expect(taskOf(run, 'wait')?.pins).toMatchObject({ [ORDERS]: { snapshotId: '2' } });
  expect(taskOf(run, 'load')?.pins).toMatchObject({ [PAYMENTS]: { snapshotId: '1' } });
  expect(written(place, 'told')).toBe('1 1 []');
  const text = await said(sluice(place, ['why', 'w', '--task', 'wait']));
  expect(text).toMatch(/It waits in no run now\.\n +Group new_orders last released it in run 1, .*\n +✓ +orders/);
  const history = await client.get<{ items: readonly object[] }>('/asset-trigger-history');
  expect(history.items).toMatchObject([
    { group: 'new_payments', workflowInstanceId: 1, taskInstanceId: taskOf(run, 'load')?.id },
    { group: 'new_orders', workflowInstanceId: 1, taskDefinitionCode: taskOf(run, 'wait')?.code },
  ]);
});

test('any one of several groups releases a task', LIMIT, async () => {
  const place = makePlace();
  laySteps(place, 1);
  const client = await serve(place, [
    { name: 'load', groups: [orders, payments], ...shell(`env >"${place.folder}/env"`) },
  ]);
  await said(sluice(place, ['run', 'w']));
  expect(await untilWaits(client, 1, 'load')).toBe(
    'orders: a version (no version yet), or payments: a version (no version yet)',
  );
  laySteps(place, 4);
  await client.untilRun(1, 'SUCCESS');
  expect(written(place, 'env')).toMatch(/^SLUICE_ASSET_PAYMENTS_SNAPSHOT_ID=1$/m);
  expect(written(place, 'env')).not.toMatch(/SLUICE_ASSET_ORDERS/);
});

test('when its time is up it fails, goes on without, or says so and waits on', LIMIT, async () => {
  const place = makePlace();
  laySteps(place, 1);
  const timed = (name: string, onTimeout: string) => ({
    ...sensor({ groups: [orders], timeoutMinutes: SECOND_MINUTES, onTimeout }),
    name,
  });
  const client = await serve(place, [
    timed('fails', 'FAIL'),
    { name: 'never', dependsOn: ['fails'], ...shell(`touch "${place.folder}/harmed"`) },
    timed('goes_on', 'SUCCEED'),
    { name: 'after', dependsOn: ['goes_on'], ...shell(`touch "${place.folder}/after"`) },
    timed('warns', 'WARN'),
  ]);
  await said(sluice(place, ['run', 'w']));
  await untilWaits(client, 1, 'warns');
  const WAITED = 'Waited 1 second in vain for orders: a version (no version yet).';
  await until('the task behind the wait that went on', () => existsSync(join(place.folder, 'after')));
  const warned = await until('the warning', async () => {
    const task = taskOf(await client.run(1), 'warns');
    return task?.reason === null ? undefined : task;
  });
  expect(warned).toMatchObject({ waiting: true, reason: `${WAITED} It goes on waiting.`, deadline: null });
  laySteps(place, 2);
  const run = await client.untilRun(1, 'FAILURE');
  expect(taskOf(run, 'fails')).toMatchObject({ state: 'FAILURE', reason: WAITED, startTime: null });
  expect(taskOf(run, 'goes_on')).toMatchObject({ state: 'SUCCESS', reason: `${WAITED} It went on without.`, pins: {} });
  expect(taskOf(run, 'warns')).toMatchObject({ state: 'SUCCESS', pins: { [ORDERS]: { snapshotId: '1' } } });
  expect(taskOf(run, 'never')).toBeUndefined();
  // What failed for want of time can be recovered, and what was released keeps its pins.
  await said(sluice(place, ['runs', 'recover', '1']));
  const recovered = await client.untilRun(1, 'SUCCESS');
  expect(taskOf(recovered, 'fails')).toMatchObject({ attempt: 2, pins: { [ORDERS]: { snapshotId: '1' } } });
  expect(existsSync(join(place.folder, 'harmed'))).toBe(true);
});

test('a run that waits can be paused, stopped and resumed like any other', LIMIT, async () => {
  const place = makePlace();
  laySteps(place, 1);
  const client = await serve(place, [sensor({ groups: [orders] })]);
  await said(sluice(place, ['run', 'w']));
  await untilWaits(client, 1);
  await said(sluice(place, ['runs', 'pause', '1']));
  expect((await client.untilRun(1, 'PAUSE')).tasks).toMatchObject([{ state: 'PAUSE', waiting: false }]);
  await said(sluice(place, ['runs', 'resume', '1']));
  await untilWaits(client, 1, 'wait', 2);
  await said(sluice(place, ['runs', 'stop', '1']));
  expect((await client.untilRun(1, 'STOP')).tasks).toMatchObject([{ state: 'KILL', waiting: false }]);
  await said(sluice(place, ['runs', 'resume', '1']));
  await untilWaits(client, 1, 'wait', 3);
  laySteps(place, 2);
  expect((await client.untilRun(1, 'SUCCESS')).tasks).toMatchObject([
    { attempt: 3, pins: { [ORDERS]: { snapshotId: '1' } } },
  ]);
});

test('a server that is killed loses no wait and no deadline', LIMIT, async () => {
  const place = makePlace();
  laySteps(place, 1);
  const timed = { ...sensor({ groups: [payments], timeoutMinutes: 3 * SECOND_MINUTES }), name: 'late' };
  const first = await startServer(place);
  const before = clientOf(place, first, 'e2e');
  const workflows = [{ name: 'w', tasks: [sensor({ groups: [orders] }), timed] }];
  const file = writeDeclaration(place, { assets: assetsOf(place), workflows });
  await said(sluice(place, ['apply', '-f', file]));
  await said(sluice(place, ['run', 'w']));
  await untilWaits(before, 1);
  await untilWaits(before, 1, 'late');
  await first.kill('SIGKILL');
  laySteps(place, 2);
  const after = clientOf(place, await startServer(place), 'e2e');
  const run = await after.untilRun(1, 'FAILURE');
  expect(taskOf(run, 'wait')).toMatchObject({ state: 'SUCCESS', attempt: 1, pins: { [ORDERS]: { snapshotId: '1' } } });
  expect(taskOf(run, 'late')).toMatchObject({ state: 'FAILURE', reason: expect.stringMatching(/^Waited 3 seconds/) });
  expect(await after.attempts(1)).toHaveLength(2);
});
