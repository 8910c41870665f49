import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { layStep, readSteps } from '../../demo/recording.ts';
import { databaseForPlace, dropDatabase } from './postgres-sync.ts';
import { PROJECT } from './tree.ts';

/** Real server processes, the tables that they look at, and how a test waits for what they do. */

const CLI = join(PROJECT, 'src/cli/main.ts');
const LOOK_MS = 20;
const PATIENCE_MS = 45_000;

/**
 * Looks at something observable again and again until it is there (anything but undefined and false), and returns it. Throws, saying what was
 * waited for, when it is not there in time; what `look` throws ends the wait.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs: number = PATIENCE_MS,
): Promise<T> {
  const end = performance.now() + limitMs;
  const found = await vi.waitUntil(
    async () => {
      const value = await look();
      if (value !== undefined && value !== false) return { value };
      if (performance.now() > end) throw new Error(`Waited ${limitMs} ms in vain for ${what}.`);
      return undefined;
    },
    { interval: LOOK_MS, timeout: limitMs + PATIENCE_MS },
  );
  return (found as { readonly value: T }).value;
}

/** A temporary folder with a data folder for a server and a warehouse for tables. */
export interface Place {
  readonly folder: string;
  readonly data: string;
  readonly warehouse: string;
  /** Written with the settings of the test; every server of this place reads it. */
  readonly config: string;
  /** null: the embedded one in the data folder. */
  readonly databaseUrl: string | null;
}

const CONFIG = 'asset-event-scheduling: {event-source: {polling: {interval-seconds: 0.1}}}\n';

/** Made for one test: when it ends, what its servers and tasks left running is killed and the folder removed. */
export function makePlace(config = ''): Place {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-e2e-'));
  const place = {
    folder,
    data: join(folder, 'data'),
    warehouse: join(folder, 'warehouse'),
    config: join(folder, 'sluice.yaml'),
    databaseUrl: databaseForPlace(),
  };
  mkdirSync(place.warehouse);
  writeFileSync(place.config, CONFIG + config);
  onTestFinished(() => removePlace(place));
  return place;
}

/** Ends the place's tasks by the process groups that their own folders name, then removes everything. */
export function removePlace({ folder, data, databaseUrl }: Place): void {
  for (const group of taskGroups(data)) {
    try {
      process.kill(-group, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  if (databaseUrl !== null) dropDatabase(databaseUrl);
}

/** What tells a process of this place where its database is. */
const databaseEnv = ({ databaseUrl }: Place): Readonly<Record<string, string>> =>
  databaseUrl === null ? {} : { SLUICE_DATABASE_URL: databaseUrl };

/** The process groups of all attempts that ever started here. */
function taskGroups(data: string): readonly number[] {
  const runs = join(data, 'runs');
  if (!existsSync(runs)) return [];
  const started = readdirSync(runs, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('/started'));
  return started.map((path) => Number.parseInt(readFileSync(join(runs, path), 'latin1'), 10)).filter((pid) => pid > 1);
}

/** A server process. */
export interface ServerProcess {
  readonly pid: number;
  readonly url: string;
  /** How it ended; null while it lives. */
  readonly end: () => { readonly code: number | null; readonly signal: string | null } | null;
  /** What it wrote to stderr: its log. */
  readonly errors: () => string;
  /** Sends a signal to this process alone and waits for its end. SIGKILL: as if the power had gone, but the tasks live on. */
  readonly kill: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
}

/** Starts `sluice server` and waits until it is ready. Throws with what it wrote to stderr if it ends before. */
export const startServer = (place: Place, env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> =>
  startProcess([CLI, 'server', '--config', place.config, '--data', place.data, '--port', '0'], place, env);

/** Starts any program that prints `ready URL` as a server does. */
export async function startProcess(
  args: readonly string[],
  place: Place,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, {
    cwd: place.folder,
    env: { ...cleanEnv(), ...databaseEnv(place), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = (): ReturnType<ServerProcess['end']> =>
    child.exitCode === null && child.signalCode === null ? null : { code: child.exitCode, signal: child.signalCode };
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const errors = collect(child);
  const kill = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  const url = await readyLine(child, ended, errors);
  return { pid: child.pid ?? 0, url, end, errors, kill };
}

/** Settings of the shell that runs the tests must not reach the servers under test. */
function cleanEnv(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_')));
}

function collect(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.on('data', (bytes: Buffer) => {
    text += bytes.toString();
  });
  return () => text;
}

function readyLine(child: ChildProcess, ended: Promise<void>, errors: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (bytes: Buffer) => {
      const url = /^ready (\S+)/m.exec(bytes.toString())?.[1];
      if (url !== undefined) resolve(url);
    });
    void ended.then(() => reject(new ServerDied(errors(), child.signalCode)));
  });
}

/** The server ended before it was ready; the message is what it wrote to stderr. */
export class ServerDied extends Error {
  override readonly name = 'ServerDied';
  /** null: it ended by itself. */
  readonly signal: string | null;
  constructor(errors: string, signal: string | null) {
    super(errors);
    this.signal = signal;
  }
}

/** What a command line tool left behind. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `sluice ARGS` as a process of its own, in the place's folder. A command still running after a minute is killed. */
export function sluice(
  place: Place,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const local = { SLUICE_DATA_DIR: place.data, ...databaseEnv(place), ...env };
  return runProcess([CLI, ...args], place.folder, local);
}

export function runProcess(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  limitMs = 60_000,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...cleanEnv(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMs,
    });
    let stdout = '';
    child.stdout.on('data', (bytes: Buffer) => {
      stdout += bytes.toString();
    });
    const errors = collect(child);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr: errors() }));
  });
}

/** Lays recorded commits (demo/gmv) into the place's warehouse, as their writer did; step 1 creates the five empty tables. */
export function laySteps(place: Place, ...steps: readonly number[]): void {
  const recorded = readSteps();
  for (const number of steps) {
    const step = recorded.get(number);
    if (step === undefined) throw new Error(`The recording has no step ${number}.`);
    layStep(step, place.warehouse);
  }
}
