import Type, { type TSchema } from 'typebox';
import { AssetInput } from './assets.ts';
import { AssetKeyText, CountInput, FormatIdInput, TimeInput } from './common.ts';

/**
 * The file that declares work (contract.md 4), as a JSON Schema that editors complete from. core/declaration/parse.ts decides what is right; this
 * only describes it, and a test holds the two to the same keys.
 */

const closed = { additionalProperties: false };
const maybe = <T extends TSchema>(schema: T) => Type.Optional(schema);
const Seconds = Type.Integer({ minimum: 0 });
const Text = Type.String();
const Name = Type.String({ minLength: 1, maxLength: 255 });
const Keys = Type.Array(AssetKeyText);

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);
const Parameters = Type.Union([
  Type.Record(Type.String(), Scalar),
  Type.Array(
    Type.Object(
      { prop: Text, direct: maybe(Type.Enum(['IN', 'OUT'])), type: maybe(Text), value: maybe(Scalar) },
      closed,
    ),
  ),
]);

export const ConditionInFile = Type.Object(
  {
    assetKey: AssetKeyText,
    alias: maybe(Type.String({ pattern: '^[A-Za-z_]\\w*$', description: "Default: the table's name." })),
    snapshotRequired: maybe(
      Type.Boolean({ default: true, description: 'Needs a version newer than the one last consumed.' }),
    ),
    minSnapshotId: maybe(FormatIdInput),
    operations: maybe(Type.Array(Text)),
    dataChangeOnly: maybe(Type.Boolean({ default: true })),
    qualityStatus: maybe(Type.Enum(['PASSED'])),
    qualityChecks: maybe(Type.Array(Text)),
    schemaStatus: maybe(Type.Enum(['COMPATIBLE'])),
    schemaChanged: maybe(Type.Boolean({ default: false })),
    watermark: maybe(Type.Object({ gte: TimeInput }, closed)),
    tag: maybe(Type.String({ description: 'A glob.' })),
    minAddedRecords: maybe(CountInput),
    maxAgeSeconds: maybe(Seconds),
    backfill: maybe(Type.Enum(['EXCLUDE', 'INCLUDE', 'ONLY'], { default: 'EXCLUDE' })),
    cdcLag: maybe(Type.Enum(['RECOVERED'])),
  },
  closed,
);

export const GroupInFile = Type.Object(
  {
    group: Name,
    renamedFrom: maybe(Name),
    advance: maybe(Type.Enum(['ALL', 'ANY'], { default: 'ALL' })),
    consume: maybe(Type.Enum(['LATEST'], { default: 'LATEST' })),
    whileRunning: maybe(Type.Enum(['WAIT', 'PARALLEL'], { default: 'WAIT' })),
    startFrom: maybe(Type.Union([Type.Enum(['NEXT', 'CURRENT']), Type.Record(Type.String(), FormatIdInput)])),
    minIntervalSeconds: maybe(Seconds),
    quietSeconds: maybe(Seconds),
    maxWaitSeconds: maybe(Seconds),
    enabled: maybe(Type.Boolean({ default: true })),
    all: Type.Array(ConditionInFile, { minItems: 1 }),
  },
  closed,
);

/** What releases a waiting task: any one of its groups. */
export const TaskGroupInFile = Type.Object(
  {
    group: Name,
    all: Type.Array(ConditionInFile, { minItems: 1 }),
    advance: maybe(Type.Enum(['ALL', 'ANY'], { default: 'ALL' })),
    quietSeconds: maybe(Seconds),
    maxWaitSeconds: maybe(Seconds),
    enabled: maybe(Type.Boolean({ default: true })),
  },
  closed,
);

const above0 = (maximum: number) => Type.Number({ exclusiveMinimum: 0, maximum });

/** On an ASSET_SENSOR these stand in `params`. */
const Wait = {
  groups: maybe(Type.Array(TaskGroupInFile, { minItems: 1, description: 'Any one of these releases the task.' })),
  baseline: maybe(Type.Enum(['LAST_SUCCESS', 'RUN_START', 'NONE'], { default: 'LAST_SUCCESS' })),
  timeoutMinutes: maybe(above0(525_600)),
  onTimeout: maybe(Type.Enum(['FAIL', 'SUCCEED', 'WARN'], { default: 'FAIL' })),
  checkIntervalSeconds: maybe(above0(86_400)),
};

export const TaskInFile = Type.Object(
  {
    name: Name,
    type: maybe(Type.String({ default: 'SHELL' })),
    description: maybe(Text),
    params: maybe(Type.Record(Type.String(), Type.Unknown())),
    localParams: maybe(Parameters),
    dependsOn: maybe(Type.Array(Name)),
    flag: maybe(Type.Enum(['YES', 'NO'], { default: 'YES' })),
    failRetryTimes: maybe(Type.Integer({ minimum: 0, maximum: 1000, default: 0 })),
    failRetryIntervalSeconds: maybe(Type.Integer({ minimum: 0, maximum: 604_800, default: 60 })),
    timeoutSeconds: maybe(Type.Integer({ minimum: 1 })),
    inputs: maybe(Keys),
    outputs: maybe(Keys),
    ...Wait,
  },
  closed,
);

export const WorkflowInFile = Type.Object(
  {
    name: Name,
    description: maybe(Text),
    releaseState: maybe(Type.Enum(['ONLINE', 'OFFLINE'], { default: 'ONLINE' })),
    timezone: maybe(Type.String({ description: "IANA name; default: the server's." })),
    globalParams: maybe(Parameters),
    failureStrategy: maybe(Type.Enum(['CONTINUE', 'END'], { default: 'CONTINUE' })),
    inputs: maybe(Keys),
    assetTriggerEnabled: maybe(Type.Boolean({ default: true })),
    triggers: maybe(Type.Array(GroupInFile, { description: 'Any one of these groups starts the workflow.' })),
    tasks: Type.Array(TaskInFile, { minItems: 1 }),
  },
  closed,
);

export const ApplyFile = Type.Object(
  {
    apiVersion: Type.Literal('sluice/v1'),
    project: Name,
    assets: maybe(Type.Array(AssetInput)),
    workflows: maybe(Type.Array(WorkflowInFile)),
  },
  closed,
);

/** docs/reference/apply.schema.json. */
export const applyFileSchema = (): string => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Sluice apply file',
    ...ApplyFile,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
};
