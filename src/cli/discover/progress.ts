import type { Progress } from '../../compose/discover.ts';

/** What is over by then needs no word; after it, so long lies between two. */
const EVERY_MS = 2_000;

/** Tells whoever waits how far a search has come: a line every two seconds. `now`: milliseconds that never go back. */
export const createProgress = (write: (text: string) => void, now: () => number): ((progress: Progress) => void) => {
  let next = now() + EVERY_MS;
  return ({ folders, tables, read }) => {
    if (now() < next) return;
    next = now() + EVERY_MS;
    const done = read === 0 ? `${tables} found` : `${read} of ${tables} read`;
    write(`sluice: looked into ${folders} folders; tables: ${done}\n`);
  };
};
