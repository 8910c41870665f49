import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import { SluiceError } from '../../core/errors.ts';
import type { AttemptFiles } from './attempt.ts';
import { WRAPPER } from './wrapper.ts';

/** The programs that the wrapper calls, as absolute paths: the PATH of a task is the task's own affair. */
export interface Programs {
  readonly bash: string;
  readonly mv: string;
}

/** Looks the programs up on a PATH. Throws TASK_NOT_STARTED if one is missing. */
export function findPrograms(path: string): Programs {
  const find = (name: string): string => {
    const found = [...path.split(delimiter), '/usr/bin', '/bin'].map((folder) => join(folder, name)).find(isExecutable);
    if (found !== undefined) return found;
    throw new SluiceError(
      'TASK_NOT_STARTED',
      `The local executor needs ${name}, which is not on the PATH; install it.`,
    );
  };
  return { bash: find('bash'), mv: find('mv') };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A wrapper that this process started. */
export interface Wrapper {
  readonly pid: number;
  /** Did it make the `started` file, so that it runs the script? */
  readonly claimed: boolean;
  /** The wrapper's own end: its exit code, null if a signal ended it. */
  readonly exited: Promise<number | null>;
}

/**
 * Starts a wrapper at the head of a session and process group of its own, its output straight into the log file; resolves when it has claimed
 * the attempt or was refused. Throws TASK_NOT_STARTED if there is no process.
 */
export async function spawnWrapper(
  files: AttemptFiles,
  programs: Programs,
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Wrapper> {
  if (cwd !== files.work) await checkFolder(cwd);
  const log = openSync(files.log, 'a', 0o600);
  try {
    const args = ['-c', WRAPPER, 'sluice-attempt', files.folder, programs.bash, programs.mv];
    const child = spawn('/bin/sh', args, { cwd, env, detached: true, stdio: ['ignore', log, log, 'pipe'] });
    child.unref();
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const claimed = (await firstWord(child)) === 'started';
    return { pid: child.pid ?? 0, claimed, exited };
  } catch (error) {
    throw spawnError(error as NodeJS.ErrnoException);
  } finally {
    closeSync(log);
  }
}

/** Without this the system's error would name the shell, not the folder. */
async function checkFolder(cwd: string): Promise<void> {
  const found = await stat(cwd).catch(() => null);
  if (found?.isDirectory() !== true)
    throw new SluiceError('TASK_NOT_STARTED', `The working directory ${cwd} is not a folder; create it or change it.`);
}

/** What the wrapper says on descriptor 3 before it runs the script; '' if it died before it could. Rejects if nothing was spawned. */
function firstWord(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    const report = child.stdio[3] as Readable | null | undefined;
    report?.once('data', (data) => {
      report.destroy();
      resolve(String(data).trim());
    });
    report?.once('end', () => resolve(''));
    report?.once('error', () => resolve(''));
  });
}

function spawnError(error: NodeJS.ErrnoException): Error {
  if (error instanceof SluiceError) return error;
  const advice: Readonly<Record<string, string>> = {
    E2BIG:
      'its environment is larger than the system allows; make it smaller, or let the script read values from the file that $SLUICE_CONTEXT names',
    EAGAIN: 'the host allows no more processes; run fewer tasks at once (worker.concurrency) or raise the limit',
    EMFILE: 'the server has no file descriptor left; run fewer tasks at once (worker.concurrency) or raise ulimit -n',
  };
  const why = advice[error.code ?? ''] ?? `the system answered ${error.message}`;
  return new SluiceError('TASK_NOT_STARTED', `The process of the task could not be started: ${why}.`, { cause: error });
}
