import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Bench, isAlive, type Place } from './harness.ts';

/** What every executor promises (src/executors/executor.ts), tried with real processes. */
export function executorContract(name: string, make: () => Place): void {
  describe(`executor ${name}`, () => {
    startContract(make);
    endContract(make);
    killContract(make);
    restartContract(make);
    logContract(make);
  });
}

function startContract(make: () => Place): void {
  test('a script gets its environment, its context file and its output into the log', async () => {
    const bench = new Bench(make());
    const script = 'echo "$GREETING to $0"; cat "$SLUICE_CONTEXT"; echo complaint >&2';
    const context = JSON.stringify({ pins: { a: '9007199254740993' }, odd: '"\'$`\n\u0000ü' });
    const { ended, output } = await bench.run(script, { env: { GREETING: 'hello' }, context });
    expect(ended.exitCode).toBe(0);
    expect(output).toContain('hello to ');
    expect(output).toContain(context);
    expect(output).toContain('complaint');
  });

  test('a script runs where it is told to, else in a folder of its own', async () => {
    const bench = new Bench(make());
    const cwd = join(bench.folder, 'with space');
    mkdirSync(cwd);
    expect((await bench.run('pwd', { cwd })).output.trim()).toBe(cwd);
    const [first, second] = [await bench.run('pwd'), await bench.run('pwd')];
    expect(first.output).not.toBe(second.output);
  });

  test('a second start of the same attempt starts nothing and its end is told once', async () => {
    const bench = new Bench(make());
    const go = bench.signal('go');
    const launch = bench.launch(`echo run; read -r line < '${go.path}'`);
    const [first, second] = await Promise.all([bench.executor.start(launch), bench.executor.start(launch)]);
    expect(second).toEqual(first);
    expect(await bench.executor.start(launch)).toEqual(first);
    await go.tell();
    await bench.ended();
    expect(await bench.executor.find(launch.id, launch.runId)).toMatchObject({ kind: 'ENDED', ended: { exitCode: 0 } });
    expect(await bench.output(launch)).toBe('run\n');
    await bench.run('true'); // time enough for a second report
    expect(bench.ends.filter(({ id }) => id.taskRunId === launch.id.taskRunId)).toHaveLength(1);
  });

  test('another attempt or fence of the same task is another process', async () => {
    const bench = new Bench(make());
    const { launch } = await bench.run('echo one');
    const again = await bench.run('echo two', { id: { ...launch.id, fence: 2 } });
    expect([await bench.output(launch), again.output]).toEqual(['one\n', 'two\n']);
  });

  test('fifty at once each end with their own code', async () => {
    const bench = new Bench(make());
    const launches = Array.from({ length: 50 }, (_, i) => bench.launch(`exit ${i}`));
    await Promise.all(launches.map((launch) => bench.executor.start(launch)));
    await bench.ended(50);
    const codes = new Map(bench.ends.map(({ id, exitCode }) => [id.taskRunId, exitCode]));
    expect(launches.map(({ id }) => codes.get(id.taskRunId))).toEqual(launches.map((_, i) => i));
  });
}

function endContract(make: () => Place): void {
  test.each([0, 1, 137, 143, 255])('exit code %i is told as it is', async (code) => {
    const bench = new Bench(make());
    const { ended, launch } = await bench.run(`exit ${code}`);
    expect(ended).toMatchObject({ id: launch.id, exitCode: code, signal: null });
    expect(await bench.executor.find(launch.id, launch.runId)).toMatchObject({ kind: 'ENDED', ended });
  });

  test('an attempt that nobody started is NEVER_STARTED, and can be started after that', async () => {
    const bench = new Bench(make());
    const launch = bench.launch('echo here');
    expect(await bench.executor.find(launch.id, launch.runId)).toEqual({ kind: 'NEVER_STARTED' });
    await bench.executor.start(launch);
    expect((await bench.ended()).exitCode).toBe(0);
  });
}

function killContract(make: () => Place): void {
  test('kill ends the attempt and all that it started', async () => {
    const bench = new Bench(make());
    const up = bench.signal('up');
    const launch = bench.launch(`sleep 1000 & (sleep 1000 & echo $! $$ > '${up.path}'; wait)`);
    await bench.executor.start(launch);
    const pids = (await up.heard()).trim().split(' ').map(Number);
    await bench.executor.kill(launch.id, launch.runId, 10_000);
    expect(await bench.ended()).toMatchObject({ exitCode: null, signal: 'SIGTERM' });
    expect(pids.map(isAlive)).toEqual([false, false]);
    expect(await bench.executor.find(launch.id, launch.runId)).toMatchObject({
      kind: 'ENDED',
      ended: { exitCode: null },
    });
  });

  test('a script that ignores TERM, or whose children do, is killed after the grace', async () => {
    const bench = new Bench(make());
    const up = bench.signal('up');
    const stubborn = bench.launch(`trap '' TERM; echo $$ > '${up.path}'; while :; do sleep 1000; done`);
    await bench.executor.start(stubborn);
    const pid = Number(await up.heard());
    await bench.executor.kill(stubborn.id, stubborn.runId, 50);
    expect(await bench.ended()).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
    expect(isAlive(pid)).toBe(false);
    const child = bench.launch(`(trap '' TERM; echo $BASHPID > '${up.path}'; while :; do sleep 1000; done) & wait`);
    await bench.executor.start(child);
    const childPid = Number(await up.heard());
    await bench.executor.kill(child.id, child.runId, 50);
    expect(await bench.ended(2)).toMatchObject({ exitCode: null });
    expect(isAlive(childPid)).toBe(false);
  });

  test('a script may use its grace: what it writes is kept and its own exit code counts', async () => {
    const bench = new Bench(make());
    const up = bench.signal('up');
    const launch = bench.launch(
      `trap 'echo cleaned up; exit 3' TERM; echo up > '${up.path}'; while :; do sleep 0.01; done`,
    );
    await bench.executor.start(launch);
    await up.heard();
    await bench.executor.kill(launch.id, launch.runId, 10_000);
    expect(await bench.ended()).toMatchObject({ exitCode: 3, signal: null });
    expect(await bench.output(launch)).toContain('cleaned up\n');
  });

  test('killing what has ended or never started does nothing', async () => {
    const bench = new Bench(make());
    const { launch } = await bench.run('exit 4');
    await bench.executor.kill(launch.id, launch.runId, 0);
    await bench.executor.kill(bench.id(), 7, 0);
    expect(await bench.executor.find(launch.id, launch.runId)).toMatchObject({ kind: 'ENDED', ended: { exitCode: 4 } });
    expect(bench.ends).toHaveLength(1);
  });
}

function restartContract(make: () => Place): void {
  test('an attempt goes on over a restart, is found, watched and told', async () => {
    const bench = new Bench(make());
    const go = bench.signal('go');
    const launch = bench.launch(`echo before; read -r line < '${go.path}'; echo after; exit 5`);
    const started = await bench.executor.start(launch);
    await bench.reopen();
    expect(await bench.executor.find(launch.id, launch.runId)).toEqual({ kind: 'RUNNING', started });
    await bench.executor.watch(launch.id, launch.runId);
    await go.tell();
    expect(await bench.ended()).toMatchObject({ id: launch.id, exitCode: 5 });
    expect(await bench.output(launch)).toBe('before\nafter\n');
  });

  test('a start after a restart finds the attempt that runs', async () => {
    const bench = new Bench(make());
    const go = bench.signal('go');
    const launch = bench.launch(`echo run; read -r line < '${go.path}'`);
    const started = await bench.executor.start(launch);
    await bench.reopen();
    expect(await bench.executor.start(launch)).toEqual(started);
    await go.tell();
    expect(await bench.ended()).toMatchObject({ exitCode: 0 });
    expect(await bench.output(launch)).toBe('run\n');
  });

  test('an end that nobody watched is found', async () => {
    const bench = new Bench(make());
    const go = bench.signal('go');
    const last = bench.signal('last');
    const launch = bench.launch(`read -r line < '${go.path}'; exec 9> '${last.path}'; exit 6`);
    await bench.executor.start(launch);
    await bench.reopen();
    const closed = last.heard(); // ends when the script does
    await go.tell();
    await closed;
    await bench.executor.watch(launch.id, launch.runId);
    expect(await bench.ended()).toMatchObject({ exitCode: 6 });
    await bench.reopen();
    expect(await bench.executor.find(launch.id, launch.runId)).toMatchObject({ kind: 'ENDED', ended: { exitCode: 6 } });
  });

  test('an attempt of an earlier server can be killed', async () => {
    const bench = new Bench(make());
    const up = bench.signal('up');
    const launch = bench.launch(`trap '' TERM; echo $$ > '${up.path}'; while :; do sleep 1000; done`);
    await bench.executor.start(launch);
    const pid = Number(await up.heard());
    await bench.reopen();
    await bench.executor.kill(launch.id, launch.runId, 50);
    expect(await bench.ended()).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
    expect(isAlive(pid)).toBe(false);
  });

  test.each(['watched', 'found after a restart'])(
    'what lost its keeper is LOST, %s, and its script does not go on',
    async (how) => {
      const bench = new Bench(make());
      const up = bench.signal('up');
      const launch = bench.launch(`echo $$ > '${up.path}'; while :; do sleep 1000; done`);
      const started = await bench.executor.start(launch);
      const pid = Number(await up.heard());
      if (how !== 'watched') await bench.reopen();
      bench.place.murder(started);
      if (how === 'watched') expect(await bench.ended()).toMatchObject({ exitCode: null, signal: null });
      await bench.reopen();
      expect(await bench.executor.find(launch.id, launch.runId)).toEqual({ kind: 'LOST', started });
      expect(isAlive(pid)).toBe(false);
    },
  );
}

function logContract(make: () => Place): void {
  test('the log is read in ranges, also while it grows, and is empty where nothing is', async () => {
    const bench = new Bench(make());
    const go = bench.signal('go');
    const up = bench.signal('up');
    const launch = bench.launch(`printf 0123456789; echo > '${up.path}'; read -r line < '${go.path}'; printf abc`);
    const { logPath } = await bench.executor.start(launch);
    await up.heard();
    const read = async (offset: number, limit: number): Promise<string> => {
      const { bytes, size } = await bench.executor.log(launch.id, launch.runId, offset, limit);
      return `${Buffer.from(bytes)} of ${size}`;
    };
    expect(await read(0, 4)).toBe('0123 of 10');
    expect(await read(8, 100)).toBe('89 of 10');
    expect(await read(10, 100)).toBe(' of 10');
    await go.tell();
    await bench.ended();
    expect(await read(10, 100)).toBe('abc of 13');
    expect(await read(99, 100)).toBe(' of 13');
    expect(readFileSync(logPath, 'utf8')).toBe('0123456789abc');
    expect((await bench.executor.log(bench.id(), 7, 0, 10)).size).toBe(0);
  });
}
