import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A PostgreSQL server of our own: as a user of its own (it refuses root), in a temporary folder, on a free port of loopback. */
export interface PostgresServer {
  /** Without the database: `postgres://sluice@127.0.0.1:PORT`. */
  readonly url: string;
  readonly bin: string;
  /** As a crash: no checkpoint, every session cut off. Then start again, on the same data and port. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The newest installed PostgreSQL's programs, where Debian puts them; null: none is installed. */
export function postgresBin(): string | null {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).filter((name) => /^\d+$/.test(name)) : [];
  const [newest] = versions.toSorted((a, b) => Number(b) - Number(a));
  const bin = join(root, newest ?? '', 'bin');
  return newest !== undefined && existsSync(join(bin, 'postgres')) ? bin : null;
}

/** `kill -9` of the tests takes the server with it. */
const asUser = (): readonly string[] =>
  process.getuid?.() === 0
    ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', '--pdeathsig=QUIT', '--']
    : ['setpriv', '--pdeathsig=QUIT', '--'];

/** Nothing is forced to the disk: a test's data must survive the server's crash, but not the machine's. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '64MB',
  max_connections: '200',
  unix_socket_directories: '',
  listen_addresses: '127.0.0.1',
};

export async function startPostgres(bin: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-postgres-'));
  const data = join(folder, 'data');
  if (process.getuid?.() === 0) execFileSync('chown', ['postgres', folder]);
  chmodSync(folder, 0o700);
  const [program = '', ...args] = [
    ...asUser(),
    join(bin, 'initdb'),
    '-D',
    data,
    '-U',
    'sluice',
    '-A',
    'trust',
    '-E',
    'UTF8',
  ];
  execFileSync(program, [...args, '--locale=C', '--no-sync'], { cwd: '/', stdio: 'pipe' });
  const port = await freePort();
  let running = await launch(bin, data, port);
  return {
    url: `postgres://sluice@127.0.0.1:${port}`,
    bin,
    crash: () => end(running, 'SIGQUIT'),
    restart: async () => {
      running = await launch(bin, data, port);
    },
    stop: async () => {
      await end(running, 'SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves when it accepts connections. */
async function launch(bin: string, data: string, port: number): Promise<ChildProcess> {
  const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [program = '', ...args] = [...asUser(), join(bin, 'postgres'), '-D', data, ...settings];
  const child = spawn(program, args, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (bytes: Buffer) => {
      if (log.length < 10_000) log += bytes.toString();
      if (/ready to accept connections/.test(log)) resolve();
    });
    child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${log}`)));
    child.once('error', reject);
  });
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  await ended;
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
