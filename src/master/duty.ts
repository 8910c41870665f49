import type { EpochMs } from '../core/time.ts';

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

/**
 * How long a duty sleeps, in ms, that has nothing to do before `at` (null: nothing is due at any known time). Never longer than LOOK_ANYWAY_MS.
 * `now` is the database's time, which `at` is told in: by a host's clock that is ahead of it a duty would look again and again until the
 * instant has come there too, by one that is behind it would come late.
 */
export const untilDue = async (at: EpochMs | null, now: () => Promise<EpochMs>): Promise<number> =>
  at === null ? LOOK_ANYWAY_MS : Math.max(0, Math.min(Number(at - (await now())), LOOK_ANYWAY_MS));
