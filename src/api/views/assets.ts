import type { AssetState } from '../../core/asset/state.ts';
import { isoTime } from '../../core/time.ts';
import type { AssetDetails, ListedAsset, ListedEvent, VersionRow } from '../../store/store.ts';
import type { EventBody } from '../contract/asset-events.ts';
import type { AssetBody, AssetDetailsBody, AssetStateBody, VersionBody } from '../contract/assets.ts';
import { countOrNull, refOrNull, timeOrNull } from './common.ts';

export const stateBody = (state: AssetState): AssetStateBody => ({
  ...state,
  latest: refOrNull(state.latest),
  latestData: refOrNull(state.latestData),
  watermark: timeOrNull(state.watermark),
  healthSince: isoTime(state.healthSince),
});

export const assetBody = (row: ListedAsset): AssetBody => {
  const { asset } = row;
  return {
    code: row.code,
    key: asset.key,
    location: asset.location,
    description: asset.description,
    pushMode: asset.pushMode,
    onGap: asset.onGap,
    onRollback: asset.onRollback,
    onRecreate: asset.onRecreate,
    schemaPolicy: asset.schemaPolicy,
    requiredChecks: [...asset.requiredChecks],
    pollIntervalSeconds: asset.pollIntervalMs === null ? null : asset.pollIntervalMs / 1000,
    state: stateBody(row.state),
    lastScanAt: timeOrNull(row.lastScanAt),
  };
};

export const assetDetailsBody = (details: AssetDetails): AssetDetailsBody => ({
  ...assetBody(details),
  project: details.project,
  tags: { ...details.tags },
  schemas: details.schemas.map(({ epoch, schemaId, status, decidedBy, changes, seenAt }) => ({
    epoch,
    schemaId,
    status,
    decidedBy,
    changes: changes.map((change) => ({ ...change })),
    seenAt: isoTime(seenAt),
  })),
  verdicts: details.verdicts.map((verdict) => ({
    ...verdict,
    at: isoTime(verdict.at),
    startedAt: timeOrNull(verdict.startedAt),
  })),
  consumers: details.consumers.map((consumer) => ({ ...consumer })),
});

export const versionBody = (version: VersionRow): VersionBody => ({
  assetKey: version.assetKey,
  snapshotId: version.snapshotId,
  epoch: version.epoch,
  ordinal: version.ordinal,
  status: version.status,
  operation: version.operation,
  dataChange: version.dataChange,
  pendingData: version.pendingData ?? false,
  commitTime: isoTime(version.commitTime),
  watermark: timeOrNull(version.watermark),
  schemaId: version.schemaId,
  addedRecords: countOrNull(version.addedRecords),
  totalRecords: countOrNull(version.totalRecords),
  partitions: version.partitions === undefined ? null : [...version.partitions],
  readAs: version.readAs ?? null,
  backfill: version.backfill ?? false,
  tags: [...version.tags],
  quality: version.quality,
  recordedAt: isoTime(version.recordedAt),
});

export const eventBody = (event: ListedEvent): EventBody => ({
  ...event,
  receivedAt: isoTime(event.receivedAt),
  watermark: timeOrNull(event.watermark),
  commitTime: timeOrNull(event.commitTime),
  startedAt: timeOrNull(event.startedAt),
  deltaRecordCount: countOrNull(event.deltaRecordCount),
  sequenceNumber: countOrNull(event.sequenceNumber),
});
