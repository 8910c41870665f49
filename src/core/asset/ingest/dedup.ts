import type { StatedEvent } from '../event.ts';
import type { AssetKey } from '../key.ts';

/**
 * Dedup keys (semantics.md, 2). What is observed is keyed by its content, whoever tells it; what is stated by the sender's event id
 * alone, else it is always new. Parts are quoted as JSON, so that no id can be made to look like another key.
 */
const keyOf = (...parts: readonly (string | number | null)[]): string => JSON.stringify(parts).slice(1, -1);

export const dedupKeys = {
  commit: (asset: AssetKey, epoch: number, snapshotId: string) => keyOf('SNAPSHOT_COMMITTED', asset, epoch, snapshotId),
  dataCorrection: (asset: AssetKey, epoch: number, snapshotId: string) =>
    keyOf('SNAPSHOT_COMMITTED', asset, epoch, snapshotId, 'dataChange'),
  watermark: (asset: AssetKey, epoch: number, value: bigint) => keyOf('WATERMARK_ADVANCED', asset, epoch, `${value}`),
  schema: (asset: AssetKey, epoch: number, schemaId: string, again: bigint | null) =>
    again === null
      ? keyOf('SCHEMA_CHANGED', asset, epoch, schemaId)
      : keyOf('SCHEMA_CHANGED', asset, epoch, schemaId, `${again}`),
  tag: (asset: AssetKey, tag: string, snapshotId: string | null, before: string | null, occurrence: number) =>
    keyOf('TAG', asset, tag, snapshotId, before, occurrence),
  partitionDone: (asset: AssetKey, epoch: number, partition: string, snapshotId: string | null) =>
    keyOf('PARTITION_DONE', asset, epoch, partition, snapshotId),
  gap: (asset: AssetKey, epoch: number, from: string | null, to: string | null) =>
    keyOf('HISTORY_GAP', asset, epoch, from, to),
  newEpoch: (type: 'ROLLED_BACK' | 'RECREATED', asset: AssetKey, epoch: number) => keyOf(type, asset, epoch),
  /** An outage, in which the table cannot be read, is one event when it begins and one when it ends; its begin names both. */
  outage: (type: 'SOURCE_UNREADABLE' | 'SOURCE_RECOVERED', asset: AssetKey, since: bigint) =>
    keyOf(type, asset, `${since}`),
  /** A pushed hint is evidence beside the event that the table itself gives. */
  hint: (event: StatedEvent, epoch: number, nonce: string) =>
    event.snapshotId === null && event.schemaId === null && event.watermark === null
      ? dedupKeys.stated(event, nonce)
      : keyOf(
          'HINT',
          event.assetKey,
          event.eventType,
          epoch,
          event.snapshotId,
          event.schemaId,
          event.tag,
          String(event.watermark),
        ),
  stated: (event: StatedEvent, nonce: string) =>
    event.eventId === null ? keyOf('NEW', nonce) : keyOf('STATED', event.eventId),
} as const;
