import { Readable } from 'node:stream';
import { SluiceError } from '../core/errors.ts';
import type { Cancel, Clock } from '../runtime/clock.ts';
import type { Hint, Store } from '../store/store.ts';

/** What of the things that people look at changed: states of assets, trees of groups, what is declared, runs with their tasks. */
export type ChangeKind = 'assets' | 'groups' | 'workflows' | 'runs';

const KINDS_OF: Readonly<Record<Hint, readonly ChangeKind[]>> = {
  ASSETS: [],
  SCANS: [],
  GROUPS: [],
  COMMANDS: [],
  TASKS: [],
  DEADLINES: [],
  CHANGED: ['assets', 'groups', 'workflows', 'runs'],
  CHANGED_ASSETS: ['assets'],
  CHANGED_GROUPS: ['groups'],
  CHANGED_RUNS: ['runs'],
};

/** At most five events a second to one follower, however much happens. */
const PACE_MS = 200;
const KEEP_ALIVE_MS = 15_000;
const MOST_FOLLOWERS = 100;

/** All followers of one server's changes. */
export class ChangeFeed {
  readonly #clock: Clock;
  readonly #followers = new Set<Follower>();
  #closed = false;

  constructor(store: Pick<Store, 'onHint'>, clock: Clock) {
    this.#clock = clock;
    store.onHint((hint) => {
      const kinds = KINDS_OF[hint];
      if (kinds.length > 0) for (const follower of this.#followers) follower.tell(kinds);
    });
  }

  /**
   * A stream of server-sent events as UTF-8: one "ready", then "changed" `{kinds}`. Changes that a slow reader has not taken yet are one event.
   * Throws TOO_MANY_FOLLOWERS.
   */
  follow(): Readable {
    if (this.#closed || this.#followers.size >= MOST_FOLLOWERS)
      throw new SluiceError(
        'TOO_MANY_FOLLOWERS',
        `Close some of the ${this.#followers.size} pages that follow this server, or ask for what you need now and then.`,
      );
    const follower = new Follower(this.#clock, () => this.#followers.delete(follower));
    this.#followers.add(follower);
    return follower;
  }

  /** How many follow. */
  get size(): number {
    return this.#followers.size;
  }

  /** Ends every stream, so that none keeps a stopping server alive. */
  close(): void {
    this.#closed = true;
    for (const follower of this.#followers) follower.destroy();
  }
}

class Follower extends Readable {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  readonly #changed = new Set<ChangeKind>();
  #greeted = false;
  /** The reader has room for an event. */
  #wanted = false;
  /** Ends the pause after an event; null: the next one may be sent at once. */
  #pause: Cancel | null = null;
  /** Nothing was sent for so long that a sign of life is due. */
  #quiet = false;
  #keepAlive: Cancel = () => {};

  constructor(clock: Clock, onEnd: () => void) {
    super({ highWaterMark: 1 });
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#beat();
  }

  tell(kinds: readonly ChangeKind[]): void {
    for (const kind of kinds) this.#changed.add(kind);
    this.#send();
  }

  override _read(): void {
    this.#wanted = true;
    this.#send();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#pause?.();
    this.#keepAlive();
    this.#onEnd();
    done(error);
  }

  #send(): void {
    if (!this.#wanted) return;
    if (!this.#greeted) {
      this.#greeted = true;
      return this.#write('event: ready\ndata: {}\n\n');
    }
    if (this.#quiet) return this.#write(': still here\n\n');
    if (this.#pause !== null || this.#changed.size === 0) return;
    const data = JSON.stringify({ kinds: [...this.#changed].sort() });
    this.#changed.clear();
    this.#pause = this.#clock.setTimer(PACE_MS, () => {
      this.#pause = null;
      this.#send();
    });
    this.#write(`event: changed\ndata: ${data}\n\n`);
  }

  #write(text: string): void {
    this.#wanted = false;
    this.#quiet = false;
    this.push(text);
  }

  /** A comment now and then tells the reader that the connection lives. */
  #beat(): void {
    this.#keepAlive = this.#clock.setTimer(KEEP_ALIVE_MS, () => {
      this.#quiet = true;
      this.#send();
      this.#beat();
    });
  }
}
