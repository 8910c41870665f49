/** A backlog waits for a request no longer than this; other evaluations never do. */
const LONGEST_TURN_MS = 500;

/**
 * Requests that record and the evaluation of a backlog take turns, as they must on SQLite, where one of them holds the database at a time. Where
 * they need not, evaluating as fast as possible while more is being recorded only decides the same groups again and again: 70,000 decisions
 * for 100,000 events instead of 30,000 (`npm run bench -- ingest`), with the processor time that recording them needs.
 */
export class Turns {
  readonly #recording = new Set<Promise<unknown>>();

  async record<T>(work: () => Promise<T>): Promise<T> {
    const recording = work();
    this.#recording.add(recording);
    try {
      return await recording;
    } finally {
      this.#recording.delete(recording);
    }
  }

  /** When what is being recorded now is recorded or has failed. */
  async next(): Promise<void> {
    if (this.#recording.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LONGEST_TURN_MS);
    });
    await Promise.race([Promise.allSettled(this.#recording), enough]);
    clearTimeout(timer);
  }
}
