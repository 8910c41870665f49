/** Edit distance with adjacent transpositions: how many single-character slips lie between two words. */
const distance = (a: string, b: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const step = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(swapped ? Math.min(step, (beforeLast[column - 2] ?? 0) + 1) : step);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
};

/** The known word that the given one was most likely meant to be; undefined when none is close (over a third of its letters differ). */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const slips = distance(word.toLowerCase(), candidate.toLowerCase());
    if (slips < least) [best, least] = [candidate, slips];
  }
  return best;
};
