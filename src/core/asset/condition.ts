import type { EpochMs } from '../time.ts';
import type { AssetKey } from './key.ts';

/** One condition of a group, defaults filled in (semantics.md, 3: condition fields). */
export interface Condition {
  readonly assetKey: AssetKey;
  /** Unique in the owner; names the pin in parameters and environment. */
  readonly alias: string;
  readonly snapshotRequired: boolean;
  readonly minSnapshotId: string | null;
  /** Upper case; empty: all. */
  readonly operations: readonly string[];
  readonly dataChangeOnly: boolean;
  readonly qualityStatus: 'PASSED' | null;
  readonly qualityChecks: readonly string[];
  readonly schemaStatus: 'COMPATIBLE' | null;
  readonly schemaChanged: boolean;
  /** The cut's highest watermark must have reached this instant. */
  readonly watermarkGte: EpochMs | null;
  /** The cut carries a tag that matches this glob. */
  readonly tag: string | null;
  readonly minAddedRecords: bigint | null;
  readonly maxAgeSeconds: number | null;
  /** Commits marked as backfill; absent: EXCLUDE. */
  readonly backfill?: 'EXCLUDE' | 'INCLUDE' | 'ONLY';
  /** RECOVERED: the last CDC statement for the asset must not be "lagging"; absent or null: not asked. */
  readonly cdcLag?: 'RECOVERED' | null;
}

/** Why a leaf is not met (semantics.md, 3). */
export const BLOCK_CODES = [
  'BLOCKED_BY_SNAPSHOT',
  'BLOCKED_BY_OPERATION',
  'BLOCKED_BY_WATERMARK',
  'BLOCKED_BY_QUALITY',
  'BLOCKED_BY_SCHEMA',
  'BLOCKED_BY_TAG',
  'BLOCKED_BY_PARTITION',
  'BLOCKED_BY_FRESHNESS',
  'BLOCKED_BY_ROWS',
  'BLOCKED_BY_BACKFILL',
  'BLOCKED_BY_CDC_LAG',
  'BLOCKED_BY_UNKNOWN_ASSET',
  'BLOCKED_BY_SOURCE',
  'BLOCKED_BY_ROLLED_BACK',
  'BLOCKED_BY_HOLD',
  'BLOCKED_BY_PERMISSION',
  'BLOCKED_BY_QUIET_PERIOD',
  'BLOCKED_BY_MIN_INTERVAL',
  'BLOCKED_BY_ACTIVE_RUN',
  'BLOCKED_BY_PAUSED',
  'BLOCKED_BY_DISABLED',
  'BLOCKED_BY_NATIVE_DEPENDENCY',
  'BLOCKED_BY_WINDOW',
] as const;

export type BlockCode = (typeof BLOCK_CODES)[number];

/** One leaf of the evaluation tree: a condition, or (assetKey null) a closed gate of the whole group. */
export interface Leaf {
  readonly assetKey: AssetKey | null;
  readonly alias: string | null;
  readonly met: boolean;
  /** null when met. */
  readonly code: BlockCode | null;
  /** The values compared, in words: "a version newer than 4", "5 (APPEND), quality UNKNOWN". */
  readonly needed: string;
  readonly actual: string;
  /** Since when `met` and `code` have had these values. */
  readonly since: EpochMs;
}
