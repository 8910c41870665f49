import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { describeShared } from '../support/shared.ts';

/** Cases in which we knowingly answer otherwise, each with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'time-expressions-0573':
    '99,999,999 days before 2024 lies before year 1; theirs overflows 32 bits and answers a day in 5881',
  // The old engine (3.1.4) passes a forbidden task before its predecessors are done; in the new one, as here, it waits (subdag-0176).
  'subdag-0610': 'a forbidden task waits for those before it',
};

/** The old engine selects nothing for TASK_ONLY and TASK_PRE without a start task; the new one, as here, starts at the roots (subdag-0119). */
const OLD_SELECTION = '0367 0388 0394 0402 0405 0413 0429 0431 0473 0474 0492 0500 0512'
  .split(' ')
  .map((id) => `subdag-${id}`);

/**
 * What the judge says of one family's cases. It writes to a file, not to a pipe: it ends itself with `process.exit`, which drops whatever a busy
 * reader has not yet taken from a pipe, and its closing line with the counts is the last of 64 kB.
 */
function judge(shared: string, family: string): { readonly said: string; readonly ended: string } {
  const home = mkdtempSync(join(tmpdir(), 'sluice-cases-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = join(home, 'said.txt');
  const out = openSync(file, 'w');
  const cases = join(shared, `cases/dolphinscheduler/${family}.jsonl`);
  const done = spawnSync(process.execPath, [join(shared, 'accept/cases.mjs'), '--verbose', cases], {
    cwd: resolve(import.meta.dirname, '../..'),
    encoding: 'utf8',
    stdio: ['ignore', out, 'pipe'],
  });
  closeSync(out);
  return { said: readFileSync(file, 'utf8'), ended: `exit ${done.status}, signal ${done.signal}: ${done.stderr}` };
}

describeShared('as Apache DolphinScheduler’s own classes answered', (shared) => {
  test.each([
    ['dag', 208],
    ['parameters', 135],
    ['time-expressions', 455],
    ['subdag', 272],
  ])('%s', (family, agreeing) => {
    const { said, ended } = judge(shared, family);
    const wrong = [...said.matchAll(/^DISAGREE (\S+): (.*)$/gm)].filter(
      ([, id = '', why = '']) =>
        why !== 'error: not answered yet' && EXCEPTIONS[id] === undefined && !OLD_SELECTION.includes(id),
    );
    expect(wrong.map(([line]) => line)).toEqual([]);
    const counts = /^(\d+) agree, \d+ disagree, \d+ skipped$/m.exec(said);
    expect(counts, `the judge did not come to its end: ${ended}`).not.toBeNull();
    expect(Number(counts?.[1]), said).toBeGreaterThanOrEqual(agreeing);
  });
});
