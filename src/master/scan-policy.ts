import type { Poll } from '../core/asset/poll.ts';
import type { ScanTarget } from '../store/store.ts';

/** When a table is scanned, how closely, and what of the answer is worth a write. */

/**
 * QUICK asks only whether the next commit is there (one request at rest); FULL also sees rewinds, re-creations, tags and schemas
 * (sources/source.ts).
 */
export type Depth = 'QUICK' | 'FULL';

const LONGEST_PAUSE_MS = 600_000;
const FULL_EVERY = 4;
const FULL_AT_LEAST_EVERY_MS = 60_000;

/** How long QUICK scans may go on after a FULL one: every fourth scan, and at least once a minute. */
export const fullEveryMs = (intervalMs: number | null): number =>
  intervalMs === null ? 0 : Math.min(intervalMs * FULL_EVERY, FULL_AT_LEAST_EVERY_MS);

const RETRY_ASKED_MS = 30_000;

/**
 * The pause before the next look: the asset's interval, doubled with each failure in a row up to ten minutes. A table that is not polled
 * (`intervalMs` null) is looked at again only where the look that somebody asked for failed.
 */
export const pauseAfter = (failures: number, intervalMs: number | null): number => {
  if (failures === 0) return intervalMs ?? Infinity;
  const interval = intervalMs ?? RETRY_ASKED_MS;
  return Math.min(interval * 2 ** Math.min(failures, 20), Math.max(interval, LONGEST_PAUSE_MS));
};

/** Is there anything in the poll that the database does not know yet? An idle poll of a healthy table writes nothing. */
export const needsRecording = (
  target: ScanTarget,
  poll: Poll,
  before: { readonly failures: number; readonly reason: string | null },
): boolean => {
  if (poll.outcome.kind === 'UNREADABLE') return before.reason !== poll.outcome.reason;
  if (poll.outcome.kind !== 'NONE' || target.mustRecord || before.failures > 0) return true;
  return target.cursor === null || poll.tagChanges.length > 0 || poll.newSchemas.length > 0;
};
