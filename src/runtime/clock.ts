import type { EpochMs } from '../core/time.ts';

/** Stops a timer that has not fired; afterwards it does nothing. */
export type Cancel = () => void;

/** Time as an argument: what a loop may know of it. */
export interface Clock {
  /** The wall clock, in epoch milliseconds: for what people read, never for durations. */
  now(): EpochMs;
  /** Milliseconds since some fixed instant; never goes back. */
  monotonicMs(): number;
  /** Calls `fire` once after `ms` milliseconds (0 or less: as soon as possible). */
  setTimer(ms: number, fire: () => void): Cancel;
}

/** The longest delay that Node's timers know; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

function startTimer(ms: number, fire: () => void): Cancel {
  let timer: NodeJS.Timeout;
  const arm = (left: number): void => {
    timer = left > LONGEST_MS ? setTimeout(() => arm(left - LONGEST_MS), LONGEST_MS) : setTimeout(fire, left);
  };
  arm(Math.max(0, ms));
  return () => clearTimeout(timer);
}

/** The host's clock. */
export const systemClock: Clock = Object.freeze({
  now: () => BigInt(Date.now()),
  monotonicMs: () => performance.now(),
  setTimer: startTimer,
});

/** A time limit: `done` resolves after `ms` milliseconds, or never once it was cancelled. */
export const after = (clock: Clock, ms: number): { readonly done: Promise<void>; readonly cancel: () => void } => {
  let cancel = (): void => {};
  const done = new Promise<void>((resolve) => {
    cancel = clock.setTimer(ms, resolve);
  });
  return { done, cancel: () => cancel() };
};

/** A clock that stands still until it is told to advance. */
export interface SimulatedClock extends Clock {
  /** Moves on by `ms`, firing every timer that falls due on the way, in order of its instant, then of its making. */
  advance(ms: number): void;
  /** How many timers are set: lets a test see that a stopped loop left none. */
  readonly timers: number;
}

/** A simulated clock that shows `start` (epoch milliseconds; default 2024-09-10T00:00:00Z). */
export function simulatedClock(start: EpochMs = 1_725_926_400_000n): SimulatedClock {
  const timers = new Set<{ readonly at: number; readonly fire: () => void }>();
  let elapsed = 0;
  const nextDue = (end: number) => [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => start + BigInt(Math.floor(elapsed)),
    monotonicMs: () => elapsed,
    setTimer: (ms, fire) => {
      const timer = { at: elapsed + Math.max(0, ms), fire };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: (ms) => {
      const end = elapsed + ms;
      for (let due = nextDue(end); due !== undefined; due = nextDue(end)) {
        timers.delete(due);
        elapsed = Math.max(elapsed, due.at);
        due.fire();
      }
      elapsed = end;
    },
    get timers() {
      return timers.size;
    },
  };
}
