import Type, { type Static } from 'typebox';
import { EventBody } from './asset-events.ts';
import { AssetKeyText, Code, Count, FormatId, Nullable, PinsBody, StatedTime, Time, VersionRefBody } from './common.ts';

/** One leaf of a group's evaluation tree: a condition, or (assetKey null) a closed gate of the whole group. */
export const LeafBody = Type.Object({
  assetKey: Nullable(Type.String()),
  alias: Nullable(Type.String()),
  met: Type.Boolean(),
  code: Nullable(Type.String()),
  needed: Type.String(),
  actual: Type.String(),
  since: Time,
});
export type LeafBody = Static<typeof LeafBody>;

/** The newest fire of a group, with the tree that let it fire. */
export const LastFireBody = Type.Object({
  runId: Type.Integer(),
  at: Time,
  triggerKey: Type.String(),
  pins: PinsBody,
  results: Type.Array(LeafBody),
});

export const GroupAnswerBody = Type.Object({
  group: Type.String(),
  /** By a person: it starts no run until it is resumed. */
  paused: Type.Boolean(),
  ready: Type.Boolean(),
  results: Type.Array(LeafBody),
  lastFire: Nullable(LastFireBody),
});
export type LastFireBody = Static<typeof LastFireBody>;
export type GroupAnswerBody = Static<typeof GroupAnswerBody>;

export const ConditionBody = Type.Object({
  assetKey: Type.String(),
  alias: Type.String(),
  snapshotRequired: Type.Boolean(),
  minSnapshotId: Nullable(FormatId),
  operations: Type.Array(Type.String()),
  dataChangeOnly: Type.Boolean(),
  qualityStatus: Nullable(Type.String()),
  qualityChecks: Type.Array(Type.String()),
  schemaStatus: Nullable(Type.String()),
  schemaChanged: Type.Boolean(),
  watermarkGte: Nullable(StatedTime),
  tag: Nullable(Type.String()),
  minAddedRecords: Nullable(Count),
  maxAgeSeconds: Nullable(Type.Number()),
  backfill: Type.String(),
  cdcLag: Nullable(Type.String()),
});
export type ConditionBody = Static<typeof ConditionBody>;

export const GroupBody = Type.Object({
  name: Type.String(),
  advance: Type.String(),
  consume: Type.String(),
  whileRunning: Type.String(),
  startFrom: Type.Union([Type.String(), Type.Record(Type.String(), FormatId)]),
  minIntervalSeconds: Nullable(Type.Number()),
  quietSeconds: Nullable(Type.Number()),
  maxWaitSeconds: Nullable(Type.Number()),
  enabled: Type.Boolean(),
  conditions: Type.Array(ConditionBody),
});
export type GroupBody = Static<typeof GroupBody>;

export const DependenciesBody = Type.Object({
  workflowDefinitionCode: Code,
  workflow: Type.String(),
  groups: Type.Array(
    Type.Object({
      ...GroupAnswerBody.properties,
      conditions: Type.Array(ConditionBody),
      consumed: Type.Record(Type.String(), Nullable(VersionRefBody)),
    }),
  ),
});
export type DependenciesBody = Static<typeof DependenciesBody>;

export const TriggerRecordBody = Type.Object({
  id: Type.Integer(),
  triggerKey: Type.String(),
  workflowDefinitionCode: Code,
  workflow: Type.String(),
  group: Type.String(),
  workflowInstanceId: Nullable(Type.Integer()),
  /** Both set: it released this attempt of a waiting task, and started no run. */
  taskDefinitionCode: Nullable(Code),
  taskInstanceId: Nullable(Type.Integer()),
  status: Type.String(),
  pins: PinsBody,
  /** The tree that let it fire: why it did run. */
  results: Type.Array(LeafBody),
  createTime: Time,
  /** The same versions came up again, so many times, and started nothing. */
  suppressedCount: Type.Integer(),
  suppressedTime: Nullable(Time),
});
export type TriggerRecordBody = Static<typeof TriggerRecordBody>;

/** `suppressed`: fires whose versions came up once more; `ignored`: events that came too late or that their table never showed. */
export const WhyBody = Type.Object({
  workflow: Type.String(),
  groups: Type.Array(GroupAnswerBody),
  suppressed: Type.Array(TriggerRecordBody),
  ignored: Type.Array(EventBody),
});
export type WhyBody = Static<typeof WhyBody>;

/**
 * One row of RFC 5.3 or up to 1,000: `{workflowDefinitionCode?, taskDefinitionCode?, assetKey, dependencyGroup?, conditionJson?, enabledFlag?}`.
 * Core reads them (declaration/dependency-rows.ts), as it says everything that is wrong with them at once.
 */
export const DependenciesInput = Type.Union([Type.Object({}), Type.Array(Type.Unknown(), { maxItems: 1000 })]);

const CodeOrName = Type.Union([Type.String(), Type.Integer()]);
const DependencyRowInput = Type.Object(
  {
    workflowDefinitionCode: Type.Optional(CodeOrName),
    taskDefinitionCode: Type.Optional(CodeOrName),
    assetKey: AssetKeyText,
    dependencyGroup: Type.Optional(Type.String()),
    conditionJson: Type.Optional(
      Type.Unknown({ description: 'A condition of the apply file, as an object or its text.' }),
    ),
    enabledFlag: Type.Optional(Type.Integer({ minimum: 0, maximum: 1 })),
  },
  { additionalProperties: false },
);

/** The same, as the OpenAPI document shows it. */
export const DependencyRowOrRows = Type.Union([DependencyRowInput, Type.Array(DependencyRowInput, { maxItems: 1000 })]);
