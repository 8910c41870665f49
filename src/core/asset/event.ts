import type { EpochMs } from '../time.ts';
import type { AssetKey } from './key.ts';

/** What can be said about an asset (semantics.md, 2). The first eleven are the RFC's, the others Sluice's own. */
export const ASSET_EVENT_TYPES = [
  'SNAPSHOT_COMMITTED',
  'WATERMARK_ADVANCED',
  'TAG_CREATED',
  'QUALITY_CHECK_PASSED',
  'QUALITY_CHECK_FAILED',
  'SCHEMA_CHANGED',
  'SCHEMA_CHANGE_APPROVED',
  'SCHEMA_CHANGE_REJECTED',
  'BACKFILL_STARTED',
  'BACKFILL_COMPLETED',
  'CDC_LAG_RECOVERED',
  'TAG_MOVED',
  'TAG_DELETED',
  'PARTITION_DONE',
  'CDC_LAG_DETECTED',
  'HISTORY_GAP',
  'ROLLED_BACK',
  'RECREATED',
  'SOURCE_UNREADABLE',
  'SOURCE_RECOVERED',
] as const;

export type AssetEventType = (typeof ASSET_EVENT_TYPES)[number];

/** Who told us: our own poll, a writer's push, a person (CLI, UI). Never part of the dedup key. */
export type EventSource = 'POLL' | 'PUSH' | 'USER';

/** An event as somebody states it, after the body's shape was checked (contract.md, 2: push body). Absent fields are null. */
export interface StatedEvent {
  readonly assetKey: AssetKey;
  readonly eventType: AssetEventType;
  readonly sourceType: EventSource;
  /** The sender's own id, or the request's Idempotency-Key: what makes a repetition the same statement. */
  readonly eventId: string | null;
  readonly snapshotId: string | null;
  readonly schemaId: string | null;
  readonly watermark: EpochMs | null;
  readonly commitKind: string | null;
  readonly commitTime: EpochMs | null;
  readonly deltaRecordCount: bigint | null;
  readonly partitionKey: string | null;
  readonly sequenceNumber: bigint | null;
  readonly dataChange: boolean | null;
  readonly tableId: string | null;
  readonly checkName: string | null;
  readonly checkRunId: string | null;
  /** When the check began to read the table. */
  readonly startedAt: EpochMs | null;
  readonly tag: string | null;
  readonly backfill: boolean | null;
  /** The original body as text, kept as evidence. */
  readonly payload: string | null;
}

/** A statement in which nothing is stated: what events that Sluice derives, or makes of a decision, are built on. */
export const NOTHING_STATED: Omit<StatedEvent, 'assetKey' | 'eventType' | 'sourceType'> = {
  eventId: null,
  snapshotId: null,
  schemaId: null,
  watermark: null,
  commitKind: null,
  commitTime: null,
  deltaRecordCount: null,
  partitionKey: null,
  sequenceNumber: null,
  dataChange: null,
  tableId: null,
  checkName: null,
  checkRunId: null,
  startedAt: null,
  tag: null,
  backfill: null,
  payload: null,
};

/** RECORDED changed or may change the state; IGNORED_STALE is older than what is known; HINT asks for a look at the table. */
export type EventStatus = 'RECORDED' | 'IGNORED_STALE' | 'HINT' | 'CONFIRMED' | 'UNCONFIRMED';

/** An event as it is kept for ever: evidence for people, never read by decisions. */
export interface RecordedEvent extends StatedEvent {
  /** Never null; unique over all events (semantics.md, 2: dedup key). */
  readonly dedupKey: string;
  readonly epoch: number;
  /** The version that the event made or speaks of, if it is known. */
  readonly ordinal: number | null;
  readonly status: EventStatus;
  /** What happened, in one plain sentence. */
  readonly sentence: string;
  readonly receivedAt: EpochMs;
}
