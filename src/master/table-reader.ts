import { assetName } from '../core/asset/key.ts';
import { type Poll, unreadable } from '../core/asset/poll.ts';
import { after, type Clock } from '../runtime/clock.ts';
import type { ScanTarget } from '../store/store.ts';
import type { Files } from '../files/files.ts';
import type { Source } from '../sources/source.ts';
import type { Depth } from './scan-policy.ts';

const FIRST_READ_LIMIT = 1_000; // semantics.md 3: a first read records at most the newest 1,000 versions

/** Reads one table from where its last scan ended. Never rejects. */
export type Reader = (target: ScanTarget, depth: Depth) => Promise<Poll>;

export interface TableReaderOptions {
  /** undefined: no source reads the format. */
  readonly sourceOf: (format: string) => Promise<Source | undefined>;
  /** undefined: nothing here reads such locations. */
  readonly filesOf: (location: string) => Promise<Files | undefined>;
  readonly clock: Clock;
  /** How long one read may take. */
  readonly limitMs: number;
}

/** A reader over the formats' sources, with a time limit on each read. */
export const createReader = (options: TableReaderOptions): Reader => {
  // A read on a hanging mount cannot be taken back and holds a thread, of which there are few: one such read for each place, not one for each poll.
  const hanging = new Set<string | null>();
  return async (target, depth) => {
    const { location } = target.asset;
    const noAnswer = unreadable(target.cursor, `The table did not answer within ${options.limitMs / 1000} s.`, true);
    if (hanging.has(location)) return noAnswer;
    const abort = new AbortController();
    const limit = after(options.clock, options.limitMs);
    const reading = readTable(target, depth, options, abort.signal).finally(() => hanging.delete(location));
    const tooLong = limit.done.then(() => {
      hanging.add(location);
      abort.abort();
      return noAnswer;
    });
    try {
      return await Promise.race([reading, tooLong]);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return unreadable(target.cursor, `The table could not be read: ${why}`, true);
    } finally {
      limit.cancel();
    }
  };
};

const readTable = async (
  { asset, cursor }: ScanTarget,
  depth: Depth,
  { sourceOf, filesOf }: TableReaderOptions,
  signal: AbortSignal,
): Promise<Poll> => {
  const { format, branch } = assetName(asset.key);
  const source = await sourceOf(format);
  const files = asset.location === null ? undefined : await filesOf(asset.location);
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
