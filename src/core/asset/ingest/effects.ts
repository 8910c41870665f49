import type { EpochMs } from '../../time.ts';
import type { RecordedEvent } from '../event.ts';
import type { AssetState, SchemaRecord, TagRecord, Verdict } from '../state.ts';
import type { Version } from '../version.ts';

/** What one answer of a source or one statement changes, to be written in one transaction. Nothing here is written by core itself. */
export interface Effects {
  /** `version` is one higher than before exactly if anything in it differs. */
  readonly state: AssetState;
  readonly events: readonly RecordedEvent[];
  readonly newVersions: readonly Version[];
  /** Loaded versions whose status changes, by ordinal. */
  readonly versionStatus: ReadonlyMap<number, 'WITHDRAWN' | 'EXPIRED'>;
  /** All versions above this ordinal that were recorded before are withdrawn (also those that were not loaded); null: none. */
  readonly withdrawnAfter: number | null;
  /** A correction: commits pushed before that turn out to carry data (ordinals). */
  readonly nowDataChange: readonly number[];
  /** Upserts by (epoch, snapshotId, checkName), and pending ones that were bound and go away. */
  readonly verdicts: readonly Verdict[];
  readonly boundVerdicts: readonly Verdict[];
  /** Upserts by (epoch, schemaId). */
  readonly schemas: readonly SchemaRecord[];
  /** Upserts by tag; a tag that is gone is upserted with `deleted`. */
  readonly tags: readonly TagRecord[];
  /** The groups that name the asset must be evaluated again. */
  readonly touchesGroups: boolean;
  /** A statement that only hints at the table: look at it at once. */
  readonly wantsScan: boolean;
}

/** When a poll began and when its answer is recorded: the database's clock. */
export interface PollTimes {
  readonly startedAt: EpochMs;
  readonly recordedAt: EpochMs;
}
