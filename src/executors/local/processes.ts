import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** A process that lives (zombies do not), as far as it matters here. */
export interface LiveProcess {
  readonly pid: number;
  readonly group: number;
  /** When it began, in the host's own notation: with the pid it names one process of this boot. */
  readonly birth: string;
}

/** What the host says about its processes. */
export interface ProcessTable {
  /** Names this boot of the host: a pid and a birth of another boot name nothing. `none` where the host has no such name. */
  readonly boot: string;
  /** The process with this pid, or null if there is none or it is a zombie. */
  byPid(pid: number): Promise<LiveProcess | null>;
  /** The live processes of a process group. */
  inGroup(group: number): Promise<readonly LiveProcess[]>;
  /** The birth out of what the wrapper noted in its `started` file. */
  birthOf(noted: string): string;
  /** Does this process's environment hold this entry (`NAME=value`)? null where the host does not tell. */
  hasEnvironment(pid: number, entry: string): boolean | null;
}

/** The table of this host: /proc where there is one, else ps. */
export const hostProcesses = (): ProcessTable => (readOrNull('/proc/self/stat') === null ? psTable() : procTable());

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null; // the process has gone, or the host has no such file
  }
}

/** Linux: proc(5). The command name may hold anything, so fields are counted after its last parenthesis: state is field 3, group 5, start time 22. */
function parseStat(line: string): (LiveProcess & { readonly state: string }) | null {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [state, , group] = fields;
  const birth = fields[19];
  if (state === undefined || group === undefined || birth === undefined) return null;
  return { pid: Number.parseInt(line, 10), group: Number(group), birth, state };
}

function readLive(pid: number | string): LiveProcess | null {
  const line = readOrNull(`/proc/${pid}/stat`);
  const found = line === null ? null : parseStat(line);
  if (found === null || found.state === 'Z' || found.state === 'X') return null;
  return { pid: found.pid, group: found.group, birth: found.birth };
}

export function procTable(): ProcessTable {
  return {
    boot: readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? 'none',
    byPid: async (pid) => readLive(pid),
    inGroup: async (group) => {
      const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
      return pids.map(readLive).filter((found) => found !== null && found.group === group) as LiveProcess[];
    },
    birthOf: (noted) => parseStat(noted)?.birth ?? '',
    hasEnvironment: (pid, entry) => readOrNull(`/proc/${pid}/environ`)?.split('\0').includes(entry) ?? null,
  };
}

const runFile = promisify(execFile);

/** Hosts without /proc (macOS): ps -o pid,pgid,stat,lstart; lstart has whole seconds. */
export function psTable(): ProcessTable {
  const list = async (selection: readonly string[]): Promise<readonly LiveProcess[]> => {
    const options = { env: { ...process.env, LC_ALL: 'C' } };
    const columns = ['-o', 'pid=', '-o', 'pgid=', '-o', 'stat=', '-o', 'lstart='];
    // ps exits with 1 when it found nothing
    const { stdout } = await runFile('ps', [...columns, ...selection], options).catch(() => ({ stdout: '' }));
    return stdout.split('\n').flatMap((line) => {
      const [, pid, group, state, birth] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
      return birth === undefined || state?.startsWith('Z') ? [] : [{ pid: Number(pid), group: Number(group), birth }];
    });
  };
  return {
    boot: 'none',
    byPid: async (pid) => (await list(['-p', String(pid)]))[0] ?? null,
    inGroup: async (group) => (await list(['-A'])).filter((found) => found.group === group),
    birthOf: (noted) => noted.trim(),
    hasEnvironment: () => null,
  };
}

/** Sends a signal to a whole process group; one that is gone is no error. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
