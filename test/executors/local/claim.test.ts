import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { attemptFiles, writeLaunch } from '../../../src/executors/local/attempt.ts';
import { hostProcesses } from '../../../src/executors/local/processes.ts';
import { findPrograms, spawnWrapper } from '../../../src/executors/local/spawn.ts';
import { Bench, isAlive } from '../../contract/executor/harness.ts';
import { PROJECT } from '../../support/tree.ts';
import { localPlace } from './place.ts';

const PATH = process.env['PATH'] ?? '';

const source = (path: string): string => JSON.stringify(join(PROJECT, 'src', path));

/** A process that starts one attempt, says so and does nothing more: what is killed in the place of a server. */
const SERVER = `
  const { createLocalExecutor } = await import(${source('executors/local/local-executor.ts')});
  const { systemClock: clock } = await import(${source('runtime/clock.ts')});
  const { createLog } = await import(${source('runtime/log.ts')});
  const [folder, script] = process.argv.slice(1);
  const log = createLog({ level: 'error', destination: 'stderr', now: clock.now });
  const executor = createLocalExecutor({ folder, clock, log, environment: process.env });
  const id = { taskRunId: 1, attempt: 1, fence: 1 };
  await executor.start({ id, runId: 7, script, env: {}, context: '{}', cwd: null });
  process.stdout.write('started\\n');
  process.stdin.resume();
`;

test('an attempt outlives a server that is killed, and the next server tells its end', async () => {
  const place = localPlace();
  const bench = new Bench(place);
  const go = bench.signal('go');
  const script = `echo before; read -r line < '${go.path}'; echo after; exit 9`;
  const server = spawn(process.execPath, ['--input-type=module', '-e', SERVER, place.folder, script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(server.stdout, 'data');
  server.kill('SIGKILL');
  await once(server, 'exit');
  const launch = bench.launch(script);
  expect(await bench.executor.find(launch.id, 7)).toMatchObject({ kind: 'RUNNING' });
  await bench.executor.watch(launch.id, 7);
  await go.tell();
  expect(await bench.ended()).toMatchObject({ exitCode: 9 });
  expect(await bench.output(launch)).toBe('before\nafter\n');
});

test('two servers that start the same attempt start one process and both tell its end', async () => {
  const place = localPlace();
  const [one, two] = [new Bench(place), new Bench(place)];
  const launch = one.launch('echo run; exit 2');
  const [first, second] = await Promise.all([one.executor.start(launch), two.executor.start(launch)]);
  expect(first).toEqual(second);
  expect([(await one.ended()).exitCode, (await two.ended()).exitCode]).toEqual([2, 2]);
  expect(await one.output(launch)).toBe('run\n');
});

test('after NEVER_STARTED a wrapper that a dead server left on its way runs nothing', async () => {
  const place = localPlace();
  const bench = new Bench(place);
  const launch = bench.launch('echo run');
  const files = attemptFiles(place.folder, launch.runId, launch.id);
  mkdirSync(files.folder, { recursive: true });
  await writeLaunch(files, launch);
  expect(await bench.executor.find(launch.id, launch.runId)).toEqual({ kind: 'NEVER_STARTED' });
  const late = await spawnWrapper(files, findPrograms(PATH), { PATH }, files.folder);
  expect(late.claimed).toBe(false);
  expect(await late.exited).toBe(125);
  expect(await bench.output(launch)).toBe('');
  await bench.executor.start(launch);
  expect((await bench.ended()).exitCode).toBe(0);
  expect(await bench.output(launch)).toBe('run\n');
});

test('a wrapper that a dead server left on its way is taken over by a start', async () => {
  const place = localPlace();
  const bench = new Bench(place);
  const launch = bench.launch('echo run; exit 3');
  const files = attemptFiles(place.folder, launch.runId, launch.id);
  mkdirSync(files.folder, { recursive: true });
  await writeLaunch(files, launch);
  const early = await spawnWrapper(files, findPrograms(PATH), { PATH }, files.folder);
  expect((await bench.executor.start(launch)).pid).toBe(early.pid);
  expect((await bench.ended()).exitCode).toBe(3);
  expect(await bench.output(launch)).toBe('run\n');
});

test('a claim that its writer never finished is LOST', async () => {
  const place = localPlace();
  const bench = new Bench(place);
  const launch = bench.launch('echo run');
  const files = attemptFiles(place.folder, launch.runId, launch.id);
  mkdirSync(files.folder, { recursive: true });
  writeFileSync(files.started, '');
  expect(await bench.executor.find(launch.id, launch.runId)).toEqual({ kind: 'LOST', started: null });
  await bench.executor.watch(launch.id, launch.runId);
  expect(await bench.ended()).toMatchObject({ exitCode: null, signal: null });
});

test.each(['birth', 'boot'])(
  'a process with the same number but of another %s is not the attempt, and is left alone',
  async (other) => {
    const place = localPlace();
    const bench = new Bench(place);
    const stranger = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    onTestFinished(() => void stranger.kill('SIGKILL'));
    await once(stranger, 'spawn');
    const pid = stranger.pid ?? 0;
    const launch = bench.launch('true');
    const files = attemptFiles(place.folder, launch.runId, launch.id);
    mkdirSync(files.folder, { recursive: true });
    const birth = other === 'birth' ? '1' : (await hostProcesses().byPid(pid))?.birth;
    const noted = `${pid} (sleep) S ${'0 '.repeat(18)}${birth} 0`;
    writeFileSync(files.started, `${pid}\n${noted}\n${other === 'boot' ? 'another' : hostProcesses().boot}\n`);
    expect(await bench.executor.find(launch.id, launch.runId)).toMatchObject({ kind: 'LOST', started: { pid } });
    await bench.executor.kill(launch.id, launch.runId, 0);
    expect(isAlive(pid)).toBe(true);
  },
);

test('a script that writes files of the same names as ours in its folder changes nothing', async () => {
  const bench = new Bench(localPlace());
  const { ended, launch } = await bench.run(
    'ls -A; for f in exit exit.part started killed; do echo 0 > $f; done; exit 6',
  );
  expect(ended).toMatchObject({ exitCode: 6, signal: null });
  expect(await bench.output(launch)).toBe('');
  await bench.reopen();
  expect(await bench.executor.find(launch.id, 7)).toMatchObject({ kind: 'ENDED', ended: { exitCode: 6 } });
});

test('a folder may be named relative to where the server was started', async () => {
  const place = localPlace();
  const bench = new Bench(localPlace({ folder: relative(process.cwd(), place.folder) }));
  const { output, ended } = await bench.run('cat "$SLUICE_CONTEXT"', { context: '{"here":1}' });
  expect([output, ended.exitCode]).toEqual(['{"here":1}', 0]);
});

test('only the owner may read what an attempt holds', async () => {
  const place = localPlace();
  const bench = new Bench(place);
  const { launch } = await bench.run('echo secret', { env: { PASSWORD: 'x' } });
  const files = attemptFiles(place.folder, launch.runId, launch.id);
  const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);
  expect([files.folder, join(files.folder, '..')].map(mode)).toEqual(['700', '700']);
  expect([files.script, files.context, files.log].map(mode)).toEqual(['600', '600', '600']);
});
