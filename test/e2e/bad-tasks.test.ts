import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { laySteps, makePlace, type Place, sluice, startServer, until } from '../support/server.ts';
import { clientOf } from '../support/server-client.ts';
import { describeNeeding } from '../support/shared.ts';
import { json, said } from './said.ts';
import { assetsOf, onOrders, onPayments, shell, writeDeclaration } from './workflow-file.ts';

/** Tasks that misbehave, and a disk that is full. */

const LIMIT = { timeout: 150_000 };
const KB = 1024;

const logOf = (place: Place, run: number, task: string) =>
  json<{ text: string; size: number; state: string }>(sluice(place, ['logs', String(run), task, '--json']));

const FLOOD = 'for i in $(seq 400); do head -c 10000 /dev/zero | tr "\\0" x; done; echo; echo flooded >&2; touch ended';

test('a script that floods its log keeps the beginning of it, and everything else goes on', LIMIT, async () => {
  const place = makePlace('worker: {log-limit-bytes: 20000}\n');
  const client = clientOf(place, await startServer(place), 'e2e');
  laySteps(place, 1, 2);
  const workflows = [
    { name: 'floods', tasks: [{ name: 'flood', ...shell(`echo begin; ${FLOOD}`) }] },
    { name: 'other', triggers: onOrders, tasks: [{ name: 'quick', ...shell('echo quick') }] },
  ];
  await said(sluice(place, ['apply', '-f', writeDeclaration(place, { assets: assetsOf(place), workflows })]));
  const flood = sluice(place, ['run', 'floods', '--wait']);
  laySteps(place, 3);
  await until(
    'the other workflow to succeed',
    async () => (await client.runs()).find((run) => run.workflow === 'other')?.state === 'SUCCESS',
  );
  expect((await flood).code).toBe(0);
  const { items } = await client.get<{ items: readonly { id: number; workflow: string }[] }>('/workflow-instances');
  const id = items.find(({ workflow }) => workflow === 'floods')?.id ?? 0;
  const text = await said(sluice(place, ['logs', String(id), 'flood']));
  expect(text.startsWith('begin\nxxx')).toBe(true);
  expect(text).toMatch(
    /\[sluice\] The log reached its limit of 20000 bytes; at least \d+ bytes after it were not kept/,
  );
  expect(text.length).toBeLessThan(21_000);
});

test('where the policy says so, a script that floods its log is killed and says why', LIMIT, async () => {
  const place = makePlace('worker: {log-limit-bytes: 20000, log-policy: kill}\n');
  const client = clientOf(place, await startServer(place), 'e2e');
  const script = 'while :; do head -c 10000 /dev/zero | tr "\\0" x; done';
  await said(
    sluice(place, [
      'apply',
      '-f',
      writeDeclaration(place, { workflows: [{ name: 'floods', tasks: [{ name: 'flood', ...shell(script) }] }] }),
    ]),
  );
  expect((await sluice(place, ['run', 'floods', '--wait'])).code).toBe(1);
  expect((await client.run(1)).tasks).toMatchObject([
    {
      state: 'FAILURE',
      exitCode: null,
      reason: expect.stringMatching(
        /^Killed because its log grew over 20000 bytes; let it write less, or raise worker\.log-limit-bytes\.$/,
      ),
    },
  ]);
  const files = execFileSync('find', [join(place.data, 'runs'), '-name', 'task.log'], { encoding: 'utf8' })
    .trim()
    .split('\n');
  for (const file of files) expect(statSync(file).size).toBeLessThan(30 * KB);
});

/** Mounts a small file system where a server keeps its tasks' folders; null where this process may mount none. */
function smallDisk(): ((folder: string) => void) | null {
  const mount = (folder: string): void => {
    mkdirSync(folder, { recursive: true });
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder], { stdio: 'ignore' });
  };
  const probe = join('/tmp', `sluice-probe-${process.pid}`);
  try {
    mount(probe);
    execFileSync('/bin/umount', ['-l', probe]);
    return mount;
  } catch {
    return null;
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
}

describeNeeding(
  'a full disk',
  { found: smallDisk(), enable: 'the right to mount a tmpfs: run the tests as root' },
  (mount) => {
    test(
      'for logs: the task says so, commits are still recorded, and all goes on once there is room',
      LIMIT,
      async () => {
        const place = makePlace();
        const runs = join(place.data, 'runs');
        mount(runs);
        onTestFinished(() => {
          execFileSync('/bin/umount', ['-l', runs]);
        });
        laySteps(place, 1, 2, 4);
        const server = await startServer(place);
        const client = clientOf(place, server, 'e2e');
        const workflows = [
          { name: 'fills', tasks: [{ name: 'fill', ...shell('cat /dev/zero > junk; echo "no room left"; exit 5') }] },
          {
            name: 'reads',
            triggers: onPayments,
            tasks: [{ name: 'read', ...shell('echo ${asset.payments.snapshot_id}') }],
          },
        ];
        await said(sluice(place, ['apply', '-f', writeDeclaration(place, { assets: assetsOf(place), workflows })]));
        expect((await sluice(place, ['run', 'fills', '--wait'])).code).toBe(1);
        expect((await client.run(1)).tasks).toMatchObject([{ state: 'FAILURE', exitCode: 5 }]);

        laySteps(place, 10);
        const refused = await until('the run of the next commit to fail', async () => {
          const run = (await client.runs()).find(({ workflow }) => workflow === 'reads');
          return run?.state === 'FAILURE' ? run : undefined;
        });
        expect((await client.run(refused.id)).tasks).toMatchObject([
          {
            state: 'FAILURE',
            startTime: null,
            reason: expect.stringMatching(/^TASK_NOT_STARTED: .*the disk of .* is full; free space there/),
          },
        ]);
        expect(server.end()).toBeNull();

        rmSync(execFileSync('find', [runs, '-name', 'junk'], { encoding: 'utf8' }).trim());
        await said(sluice(place, ['runs', 'recover', String(refused.id)]));
        await client.untilRun(refused.id, 'SUCCESS');
        expect(await logOf(place, refused.id, 'read')).toMatchObject({ text: '2\n' });
        expect(existsSync(join(place.data, 'sluice.db'))).toBe(place.databaseUrl === null);
      },
    );
  },
);
