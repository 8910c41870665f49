import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { layStep, readSteps } from './recording.ts';

const ROOT = join(import.meta.dirname, '..');
const CLI = join(ROOT, 'src/cli/main.ts');
const MARK = 'demo.json';

/** A fresh demo folder inside the data folder. Refuses a data folder that somebody uses for real work. */
export const prepareFolder = (data: string): string => {
  if (existsSync(data) && !existsSync(join(data, MARK)))
    throw new Error(
      `${data} holds the data of a server that is not the demo's; name another folder: npm run demo -- --data DIR`,
    );
  stopIfRunning(data);
  const others = otherProjects(data);
  if (others.length > 0)
    throw new Error(
      `${data} also holds ${others.join(', ')}, which a new demo would delete; name another folder: npm run demo -- --data DIR`,
    );
  rmSync(data, { recursive: true, force: true });
  const folder = join(data, 'demo');
  mkdirSync(join(folder, 'warehouse'), { recursive: true });
  writeFileSync(join(data, MARK), '{}\n');
  const work = readFileSync(join(import.meta.dirname, 'gmv.yaml'), 'utf8');
  const filled = work.replaceAll('@WAREHOUSE@', join(folder, 'warehouse')).replaceAll('@DEMO@', import.meta.dirname);
  writeFileSync(join(folder, 'gmv.yaml'), filled);
  const created = readSteps().get(1);
  if (created !== undefined) layStep(created, join(folder, 'warehouse'));
  return folder;
};

/** The README leads from the demo to a first project of one's own, in the same folder. */
const otherProjects = (data: string): readonly string[] => {
  const file = join(data, 'sluice.db');
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const table = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 't_ds_project'").get();
    if (table === undefined) return [];
    const found = database.prepare("SELECT name FROM t_ds_project WHERE name <> 'gmv' ORDER BY name").all();
    return found.map(({ name }) => `project ${String(name)}`);
  } finally {
    database.close();
  }
};

/** A demo that still serves from this folder would lose its files under its feet. */
const stopIfRunning = (data: string): void => {
  const file = join(data, 'server.json');
  if (!existsSync(file)) return;
  const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number };
  try {
    process.kill(pid, 0);
  } catch {
    return;
  }
  throw new Error(
    `A server (pid ${pid}) is running on ${data}: stop it first, or name another folder: npm run demo -- --data DIR`,
  );
};

export interface DemoServer {
  readonly url: string;
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Starts `sluice server` and waits for its ready line. Its log goes to server.log in the demo folder. */
export const startServer = async (options: {
  readonly data: string;
  readonly folder: string;
  readonly port: string;
}): Promise<DemoServer> => {
  const config = join(options.folder, 'sluice.yaml');
  const log = join(options.folder, 'server.log');
  writeFileSync(
    config,
    `log: {destination: ${JSON.stringify(log)}}\nasset-event-scheduling: {event-source: {polling: {interval-seconds: 0.1}}}\n`,
  );
  const args = [CLI, 'server', '--config', config, '--data', options.data, '--port', options.port];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  let errors = '';
  child.stderr.on('data', (bytes: Buffer) => {
    errors = (errors + bytes.toString()).slice(-20_000);
  });
  const url = await new Promise<string>((done, fail) => {
    child.stdout.on('data', (bytes: Buffer) => {
      const ready = /^ready (\S+)/m.exec(bytes.toString());
      if (ready?.[1] !== undefined) done(ready[1]);
    });
    child.once('exit', () => fail(new Error(`The server ended before it was ready:\n${errors}`)));
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url, ended, stop };
};

/** The address of the server's page, with the token in the part that browsers send nowhere: what `sluice open` prints. */
export const pageAddress = (url: string, data: string): string =>
  `${url}/#token=${readFileSync(join(data, 'admin.token'), 'utf8').trim()}`;

/** Runs a `sluice` command as a person would, its output on the terminal. */
export const sluice = (args: readonly string[]): Promise<void> =>
  new Promise((done, fail) => {
    const child = spawn(process.execPath, [CLI, ...args], { stdio: 'inherit' });
    child.once('exit', (code) =>
      code === 0 ? done() : fail(new Error(`sluice ${args.join(' ')} ended with exit code ${code}.`)),
    );
  });
