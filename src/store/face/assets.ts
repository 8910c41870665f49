import type { RecordedEvent, StatedEvent } from '../../core/asset/event.ts';
import type { PollTimes } from '../../core/asset/ingest/effects.ts';
import type { AssetKey } from '../../core/asset/key.ts';
import type { Cursor, Poll } from '../../core/asset/poll.ts';
import type { Asset, AssetState, SchemaRecord, Verdict } from '../../core/asset/state.ts';
import type { Version } from '../../core/asset/version.ts';
import type { Problem } from '../../core/result.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Page, PageRequest } from './common.ts';

export interface AssetStore {
  /** All assets that have a location, to be scanned; with `keys` only those, with WANTED only those that wait for a scan. */
  scanTargets(keys?: readonly AssetKey[] | 'WANTED'): Promise<readonly ScanTarget[]>;
  /**
   * Events, versions, state, tags, schemas, verdicts, the cursor and the queue of groups to evaluate, in one transaction. If we die in it nothing
   * is recorded and the next scan finds the same again; if after it, the queue brings the evaluation.
   */
  recordPoll(key: AssetKey, revision: number, poll: Poll, times: PollTimes): Promise<RecordReceipt>;
  /** Notes when polls that found nothing were made. Nothing else of their assets changes. */
  recordIdle(polls: readonly { readonly key: AssetKey; readonly at: EpochMs }[]): Promise<void>;
  /** Records statements in their order. One that is refused holds up none of the others; there is a receipt for each. */
  recordStated(events: readonly StatedEvent[]): Promise<readonly StatedReceipt[]>;
  list(project: string | null): Promise<readonly ListedAsset[]>;
  /** The asset with this code. Throws UNKNOWN_ASSET. */
  keyOf(code: number): Promise<AssetKey>;
  /** Throws UNKNOWN_ASSET. */
  get(key: AssetKey): Promise<AssetDetails>;
  versions(key: AssetKey, page: PageRequest): Promise<Page<VersionRow>>;
  /** Lets a held asset go on, and has its groups evaluated. Throws UNKNOWN_ASSET, CONFLICT if it is not held. */
  release(key: AssetKey): Promise<AssetState>;
  /** Forgets the asset and all that is known of it. Throws UNKNOWN_ASSET, CONFLICT while a group waits for it. */
  remove(key: AssetKey): Promise<void>;
  /** The name of the project that owns each key; keys that nobody has registered are left out. */
  owners(keys: readonly AssetKey[]): Promise<ReadonlyMap<AssetKey, string>>;
  events(
    filter: { readonly project?: string; readonly key?: AssetKey; readonly eventType?: string },
    page: PageRequest,
  ): Promise<Page<ListedEvent>>;
}

/** An asset that can be scanned, and where to go on. */
export interface ScanTarget {
  readonly asset: Asset;
  readonly cursor: Cursor | null;
  /** Must come back with recordPoll: another scan that recorded in between makes it STALE. */
  readonly revision: number;
  /** Failed polls in a row. */
  readonly failures: number;
  /** A verdict or a hint waits for the next scan, which must therefore be recorded even if it finds nothing. */
  readonly mustRecord: boolean;
  /** How many scans were asked for so far. Each request wants a scan that begins after it. */
  readonly scanRequests: number;
}

export interface RecordReceipt {
  readonly kind: 'RECORDED' | 'STALE';
  readonly target: ScanTarget;
  /** New events, for the log and for people who watch. */
  readonly events: readonly RecordedEvent[];
}

export interface StatedReceipt {
  readonly status: 'ACCEPTED' | 'DUPLICATE' | 'REJECTED';
  readonly problem: Problem | null;
  readonly event: RecordedEvent | null;
}

/** An event as lists show it. */
export interface ListedEvent extends RecordedEvent {
  readonly id: number;
  /** How often it was told once more. */
  readonly duplicates: number;
}

/** An asset as lists show it. */
export type ListedAsset = Pick<AssetDetails, 'code' | 'asset' | 'state' | 'lastScanAt'>;

export interface AssetDetails {
  /** A number below 2^53, given once; an asset that is registered again gets another. */
  readonly code: number;
  readonly asset: Asset;
  readonly state: AssetState;
  readonly project: string;
  readonly lastScanAt: EpochMs | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly schemas: readonly SchemaRecord[];
  readonly verdicts: readonly Verdict[];
  /** Groups that name the asset: of the workflow, or of one of its tasks. */
  readonly consumers: readonly { readonly workflow: string; readonly group: string; readonly task?: string }[];
}

export interface VersionRow extends Version {
  readonly tags: readonly string[];
  readonly quality: 'UNKNOWN' | 'PASSED' | 'FAILED';
}
