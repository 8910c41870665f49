import { SluiceError } from '../core/errors.ts';

/** Told of what went wrong inside one group, command or run while the others went on; it is tried again. */
export type OnProblem = (what: string, error: unknown) => void;

/** Another server owns the work now: nothing may be tried any more. */
export const isLostOwnership = (error: unknown): boolean =>
  error instanceof SluiceError && error.code === 'OWNERSHIP_LOST';

/** Does something with each of these in a transaction of its own. A failure is reported and holds up none of the others; only lost ownership ends it all. */
export const eachAlone = async <T>(
  ids: readonly bigint[],
  body: (id: bigint) => Promise<T>,
  failed: (id: bigint, error: unknown) => Promise<void>,
): Promise<readonly T[]> => {
  const results: T[] = [];
  for (const id of ids) {
    try {
      results.push(await body(id));
    } catch (error) {
      if (isLostOwnership(error)) throw error;
      await failed(id, error);
    }
  }
  return results;
};
