/** A backlog waits for a request no longer than this; other evaluations never do. */
const LONGEST_TURN_MS = 500;

/**
 * Requests that record at the same time, and how long one of them waits for the master to have done what it is doing. What both spend is mostly
 * this process's own time, so that more of them are no faster together; but a master that got a turn only between the statements of eight
 * writers that never paused started 150 runs while 330,000 events were recorded, and turned none of their changes into groups.
 */
const AT_ONCE = 2;
const MASTER_FIRST_MS = 50;

/**
 * Requests that record and the evaluation of a backlog take turns, as they must on SQLite, where one of them holds the database at a time. Where
 * they need not, evaluating as fast as possible while more is being recorded only decides the same groups again and again, with the processor
 * time that recording needs (`npm run bench -- ingest --database …` tells the evaluations beside the events).
 */
export class Turns {
  readonly #masterIdle: () => Promise<void> | null;
  readonly #recording = new Set<Promise<unknown>>();
  /** First come, first served. */
  readonly #waiting: (() => void)[] = [];
  #free = AT_ONCE;

  /** `masterIdle`: when the master has no transaction under way or waiting; null: it has none now. */
  constructor(masterIdle: () => Promise<void> | null) {
    this.#masterIdle = masterIdle;
  }

  async record<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      const idle = this.#masterIdle();
      if (idle !== null) await orEnough(idle, MASTER_FIRST_MS);
      return await this.#noted(work());
    } finally {
      this.#passOn();
    }
  }

  async #noted<T>(recording: Promise<T>): Promise<T> {
    this.#recording.add(recording);
    try {
      return await recording;
    } finally {
      this.#recording.delete(recording);
    }
  }

  #passOn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  /** When what is being recorded now is recorded or has failed. */
  async next(): Promise<void> {
    if (this.#recording.size > 0) await orEnough(Promise.allSettled(this.#recording), LONGEST_TURN_MS);
  }
}

/** Resolves with `done`, or when that takes longer than `ms`. */
const orEnough = async (done: Promise<unknown>, ms: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([done, enough]);
  clearTimeout(timer);
};
