import { SluiceError } from '../../core/errors.ts';
import type { ProcessLaunch } from '../executor.ts';

/** Variables that a task gets from the server's own environment; whatever else it needs comes with the launch. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'LC_*', 'TZ', 'TMPDIR'];
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** Linux takes no single argument or environment entry beyond 32 pages, whatever the limit of the whole (execve(2), MAX_ARG_STRLEN). */
const LONGEST_ENTRY = 131_072;

const matches = (name: string, pattern: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;

/**
 * The part of the server's environment that tasks may see: a fixed list and what `allowed` adds (names, or prefixes with a final `*`).
 * The server's own settings and secrets (`SLUICE_…`) stay out whatever the list says.
 */
export function cleanEnvironment(
  server: Readonly<Record<string, string | undefined>>,
  allowed: readonly string[],
): Readonly<Record<string, string>> {
  const patterns = [...PASSED, ...allowed];
  const passes = (name: string): boolean =>
    !name.startsWith('SLUICE_') && patterns.some((pattern) => matches(name, pattern));
  const kept = Object.entries(server).filter(([name, value]) => value !== undefined && passes(name));
  return { PATH: DEFAULT_PATH, ...(Object.fromEntries(kept) as Record<string, string>) };
}

const notStarted = (detail: string): SluiceError => new SluiceError('TASK_NOT_STARTED', detail);

/** Throws TASK_NOT_STARTED for what no process can be given: NUL bytes, names that are none, entries beyond the system's limit. */
export function checkLaunch(launch: ProcessLaunch): void {
  const nul = 'holds a NUL byte, which no script can hold; remove it, or read the value from $SLUICE_CONTEXT';
  if (launch.script.includes('\0')) throw notStarted(`The script ${nul}.`);
  if (launch.cwd?.includes('\0')) throw notStarted(`The working directory ${nul}.`);
  for (const [name, value] of Object.entries(launch.env)) {
    if (name === '' || /[=\0]/.test(name))
      throw notStarted(`"${name.replaceAll('\0', '\\0')}" cannot name an environment variable; rename the parameter.`);
    if (value.includes('\0')) throw notStarted(`The environment variable ${name} ${nul}.`);
    // Most values are short: only a long one is worth counting its bytes.
    const bytes = value.length > LONGEST_ENTRY / 4 ? Buffer.byteLength(value) + Buffer.byteLength(name) + 2 : 0;
    if (bytes > LONGEST_ENTRY) throw notStarted(tooLong(name, bytes));
  }
}

const tooLong = (name: string, bytes: number): string =>
  `The environment variable ${name} takes ${bytes} bytes, but the system allows ${LONGEST_ENTRY}; shorten it, or let the script read it from the file that $SLUICE_CONTEXT names.`;
