import { type Cursor, type Poll, unreadable } from '../core/asset/poll.ts';
import { FilesError } from '../files/files.ts';

/** There is nothing that could be read: no such folder, no table in it, no such branch, or a table that is gone. */
export class NothingThere extends Error {
  override readonly name = 'NothingThere';
}

/** A file that stands there but does not hold what it must: half-written, damaged, or something else under its name. */
export class BrokenFile extends Error {
  override readonly name = 'BrokenFile';
}

/** What was seen a moment ago is gone, or another: the table is changing, so it must be looked at again. The message names the file. */
export class MovedOn extends Error {
  override readonly name = 'MovedOn';
}

/** What a metadata file turned out to be: parsed, or why not. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

/** Why a table could not be read, for people. Throws what is none of the troubles that a table can have. */
export function whyUnreadable(error: unknown): { readonly reason: string; readonly retryable: boolean } {
  if (error instanceof FilesError) return { reason: error.message, retryable: error.retryable };
  if (error instanceof NothingThere) return { reason: error.message, retryable: true };
  if (error instanceof BrokenFile) return { reason: `${error.message}; a writer may be at it.`, retryable: true };
  if (error instanceof MovedOn)
    return { reason: `The table changes faster than it can be read (${error.message}).`, retryable: true };
  throw error;
}

/** The answer to a cursor that a source cannot use. */
export const foreignCursor = (cursor: Cursor | null): Poll =>
  unreadable(cursor, 'What was remembered of the table is not of this version of Sluice: read the table anew.', false);

/** How often a table that changes under the reader is looked at anew within one poll. */
const LOOKS = 3;

/** Looks until the table stands still. Throws MovedOn if it does not. */
export async function untilStill(look: () => Promise<Poll>): Promise<Poll> {
  for (let left = LOOKS; ; left--) {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof MovedOn) || left === 1) throw error;
    }
  }
}

/** semantics.md, 3: a first read records at most the newest 1,000 versions. */
export const FIRST_READ_LIMIT = 1_000;

/** A FilesError is "no": for detect, whose poll will say why. */
export async function unlessUnreadable(question: () => Promise<boolean>): Promise<boolean> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof FilesError) return false;
    throw error;
  }
}
