import { SluiceError } from '../core/errors.ts';
import type { EpochMs } from '../core/time.ts';
import type { WorkflowDefinition } from '../core/workflow/definition.ts';
import { Busy } from './busy.ts';
import type { Db } from './database.ts';
import type { Dialect } from './dialect.ts';
import { type FactsCache, factsCache, type MembersCache, membersCache } from './facts-cache.ts';
import type { Hint } from './store.ts';

/** What a query needs: a connection (inside a transaction or a read), the instant that it takes for now, and hashing. */
export interface View {
  readonly db: Db;
  readonly dialect: Dialect;
  readonly now: EpochMs;
  readonly sha256: (text: string) => string;
  /** Versions of workflows read before, by "code:version": they never change, their release state aside. */
  readonly definitions: Map<string, WorkflowDefinition>;
  /** What was read of assets before, to be used only while the database says that it has not changed (queries/assets/facts.ts). */
  readonly facts: Facts;
  /** The same of the members of groups (queries/groups/batch.ts). */
  readonly members: MembersCache;
}

type Facts = Pick<FactsCache, 'get' | 'set' | 'delete'>;

/** A transaction under way. Hints are told after its commit. */
export interface Tx extends View {
  readonly nonce: () => string;
  readonly hint: (hint: Hint) => void;
  /** What is to be remembered if, and only if, this transaction commits. */
  readonly afterCommit: (remember: () => void) => void;
}

/** Passes hints on to other processes that work on the same database; any of them may be lost. */
export interface HintRelay {
  listen(listener: (hint: Hint) => void): void;
  tell(hints: ReadonlySet<Hint>): void;
  close(): Promise<void>;
}

export interface EngineOptions {
  readonly writer: Db;
  /** For transactions of the owner, where the database has a connection of its own for them; else they go through `writer`. */
  readonly ownerWriter?: Db;
  readonly reader: Db;
  readonly relay?: HintRelay;
  /** Keeps a second server away; where a database has no such thing, the data folder's lock does. Throws DATA_IN_USE. */
  readonly presence?: { take(): Promise<void> };
  /** What connections share, and so none of them closes. */
  readonly end?: () => Promise<void>;
  readonly dialect: Dialect;
  readonly sha256: (text: string) => string;
  readonly nonce: () => string;
}

/** A decision was made from what another transaction has changed since: undo it, and decide again. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/** How often a transaction that others got in the way of is tried in all, and the first pause between; each further one is twice as long. */
const ATTEMPTS = 6;
const PAUSE_MS = 5;

/** The only shard so far: the whole installation (a lease per shard joins with multi-master). */
export const SHARD = 0;

/** Runs whole transactions, checks ownership where a master writes, and passes hints on. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #listeners: ((hint: Hint) => void)[] = [];
  /** The generation that this store claimed; null: it owns nothing. */
  #generation: bigint | null = null;
  readonly #definitions = new Map<string, WorkflowDefinition>();
  readonly #facts = factsCache();
  readonly #members = membersCache();
  readonly #owner = new Busy();

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
    if (this.#listeners.length === 0) this.#options.relay?.listen((hint) => this.#tell([hint]));
    this.#listeners.push(listener);
  }

  /** Throws DATA_IN_USE while another server lives that took the database. */
  async takePresence(): Promise<void> {
    await this.#options.presence?.take();
  }

  /** From now on `writeAsOwner` goes by this generation, which the store has just claimed. */
  setGeneration(generation: bigint): void {
    this.#generation = generation;
  }

  /** One transaction: all that `body` wrote, or, if it throws, nothing. `body` is called again where the database undid it for others' sake. */
  write<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#write(this.#options.writer, body);
  }

  async #write<T>(db: Db, body: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const hints = new Set<Hint>();
      const memories: (() => void)[] = [];
      const facts = this.#trackedFacts();
      try {
        const result = await this.#transaction(db, { hints, memories, facts }, body);
        for (const remember of memories) remember();
        this.#tell(hints);
        if (hints.size > 0) this.#options.relay?.tell(hints);
        return result;
      } catch (error) {
        facts.forget();
        const again = error instanceof Overtaken || this.dialect.isTransient(error);
        if (!again || attempt >= ATTEMPTS) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 ** attempt));
      }
    }
  }

  #transaction<T>(
    db: Db,
    { hints, memories, facts }: { readonly hints: Set<Hint>; readonly memories: (() => void)[]; readonly facts: Facts },
    body: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    const { nonce } = this.#options;
    const hint = (what: Hint): void => void hints.add(what);
    const afterCommit = (remember: () => void): void => void memories.push(remember);
    return db.transaction().execute(async (tx) => body({ ...(await this.#view(tx)), facts, nonce, hint, afterCommit }));
  }

  /** What a transaction reads after its own writes is true only if it commits. */
  #trackedFacts(): Facts & { readonly forget: () => void } {
    const cache = this.#facts;
    const read = new Set<string>();
    return {
      get: (hash) => cache.get(hash),
      set: (hash, facts) => {
        read.add(hash);
        cache.set(hash, facts);
      },
      delete: (hash) => cache.delete(hash),
      forget: () => {
        for (const hash of read) cache.delete(hash);
      },
    };
  }

  #tell(hints: Iterable<Hint>): void {
    for (const hint of hints) for (const listener of this.#listeners) listener(hint);
  }

  /** A transaction that only the owner may make. Throws OWNERSHIP_LOST, having changed nothing, once somebody else has claimed it. */
  async writeAsOwner<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    const mine = this.#generation;
    if (mine === null)
      throw new SluiceError(
        'OWNERSHIP_LOST',
        'This store owns nothing yet: claim the ownership before working as a master.',
      );
    const { ownerWriter, writer } = this.#options;
    const writing = this.#write(ownerWriter ?? writer, async (tx) => {
      const current = await tx.dialect.generation(tx.db, SHARD);
      if (current !== mine)
        throw new SluiceError(
          'OWNERSHIP_LOST',
          `Another server took over (generation ${current}, ours is ${mine}); stop this one.`,
        );
      return body(tx);
    });
    return this.#owner.during(writing);
  }

  /** When no transaction of the owner is under way or waits; null: none does now. */
  ownerIdle(): Promise<void> | null {
    return this.#owner.idle();
  }

  /** Reads that see one state of the database, without holding up a writer. */
  async read<T>(body: (view: View) => Promise<T>): Promise<T> {
    return this.#options.reader.transaction().execute(async (db) => body(await this.#view(db)));
  }

  async #view(db: Db): Promise<View> {
    const { dialect, sha256 } = this.#options;
    return {
      db,
      dialect,
      sha256,
      definitions: this.#definitions,
      facts: this.#facts,
      members: this.#members,
      now: await dialect.now(db),
    };
  }

  async close(): Promise<void> {
    await this.#options.relay?.close();
    await this.#options.ownerWriter?.destroy();
    await this.#options.reader.destroy();
    await this.#options.writer.destroy();
    await this.#options.end?.();
  }
}
