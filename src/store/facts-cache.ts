import type { VersionFacts } from '../core/asset/group.ts';
import type { Asset, AssetState, SchemaRecord, TagRecord } from '../core/asset/state.ts';
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
  /** A verdict waits for a scan, or for a version that is not known yet. */
  readonly awaitsVersion: boolean;
}

/** Versions of all assets together: some half a kilobyte each. */
const MOST_VERSIONS = 120_000;
/** What an entry takes beside its versions, as if it had so many more. */
const BASE = 4;

/**
 * Facts of the assets used last, by the hash of their key. The state's version changes with everything that is recorded of an asset, so that an
 * entry is as good as a look at the database exactly while its version is the one there.
 */
export class FactsCache {
  readonly #entries = new Map<string, AssetFacts>();
  #weight = 0;

  get(hash: string): AssetFacts | undefined {
    return this.#entries.get(hash);
  }

  set(hash: string, facts: AssetFacts): void {
    this.delete(hash);
    this.#entries.set(hash, facts);
    this.#weight += weightOf(facts);
    while (this.#weight > MOST_VERSIONS) {
      const oldest = this.#entries.keys().next();
      if (oldest.done === true) return;
      this.delete(oldest.value);
    }
  }

  delete(hash: string): void {
    const known = this.#entries.get(hash);
    if (known === undefined) return;
    this.#entries.delete(hash);
    this.#weight -= weightOf(known);
  }
}

const weightOf = (facts: AssetFacts): number => BASE + facts.versions.length;
