import type { Condition } from '../core/asset/condition.ts';
import type { VersionFacts } from '../core/asset/group.ts';
import type { Asset, AssetState, SchemaRecord, TagRecord } from '../core/asset/state.ts';
import type { VersionRef } from '../core/asset/version.ts';
import type { Row } from './database.ts';

/** What decisions look at of one asset, as far as its newest versions suffice. */
export interface AssetFacts {
  readonly row: Row<'t_ds_asset'>;
  readonly asset: Asset;
  readonly state: AssetState;
  /** The newest versions that are not withdrawn, oldest first, with what is bound to them. */
  readonly versions: readonly VersionFacts[];
  /** There are no older ones. */
  readonly whole: boolean;
  /** How many are kept at most. */
  readonly reach: number;
  /** Deleted ones too. */
  readonly tags: readonly TagRecord[];
  /** Of all epochs, without their columns and changes. */
  readonly schemas: readonly SchemaRecord[];
  /** Ids of versions not known yet that verdicts wait for; null among them: for a scan, or for more than are listed here. */
  readonly awaited: ReadonlySet<string | null>;
}

/** What was stored last, up to a total weight: what was stored longest ago makes room for what is new. */
export class BoundedCache<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #most: number;
  readonly #weightOf: (value: V) => number;
  #weight = 0;

  constructor(most: number, weightOf: (value: V) => number) {
    this.#most = most;
    this.#weightOf = weightOf;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#weight += this.#weightOf(value);
    while (this.#weight > this.#most) {
      const oldest = this.#entries.keys().next();
      if (oldest.done === true) return;
      this.delete(oldest.value);
    }
  }

  delete(key: K): void {
    const known = this.#entries.get(key);
    if (known === undefined) return;
    this.#entries.delete(key);
    this.#weight -= this.#weightOf(known);
  }
}

/**
 * By the hash of the asset's key. The state's version changes with everything that is recorded of an asset, so that an entry is as good as
 * a look at the database exactly while its version is the one there. A version takes some half a kilobyte; the rest of an entry as much as four.
 */
export type FactsCache = BoundedCache<string, AssetFacts>;
export const factsCache = (): FactsCache => new BoundedCache(120_000, ({ versions }) => 4 + versions.length);

/** One condition of a group, and what the group consumed of its asset. */
export interface GroupMember {
  readonly condition: Condition;
  readonly consumed: Consumed;
  /** Of the asset's key. */
  readonly hash: string;
}

/** By the group's id: its members as they were at a revision of the group, which rises with every change of them. */
export type MembersCache = BoundedCache<
  bigint,
  { readonly revision: bigint; readonly members: readonly GroupMember[] }
>;
export const membersCache = (): MembersCache => new BoundedCache(150_000, ({ members }) => 1 + members.length);

/** What a group has consumed of one asset, or where it begins. */
export interface Consumed {
  readonly ref: VersionRef | null;
  readonly schemaId: string | null;
  readonly known: boolean;
}
