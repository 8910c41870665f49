import Type, { type Static } from 'typebox';
import { ASSET_EVENT_TYPES } from '../../core/asset/event.ts';
import {
  AssetKeyText,
  Count,
  CountInput,
  FormatId,
  FormatIdInput,
  Nullable,
  StatedTime,
  Time,
  TimeInput,
} from './common.ts';

const optional = <T extends Type.TSchema>(schema: T) => Type.Optional(Nullable(schema));
const Short = Type.String({ minLength: 1, maxLength: 255 });

/** What a writer or a person states about a table (contract.md 2). Only assetKey and eventType are required. */
export const EventInput = Type.Object(
  {
    assetKey: AssetKeyText,
    eventType: Type.Enum([...ASSET_EVENT_TYPES]),
    eventId: optional(Short),
    sourceType: Type.Optional(Type.Enum(['PUSH', 'USER'])),
    snapshotId: optional(FormatIdInput),
    schemaId: optional(FormatIdInput),
    watermark: optional(TimeInput),
    commitKind: optional(Short),
    commitTime: optional(TimeInput),
    deltaRecordCount: optional(CountInput),
    partitionKey: optional(Type.String({ maxLength: 1024 })),
    sequenceNumber: optional(CountInput),
    dataChange: optional(Type.Boolean()),
    tableId: optional(Short),
    checkName: optional(Short),
    checkRunId: optional(Short),
    startedAt: optional(TimeInput),
    tag: optional(Short),
    backfill: optional(Type.Boolean()),
    payload: Type.Optional(Type.Unknown({ description: 'Kept as evidence, never read by decisions.' })),
  },
  { additionalProperties: false },
);
export type EventInput = Static<typeof EventInput>;

/**
 * One event or up to 1,000. The elements are not checked here but one by one by the route, as one bad event must not lose the good ones;
 * the OpenAPI document shows them as EventOrEvents.
 */
const MANY = { minItems: 1, maxItems: 1000 };
export const EventsInput = Type.Union([Type.Object({}), Type.Array(Type.Unknown(), MANY)]);
export const EventOrEvents = Type.Union([EventInput, Type.Array(EventInput, MANY)]);

export const EventsReceiptBody = Type.Object({
  accepted: Type.Integer(),
  duplicates: Type.Integer(),
  /** One event that had been said before. */
  duplicate: Type.Optional(Type.Boolean()),
  rejected: Type.Array(Type.Object({ index: Type.Integer(), code: Type.String(), detail: Type.String() })),
});
export type EventsReceiptBody = Static<typeof EventsReceiptBody>;

export const EventBody = Type.Object({
  id: Type.Integer(),
  assetKey: Type.String(),
  eventType: Type.String(),
  sourceType: Type.String(),
  status: Type.String(),
  sentence: Type.String(),
  receivedAt: Time,
  epoch: Type.Integer(),
  ordinal: Nullable(Type.Integer()),
  dedupKey: Type.String(),
  /** How often it was told once more. */
  duplicates: Type.Integer(),
  eventId: Nullable(Type.String()),
  snapshotId: Nullable(FormatId),
  schemaId: Nullable(FormatId),
  watermark: Nullable(StatedTime),
  commitKind: Nullable(Type.String()),
  commitTime: Nullable(StatedTime),
  deltaRecordCount: Nullable(Count),
  partitionKey: Nullable(Type.String()),
  sequenceNumber: Nullable(Count),
  dataChange: Nullable(Type.Boolean()),
  tableId: Nullable(Type.String()),
  checkName: Nullable(Type.String()),
  checkRunId: Nullable(Type.String()),
  startedAt: Nullable(StatedTime),
  tag: Nullable(Type.String()),
  backfill: Nullable(Type.Boolean()),
  payload: Nullable(Type.String()),
});
export type EventBody = Static<typeof EventBody>;
