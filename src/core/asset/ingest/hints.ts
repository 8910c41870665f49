import type { EpochMs } from '../../time.ts';
import type { EventStatus, RecordedEvent } from '../event.ts';
import type { AssetState, SchemaRecord, TagRecord } from '../state.ts';

/** After this many looks at the table that did not show it, what was told is UNCONFIRMED (semantics.md, 2). */
const LOOKS = 3;

/** What was told of a table that Sluice reads itself, kept as evidence until the table shows it. */
export type Told = Pick<
  RecordedEvent,
  'eventType' | 'epoch' | 'ordinal' | 'snapshotId' | 'schemaId' | 'tag' | 'watermark' | 'receivedAt'
> & {
  /** Looks that did not show it. */
  readonly looks: number;
};

/** What is known of the table after a look. */
export interface Shown {
  readonly state: AssetState;
  readonly tags: readonly TagRecord[];
  readonly schemas: readonly SchemaRecord[];
  /** Epochs in which a live version has the id that was told. */
  readonly versionEpochs: readonly number[];
  /** New versions came with this look. */
  readonly hasNews: boolean;
  /** When the look began; null: the table could not be read. */
  readonly startedAt: EpochMs | null;
}

/** Does what is known of the table show what was told? */
const isShown = (told: Told, shown: Shown): boolean => {
  const { state, tags, schemas, versionEpochs } = shown;
  const { snapshotId, schemaId, watermark } = told;
  const rewound = state.epoch > told.epoch;
  switch (told.eventType) {
    case 'SNAPSHOT_COMMITTED':
      if (snapshotId === null) return shown.hasNews;
      // A version that was known when it was told once more, later: only a new epoch shows it again.
      return versionEpochs.some((epoch) => epoch > told.epoch || told.ordinal === null);
    case 'WATERMARK_ADVANCED':
      return watermark === null ? shown.hasNews : state.watermark !== null && state.watermark >= watermark;
    case 'SCHEMA_CHANGED':
      return schemas.some(
        (record) => record.epoch >= told.epoch && (schemaId === null || record.schemaId === schemaId),
      );
    case 'TAG_CREATED':
    case 'TAG_MOVED':
      return tags.some(
        (tag) => tag.tag === told.tag && !tag.deleted && (snapshotId === null || tag.snapshotId === snapshotId),
      );
    case 'TAG_DELETED':
      return !tags.some((tag) => tag.tag === told.tag && !tag.deleted);
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

export interface Settled {
  readonly status: Extract<EventStatus, 'HINT' | 'CONFIRMED' | 'UNCONFIRMED'>;
  readonly looks: number;
  readonly sentence: string;
}

/**
 * What becomes of something told after a look at the table. Only a look that began after it was told, at a table that could be read, says
 * anything by not showing it.
 */
export const settleTold = (told: Told, shown: Shown): Settled => {
  if (isShown(told, shown))
    return { status: 'CONFIRMED', looks: told.looks, sentence: `${told.eventType} was told, and the table shows it.` };
  const counts = shown.startedAt !== null && shown.startedAt > told.receivedAt;
  const looks = told.looks + (counts ? 1 : 0);
  if (looks >= LOOKS)
    return {
      status: 'UNCONFIRMED',
      looks,
      sentence: `${told.eventType} was told, and ${LOOKS} looks at the table did not show it.`,
    };
  return { status: 'HINT', looks, sentence: `${told.eventType} was told; the table itself is looked at.` };
};
