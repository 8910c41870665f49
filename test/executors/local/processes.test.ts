import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  hostProcesses,
  type ProcessTable,
  procTable,
  psTable,
  signalGroup,
} from '../../../src/executors/local/processes.ts';
import { describeNeeding } from '../../support/shared.ts';

const procOrPs = hostProcesses();

async function group(): Promise<{ readonly leader: number; end(): Promise<void> }> {
  const child = spawn('sh', ['-c', 'sleep 1000 & echo up; wait'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const leader = child.pid ?? 0;
  const exited = once(child, 'exit');
  onTestFinished(() => signalGroup(leader, 'SIGKILL'));
  await once(child.stdout, 'data');
  return {
    leader,
    end: async () => {
      signalGroup(leader, 'SIGKILL');
      await exited;
      while ((await procOrPs.inGroup(leader)).length > 0); // each look takes a turn of the event loop or more
    },
  };
}

function tableTests(table: ProcessTable): void {
  test('finds a process, its group and its birth, and none when they are gone', async () => {
    const { leader, end } = await group();
    const found = await table.byPid(leader);
    expect(found).toMatchObject({ pid: leader, group: leader });
    expect((await table.byPid(leader))?.birth).toBe(found?.birth);
    const members = await table.inGroup(leader);
    expect(members).toHaveLength(2);
    expect(members).toContainEqual(found);
    await end();
    expect(await table.byPid(leader)).toBe(null);
    expect(await table.inGroup(leader)).toEqual([]);
  });

  test('another process of the same number would have another birth', async () => {
    const [self, first] = [await table.byPid(process.pid), await table.byPid(1)];
    expect(self?.birth).not.toBe(first?.birth);
  });
}

describe('the table of ps', () => {
  tableTests(psTable());
  test('the birth that a wrapper notes without /proc is the one that the table gives', async () => {
    const env = { ...process.env, LC_ALL: 'C' };
    const noted = execFileSync('ps', ['-o', 'lstart=', '-p', String(process.pid)], { encoding: 'utf8', env });
    expect(psTable().birthOf(noted)).toBe((await psTable().byPid(process.pid))?.birth);
  });
});

describeNeeding(
  'the table of /proc',
  { found: existsSync('/proc/self/stat') || null, enable: 'a host with /proc' },
  () => {
    tableTests(procTable());
    test('is the one that this host uses; a command name may hold anything', async () => {
      expect(hostProcesses().boot).toMatch(/^[0-9a-f-]{36}$/);
      expect(procTable().birthOf(`12 (a ) b (c) S ${'0 '.repeat(18)}4711 0`)).toBe('4711');
      expect(procTable().birthOf('nothing')).toBe('');
    });
    test('sees the environment that a process was started with', async () => {
      const child = spawn('sleep', ['1000'], { env: { ...process.env, MARK: 'here' }, stdio: 'ignore' });
      onTestFinished(() => void child.kill('SIGKILL'));
      await once(child, 'spawn');
      expect(procTable().hasEnvironment(child.pid ?? 0, 'MARK=here')).toBe(true);
      expect(procTable().hasEnvironment(child.pid ?? 0, 'MARK=there')).toBe(false);
    });
  },
);
