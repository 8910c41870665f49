import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { databaseEnv } from './database.ts';
import { PROJECT } from './declare.ts';

const ROOT = join(import.meta.dirname, '..');

/** What is started: the sources, as this repository runs, or the build, as people who install the package run it. */
export const PROGRAMS = { src: join(ROOT, 'src/cli/main.ts'), dist: join(ROOT, 'dist/cli/main.js') } as const;
export type Program = keyof typeof PROGRAMS;

export interface Started {
  /** Default: the build. */
  readonly program?: Program;
  /** How often tables are looked at; default: the product's own. */
  readonly pollSeconds?: number;
  /** A module that is imported into the server before its own code. */
  readonly preload?: string;
  /** Beside this process's own variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whose database it works on, where that is no file of its own data folder. Default: this data folder's. */
  readonly databaseOf?: string;
}

export interface Server {
  readonly pid: number;
  /** From the spawn to the `ready` line, in ms. */
  readonly readyMs: number;
  /** An answer of its HTTP API: the path below `/api/v1`. */
  get(path: string): Promise<unknown>;
  /** SIGTERM, and wait until it has ended. */
  stop(): Promise<void>;
}

let building: Promise<void> | undefined;

/** Builds dist, once: what is measured is what stands in the sources now. */
const built = (): Promise<void> => {
  building ??= run([join(ROOT, 'scripts/build.ts')]);
  return building;
};

/** Starts `sluice server` as a person would, on a data folder and a free port, and waits for its ready line. */
const startServer = async (data: string, started: Started): Promise<Server> => {
  const { program = 'dist', pollSeconds, preload, env = {}, databaseOf = data } = started;
  const config = `${data}.yaml`;
  const polling = pollSeconds === undefined ? {} : { 'event-source': { polling: { 'interval-seconds': pollSeconds } } };
  writeFileSync(config, JSON.stringify({ log: { destination: `${data}.log` }, 'asset-event-scheduling': polling }));
  if (program === 'dist') await built();
  const database = await databaseEnv(join(databaseOf, 'sluice.db'));
  const from = performance.now();
  const imports = preload === undefined ? [] : ['--import', preload];
  const args = [...imports, PROGRAMS[program], 'server', '--config', config, '--data', data, '--port', '0'];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...database, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors = createWriteStream(`${data}.err`);
  child.stderr.pipe(errors);
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const readyMs = await new Promise<number>((done, fail) => {
    child.stdout.on('data', (bytes: Buffer) => {
      if (/^ready /m.test(bytes.toString())) done(performance.now() - from);
    });
    void ended.then(() =>
      fail(new Error(`The server ended before it was ready: ${readFileSync(`${data}.err`, 'utf8')}`)),
    );
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  return { pid: child.pid ?? 0, readyMs, get: (path) => get(data, path), stop };
};

const get = async (data: string, path: string): Promise<unknown> => {
  const { url } = JSON.parse(readFileSync(join(data, 'server.json'), 'utf8')) as { url: string };
  const token = readFileSync(join(data, 'admin.token'), 'utf8').trim();
  const answer = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

/** Runs the work against a server and stops the server, whatever happens. */
export const withServer = async <T>(
  data: string,
  started: Started,
  work: (server: Server) => Promise<T>,
): Promise<T> => {
  const server = await startServer(data, started);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
};

/** Waits until every registered table has been read. */
export const allRead = async (server: Server): Promise<void> => {
  for (;;) {
    const page = (await server.get(`/projects/${PROJECT}/assets`)) as {
      readonly items: readonly { lastScanAt: string | null }[];
    };
    if (page.items.length > 0 && page.items.every(({ lastScanAt }) => lastScanAt !== null)) return;
    await pause(200);
  }
};

/** Runs a `sluice` command; throws with what it said if it fails. */
export const sluice = (args: readonly string[]): Promise<void> => run([PROGRAMS.src, ...args]);

/** Runs a program with this Node. */
const run = (args: readonly string[]): Promise<void> =>
  new Promise((done, fail) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => {
        said += bytes.toString();
      });
    child.once('close', (code) =>
      code === 0 ? done() : fail(new Error(`${args.join(' ')} ended with exit code ${code}: ${said}`)),
    );
  });

/** Resident memory of a process, in MB: from the kernel where it tells, else from ps. */
export const residentMB = async (pid: number): Promise<number> => {
  if (existsSync('/proc/self/status')) {
    const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kb) / 1024;
  }
  const { promisify } = await import('node:util');
  const { execFile } = await import('node:child_process');
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout.trim()) / 1024;
};
