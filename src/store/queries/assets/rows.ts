import type { RecordedEvent } from '../../../core/asset/event.ts';
import type { AssetKey } from '../../../core/asset/key.ts';
import type { Asset, AssetState, SchemaRecord, TagRecord, Verdict } from '../../../core/asset/state.ts';
import type { Version, VersionRef } from '../../../core/asset/version.ts';
import { big, bigOrNull, flag, flagOrNull, isSet, num, numOrNull, optionalFlag, parse, text } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { ListedEvent } from '../../store.ts';

/** Rows of the asset tables ↔ core's values. Words of closed lists were written by us, so they are read back as they are. */

export const assetOf = (row: Row<'t_ds_asset'>): Asset => ({
  key: row.asset_key as AssetKey,
  location: row.location,
  description: row.description,
  pushMode: row.push_mode as Asset['pushMode'],
  onGap: row.on_gap as Asset['onGap'],
  onRollback: row.on_rollback as Asset['onRollback'],
  onRecreate: row.on_recreate as Asset['onRecreate'],
  schemaPolicy: row.schema_policy as Asset['schemaPolicy'],
  requiredChecks: parse<readonly string[]>(row.required_checks_json),
  pollIntervalMs: numOrNull(row.poll_interval_ms),
});

export const assetColumns = (asset: Asset) => ({
  location: asset.location,
  description: asset.description,
  push_mode: asset.pushMode,
  on_gap: asset.onGap,
  on_rollback: asset.onRollback,
  on_recreate: asset.onRecreate,
  schema_policy: asset.schemaPolicy,
  required_checks_json: text(asset.requiredChecks),
  poll_interval_ms: bigOrNull(asset.pollIntervalMs),
});

const refOf = (snapshotId: string | null, epoch: bigint | null, ordinal: bigint | null): VersionRef | null =>
  snapshotId === null || epoch === null || ordinal === null
    ? null
    : { snapshotId, epoch: num(epoch), ordinal: num(ordinal) };

export const stateOf = (row: Row<'t_ds_asset_state'>): AssetState => ({
  assetKey: row.asset_key as AssetKey,
  epoch: num(row.epoch),
  lastOrdinal: num(row.last_ordinal),
  latest: refOf(row.latest_snapshot_id, row.latest_epoch, row.latest_ordinal),
  latestData: refOf(row.latest_data_snapshot_id, row.latest_data_epoch, row.latest_data_ordinal),
  watermark: row.latest_watermark,
  latestTag: row.latest_tag,
  qualityStatus: row.quality_status as AssetState['qualityStatus'],
  schemaStatus: row.schema_status as AssetState['schemaStatus'],
  schemaId: row.latest_schema_id,
  acceptedSchemaId: row.accepted_schema_id,
  backfillStatus: row.backfill_status as AssetState['backfillStatus'],
  backfillSince: row.backfill_since,
  backfillUntil: row.backfill_until,
  cdcStatus: row.cdc_status as AssetState['cdcStatus'],
  health: row.health as AssetState['health'],
  healthReason: row.health_reason,
  healthSince: row.health_since,
  tableId: row.table_id,
  version: num(row.version),
});

export const stateColumns = (state: AssetState) => ({
  epoch: big(state.epoch),
  last_ordinal: big(state.lastOrdinal),
  latest_snapshot_id: state.latest?.snapshotId ?? null,
  latest_epoch: bigOrNull(state.latest?.epoch ?? null),
  latest_ordinal: bigOrNull(state.latest?.ordinal ?? null),
  latest_data_snapshot_id: state.latestData?.snapshotId ?? null,
  latest_data_epoch: bigOrNull(state.latestData?.epoch ?? null),
  latest_data_ordinal: bigOrNull(state.latestData?.ordinal ?? null),
  latest_watermark: state.watermark,
  latest_tag: state.latestTag,
  quality_status: state.qualityStatus,
  schema_status: state.schemaStatus,
  latest_schema_id: state.schemaId,
  accepted_schema_id: state.acceptedSchemaId,
  backfill_status: state.backfillStatus,
  backfill_since: state.backfillSince,
  backfill_until: state.backfillUntil,
  cdc_status: state.cdcStatus,
  health: state.health,
  health_reason: state.healthReason,
  health_since: state.healthSince,
  table_id: state.tableId,
  version: big(state.version),
});

export const versionOf = (row: Row<'t_ds_asset_version'>, assetKey: AssetKey): Version => ({
  assetKey,
  epoch: num(row.epoch),
  ordinal: num(row.ordinal),
  snapshotId: row.snapshot_id,
  operation: row.operation,
  dataChange: isSet(row.data_change),
  commitTime: row.commit_time,
  watermark: row.watermark,
  schemaId: row.schema_id,
  addedRecords: row.added_records,
  totalRecords: row.total_records,
  status: row.status as Version['status'],
  origin: row.origin as Version['origin'],
  recordedAt: row.record_time,
  ...(row.pending_data === null ? {} : { pendingData: isSet(row.pending_data) }),
  ...(row.partitions_json === null ? {} : { partitions: parse<readonly string[]>(row.partitions_json) }),
  ...(row.read_as === null ? {} : { readAs: row.read_as }),
  ...(row.action === null ? {} : { action: row.action }),
  ...(row.backfill === null ? {} : { backfill: isSet(row.backfill) }),
  ...(row.sequence_number === null ? {} : { sequenceNumber: row.sequence_number }),
});

export const versionRow = (version: Version, assetId: bigint) => ({
  asset_id: assetId,
  epoch: big(version.epoch),
  ordinal: big(version.ordinal),
  snapshot_id: version.snapshotId,
  operation: version.operation,
  data_change: flag(version.dataChange),
  pending_data: optionalFlag(version.pendingData),
  commit_time: version.commitTime,
  watermark: version.watermark,
  schema_id: version.schemaId,
  added_records: version.addedRecords,
  total_records: version.totalRecords,
  partitions_json: version.partitions === undefined ? null : text(version.partitions),
  read_as: version.readAs ?? null,
  action: version.action ?? null,
  backfill: optionalFlag(version.backfill),
  sequence_number: version.sequenceNumber ?? null,
  status: version.status,
  origin: version.origin,
  record_time: version.recordedAt,
});

export const verdictOf = (row: Row<'t_ds_asset_quality'>): Verdict => ({
  epoch: num(row.epoch),
  snapshotId: row.snapshot_id,
  checkName: row.check_name,
  status: row.status as Verdict['status'],
  at: row.check_time,
  startedAt: row.started_at,
  checkRunId: row.check_run_id,
});

export const verdictRow = (verdict: Verdict, assetId: bigint, waiting: boolean) => ({
  asset_id: assetId,
  epoch: big(verdict.epoch),
  snapshot_id: verdict.snapshotId,
  check_name: verdict.checkName,
  status: verdict.status,
  check_time: verdict.at,
  started_at: verdict.startedAt,
  check_run_id: verdict.checkRunId,
  waiting: flag(waiting),
});

export const schemaOf = (row: Row<'t_ds_asset_schema'>): SchemaRecord => ({
  epoch: num(row.epoch),
  schemaId: row.schema_id,
  status: row.status as SchemaRecord['status'],
  decidedBy: row.decided_by as SchemaRecord['decidedBy'],
  changes: parse<SchemaRecord['changes']>(row.changes_json),
  schema: row.schema_json === null ? null : parse<SchemaRecord['schema']>(row.schema_json),
  seenAt: row.seen_time,
});

export const schemaRow = (record: SchemaRecord, assetId: bigint) => ({
  asset_id: assetId,
  epoch: big(record.epoch),
  schema_id: record.schemaId,
  status: record.status,
  decided_by: record.decidedBy,
  changes_json: text(record.changes),
  schema_json: record.schema === null ? null : text(record.schema),
  seen_time: record.seenAt,
});

export const tagOf = (row: Row<'t_ds_asset_tag'>): TagRecord => ({
  tag: row.tag,
  epoch: num(row.epoch),
  snapshotId: row.snapshot_id,
  occurrence: num(row.occurrence),
  at: row.tag_time,
  deleted: isSet(row.deleted),
});

export const tagRow = (record: TagRecord, assetId: bigint) => ({
  asset_id: assetId,
  tag: record.tag,
  epoch: big(record.epoch),
  snapshot_id: record.snapshotId,
  occurrence: big(record.occurrence),
  tag_time: record.at,
  deleted: flag(record.deleted),
});

export const eventOf = (row: Row<'t_ds_asset_event'>): ListedEvent => ({
  id: num(row.id),
  duplicates: num(row.duplicate_count),
  dedupKey: row.dedup_key,
  assetKey: row.asset_key as AssetKey,
  eventType: row.event_type as RecordedEvent['eventType'],
  sourceType: row.source_type as RecordedEvent['sourceType'],
  eventId: row.event_id,
  epoch: num(row.epoch),
  ordinal: numOrNull(row.ordinal),
  status: row.status as RecordedEvent['status'],
  sentence: row.sentence,
  snapshotId: row.snapshot_id,
  schemaId: row.schema_id,
  watermark: row.watermark,
  commitKind: row.commit_kind,
  commitTime: row.commit_time,
  deltaRecordCount: row.delta_record_count,
  partitionKey: row.partition_key,
  sequenceNumber: row.sequence_number,
  dataChange: flagOrNull(row.data_change),
  tableId: row.table_id,
  checkName: row.check_name,
  checkRunId: row.check_run_id,
  startedAt: row.started_at,
  tag: row.tag,
  backfill: flagOrNull(row.backfill),
  payload: row.payload,
  receivedAt: row.receive_time,
});

export const eventRow = (event: RecordedEvent, dedupHash: string, asset: Row<'t_ds_asset'>) => ({
  dedup_key: event.dedupKey,
  dedup_hash: dedupHash,
  duplicate_count: 0n,
  asset_id: asset.id,
  asset_key: event.assetKey,
  project_code: asset.project_code,
  event_type: event.eventType,
  source_type: event.sourceType,
  event_id: event.eventId,
  epoch: big(event.epoch),
  ordinal: bigOrNull(event.ordinal),
  status: event.status,
  hint_polls: 0n,
  sentence: event.sentence,
  snapshot_id: event.snapshotId,
  schema_id: event.schemaId,
  watermark: event.watermark,
  commit_kind: event.commitKind,
  commit_time: event.commitTime,
  delta_record_count: event.deltaRecordCount,
  partition_key: event.partitionKey,
  sequence_number: event.sequenceNumber,
  data_change: optionalFlag(event.dataChange),
  table_id: event.tableId,
  check_name: event.checkName,
  check_run_id: event.checkRunId,
  started_at: event.startedAt,
  tag: event.tag,
  backfill: optionalFlag(event.backfill),
  payload: event.payload,
  receive_time: event.receivedAt,
});
