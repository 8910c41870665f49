import { expect, test } from 'vitest';
import { cleanEnvironment } from '../../../src/executors/local/environment.ts';
import { Bench } from '../../contract/executor/harness.ts';
import { localPlace } from './place.ts';

const SERVER = { PATH: '/bin', HOME: '/root', LC_TIME: 'C', AWS_KEY: 'k', SPARK_HOME: '/s', SPARK_CONF: '/c' };

test('a task sees a fixed part of the environment and what the configuration adds', () => {
  expect(cleanEnvironment(SERVER, [])).toEqual({ PATH: '/bin', HOME: '/root', LC_TIME: 'C' });
  expect(cleanEnvironment(SERVER, ['SPARK_*'])).toMatchObject({ SPARK_HOME: '/s', SPARK_CONF: '/c' });
  expect(cleanEnvironment({ PATH: undefined }, [])).toEqual({ PATH: '/usr/local/bin:/usr/bin:/bin' });
});

test("the server's own secrets never reach a task, whatever is allowed", async () => {
  const secret = { ...process.env, SLUICE_TOKEN: 'hush-hush', DATABASE_PASSWORD: 'hush-too' };
  const bench = new Bench(localPlace({ environment: secret, passEnvironment: ['SLUICE_*', 'SLUICE_TOKEN'] }));
  const { output } = await bench.run('env; cat /proc/$PPID/environ 2>/dev/null | tr "\\0" "\\n"');
  expect(output).toContain('PATH=');
  expect(output).not.toContain('hush');
});

test.each([
  ['NUL in the script', { script: 'echo a\0b' }, /script holds a NUL byte/],
  ['NUL in a value', { env: { ODD: 'a\0b' } }, /variable ODD holds a NUL byte.*SLUICE_CONTEXT/],
  ['a name that is none', { env: { 'A=B': 'x' } }, /"A=B" cannot name an environment variable/],
  [
    'a value beyond 128 kB',
    { env: { BIG: 'ü'.repeat(70_000) } },
    /variable BIG takes 140005 bytes.*131072.*SLUICE_CONTEXT/,
  ],
  ['all too much', { env: fill(150, 100_000) }, /larger than the system allows.*SLUICE_CONTEXT/],
  ['a missing folder', { cwd: '/nowhere/at/all' }, /working directory \/nowhere\/at\/all is not a folder/],
])('%s: refused with what to do, and nothing has started', async (_what, more, message) => {
  const bench = new Bench(localPlace());
  const launch = bench.launch('echo run', more);
  await expect(bench.executor.start(launch)).rejects.toMatchObject({
    code: 'TASK_NOT_STARTED',
    message: expect.stringMatching(message),
  });
  expect(await bench.executor.find(launch.id, launch.runId)).toEqual({ kind: 'NEVER_STARTED' });
  expect((await bench.run('exit 8')).ended.exitCode).toBe(8);
});

function fill(count: number, length: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`V${i}`, 'x'.repeat(length)]));
}

test('what is too large for the environment arrives in the context file', async () => {
  const bench = new Bench(localPlace());
  const { output } = await bench.run('wc -c < "$SLUICE_CONTEXT"', { context: JSON.stringify('x'.repeat(1_000_000)) });
  expect(output.trim()).toBe('1000002');
});

test('a script longer than any argument runs', async () => {
  const bench = new Bench(localPlace());
  const { ended } = await bench.run(`${'# a comment\n'.repeat(100_000)}exit 7`);
  expect(ended.exitCode).toBe(7);
});
