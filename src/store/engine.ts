import { SluiceError } from '../core/errors.ts';
import type { EpochMs } from '../core/time.ts';
import type { WorkflowDefinition } from '../core/workflow/definition.ts';
import type { Db } from './database.ts';
import type { Dialect } from './dialect.ts';
import type { Hint } from './store.ts';

/** What a query needs: a connection (inside a transaction or a read), the instant that it takes for now, and hashing. */
export interface View {
  readonly db: Db;
  readonly dialect: Dialect;
  readonly now: EpochMs;
  readonly sha256: (text: string) => string;
  /** Versions of workflows read before, by "code:version": they never change, their release state aside. */
  readonly definitions: Map<string, WorkflowDefinition>;
}

/** A transaction under way. Hints are told after its commit. */
export interface Tx extends View {
  readonly nonce: () => string;
  readonly hint: (hint: Hint) => void;
}

export interface EngineOptions {
  readonly writer: Db;
  readonly reader: Db;
  readonly dialect: Dialect;
  readonly sha256: (text: string) => string;
  readonly nonce: () => string;
}

/** The only shard so far: the whole installation (a lease per shard joins with multi-master). */
export const SHARD = 0;

/** Runs whole transactions, checks ownership where a master writes, and passes hints on. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #listeners: ((hint: Hint) => void)[] = [];
  /** The generation that this store claimed; null: it owns nothing. */
  #generation: bigint | null = null;
  readonly #definitions = new Map<string, WorkflowDefinition>();

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  get dialect(): Dialect {
    return this.#options.dialect;
  }

  get writer(): Db {
    return this.#options.writer;
  }

  onHint(listener: (hint: Hint) => void): void {
    this.#listeners.push(listener);
  }

  owns(generation: bigint): void {
    this.#generation = generation;
  }

  /** One transaction: all that `body` wrote, or, if it throws, nothing. */
  async write<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    const { writer, nonce } = this.#options;
    const hints = new Set<Hint>();
    const result = await writer
      .transaction()
      .execute(async (db) => body({ ...(await this.#view(db)), nonce, hint: (hint) => hints.add(hint) }));
    for (const hint of hints) for (const listener of this.#listeners) listener(hint);
    return result;
  }

  /** A transaction that only the owner may make. Throws OWNERSHIP_LOST, having changed nothing, once somebody else has claimed it. */
  async own<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    const mine = this.#generation;
    if (mine === null)
      throw new SluiceError(
        'OWNERSHIP_LOST',
        'This store owns nothing yet: claim the ownership before working as a master.',
      );
    return this.write(async (tx) => {
      const current = await tx.dialect.generation(tx.db, SHARD);
      if (current !== mine)
        throw new SluiceError(
          'OWNERSHIP_LOST',
          `Another server took over (generation ${current}, ours is ${mine}); stop this one.`,
        );
      return body(tx);
    });
  }

  /** Reads that see one state of the database, without holding up a writer. */
  async read<T>(body: (view: View) => Promise<T>): Promise<T> {
    return this.#options.reader.transaction().execute(async (db) => body(await this.#view(db)));
  }

  async #view(db: Db): Promise<View> {
    const { dialect, sha256 } = this.#options;
    return { db, dialect, sha256, definitions: this.#definitions, now: await dialect.now(db) };
  }

  async close(): Promise<void> {
    await this.#options.reader.destroy();
    await this.#options.writer.destroy();
  }
}
