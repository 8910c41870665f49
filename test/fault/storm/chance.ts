/** Chances that come again with the same seed. */
export interface Chance {
  /** At least 0 and below 1. */
  next(): number;
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number;
  /** True so many times of one. */
  happens(share: number): boolean;
  pick<T>(from: readonly T[]): T;
}

const STEP = 0x9e3779b9;

/** A Weyl sequence, mixed by multiplication and shifts (the finalizer of MurmurHash3): good enough to choose tables, and short. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + STEP) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    happens: (share) => next() < share,
    pick: (from) => {
      const picked = from[Math.floor(next() * from.length)];
      if (picked === undefined) throw new Error('There is nothing to pick from.');
      return picked;
    },
  };
}
