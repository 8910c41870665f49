/** How many files are read at once where many are wanted. */
const AT_ONCE = 16;

/** Runs `work` over the items, at most 16 together; answers in order. Rejects with the first that fails. */
export async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    answers.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  return answers;
}

/** Lets the event loop turn: for use between the slices of a long computation. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
