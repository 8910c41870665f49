import { assetName } from '../core/asset/key.ts';
import { type Poll, unreadable } from '../core/asset/poll.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ScanTarget } from '../store/store.ts';
import type { Files } from '../files/files.ts';
import type { Source } from '../sources/source.ts';
import { after } from './duty.ts';

const LONGEST_PAUSE_MS = 600_000;
const FIRST_READ_LIMIT = 1_000; // semantics.md 3: a first read records at most the newest 1,000 versions

/**
 * QUICK asks only whether the next commit is there (one request at rest); FULL also sees rewinds, re-creations, tags and schemas
 * (sources/source.ts).
 */
export type Depth = 'QUICK' | 'FULL';

/** Reads one table from where its last scan ended. Never rejects. */
export type Reader = (target: ScanTarget, depth: Depth) => Promise<Poll>;

const FULL_EVERY = 4;
const FULL_AT_LEAST_EVERY_MS = 60_000;

/** How long QUICK scans may go on after a FULL one: every fourth scan, and at least once a minute. */
export const fullEveryMs = (intervalMs: number): number => Math.min(intervalMs * FULL_EVERY, FULL_AT_LEAST_EVERY_MS);

/** The pause before the next look: the asset's interval, doubled with each failure in a row up to ten minutes. */
export const pauseAfter = (failures: number, intervalMs: number): number =>
  failures === 0
    ? intervalMs
    : Math.min(intervalMs * 2 ** Math.min(failures, 20), Math.max(intervalMs, LONGEST_PAUSE_MS));

/** Is there anything in the poll that the database does not know yet? An idle poll of a healthy table writes nothing. */
export const needsRecording = (
  target: ScanTarget,
  poll: Poll,
  before: { readonly failures: number; readonly reason: string | null },
): boolean => {
  if (poll.outcome.kind === 'UNREADABLE') return before.reason !== poll.outcome.reason;
  if (poll.outcome.kind !== 'NONE' || target.wantsIdle || before.failures > 0) return true;
  return target.cursor === null || poll.tagChanges.length > 0 || poll.newSchemas.length > 0;
};

/** A reader over the formats' sources, with a time limit on each read. */
export const createReader = (options: {
  readonly sourceOf: (format: string) => Promise<Source | undefined>;
  /** undefined: nothing here reads such locations. */
  readonly filesOf: (location: string) => Promise<Files | undefined>;
  readonly clock: Clock;
  readonly limitMs: number;
}): Reader => {
  const read = async (target: ScanTarget, depth: Depth, signal: AbortSignal): Promise<Poll> => {
    const { asset, cursor } = target;
    const { format, branch } = assetName(asset.key);
    const source = await options.sourceOf(format);
    const files = asset.location === null ? undefined : await options.filesOf(asset.location);
    if (source === undefined || files === undefined || asset.location === null)
      return unreadable(
        cursor,
        `This version of Sluice cannot read ${format} tables at ${asset.location}; push their events instead.`,
        false,
      );
    return source.poll({ location: asset.location, branch, files }, cursor, {
      firstReadLimit: FIRST_READ_LIMIT,
      depth,
      signal,
    });
  };
  // A read on a hanging mount cannot be taken back and holds a thread, of which there are few: one such read for each place, not one for each poll.
  const hanging = new Set<string | null>();
  return async (target, depth) => {
    const { location } = target.asset;
    const noAnswer = unreadable(target.cursor, `The table did not answer within ${options.limitMs / 1000} s.`, true);
    if (hanging.has(location)) return noAnswer;
    const abort = new AbortController();
    const limit = after(options.clock, options.limitMs);
    const reading = read(target, depth, abort.signal).finally(() => hanging.delete(location));
    const tooLong = limit.done.then(() => {
      hanging.add(location);
      abort.abort();
      return noAnswer;
    });
    try {
      return await Promise.race([reading, tooLong]);
    } catch (error) {
      return unreadable(
        target.cursor,
        `The table could not be read: ${error instanceof Error ? error.message : String(error)}`,
        true,
      );
    } finally {
      limit.cancel();
    }
  };
};
