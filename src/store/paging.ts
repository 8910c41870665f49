import { SluiceError } from '../core/errors.ts';
import type { Page, PageRequest } from './store.ts';

const DEFAULT_LIMIT = 50;
const MOST = 500;

/** What a list's query needs: rows below this id, newest first, one more than asked for (it tells whether there is a next page). */
export interface Slice {
  readonly below: bigint;
  readonly limit: number;
}

const START = 9_223_372_036_854_775_807n;

/** Throws BAD_REQUEST for a limit that is not 1 to 500 or a cursor that no page gave. */
export const sliceOf = (page: PageRequest): Slice => {
  const limit = page.limit ?? DEFAULT_LIMIT;
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw new SluiceError('BAD_REQUEST', `Give a limit from 1 to ${MOST}, not ${limit}.`);
  return { limit, below: page.cursor === undefined || page.cursor === null ? START : decode(page.cursor) };
};

const decode = (cursor: string): bigint => {
  const plain = Buffer.from(cursor, 'base64url').toString();
  const below = /^\d{1,19}$/.test(plain) ? BigInt(plain) : null;
  if (below !== null && below <= START) return below;
  throw new SluiceError('BAD_REQUEST', 'Give a cursor exactly as a page before returned it, or none.');
};

/** The page of a query that read `limit + 1` rows. `idOf` is what the rows are ordered by. */
export const pageOf = <R, T>(
  rows: readonly R[],
  slice: Slice,
  idOf: (row: R) => bigint,
  item: (row: R) => T,
): Page<T> => {
  const shown = rows.slice(0, slice.limit);
  const last = shown.at(-1);
  const more = rows.length > slice.limit && last !== undefined;
  return { items: shown.map(item), nextCursor: more ? Buffer.from(idOf(last).toString()).toString('base64url') : null };
};
