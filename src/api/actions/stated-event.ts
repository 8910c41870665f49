import type { StatedEvent } from '../../core/asset/event.ts';
import { parseAssetKey } from '../../core/asset/key.ts';
import { isLong } from '../../core/json.ts';
import { ok, refuse, type Result } from '../../core/result.ts';
import { isKept } from '../../core/text.ts';
import { type EpochMs, parseTime } from '../../core/time.ts';
import type { EventInput } from '../contract/asset-events.ts';

/** A pushed event whose shape was checked, as the store takes it. `fallbackId` stands where the sender gave no eventId. */
export const statedEvent = (input: EventInput, fallbackId: string | null): Result<StatedEvent> => {
  const key = parseAssetKey(input.assetKey);
  if (!key.ok) return key;
  const times = { watermark: input.watermark, commitTime: input.commitTime, startedAt: input.startedAt };
  for (const [field, value] of Object.entries(times))
    if (readTime(value) === undefined)
      return refuse('BAD_EVENT', `Write ${field} as ISO 8601 with a zone, or as epoch milliseconds.`);
  const counts = { deltaRecordCount: input.deltaRecordCount, sequenceNumber: input.sequenceNumber };
  for (const [field, value] of Object.entries(counts))
    if (readLong(value) === undefined)
      return refuse('BAD_EVENT', `Write ${field} as a whole number of at most 64 bits.`);
  return ok({
    assetKey: key.value,
    eventType: input.eventType,
    sourceType: input.sourceType ?? 'PUSH',
    eventId: input.eventId ?? fallbackId,
    snapshotId: readId(input.snapshotId),
    schemaId: readId(input.schemaId),
    watermark: readTime(input.watermark) ?? null,
    commitKind: input.commitKind ?? null,
    commitTime: readTime(input.commitTime) ?? null,
    deltaRecordCount: readLong(input.deltaRecordCount) ?? null,
    partitionKey: input.partitionKey ?? null,
    sequenceNumber: readLong(input.sequenceNumber) ?? null,
    dataChange: input.dataChange ?? null,
    tableId: input.tableId ?? null,
    checkName: input.checkName ?? null,
    checkRunId: input.checkRunId ?? null,
    startedAt: readTime(input.startedAt) ?? null,
    tag: input.tag ?? null,
    backfill: input.backfill ?? null,
    payload: readPayload(input.payload),
  });
};

type Given<T> = T | null | undefined;

const readId = (id: Given<string | number>): string | null => (id === undefined || id === null ? null : String(id));

/** null: not given; undefined: given, but no time. */
const readTime = (time: Given<string | number>): EpochMs | null | undefined =>
  time === undefined || time === null ? null : parseTime(String(time));

const readLong = (count: Given<string | number>): bigint | null | undefined => {
  if (count === undefined || count === null) return null;
  const value = BigInt(count);
  return isLong(value) ? value : undefined;
};

/** What of it cannot be kept as it stands is kept as JSON. */
const readPayload = (payload: unknown): string | null => {
  if (payload === undefined || payload === null) return null;
  return typeof payload === 'string' && isKept(payload) ? payload : JSON.stringify(payload);
};
