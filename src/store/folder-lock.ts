import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SluiceError } from '../core/errors.ts';

export interface FolderLock {
  release(): void;
}

/**
 * One server a data folder. The lock is SQLite's own file lock on a file that holds nothing: the kernel drops it when the process dies,
 * however it dies, so a `kill -9` leaves no stale lock; the pid beside it is only for the message.
 * Throws SluiceError DATA_IN_USE, naming the pid of the server that has it.
 */
export const lockFolder = (folder: string): FolderLock => {
  const db = new DatabaseSync(join(folder, 'server.lock'));
  const pidFile = join(folder, 'server.pid');
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (cause) {
    db.close();
    if (!isBusy(cause))
      throw new SluiceError('INTERNAL', `The data folder ${folder} cannot be locked: ${String(cause)}`, { cause });
    throw new SluiceError(
      'DATA_IN_USE',
      `A Sluice server (pid ${pidOf(pidFile)}) is already running on ${folder}; stop it, or give this one another --data folder.`,
    );
  }
  writeFileSync(pidFile, String(process.pid));
  return { release: () => db.close() };
};

const isBusy = (error: unknown): boolean => error instanceof Error && /locked|busy/i.test(error.message);

const pidOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8').trim() || 'unknown';
  } catch {
    return 'unknown';
  }
};
