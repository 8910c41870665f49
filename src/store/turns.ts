/** A backlog waits for requests no longer than this; other evaluations never do. */
const LONGEST_TURN_MS = 500;

/**
 * Requests that record at the same time; all but one of them wait this long for the master to have done what it is doing. While one computes
 * here, the database works for another: with fewer, one of the two would often have nothing to do. A master
 * that got a turn only between the statements of eight writers that never paused started 150 runs while 330,000 events were recorded, and
 * turned none of their changes into groups.
 */
const AT_ONCE = 3;
const MASTER_FIRST_MS = 50;

/** So many requests are recorded for each part of a backlog that is evaluated, while there are any. */
const REQUESTS_PER_TURN = 2;

/**
 * Requests that record and the evaluation of a backlog take turns. Evaluating as fast as possible while more is being recorded only decides the
 * same groups again and again, with the processor time that recording needs (`npm run bench -- ingest --database …` tells the evaluations
 * beside the events); but where a database can do both at a time, one request goes on beside the master, or one of the two would always wait.
 */
export class Turns {
  readonly #masterIdle: () => Promise<void> | null;
  /** First come, first served. */
  readonly #waiting: (() => void)[] = [];
  /** Told of each request that ends. */
  readonly #watching = new Set<() => void>();
  #free = AT_ONCE;
  #recording = 0;

  /** `masterIdle`: when the master has no transaction under way or waiting; null: it has none now. */
  constructor(masterIdle: () => Promise<void> | null) {
    this.#masterIdle = masterIdle;
  }

  async record<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      if (this.#free < AT_ONCE - 1) await othersGo();
      const idle = this.#recording > 0 ? this.#masterIdle() : null;
      if (idle !== null) await orEnough(idle, MASTER_FIRST_MS);
      return await this.#noted(work);
    } finally {
      this.#passOn();
    }
  }

  async #noted<T>(work: () => Promise<T>): Promise<T> {
    this.#recording += 1;
    try {
      return await work();
    } finally {
      this.#recording -= 1;
      for (const tell of this.#watching) tell();
    }
  }

  #passOn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  /** When as many requests as have their turn now have ended, or none is left. */
  async next(): Promise<void> {
    await othersGo();
    if (this.#recording === 0) return;
    let ended = 0;
    let tell = (): void => {};
    const enough = new Promise<void>((resolve) => {
      tell = () => {
        ended += 1;
        if (ended >= REQUESTS_PER_TURN || this.#recording === 0) resolve();
      };
    });
    this.#watching.add(tell);
    await orEnough(enough, LONGEST_TURN_MS);
    this.#watching.delete(tell);
  }
}

/**
 * Lets the event loop come round. SQLite answers at once, so that a long backlog, or one who records again and again, would otherwise let nothing
 * else happen in this process until it is done.
 */
const othersGo = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Resolves with `done`, or when that takes longer than `ms`. */
const orEnough = async (done: Promise<unknown>, ms: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([done, enough]);
  clearTimeout(timer);
};
