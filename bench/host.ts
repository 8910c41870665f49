import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The machine that a figure was seen on, without its name. */
export interface Host {
  readonly cpus: string;
  readonly memory: string;
  readonly kernel: string;
  /** Of the measured folder: on tmpfs a commit costs nothing, and the figures are worth as much. */
  readonly filesystem: string;
  readonly node: string;
  readonly sqlite: string;
  /** The database server that was measured instead; null: SQLite. */
  readonly database: string | null;
  /** One-minute load when the run began; well above 0: the machine was doing something else too. */
  readonly load: number;
}

const FILESYSTEMS: Readonly<Record<number, string>> = {
  0xef53: 'ext4',
  0x58465342: 'xfs',
  0x9123683e: 'btrfs',
  0x01021994: 'tmpfs (commits are not forced to a disk)',
  0x794c7630: 'overlay',
};

export const hostOf = (folder: string): Omit<Host, 'database'> => {
  const [cpu] = cpus();
  const filesystem = statfsSync(folder).type;
  return {
    cpus: `${cpus().length} x ${cpu?.model.trim() ?? 'unknown'}`,
    memory: `${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    kernel: `${type()} ${release()}`,
    filesystem: FILESYSTEMS[filesystem] ?? `type 0x${filesystem.toString(16)}`,
    node: process.version,
    sqlite: sqliteVersion(),
    load: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
};

const sqliteVersion = (): string => {
  const database = new DatabaseSync(':memory:');
  const row = database.prepare('SELECT sqlite_version() AS version').get();
  database.close();
  return String(row?.['version']);
};

/** The commit that was measured, with `+` if files were changed since; null outside a git clone. */
export const commitOf = (): string | null => {
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: join(import.meta.dirname, '..'),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    return (
      git('rev-parse', '--short=12', 'HEAD') + (git('status', '--porcelain', '--', 'src', 'bench') === '' ? '' : '+')
    );
  } catch {
    return null;
  }
};
