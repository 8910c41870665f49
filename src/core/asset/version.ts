import type { EpochMs } from '../time.ts';
import type { AssetKey } from './key.ts';

/**
 * One commit of a table, as its own metadata tells it: what a source reads, before Sluice gives it an epoch and an ordinal.
 * Ids and counts are the format's own and may exceed 2^53: ids are strings, counts bigint.
 */
export interface Commit {
  readonly snapshotId: string;
  /** The format's own word: Paimon commitKind, Iceberg and Delta operation, Hudi operationType. */
  readonly operation: string;
  /** True exactly when a batch reader with default options sees other rows at this commit than at the one before. */
  readonly dataChange: boolean;
  /** Rows were written that no batch reader sees yet (Paimon level 0 under deletion vectors). */
  readonly pendingData?: boolean;
  readonly commitTime: EpochMs;
  readonly watermark: EpochMs | null;
  readonly schemaId: string | null;
  /** Net rows added by this commit, as the format counts them; null if it does not say. */
  readonly addedRecords: bigint | null;
  readonly totalRecords: bigint | null;
  /** Partitions touched, where the format says so cheaply. */
  readonly partitions?: readonly string[];
  /** What a time-travel clause must name where that is not snapshotId (Hudi). */
  readonly readAs?: string;
  /** The timeline action (Hudi). */
  readonly action?: string;
  /** The commit says of itself that it is a backfill, or it fell into an open backfill window. */
  readonly backfill?: boolean;
  /** The table's own order where ids have none (Iceberg sequence number, or as a push states it). */
  readonly sequenceNumber?: bigint;
}

/** A commit that Sluice has recorded. `ordinal` is 1, 2, 3 … per asset over all epochs and the only order that decisions use. */
export interface Version extends Commit {
  readonly assetKey: AssetKey;
  readonly epoch: number;
  readonly ordinal: number;
  /** LIVE may be chosen; WITHDRAWN was undone by a rewind or a re-creation; EXPIRED can no longer be read. */
  readonly status: VersionStatus;
  readonly origin: VersionOrigin;
  readonly recordedAt: EpochMs;
}

export type VersionStatus = 'LIVE' | 'WITHDRAWN' | 'EXPIRED';

/**
 * How the version came about. COMMIT: a commit as the table lists it. RESTORED: the head of a rewound table, recorded once more in
 * the new epoch; new data only under onRollback TRIGGER or HOLD. AFTER_GAP: the newest version after expired history; new data
 * whatever its own dataChange says, as what was missed may have held data.
 */
export type VersionOrigin = 'COMMIT' | 'RESTORED' | 'AFTER_GAP';

/** What names a version for ever: kept in pins, consumed versions and the trigger key. */
export interface VersionRef {
  readonly snapshotId: string;
  readonly epoch: number;
  readonly ordinal: number;
}

/** Asset → chosen version. The consistent cut that every task of a run reads. */
export type Pins = ReadonlyMap<AssetKey, Pin>;

export interface Pin extends VersionRef {
  /** The tag by which the version was asked for, if it was. */
  readonly tag?: string;
}
