import { expect, test } from 'vitest';
import { simulatedClock } from '../../src/runtime/clock.ts';
import { createService, type Service } from '../../src/runtime/service.ts';
import { memoryLog } from './memory-log.ts';

/** A promise and what settles it. */
const gate = () => Promise.withResolvers<void>();

function serviceOf(runOnce: (n: number, signal: AbortSignal) => Promise<number | null>) {
  const clock = simulatedClock();
  const { log, lines } = memoryLog();
  let runs = 0;
  const service = createService({
    name: 'scanner',
    clock,
    log,
    runOnce: (signal) => {
      runs += 1;
      return runOnce(runs, signal);
    },
  });
  return { service, clock, lines, runs: () => runs };
}

test('it runs at once, then whenever it asked to', async () => {
  const { service, clock, runs } = serviceOf(async () => 1_000);
  service.start();
  service.start();
  await service.ran(1);
  clock.advance(999);
  expect(runs()).toBe(1);
  clock.advance(1);
  await service.ran(2);
  expect(runs()).toBe(2);
  await service.stop();
  expect(clock.timers).toBe(0);
});

test('with null it rests until it is woken', async () => {
  const { service, clock, runs } = serviceOf(async () => null);
  service.start();
  await service.ran(1);
  clock.advance(1e9);
  expect([runs(), clock.timers]).toEqual([1, 0]);
  service.wake();
  await service.ran(2);
  await service.stop();
});

test('with 0 it runs again at once and others still have their turn', async () => {
  const { service } = serviceOf(async (n) => (n < 50 ? 0 : null));
  service.start();
  await service.ran(50);
  await service.stop();
});

test('a wake during a run runs it once more, at once, and never twice at a time', async () => {
  const [first, second] = [gate(), gate()];
  let inside = 0;
  const { service, runs } = serviceOf(async (n) => {
    inside += 1;
    expect(inside).toBe(1);
    if (n === 1) await first.promise;
    if (n === 2) await second.promise;
    inside -= 1;
    return null;
  });
  service.start();
  service.wake();
  service.wake();
  first.resolve();
  await service.ran(1);
  second.resolve();
  await service.ran(2);
  service.wake();
  await service.ran(3);
  expect(runs()).toBe(3);
  await service.stop();
});

test('failures are told and retried with growing pauses that hints do not shorten; success resets them', async () => {
  const { service, clock, lines, runs } = serviceOf(async (n) => {
    if (n <= 3 || n === 5) throw new Error(`trouble ${n}`);
    return n === 4 ? 7 : null;
  });
  service.start();
  service.wake(); // during the run that fails
  await service.ran(1);
  service.wake(); // during the pause
  clock.advance(99);
  await new Promise((resolve) => setImmediate(resolve)); // a run "at once" would have had its turn
  expect(runs()).toBe(1);
  clock.advance(1);
  await service.ran(2);
  clock.advance(200);
  await service.ran(3);
  clock.advance(400);
  await service.ran(4);
  clock.advance(7);
  await service.ran(5);
  clock.advance(100);
  await service.ran(6);
  expect(lines.map(({ message }) => message)).toEqual(
    [100, 200, 400, 100].map((ms) => `scanner failed and is tried again in ${ms} ms`),
  );
  expect(lines[0]).toMatchObject({ level: 'error', failures: 1, error: { message: 'trouble 1' } });
  await service.stop();
});

test('stop aborts the run that is going on, waits for it, and nothing runs afterwards', async () => {
  const entered = gate();
  let left = false;
  const { service, clock, lines, runs } = serviceOf(async (_n, signal) => {
    entered.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    left = true;
    throw new Error('aborted');
  });
  service.start();
  await entered.promise;
  await service.stop();
  expect(left).toBe(true);
  wakeAll(service);
  clock.advance(1e9);
  expect([runs(), clock.timers, lines.length]).toEqual([1, 0, 0]);
});

function wakeAll(service: Service): void {
  service.wake();
  service.start();
}

test('a service that never started can be stopped', async () => {
  const { service, runs } = serviceOf(async () => 0);
  service.wake();
  await service.stop();
  service.start();
  expect(runs()).toBe(0);
});
