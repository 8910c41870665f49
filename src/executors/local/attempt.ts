import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EpochMs } from '../../core/time.ts';
import type { AttemptId, Ended, ProcessLaunch } from '../executor.ts';

/** The files of one attempt. The folder is the attempt's memory: what an executor knows of it must be readable from here after a crash. */
export interface AttemptFiles {
  readonly folder: string;
  /** Where the script runs if it is not told where: apart from the files below, which it must not overwrite by chance. */
  readonly work: string;
  readonly script: string;
  readonly context: string;
  /** stdout and stderr of the attempt, mixed as they came. */
  readonly log: string;
  /** Made by the wrapper (wrapper.ts), or by an executor to keep a late wrapper from starting. */
  readonly started: string;
  readonly exit: string;
  /** Where the wrapper writes the exit status before its rename; its bytes are taken before the script runs. */
  readonly exitPart: string;
  /** Made before the first signal: tells an exit status above 128 that we caused from one that the script chose. Holds why, if nobody told us to. */
  readonly killed: string;
}

const attemptKey = (id: AttemptId): string => `${id.taskRunId}-${id.attempt}-${id.fence}`;

export function attemptFiles(root: string, runId: number, id: AttemptId): AttemptFiles {
  const folder = join(root, String(runId), attemptKey(id));
  const file = (name: string): string => join(folder, name);
  return {
    folder,
    work: file('work'),
    script: file('script.sh'),
    context: file('context.json'),
    log: file('task.log'),
    started: file('started'),
    exit: file('exit'),
    exitPart: file('exit.part'),
    killed: file('killed'),
  };
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** The file's text and when it was last written; null if there is no such file. */
async function readText(path: string): Promise<{ readonly text: string; readonly at: EpochMs } | null> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'latin1'), stat(path)]);
    return { text, at: BigInt(Math.floor(mtimeMs)) };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

const onlyOwner = { mode: 0o600 };

/**
 * Makes the attempt's folder; false if it was there. Synchronous, as is writeLaunch: a task waits behind it, and a handful of small files
 * written one after the other take a quarter of a millisecond, through the thread pool several (each call sleeps until a thread has woken).
 */
export function createFolder(files: AttemptFiles): boolean {
  mkdirSync(join(files.folder, '..'), { recursive: true, mode: 0o700 });
  try {
    mkdirSync(files.folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Everything that the wrapper needs. Throws the host's errors (ENOSPC). */
export function writeLaunch(files: AttemptFiles, launch: ProcessLaunch): void {
  mkdirSync(files.work, { recursive: true, mode: 0o700 });
  writeFileSync(files.script, launch.script, onlyOwner);
  writeFileSync(files.context, launch.context, onlyOwner);
  writeFileSync(files.exitPart, '-------\n', onlyOwner);
  writeFileSync(files.log, '', { ...onlyOwner, flag: 'a' });
}

/** What the `started` file says. */
export type Claim =
  | { readonly kind: 'NONE' }
  /** Made a moment ago and not written yet, or its writer died right there. */
  | { readonly kind: 'UNFINISHED' }
  /** An executor made it so that nothing starts. */
  | { readonly kind: 'ABANDONED' }
  | {
      readonly kind: 'STARTED';
      readonly pid: number;
      readonly noted: string;
      readonly boot: string;
      readonly at: EpochMs;
    };

const ABANDONED = 'abandoned\n';

export async function readClaim(files: AttemptFiles): Promise<Claim> {
  const found = await readText(files.started);
  if (found === null) return { kind: 'NONE' };
  if (found.text === ABANDONED) return { kind: 'ABANDONED' };
  const [pid, noted, boot, rest] = found.text.split('\n');
  if (pid === undefined || noted === undefined || boot === undefined || rest !== '') return { kind: 'UNFINISHED' };
  return { kind: 'STARTED', pid: Number(pid), noted, boot, at: found.at };
}

/** Keeps every wrapper of this attempt from starting, from now on; false if one has started. */
export async function abandon(files: AttemptFiles): Promise<boolean> {
  try {
    await writeFile(files.started, ABANDONED, { ...onlyOwner, flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    await removeClaim(files); // made, but not written: the disk is full
    throw error;
  }
}

export const removeClaim = (files: AttemptFiles): Promise<void> => rm(files.started, { force: true });

/** How an attempt ended, as its folder tells; null if it does not. A wrapper that died before its rename has still written its line. */
export async function readEnd(files: AttemptFiles, id: AttemptId): Promise<Ended | null> {
  for (const path of [files.exit, files.exitPart]) {
    const found = await readText(path);
    const line = found?.text.split('\n')[0] ?? '';
    if (found !== null && /^(\d+|SIG[A-Z]+)$/.test(line)) return endOf(id, line, found.at, await killedFor(files));
  }
  return null;
}

/** A shell reports death by signal n as 128 + n. Only after our own signal is such a status a death and not the script's choice. */
const AFTER_KILL: Readonly<Record<string, string>> = { '143': 'SIGTERM', '137': 'SIGKILL' };

function endOf(id: AttemptId, line: string, endedAt: EpochMs, killed: string | null): Ended {
  const signal = line.startsWith('SIG') ? line : killed !== null ? (AFTER_KILL[line] ?? null) : null;
  const reason = killed === null || killed === '' ? {} : { reason: killed };
  return { id, exitCode: signal === null ? Number(line) : null, signal, endedAt, ...reason };
}

/** Notes the end where the wrapper could not. */
export async function writeEnd(files: AttemptFiles, line: string): Promise<void> {
  await writeFile(files.exitPart, `${line}\n`, { ...onlyOwner, flag: 'r+' });
  await rename(files.exitPart, files.exit);
}

/** The first mark stays: what killed the attempt is what was there first. */
export const markKilled = (files: AttemptFiles, why: string): Promise<void> =>
  writeFile(files.killed, why, { ...onlyOwner, flag: 'wx' });

/** Why the executor killed the attempt by itself, '' if it was told to; null: nobody did. */
const killedFor = async (files: AttemptFiles): Promise<string | null> => (await readText(files.killed))?.text ?? null;

export const isKilled = async (files: AttemptFiles): Promise<boolean> => (await killedFor(files)) !== null;
