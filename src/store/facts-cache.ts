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
  /** Deleted ones too. */
  readonly tags: readonly TagRecord[];
  /** Of all epochs, without their columns and changes. */
  readonly schemas: readonly SchemaRecord[];
  /** A verdict waits for a scan, or for a version that is not known yet. */
  readonly awaitsVersion: boolean;
}

const MOST = 20_000;

/**
 * Facts of the assets used last, by the hash of their key. The state's version changes with everything that is recorded of an asset, so that an
 * entry is as good as a look at the database exactly while its version is the one there.
 */
export class FactsCache {
  readonly #entries = new Map<string, AssetFacts>();

  get(hash: string): AssetFacts | undefined {
    return this.#entries.get(hash);
  }

  set(hash: string, facts: AssetFacts): void {
    this.#entries.delete(hash);
    this.#entries.set(hash, facts);
    if (this.#entries.size <= MOST) return;
    const oldest = this.#entries.keys().next();
    if (oldest.done === false) this.#entries.delete(oldest.value);
  }

  delete(hash: string): void {
    this.#entries.delete(hash);
  }
}
