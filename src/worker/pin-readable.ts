import { assetName } from '../core/asset/key.ts';
import type { Files } from '../files/files.ts';
import { after, type Clock } from '../runtime/clock.ts';
import type { Source } from '../sources/source.ts';
import type { PinFacts } from '../store/store.ts';

export interface PinCheckOptions {
  /** undefined: no source reads the format. */
  readonly sourceOf: (format: string) => Promise<Source | undefined>;
  /** undefined: nothing here reads such locations. */
  readonly filesOf: (location: string) => Promise<Files | undefined>;
  readonly clock: Clock;
  /** How long a table may take to answer. */
  readonly limitMs: number;
}

/**
 * Can the version that a task is pinned to still be read? A table that cannot be asked right now, or does not answer in time, counts as
 * readable: its task will see for itself.
 */
export const createPinCheck =
  (options: PinCheckOptions) =>
  async (pin: PinFacts): Promise<boolean> => {
    const limit = after(options.clock, options.limitMs);
    try {
      return await Promise.race([askTable(pin, options), limit.done.then(() => true)]);
    } catch {
      return true;
    } finally {
      limit.cancel();
    }
  };

const askTable = async (
  { assetKey, location, pin, version }: PinFacts,
  { sourceOf, filesOf }: PinCheckOptions,
): Promise<boolean> => {
  const { format, branch } = assetName(assetKey);
  const source = await sourceOf(format);
  const files = location === null ? undefined : await filesOf(location);
  if (source === undefined || files === undefined || location === null) return true;
  return source.isReadable({ location, branch, files }, version?.readAs ?? pin.snapshotId);
};
