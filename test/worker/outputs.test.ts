import { expect, test } from 'vitest';
import type { Parameter } from '../../src/core/workflow/definition.ts';
import { withOutputs } from '../../src/worker/ending.ts';
import { MOST_OUTPUT, outputsOf } from '../../src/worker/outputs.ts';

const ID = { taskRunId: 1, attempt: 1, fence: 1 };
const out = (prop: string, value = ''): Parameter => ({ prop, direct: 'OUT', value });
const ENDED = { state: 'SUCCESS', exitCode: 0, reason: null, endedAt: 9n } as const;

/** An executor whose log is read in pieces of `size` bytes at most. */
const logOf = (text: string, size: number) => {
  const bytes = new TextEncoder().encode(text);
  let reads = 0;
  return {
    reads: () => reads,
    log: async (_id: unknown, _runId: number, offset: number, limit: number) => {
      reads++;
      return { bytes: bytes.subarray(offset, offset + Math.min(size, limit)), size: bytes.length };
    },
  };
};

const LOG =
  'begin\n${setValue(day=2026-11-30)}\r\nx #{setValue(größe=é中)} y\n${setValue(list=[1,\n2])}\n${setValue(no=1)}';

test.each([1, 7, 1_000])('values are found wherever the pieces of the log end (%i bytes)', async (size) => {
  const declared = [out('day', 'none'), out('größe'), out('list'), { ...out('no'), direct: 'IN' as const }];
  const outputs = await outputsOf(logOf(LOG, size), ID, 1, declared);
  expect(outputs).toEqual([out('day', '2026-11-30'), out('größe', 'é中'), out('list', '[1,\n2]')]);
});

test('what is not printed keeps its declared value, and without one it is not given', async () => {
  expect(await outputsOf(logOf('${setValue(b=)}', 9), ID, 1, [out('a', '1'), out('b', '2'), out('c')])).toEqual([
    out('a', '1'),
    out('b', ''),
  ]);
});

test('the log of a task that declares nothing is not read', async () => {
  const log = logOf(LOG, 100);
  expect(await outputsOf(log, ID, 1, [{ ...out('day'), direct: 'IN' }])).toEqual([]);
  expect(log.reads()).toBe(0);
});

test('a line without an end is read in parts', async () => {
  const log = logOf(`${'x'.repeat(3_000_000)}\n\${setValue(a=1)}`, 300_000);
  expect(await outputsOf(log, ID, 1, [out('a')])).toEqual([out('a', '1')]);
});

test('too much is a failure that says so', () => {
  expect(withOutputs(ENDED, [out('a', '1')])).toEqual({ ...ENDED, outputs: [out('a', '1')] });
  expect(withOutputs(ENDED, [out('a', 'x'.repeat(MOST_OUTPUT)), out('b', '1')])).toEqual({
    ...ENDED,
    state: 'FAILURE',
    reason: expect.stringMatching(/^Give out at most 262144 characters .* these were 262145\.$/) as string,
  });
});
