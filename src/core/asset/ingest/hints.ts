import type { EpochMs } from '../../time.ts';
import type { EventStatus, RecordedEvent } from '../event.ts';
import type { AssetState, SchemaRecord, TagRecord } from '../state.ts';

/** A hint that so many polls of the table did not show is UNCONFIRMED (semantics.md, 2). */
const MOST_POLLS = 3;

/** What a push said of a table that Sluice reads itself: kept as evidence until the table shows it. */
export type PushedHint = Pick<
  RecordedEvent,
  'eventType' | 'epoch' | 'ordinal' | 'snapshotId' | 'schemaId' | 'tag' | 'watermark' | 'receivedAt'
> & {
  /** Polls that did not show it. */
  readonly polls: number;
};

/** What is known of the table after a poll. */
export interface Shown {
  readonly state: AssetState;
  readonly tags: readonly TagRecord[];
  readonly schemas: readonly SchemaRecord[];
  /** Epochs in which a live version has the hint's snapshot id. */
  readonly versionEpochs: readonly number[];
  /** New versions came with this poll. */
  readonly hasNews: boolean;
  /** When the poll began; null: the table could not be read. */
  readonly startedAt: EpochMs | null;
}

/** Does the table show what the hint said? */
const isShown = (hint: PushedHint, shown: Shown): boolean => {
  const { state, tags, schemas, versionEpochs } = shown;
  const { snapshotId, schemaId, watermark } = hint;
  const rewound = state.epoch > hint.epoch;
  switch (hint.eventType) {
    case 'SNAPSHOT_COMMITTED':
      if (snapshotId === null) return shown.hasNews;
      // The hint names a version that was known already (it has its ordinal): only the same id in a later epoch is what it speaks of.
      return versionEpochs.some((epoch) => epoch > hint.epoch || hint.ordinal === null);
    case 'WATERMARK_ADVANCED':
      return watermark === null ? shown.hasNews : state.watermark !== null && state.watermark >= watermark;
    case 'SCHEMA_CHANGED':
      return schemas.some(
        (record) => record.epoch >= hint.epoch && (schemaId === null || record.schemaId === schemaId),
      );
    case 'TAG_CREATED':
    case 'TAG_MOVED':
      return tags.some(
        (tag) => tag.tag === hint.tag && !tag.deleted && (snapshotId === null || tag.snapshotId === snapshotId),
      );
    case 'TAG_DELETED':
      return !tags.some((tag) => tag.tag === hint.tag && !tag.deleted);
    case 'ROLLED_BACK':
    case 'RECREATED':
      return rewound;
    case 'QUALITY_CHECK_PASSED':
    case 'QUALITY_CHECK_FAILED':
    case 'SCHEMA_CHANGE_APPROVED':
    case 'SCHEMA_CHANGE_REJECTED':
    case 'BACKFILL_STARTED':
    case 'BACKFILL_COMPLETED':
    case 'CDC_LAG_RECOVERED':
    case 'CDC_LAG_DETECTED':
    case 'PARTITION_DONE':
    case 'HISTORY_GAP':
    case 'SOURCE_UNREADABLE':
    case 'SOURCE_RECOVERED':
      return true;
  }
};

/** What a poll makes of a hint. */
export interface SettledHint {
  readonly status: Extract<EventStatus, 'HINT' | 'CONFIRMED' | 'UNCONFIRMED'>;
  readonly polls: number;
  readonly sentence: string;
}

/**
 * What becomes of a hint after a poll of its table. A poll that does not show it counts against it only if the table could be read and the
 * poll began after the hint had come.
 */
export const settleHint = (hint: PushedHint, shown: Shown): SettledHint => {
  if (isShown(hint, shown))
    return { status: 'CONFIRMED', polls: hint.polls, sentence: `${hint.eventType} was told, and the table shows it.` };
  const counts = shown.startedAt !== null && shown.startedAt > hint.receivedAt;
  const polls = hint.polls + (counts ? 1 : 0);
  if (polls >= MOST_POLLS)
    return {
      status: 'UNCONFIRMED',
      polls,
      sentence: `${hint.eventType} was told, and ${MOST_POLLS} looks at the table did not show it.`,
    };
  return { status: 'HINT', polls, sentence: `${hint.eventType} was told; the table itself is looked at.` };
};
