import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TaskRunBody } from '../../src/api/contract/workflows.ts';
import { type Place, type ServerProcess, makePlace, startProcess, startServer, until } from '../support/server.ts';
import { type TestClient, clientOf } from '../support/server-client.ts';
import { notingScript, readEffects, readLedger } from './ledger.ts';

/** `kill -9` of the server while a run is in one state or another. Scripts wait for a file, so each test decides when they go on. */

const SLOW = 150_000;

const waitFor = (place: Place, name: string): string =>
  `until [ -e "${join(place.folder, name)}" ]; do sleep 0.05; done`;
const touch = (place: Place, name: string): void => writeFileSync(join(place.folder, name), '');
const appeared = (place: Place, name: string): Promise<true> =>
  until(`the file ${name}`, () => existsSync(join(place.folder, name)) || undefined);

const clientFor = (place: Place, server: ServerProcess): TestClient => clientOf(place, server, 'kill');

/** A server with a workflow of these tasks, and a run of it. */
async function startRun(
  place: Place,
  tasks: readonly object[],
): Promise<{ server: ServerProcess; client: TestClient; id: number }> {
  const server = await startServer(place);
  const client = clientFor(place, server);
  const declaration = { apiVersion: 'sluice/v1', project: 'kill', workflows: [{ name: 'work', tasks }] };
  await client.apply(declaration);
  const { id } = await client.post<{ id: number }>('/workflow-definitions/work/start', {});
  return { server, client, id };
}

async function restart(place: Place): Promise<TestClient> {
  return clientFor(place, await startServer(place));
}

const untilAttempt = (client: TestClient, run: number, test: (attempt: TaskRunBody) => boolean): Promise<TaskRunBody> =>
  until('an attempt in the state that the test needs', async () => (await client.attempts(run)).find(test));

const isRunning = ({ state }: TaskRunBody): boolean => state === 'RUNNING_EXECUTION';
const outline = (attempts: readonly TaskRunBody[]) =>
  attempts.map(({ name, attempt, state }) => `${name} ${attempt} ${state}`);

/** The process that leads an attempt, as its folder tells. */
const leaderOf = ({ data }: Place, run: number, attempt: TaskRunBody): number =>
  Number.parseInt(
    readFileSync(join(data, 'runs', String(run), `${attempt.id}-${attempt.attempt}-1`, 'started'), 'utf8'),
    10,
  );

describe('the server is killed', () => {
  test('while a task runs: the task goes on, is found, and ends once', { timeout: SLOW }, async () => {
    const place = makePlace();
    const script = notingScript(place.folder, waitFor(place, 'go'));
    const { server, client, id } = await startRun(place, [
      { name: 'long', params: { rawScript: script } },
      { name: 'next', dependsOn: ['long'], params: { rawScript: notingScript(place.folder) } },
    ]);
    const before = await untilAttempt(client, id, isRunning);
    await until('the script to begin', () => readEffects(place).length === 1);
    await server.kill('SIGKILL');
    process.kill(leaderOf(place, id, before), 0); // throws if the task died with its server
    const after = await restart(place);
    expect(await after.run(id)).toMatchObject({ state: 'RUNNING_EXECUTION' });
    touch(place, 'go');
    await after.untilRun(id, 'SUCCESS');
    expect(outline(await after.attempts(id))).toEqual(['long 1 SUCCESS', 'next 1 SUCCESS']);
    expect((await after.attempts(id))[0]).toMatchObject({ id: before.id, startTime: before.startTime, exitCode: 0 });
    expect(readEffects(place).map(({ task }) => task)).toEqual(['long', 'next']);
  });

  test('and the task ends while no server is there: its exit code is found', { timeout: SLOW }, async () => {
    const place = makePlace();
    const script = `${notingScript(place.folder, waitFor(place, 'go'))}\ntouch "${place.folder}/done"\nexit 7`;
    const { server, client, id } = await startRun(place, [{ name: 'long', params: { rawScript: script } }]);
    await untilAttempt(client, id, isRunning);
    await server.kill('SIGKILL');
    touch(place, 'go');
    await appeared(place, 'done');
    const after = await restart(place);
    await after.untilRun(id, 'FAILURE');
    expect((await after.run(id)).tasks).toMatchObject([{ state: 'FAILURE', attempt: 1, exitCode: 7 }]);
    expect(readEffects(place)).toHaveLength(1);
  });

  test('together with its tasks, as by a power cut: the attempt is lost, and a retry follows', {
    timeout: SLOW,
  }, async () => {
    const place = makePlace();
    const script = `[ $SLUICE_ATTEMPT = 2 ] || { ${waitFor(place, 'never')}; }`;
    const { server, client, id } = await startRun(place, [
      { name: 'long', failRetryTimes: 1, failRetryIntervalSeconds: 0, params: { rawScript: script } },
    ]);
    const attempt = await untilAttempt(client, id, isRunning);
    await server.kill('SIGKILL');
    process.kill(-leaderOf(place, id, attempt), 'SIGKILL');
    const after = await restart(place);
    await after.untilRun(id, 'SUCCESS');
    expect(outline(await after.attempts(id))).toEqual(['long 1 FAILURE', 'long 2 SUCCESS']);
    expect((await after.attempts(id))[0]?.reason).toMatch(/gone and left no exit code/);
  });

  test('while a retry waits: it comes when it is due, not sooner, and once', { timeout: SLOW }, async () => {
    const place = makePlace();
    const script = `${notingScript(place.folder)}\n[ $SLUICE_ATTEMPT = 2 ]`;
    const { server, client, id } = await startRun(place, [
      { name: 'flaky', failRetryTimes: 2, failRetryIntervalSeconds: 3, params: { rawScript: script } },
    ]);
    await untilAttempt(client, id, ({ attempt, state }) => attempt === 2 && state === 'SUBMITTED_SUCCESS');
    await server.kill('SIGKILL');
    const after = await restart(place);
    await after.untilRun(id, 'SUCCESS');
    const attempts = await after.attempts(id);
    expect(outline(attempts)).toEqual(['flaky 1 FAILURE', 'flaky 2 SUCCESS']);
    const pause = Date.parse(attempts[1]?.startTime ?? '') - Date.parse(attempts[0]?.endTime ?? '');
    expect(pause).toBeGreaterThanOrEqual(3_000);
    expect(readEffects(place).map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test('while a run is being stopped and its task still cleans up: the next server stops it', {
    timeout: SLOW,
  }, async () => {
    const place = makePlace();
    const cleanup = `trap 'touch "${place.folder}/asked"' TERM\ntouch "${place.folder}/begun"\n${waitFor(place, 'go')}\nexit 3`;
    const { server, client, id } = await startRun(place, [
      { name: 'long', params: { rawScript: cleanup } },
      { name: 'next', dependsOn: ['long'], params: { rawScript: notingScript(place.folder) } },
    ]);
    await appeared(place, 'begun');
    await client.post(`/workflow-instances/${id}/stop`);
    await appeared(place, 'asked');
    await server.kill('SIGKILL');
    const after = await restart(place);
    expect(await after.run(id)).toMatchObject({ state: 'READY_STOP' });
    touch(place, 'go');
    await after.untilRun(id, 'STOP');
    expect(outline(await after.attempts(id))).toEqual(['long 1 KILL']);
    expect(readEffects(place)).toEqual([]);
  });

  test('while a run is being stopped, and the task dies before the next server comes', { timeout: SLOW }, async () => {
    const place = makePlace();
    const script = `trap '${waitFor(place, 'go')}; touch "${place.folder}/done"; trap - TERM; kill -TERM $$' TERM
touch "${place.folder}/begun"; ${waitFor(place, 'never')}`;
    const { server, client, id } = await startRun(place, [
      { name: 'long', failRetryTimes: 3, params: { rawScript: script } },
    ]);
    await appeared(place, 'begun');
    await client.post(`/workflow-instances/${id}/stop`);
    const attempt = (await client.attempts(id))[0];
    await appeared(place, `data/runs/${id}/${attempt?.id}-1-1/killed`);
    await server.kill('SIGKILL');
    touch(place, 'go');
    // The server may have died between its mark and its signal.
    if (attempt !== undefined) process.kill(-leaderOf(place, id, attempt), 'SIGTERM');
    await appeared(place, 'done');
    const after = await restart(place);
    await after.untilRun(id, 'STOP');
    expect(outline(await after.attempts(id))).toEqual(['long 1 KILL']);
  });

  test('and a time limit passes meanwhile: the next server ends the task', { timeout: SLOW }, async () => {
    const place = makePlace();
    const { server, client, id } = await startRun(place, [
      { name: 'long', timeoutSeconds: 1, params: { rawScript: waitFor(place, 'never') } },
    ]);
    await untilAttempt(client, id, isRunning);
    await server.kill('SIGKILL');
    const after = await restart(place);
    await after.untilRun(id, 'FAILURE');
    expect((await after.run(id)).tasks).toMatchObject([{ state: 'FAILURE', reason: 'Killed after its limit of 1 s.' }]);
  });

  test('twice in a row, the second time before it is ready, and the story ends as if nothing had happened', {
    timeout: SLOW,
  }, async () => {
    const place = makePlace();
    const { server, client, id } = await startRun(place, [
      { name: 'long', params: { rawScript: notingScript(place.folder, waitFor(place, 'go')) } },
      { name: 'next', dependsOn: ['long'], params: { rawScript: notingScript(place.folder) } },
    ]);
    await untilAttempt(client, id, isRunning);
    await server.kill('SIGKILL');
    // The schema is there, so this is in the midst of taking over.
    const args = [
      join(import.meta.dirname, 'victim.ts'),
      place.data,
      't_ds_master#1',
      'AFTER',
      join(place.folder, 'trace'),
    ];
    await expect(startProcess(args, place)).rejects.toMatchObject({ signal: 'SIGKILL' });
    const second = await startServer(place);
    await second.kill('SIGKILL');
    touch(place, 'go');
    const after = await restart(place);
    await after.untilRun(id, 'SUCCESS');
    expect(outline(await after.attempts(id))).toEqual(['long 1 SUCCESS', 'next 1 SUCCESS']);
    expect(readEffects(place).map(({ task }) => task)).toEqual(['long', 'next']);
    expect(readLedger(place)).toMatchObject({ commands: 0, queued: 0 });
  });

  test('by SIGTERM it ends by itself, and its task goes on all the same', { timeout: SLOW }, async () => {
    const place = makePlace();
    const { server, client, id } = await startRun(place, [
      { name: 'long', params: { rawScript: waitFor(place, 'go') } },
    ]);
    await untilAttempt(client, id, isRunning);
    await server.kill('SIGTERM');
    expect(server.end()).toEqual({ code: 0, signal: null });
    expect(existsSync(join(place.data, 'server.json'))).toBe(false);
    const after = await restart(place);
    touch(place, 'go');
    await after.untilRun(id, 'SUCCESS');
    expect(outline(await after.attempts(id))).toEqual(['long 1 SUCCESS']);
  });
});
