import { Client, type ClientConfig, type Notification } from 'pg';
import type { HintRelay } from '../engine.ts';
import type { Hint } from '../store.ts';

/** Of our schema: two installations in one database do not wake each other. */
const CHANNEL = `'sluice_hints_' || hashtext(current_schema())`;
/** At most one NOTIFY in this time: each takes a lock that all of the database's share (facts/engines.md 1.1). */
const FLUSH_MS = 20;
const RECONNECT_MS = 1_000;
/** As an object, so that the compiler misses the one that a new hint would lack. */
const HINTS: Readonly<Record<Hint, true>> = {
  ASSETS: true,
  SCANS: true,
  GROUPS: true,
  COMMANDS: true,
  TASKS: true,
  DEADLINES: true,
  CHANGED: true,
  CHANGED_ASSETS: true,
  CHANGED_GROUPS: true,
  CHANGED_RUNS: true,
};

const isHint = (word: string): word is Hint => Object.hasOwn(HINTS, word);

/**
 * Hints from process to process by LISTEN and NOTIFY, on a session of their own, outside every transaction that matters. Any may be lost; after a
 * lost session everybody is told to look.
 */
export class PostgresHints implements HintRelay {
  readonly #config: ClientConfig;
  readonly #waiting = new Set<Hint>();
  #listener: ((hint: Hint) => void) | null = null;
  #client: Client | null = null;
  #connecting = false;
  #sending = false;
  #closed = false;

  constructor(config: ClientConfig) {
    this.#config = config;
  }

  listen(listener: (hint: Hint) => void): void {
    this.#listener = listener;
    void this.#connect();
  }

  /** At once if none was sent just now, else together with those that come until then. */
  tell(hints: ReadonlySet<Hint>): void {
    for (const hint of hints) this.#waiting.add(hint);
    void this.#send();
    void this.#connect();
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }

  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    for (let client = this.#client; client !== null && this.#waiting.size > 0; client = this.#client) {
      const words = [...this.#waiting].join(' ');
      this.#waiting.clear();
      // A failure is a hint lost; the session's end is told by its own event.
      await client.query(`select pg_notify(${CHANNEL}, $1)`, [words]).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, FLUSH_MS).unref());
    }
    this.#sending = false;
  }

  async #connect(): Promise<void> {
    if (this.#closed || this.#connecting || this.#client !== null) return;
    this.#connecting = true;
    const client = new Client(this.#config);
    client.on('error', () => {}); // 'end' follows
    client.on('end', () => this.#lost(client));
    client.on('notification', (message) => this.#heard(client, message));
    try {
      await client.connect();
      await client.query('set synchronous_commit = off');
      const { rows } = await client.query<{ channel: string }>(`select ${CHANNEL} as channel`);
      await client.query(`listen ${client.escapeIdentifier(rows[0]?.channel ?? '')}`);
      this.#connecting = false;
      if (this.#closed) return void (await client.end());
      this.#client = client;
      void this.#send();
    } catch {
      this.#connecting = false;
      await client.end().catch(() => {});
      this.#again();
    }
  }

  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    this.#again();
  }

  #again(): void {
    if (this.#closed) return;
    setTimeout(() => void this.#connect().then(() => this.#tellAll()), RECONNECT_MS).unref();
  }

  #tellAll(): void {
    if (this.#client !== null) for (const hint of Object.keys(HINTS).filter(isHint)) this.#listener?.(hint);
  }

  /** Our own were told to our own listeners when they were committed. */
  #heard(client: Client, { processId, payload }: Notification): void {
    if (processId === (client as Client & { readonly processID: number | null }).processID) return;
    for (const word of (payload ?? '').split(' ')) if (isHint(word)) this.#listener?.(word);
  }
}
