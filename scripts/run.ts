import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/** The project's folder: every script works from there, wherever it was started. */
export const PROJECT = resolve(import.meta.dirname, '..');

export interface Outcome {
  readonly code: number;
  /** Standard output and standard error, in the order in which they came. */
  readonly output: string;
  readonly ms: number;
}

/** Runs a program in the project's folder with the project's own tools first in PATH; never throws for what the program does. */
export function run(command: readonly string[]): Promise<Outcome> {
  const [program = '', ...args] = command;
  const path = `${resolve(PROJECT, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`;
  const start = performance.now();
  return new Promise((done) => {
    const child = spawn(program, args, {
      cwd: PROJECT,
      env: { ...process.env, PATH: path },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks: Buffer[] = [];
    const end = (code: number): void =>
      done({ code, output: Buffer.concat(chunks).toString(), ms: performance.now() - start });
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', (error) => {
      chunks.push(Buffer.from(`${program} did not start: ${error.message}\n`));
      end(127);
    });
    child.on('close', (code) => end(code ?? 1));
  });
}

/** One line for people: what ran, how long, how it ended. */
export const progress = (name: string, ok: boolean, ms: number): string =>
  `${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(15)} ${(ms / 1000).toFixed(1).padStart(6)} s`;

/** Adds to the counts that `.ci/run` sums up (SLUICE_COUNTS names the file; without it nobody asked). */
export function reportCounts(passed: number, failed: number): void {
  const file = process.env['SLUICE_COUNTS'];
  if (file !== undefined) appendFileSync(file, `${passed} ${failed}\n`);
}
