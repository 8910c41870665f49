import Type, { type Static } from 'typebox';
import {
  AssetKeyText,
  Code,
  Count,
  FormatId,
  FormatIdInput,
  Nullable,
  StatedTime,
  Time,
  VersionRefBody,
} from './common.ts';

const policies = {
  pushMode: Type.Enum(['VERIFY', 'TRUST']),
  onGap: Type.Enum(['CONTINUE', 'HOLD']),
  onRollback: Type.Enum(['IGNORE', 'TRIGGER', 'HOLD']),
  onRecreate: Type.Enum(['CONTINUE', 'HOLD']),
  schemaPolicy: Type.Enum(['AUTO', 'ALWAYS_APPROVE', 'MANUAL']),
};

/** Registers or updates an asset. `location` is an absolute folder on the server's machine; without one the asset lives from pushed events. */
export const AssetInput = Type.Object(
  {
    key: AssetKeyText,
    location: Type.Optional(Nullable(Type.String())),
    description: Type.Optional(Type.String()),
    ...Type.Partial(Type.Object(policies)).properties,
    requiredChecks: Type.Optional(Type.Array(Type.String())),
    pollIntervalSeconds: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 86_400 }))),
  },
  { additionalProperties: false },
);

/** The names that the RFC gives the parts of a key (3.2, 7.2). */
const rfcNames = {
  assetKey: Type.Optional(AssetKeyText),
  storageFormat: Type.Optional(Nullable(Type.String({ description: 'PAIMON, ICEBERG, HUDI, DELTA' }))),
  sourceType: Type.Optional(Nullable(Type.String({ description: 'Another name of storageFormat.' }))),
  catalogName: Type.Optional(Nullable(Type.String())),
  databaseName: Type.Optional(Nullable(Type.String())),
  tableName: Type.Optional(Nullable(Type.String())),
  partitionExpr: Type.Optional(Nullable(Type.String({ maxLength: 0, description: 'An asset is a whole table.' }))),
};

/** The body that registers an asset: the same with the RFC's names of what is in the key beside it, or instead of it. */
export const AssetRegistration = Type.Object(
  { ...AssetInput.properties, key: Type.Optional(AssetKeyText), ...rfcNames },
  { additionalProperties: false },
);
export type AssetRegistration = Static<typeof AssetRegistration>;

export const AssetStateBody = Type.Object({
  assetKey: Type.String(),
  epoch: Type.Integer(),
  lastOrdinal: Type.Integer(),
  latest: Nullable(VersionRefBody),
  latestData: Nullable(VersionRefBody),
  watermark: Nullable(StatedTime),
  latestTag: Nullable(Type.String()),
  qualityStatus: Type.String(),
  schemaStatus: Type.String(),
  schemaId: Nullable(FormatId),
  acceptedSchemaId: Nullable(FormatId),
  backfillStatus: Type.String(),
  cdcStatus: Type.String(),
  health: Type.String(),
  healthReason: Nullable(Type.String()),
  healthSince: Time,
  tableId: Nullable(Type.String()),
  version: Type.Integer(),
});
export type AssetStateBody = Static<typeof AssetStateBody>;

export const AssetBody = Type.Object({
  code: Code,
  key: Type.String(),
  location: Nullable(Type.String()),
  description: Type.String(),
  ...policies,
  requiredChecks: Type.Array(Type.String()),
  pollIntervalSeconds: Nullable(Type.Number()),
  state: AssetStateBody,
  lastScanAt: Nullable(Time),
});
export type AssetBody = Static<typeof AssetBody>;

const SchemaBody = Type.Object({
  epoch: Type.Integer(),
  schemaId: FormatId,
  status: Type.String(),
  decidedBy: Type.String(),
  changes: Type.Array(
    Type.Object({
      kind: Type.String(),
      column: Type.String(),
      from: Nullable(Type.String()),
      to: Nullable(Type.String()),
      compatible: Type.Boolean(),
      sentence: Type.String(),
    }),
  ),
  seenAt: Time,
});

const VerdictBody = Type.Object({
  epoch: Type.Integer(),
  snapshotId: Nullable(FormatId),
  checkName: Type.String(),
  status: Type.String(),
  at: Time,
  startedAt: Nullable(StatedTime),
  checkRunId: Nullable(Type.String()),
});

export const AssetDetailsBody = Type.Object({
  ...AssetBody.properties,
  project: Type.String(),
  tags: Type.Record(Type.String(), FormatId),
  schemas: Type.Array(SchemaBody),
  verdicts: Type.Array(VerdictBody),
  consumers: Type.Array(
    Type.Object({ workflow: Type.String(), group: Type.String(), task: Type.Optional(Type.String()) }),
  ),
});
export type AssetDetailsBody = Static<typeof AssetDetailsBody>;

export const VersionBody = Type.Object({
  assetKey: Type.String(),
  snapshotId: FormatId,
  epoch: Type.Integer(),
  ordinal: Type.Integer(),
  status: Type.String(),
  operation: Type.String(),
  dataChange: Type.Boolean(),
  pendingData: Type.Boolean(),
  commitTime: StatedTime,
  watermark: Nullable(StatedTime),
  schemaId: Nullable(FormatId),
  addedRecords: Nullable(Count),
  totalRecords: Nullable(Count),
  /** What the commit touched; null: the table is not partitioned, or its format does not say. */
  partitions: Nullable(Type.Array(Type.String())),
  readAs: Nullable(FormatId),
  backfill: Type.Boolean(),
  tags: Type.Array(Type.String()),
  quality: Type.String(),
  recordedAt: Time,
});
export type VersionBody = Static<typeof VersionBody>;

export const ScanInput = Type.Object(
  { timeoutSeconds: Type.Optional(Type.Number({ minimum: 0, maximum: 60 })) },
  { additionalProperties: false },
);

/** The asset after the look, and whether it ended in time. */
export const ScanBody = Type.Object({
  assetKey: Type.String(),
  finished: Type.Boolean(),
  newVersions: Type.Integer(),
  state: AssetStateBody,
  lastScanAt: Nullable(Time),
});
export type ScanBody = Static<typeof ScanBody>;

export const ApproveSchemaInput = Type.Object(
  {
    schemaId: FormatIdInput,
    decision: Type.Optional(Type.Enum(['APPROVE', 'REJECT'])),
    eventId: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  },
  { additionalProperties: false },
);
