import { SluiceError } from '../../core/errors.ts';

/** What lists in the order of names are asked with; without a limit they are given whole. */
export interface NamedPageQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

const PREFIX = 'after:';

/** The part of a list that was asked for, in the order of names. Throws BAD_REQUEST for a cursor that no page gave. */
export const namedPage = <T, B>(
  list: readonly T[],
  nameOf: (item: T) => string,
  body: (item: T) => B,
  { limit, cursor }: NamedPageQuery,
): { items: B[]; nextCursor: string | null } => {
  const sorted = byName(list, nameOf);
  const begin = cursor === undefined ? 0 : after(sorted, nameOf, cursor);
  const items = sorted.slice(begin, limit === undefined ? undefined : begin + limit);
  const last = items.at(-1);
  const more = last !== undefined && begin + items.length < sorted.length;
  return { items: items.map(body), nextCursor: more ? Buffer.from(PREFIX + nameOf(last)).toString('base64url') : null };
};

/** Where the page begins: after the item that the cursor names, or where that would stand if it is no longer there. */
const after = <T>(sorted: readonly T[], nameOf: (item: T) => string, cursor: string): number => {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (!text.startsWith(PREFIX))
    throw new SluiceError('BAD_REQUEST', 'Give a cursor exactly as a page before returned it, or none.');
  const name = text.slice(PREFIX.length);
  const at = sorted.findIndex((item) => nameOf(item) > name);
  return at < 0 ? sorted.length : at;
};

/** By code units: the same on every database, and for whoever compares names again. */
const byName = <T>(items: readonly T[], nameOf: (item: T) => string): readonly T[] =>
  [...items].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
