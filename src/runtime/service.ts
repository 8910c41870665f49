import type { Cancel, Clock } from './clock.ts';
import type { Log } from './log.ts';

export interface ServiceOptions {
  /** What the log calls it. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * One pass over what is due. Returns after how many milliseconds it wants to run again (0: at once), or null to run only when woken.
   * The signal aborts when the service is being stopped: finish soon. A throw is logged and retried with growing pauses.
   */
  readonly runOnce: (signal: AbortSignal) => Promise<number | null>;
  /** Pause after the first failure in a row; doubles with each further one. Default 100 ms. */
  readonly firstPauseMs?: number;
  /** The longest pause. Default 30 s. */
  readonly longestPauseMs?: number;
}

/** A loop with a life: every duty of a server is one of these. */
export interface Service {
  readonly name: string;
  /** Runs once at once, then whenever due. A second call, or one after stop(), does nothing. */
  start(): void;
  /** There may be work: run now, or once more at once if a run is going on. After a failure the pause is kept, so that hints cannot turn an outage into a storm. */
  wake(): void;
  /** No further run begins; resolves when the one going on has ended. */
  stop(): Promise<void>;
  /** Resolves when the n-th run since start() has ended, well or not (at once if it has): what tests await. */
  ran(n: number): Promise<void>;
}

/** The lifecycle of a loop, written once: never two runs at a time, no wake lost, failures never end it. */
export const createService = (options: ServiceOptions): Service => new LoopService(options);

/** When a loop runs again. `inMs` null: only when woken. `failed`: it is a pause after a failure, which no hint may shorten. */
interface Next {
  readonly inMs: number | null;
  readonly failed: boolean;
}

type Phase = 'NEW' | 'WAITING' | 'RUNNING' | 'PAUSED' | 'STOPPED';

class LoopService implements Service {
  readonly name: string;
  readonly #options: ServiceOptions;
  readonly #stopping = new AbortController();
  #phase: Phase = 'NEW';
  #woken = false;
  #cancelTimer: Cancel = () => {};
  #running: Promise<void> = Promise.resolve();
  #failures = 0;
  #runs = 0;
  #waiters: { readonly n: number; readonly resolve: () => void }[] = [];

  constructor(options: ServiceOptions) {
    this.name = options.name;
    this.#options = options;
  }

  start(): void {
    if (this.#phase === 'NEW') this.#run();
  }

  wake(): void {
    if (this.#phase === 'WAITING') this.#run();
    else this.#woken = true;
  }

  async stop(): Promise<void> {
    this.#phase = 'STOPPED';
    this.#cancelTimer();
    this.#stopping.abort();
    await this.#running;
  }

  ran(n: number): Promise<void> {
    if (this.#runs >= n) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ n, resolve }));
  }

  #run(): void {
    this.#cancelTimer();
    this.#phase = 'RUNNING';
    this.#woken = false;
    this.#running = this.#pass().then((next) => this.#afterRun(next));
  }

  async #pass(): Promise<Next> {
    try {
      const delay = await this.#options.runOnce(this.#stopping.signal);
      this.#failures = 0;
      return { inMs: delay === null ? null : Math.max(0, delay), failed: false };
    } catch (error) {
      const { log, firstPauseMs = 100, longestPauseMs = 30_000 } = this.#options;
      const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#failures, 30));
      this.#failures += 1;
      if (this.#stopping.signal.aborted) return { inMs: null, failed: false }; // an aborted run may well throw
      log.error(`${this.name} failed and is tried again in ${pause} ms`, { error, failures: this.#failures });
      return { inMs: pause, failed: true };
    }
  }

  #afterRun(next: Next): void {
    this.#runs += 1;
    const reached = this.#waiters.filter(({ n }) => n <= this.#runs);
    this.#waiters = this.#waiters.filter(({ n }) => n > this.#runs);
    if (this.#phase !== 'STOPPED') this.#rest(next);
    for (const { resolve } of reached) resolve();
  }

  #rest({ inMs, failed }: Next): void {
    this.#phase = failed ? 'PAUSED' : 'WAITING';
    if (!failed && (this.#woken || inMs === 0)) {
      // Not in this turn of the event loop: a service that is always due must let the rest of the process have its own.
      const next = setImmediate(() => this.#run());
      this.#cancelTimer = () => clearImmediate(next);
    } else if (inMs !== null) {
      this.#cancelTimer = this.#options.clock.setTimer(inMs, () => this.#run());
    }
  }
}
