import { expect } from 'vitest';
import type { Outcome } from '../support/server.ts';

/** What a command that must succeed printed; it must have said nothing on stderr. */
export async function said(running: Promise<Outcome>): Promise<string> {
  const outcome = await running;
  expect(outcome, outcome.stderr).toMatchObject({ code: 0, stderr: '' });
  return outcome.stdout;
}

/** The JSON that a command printed: one value a line, nothing else. */
export async function jsonLines<T = Readonly<Record<string, unknown>>>(
  running: Promise<Outcome>,
): Promise<readonly T[]> {
  const text = await said(running);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as T);
}

export async function json<T = Readonly<Record<string, unknown>>>(running: Promise<Outcome>): Promise<T> {
  const values = await jsonLines<T>(running);
  expect(values).toHaveLength(1);
  return values[0] as T;
}

/** What a command that must fail said on stderr; it must have printed nothing. */
export async function refused(running: Promise<Outcome>, code = 1): Promise<string> {
  const outcome = await running;
  expect(outcome, outcome.stderr).toMatchObject({ code, stdout: '' });
  expect(outcome.stderr).not.toMatch(/\n\s+at /);
  return outcome.stderr;
}
