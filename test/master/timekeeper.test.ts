import { expect, test } from 'vitest';
import { LOOK_ANYWAY_MS } from '../../src/master/duty.ts';
import { createTimekeeper } from '../../src/master/timekeeper.ts';
import type { TimedOutWait } from '../../src/store/store.ts';

const wait = (taskRunId: number): TimedOutWait => ({
  workflow: 'w',
  task: 'sensor',
  runId: 1,
  taskRunId,
  outcome: 'FAIL',
  reason: 'Waited 1 minute in vain.',
});

/** A timekeeper over a store, at 1 s by its clock, in which so many waits are over, and the next one at `next`. */
const timekeeper = (over: number, next: bigint | null) => {
  let left = over;
  const asked: number[] = [];
  const told: number[] = [];
  const duty = createTimekeeper({
    now: async () => 1_000n,
    runs: {
      expireWaits: async (limit) => {
        asked.push(limit);
        const some = Math.min(limit, left);
        left -= some;
        return Array.from({ length: some }, (_, i) => wait(left + i));
      },
      nextWaitDeadlineAt: async () => next,
    },
    onTimedOut: ({ taskRunId }) => told.push(taskRunId),
  });
  return { run: () => duty.runOnce(new AbortController().signal), asked, told };
};

test('ends every wait that is over, in batches, and tells of each', async () => {
  const { run, asked, told } = timekeeper(250, null);
  expect(await run()).toBe(LOOK_ANYWAY_MS);
  expect(asked).toHaveLength(3);
  expect(new Set(told).size).toBe(250);
});

test('sleeps until the next one is over', async () => {
  expect(await timekeeper(0, 1_700n).run()).toBe(700);
  expect(await timekeeper(0, 900n).run()).toBe(0);
  expect(await timekeeper(0, 99_999_999n).run()).toBe(LOOK_ANYWAY_MS);
});
