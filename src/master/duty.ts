import type { EpochMs } from '../core/time.ts';
import type { Clock } from '../runtime/clock.ts';

/**
 * One duty of the master: does what is due now and says in how many ms it wants to run again (null: only when woken).
 * runtime/service.ts gives it its loop. A duty acts from what is stored; being woken only makes it look sooner.
 */
export interface Duty {
  readonly name: string;
  runOnce(signal: AbortSignal): Promise<number | null>;
}

/**
 * How long a duty sleeps where nothing is due. Hints and deadlines wake it; this only finds what a lost hint left behind, and it is what an idle
 * server costs.
 */
export const LOOK_ANYWAY_MS = 20_000;

/** Milliseconds from `now` until `at`, at least 0; the fallback where nothing is due. */
export const untilDue = (at: EpochMs | null, now: EpochMs, fallbackMs: number | null): number | null => {
  if (at === null) return fallbackMs;
  const wait = Number(at - now);
  return Math.max(0, fallbackMs === null ? wait : Math.min(wait, fallbackMs));
};

/** A promise that a clock keeps: `done` after `ms`, or never if cancelled. */
export const after = (clock: Clock, ms: number): { readonly done: Promise<void>; readonly cancel: () => void } => {
  let cancel = (): void => {};
  const done = new Promise<void>((resolve) => {
    cancel = clock.setTimer(ms, resolve);
  });
  return { done, cancel: () => cancel() };
};
