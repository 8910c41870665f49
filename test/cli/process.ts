import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { PROJECT, temporaryTree } from '../support/tree.ts';

const MAIN = join(PROJECT, 'src/cli/main.ts');

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The environment of a command: ours without what would lead it to another server. */
const environment = (extra: Record<string, string>): NodeJS.ProcessEnv => {
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_') && name !== 'FORCE_COLOR');
  return { ...Object.fromEntries(ours), ...extra };
};

/** Runs `sluice` as a person would, from its source, and resolves when it has ended. */
export const sluice = (
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string>; readonly input?: string } = {},
): Promise<Ended> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: options.cwd ?? PROJECT,
      env: environment(options.env ?? {}),
    });
    const texts = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (texts.out += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (texts.err += chunk));
    child.on('close', (code) => resolve({ code, ...texts }));
    child.stdin.end(options.input ?? '');
  });

/** A server of its own, on a free port and a data folder `.sluice` in a folder of its own; both go when the test has ended. */
export interface Served {
  readonly folder: string;
  readonly url: string;
  readonly process: ChildProcess;
  /** Resolves when the process has ended, with its exit code. */
  readonly ended: Promise<number | null>;
  /** A command on this server. */
  sluice(...args: string[]): Promise<Ended>;
  /** The project gmv over HTTP, where a test needs an answer but not the command: GET, or POST of a body. */
  ask(path: string, body?: object): Promise<Record<string, unknown>>;
}

export const serve = async (
  files: Readonly<Record<string, string>> = {},
  extra: readonly string[] = [],
): Promise<Served> => {
  const folder = temporaryTree(files);
  const child = spawn(process.execPath, [MAIN, 'server', '--port', '0', ...extra], {
    cwd: folder,
    env: environment({}),
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = await readyLine(child, ended);
  const token = readFileSync(join(folder, '.sluice', 'admin.token'), 'utf8').trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return {
    folder,
    process: child,
    ended,
    url,
    sluice: (...args) => sluice(args, { cwd: folder }),
    ask: async (path, body) => {
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(`${url}/api/v1/projects/gmv/${path}`, { headers, ...init });
      return (await response.json()) as Record<string, unknown>;
    },
  };
};

/** The address in the line `ready URL`. Rejects with what the server said instead. */
const readyLine = (child: ChildProcess, ended: Promise<number | null>): Promise<string> =>
  new Promise((resolve, reject) => {
    const texts = { out: '', err: '' };
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (texts.err += chunk));
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      texts.out += chunk;
      const url = /^ready (\S+)\n/m.exec(texts.out)?.[1];
      if (url !== undefined) resolve(url);
    });
    void ended.then((code) => reject(new Error(`the server ended with ${code}: ${texts.out}${texts.err}`)));
  });

export const jsonLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
