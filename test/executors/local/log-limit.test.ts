import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { enforceLimit } from '../../../src/executors/local/log-limit.ts';
import { Bench } from '../../contract/executor/harness.ts';
import { localPlace } from './place.ts';

const NOTICE =
  /^\n\[sluice\] The log reached its limit of 1000 bytes; at least (\d+) bytes after it were not kept\.\n$/;

test('whatever is written between cuts, the head stays and the line counts all that was cut', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cut-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'task.log');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ maxLength: 900, unit: 'binary-ascii' }), { maxLength: 8 }),
      async (pieces) => {
        writeFileSync(path, '');
        for (const piece of pieces) {
          appendFileSync(path, piece, 'latin1');
          await enforceLimit(path, 1000);
        }
        const all = pieces.join('');
        const kept = readFileSync(path, 'latin1');
        expect(kept.slice(0, 1000)).toBe(all.slice(0, 1000));
        if (all.length <= 1000) expect(kept).toBe(all);
        else expect(NOTICE.exec(kept.slice(1000))?.[1]).toBe(String(all.length - 1000));
      },
    ),
    { numRuns: 60 },
  );
});

const FLOOD = 'head -c 3000000 /dev/zero | tr "\\0" x';

test('truncate: a flooding script goes on to its own end, its log keeps the head and says how much is missing', async () => {
  const bench = new Bench(localPlace({ logLimitBytes: 1000, checkEveryMs: 5 }));
  const { ended, output } = await bench.run(`echo first; ${FLOOD}; echo last; exit 4`);
  expect(ended).toMatchObject({ exitCode: 4, signal: null });
  expect(output.slice(0, 10)).toBe('first\nxxxx');
  const cut = Number(NOTICE.exec(output.slice(1000))?.[1]);
  expect(cut).toBeGreaterThan(0);
  expect(cut).toBeLessThanOrEqual(3_000_011 - 1000);
});

test('kill: a script that floods without end is ended, and the log says why', async () => {
  const bench = new Bench(localPlace({ logLimitBytes: 1000, logPolicy: 'kill', checkEveryMs: 5 }));
  const { ended, output } = await bench.run('yes');
  expect(ended).toMatchObject({ exitCode: null, signal: 'SIGTERM' });
  expect(output.length).toBeLessThan(1200);
  expect(output.slice(1000)).toMatch(NOTICE);
});

test('a flood is cut while it goes on, also by a server that comes later', async () => {
  const bench = new Bench(localPlace({ logLimitBytes: 1000, checkEveryMs: 5 }));
  const [wrote, go] = [bench.signal('wrote'), bench.signal('go')];
  const launch = bench.launch(`${FLOOD}; echo > '${wrote.path}'; read -r l < '${go.path}'; ${FLOOD}`);
  await bench.executor.start(launch);
  await wrote.heard();
  await bench.reopen();
  await bench.executor.watch(launch.id, launch.runId);
  await go.tell();
  await bench.ended();
  const output = await bench.output(launch);
  expect(output).toHaveLength(1000 + (output.length - 1000));
  expect(Number(NOTICE.exec(output.slice(1000))?.[1])).toBeGreaterThan(0);
});
