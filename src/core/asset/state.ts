import type { EpochMs } from '../time.ts';
import type { AssetKey } from './key.ts';
import type { SchemaChange, TableSchema } from './schema/schema.ts';
import type { Version, VersionRef } from './version.ts';

export type QualityStatus = 'UNKNOWN' | 'PASSED' | 'FAILED';
/** COMPATIBLE includes "the first one" and "approved by a person"; how it came to be so is in SchemaRecord.decidedBy. */
export type SchemaStatus = 'UNKNOWN' | 'COMPATIBLE' | 'PENDING_APPROVAL' | 'REJECTED';
export type BackfillStatus = 'NONE' | 'RUNNING' | 'COMPLETED';
export type CdcStatus = 'UNKNOWN' | 'LAGGING' | 'RECOVERED';
/** Can we read the table? NEVER_READ until the first successful poll; HELD waits for a person (onGap, onRollback, onRecreate: HOLD). */
export type AssetHealth = 'NEVER_READ' | 'OK' | 'BEHIND' | 'UNREADABLE' | 'HELD';

/** A registered asset: where it is and how surprises are treated (semantics.md, 1). */
export interface Asset {
  readonly key: AssetKey;
  /** Absolute folder or URI of the table; null: nobody can read it, it lives from pushed events (TRUST). */
  readonly location: string | null;
  readonly description: string;
  readonly pushMode: 'VERIFY' | 'TRUST';
  readonly onGap: 'CONTINUE' | 'HOLD';
  readonly onRollback: 'IGNORE' | 'TRIGGER' | 'HOLD';
  readonly onRecreate: 'CONTINUE' | 'HOLD';
  readonly schemaPolicy: 'AUTO' | 'ALWAYS_APPROVE' | 'MANUAL';
  /** The checks that must all pass for a version to be PASSED; empty: the first PASSED passes it. */
  readonly requiredChecks: readonly string[];
  /** How often the table is looked at; null: the server's default. */
  readonly pollIntervalMs: number | null;
}

/** The only source of truth for decisions (t_ds_asset_state), a fold over what was recorded. */
export interface AssetState {
  readonly assetKey: AssetKey;
  /** 1 for the first incarnation. */
  readonly epoch: number;
  /** The highest ordinal given; 0: no version yet. */
  readonly lastOrdinal: number;
  /** Newest live version, and the newest live one with dataChange. */
  readonly latest: VersionRef | null;
  readonly latestData: VersionRef | null;
  /** Only rises within an epoch. */
  readonly watermark: EpochMs | null;
  readonly latestTag: string | null;
  /** Of the newest version's cut, and of its schema. */
  readonly qualityStatus: QualityStatus;
  readonly schemaStatus: SchemaStatus;
  /** The table's current schema, which may have no commit yet, and the newest accepted one, against which the next is compared. */
  readonly schemaId: string | null;
  readonly acceptedSchemaId: string | null;
  readonly backfillStatus: BackfillStatus;
  /** The newest backfill window: when it began, and when it ended or, while it is RUNNING, ends at the latest. null: there was none. */
  readonly backfillSince: EpochMs | null;
  readonly backfillUntil: EpochMs | null;
  readonly cdcStatus: CdcStatus;
  readonly health: AssetHealth;
  /** Why, in words, while health is not OK. */
  readonly healthReason: string | null;
  readonly healthSince: EpochMs;
  readonly tableId: string | null;
  /** Compare-and-set: +1 with every change. */
  readonly version: number;
}

/** What a quality check said of one version. A later verdict of the same check (by `at`) replaces it; at the same instant FAILED wins. */
export interface Verdict {
  readonly epoch: number;
  /** null while it waits for the scan that tells what was newest at startedAt. */
  readonly snapshotId: string | null;
  readonly checkName: string;
  readonly status: 'PASSED' | 'FAILED';
  readonly at: EpochMs;
  readonly startedAt: EpochMs | null;
  readonly checkRunId: string | null;
}

/** Schema status belongs to a schema: (asset, epoch, schemaId). */
export interface SchemaRecord {
  readonly epoch: number;
  readonly schemaId: string;
  readonly status: SchemaStatus;
  readonly decidedBy: 'FIRST' | 'COMPARISON' | 'POLICY' | 'PERSON';
  /** What differs from the newest accepted schema, for people. */
  readonly changes: readonly SchemaChange[];
  /** null: only its id is known (approved before it was seen, or pushed). */
  readonly schema: TableSchema | null;
  readonly seenAt: EpochMs;
}

export interface TagRecord {
  readonly tag: string;
  readonly epoch: number;
  readonly snapshotId: string;
  /** How many times a tag of this name was made, moved or deleted: part of the dedup key. */
  readonly occurrence: number;
  /** When it was made, moved or deleted last, as stated or as seen by a poll: an older statement changes nothing. */
  readonly at: EpochMs;
  /** A deleted tag stays as a record, so that its occurrences go on being counted; it holds for no version. */
  readonly deleted: boolean;
}

/** What the store loads of one asset before events are folded in: everything the fold may look at, nothing else. */
export interface AssetHistory {
  readonly asset: Asset;
  readonly state: AssetState;
  /**
   * Oldest first: the newest live versions (at least back to the newest with dataChange, at most 200), all of the current epoch that the
   * input names, and the newest live one of any epoch that a rollback's `to` names.
   */
  readonly versions: readonly Version[];
  /** Verdicts of those versions, and those that wait for a scan or a version. */
  readonly verdicts: readonly Verdict[];
  /** All schemas of this epoch and the one before. */
  readonly schemas: readonly SchemaRecord[];
  /** All tags, deleted ones included. */
  readonly tags: readonly TagRecord[];
}
