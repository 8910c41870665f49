import { expect, test } from 'vitest';
import { simulatedClock, systemClock } from '../../src/runtime/clock.ts';

test('the simulated clock stands still until it is told, and fires in order on the way', () => {
  const clock = simulatedClock(1_000n);
  const fired: string[] = [];
  const say = (what: string) => () => fired.push(`${what} at ${clock.now()}`);
  clock.setTimer(30, say('late'));
  clock.setTimer(10, say('first'));
  clock.setTimer(10, say('second'));
  const cancel = clock.setTimer(5, say('never'));
  clock.setTimer(20, () => clock.setTimer(0, say('chained')));
  cancel();
  clock.advance(9);
  expect(fired).toEqual([]);
  clock.advance(21);
  expect(fired).toEqual(['first at 1010', 'second at 1010', 'chained at 1020', 'late at 1030']);
  expect([clock.now(), clock.monotonicMs(), clock.timers]).toEqual([1_030n, 30, 0]);
});

test('the real clock fires, never early by its own measure, and not when cancelled', async () => {
  const begun = systemClock.monotonicMs();
  let cancelledFired = false;
  const cancel = systemClock.setTimer(1, () => {
    cancelledFired = true;
  });
  cancel();
  await new Promise<void>((resolve) => systemClock.setTimer(5, resolve));
  expect(systemClock.monotonicMs() - begun).toBeGreaterThanOrEqual(4);
  expect(cancelledFired).toBe(false);
});

test('a timer of months does not fire at once', async () => {
  let fired = false;
  const cancel = systemClock.setTimer(90 * 86_400_000, () => {
    fired = true;
  });
  await new Promise<void>((resolve) => systemClock.setTimer(5, resolve));
  cancel();
  expect(fired).toBe(false);
});
