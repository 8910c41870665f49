import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { temporaryTree } from '../support/tree.ts';
import { serve, sluice } from './process.ts';

// Each command is a process of its own, and this machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

describe('sluice server', () => {
  test('says where it is, keeps its token to its user, and cleans up when it is interrupted', async () => {
    const server = await serve();
    const data = join(server.folder, '.sluice');
    expect(JSON.parse(readFileSync(join(data, 'server.json'), 'utf8'))).toEqual({
      url: server.url,
      pid: server.process.pid,
    });
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(statSync(join(data, 'admin.token')).mode & 0o777).toBe(0o600);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${server.url}/api/v1/projects`)).status).toBe(401);
    server.process.kill('SIGTERM');
    expect(await server.ended).toBe(0);
    expect(existsSync(join(data, 'server.json'))).toBe(false);
  });

  test('a second one on the same data names the pid of the first', async () => {
    const server = await serve();
    const second = await server.sluice('server', '--port', '0');
    expect(second).toMatchObject({ code: 1, out: '' });
    expect(second.err).toContain(`pid ${server.process.pid}`);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });

  test('after kill -9 commands say how to start it, and it starts again', async () => {
    const server = await serve();
    server.process.kill('SIGKILL');
    await server.ended;
    const asked = await server.sluice('asset', 'list');
    expect(asked.code).toBe(1);
    expect(asked.err).toMatch(/^sluice: No server is running on .*: start one with "sluice server --data /);
    expect(asked.err.trimEnd().split('\n')).toHaveLength(1);
  });

  test('a port that is taken, and one that is none', async () => {
    const server = await serve();
    const port = new URL(server.url).port;
    const taken = await sluice(['server', '--port', port, '--data', join(temporaryTree({}), 'd')]);
    expect(taken.code).toBe(1);
    expect(taken.err).toContain(port);
    const none = await sluice(['server', '--port', 'http'], { cwd: server.folder });
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('server.port takes')]);
  });

  test('the effective configuration, and a role that this version does not have apart', async () => {
    const folder = temporaryTree({ 'sluice.yaml': 'server:\n  port: 9999\n' });
    const printed = await sluice(['server', '--print-config', '--data', 'x'], { cwd: folder });
    expect(printed.code).toBe(0);
    expect(printed.out).toMatch(/^data-dir: x$/m);
    expect(printed.out).toMatch(/^ {2}port: 9999$/m);
    const role = await sluice(['server', '--role', 'worker'], { cwd: folder });
    expect([role.code, role.err]).toEqual([1, expect.stringContaining('--role worker')]);
    expect((await sluice(['server', '--role', 'king'], { cwd: folder })).code).toBe(2);
  });
});

describe('sluice db', () => {
  test('status and migrate without a server', async () => {
    const folder = temporaryTree({});
    const run = (...args: string[]) => sluice(args, { cwd: folder });
    const before = await run('db', 'status', '--json');
    expect(JSON.parse(before.out)).toMatchObject({ exists: false, current: 0, upToDate: false });
    expect(existsSync(join(folder, '.sluice'))).toBe(false);
    expect((await run('db', 'migrate')).out).toMatch(/^applied 1 /m);
    expect(JSON.parse((await run('db', 'migrate', '--json')).out)).toMatchObject({ applied: [] });
    expect(JSON.parse((await run('db', 'status', '--json')).out)).toMatchObject({ exists: true, upToDate: true });
  });
});
