import { isoTime } from '../../time.ts';
import type { EpochMs } from '../../time.ts';
import type { TaskDefinition, WorkflowDefinition } from '../definition.ts';
import type { TaskParameters } from './parameters.ts';
import { readOptions } from './pin-values.ts';
import type { PinValues } from './pin-values.ts';
import type { TaskRun, WorkflowRun } from '../run.ts';

/** What a task is told about itself and its run. */
export interface TaskIdentity {
  readonly run: Pick<WorkflowRun, 'id' | 'commandType' | 'scheduleTime' | 'triggerKey' | 'triggerGroup'>;
  readonly workflow: Pick<WorkflowDefinition, 'code' | 'name' | 'version' | 'projectName' | 'timezone'>;
  readonly task: Pick<TaskDefinition, 'code' | 'name' | 'type'>;
  readonly taskRun: Pick<TaskRun, 'id' | 'attempt' | 'fence'>;
  readonly pins: readonly PinValues[];
}

/**
 * Environment variables of a task's processes (semantics.md, 6), `SLUICE_CONTEXT` aside: the executor knows where the file is. Every variable is
 * always there, empty if unknown, so that a script under `set -u` can ask for it. Two aliases that differ only in case share theirs.
 */
export function taskEnvironment({
  run,
  workflow,
  task,
  taskRun,
  pins,
}: TaskIdentity): Readonly<Record<string, string>> {
  return {
    SLUICE_WORKFLOW: workflow.name,
    SLUICE_RUN_ID: String(run.id),
    SLUICE_TRIGGER_KEY: run.triggerKey ?? '',
    SLUICE_TRIGGER_GROUP: run.triggerGroup ?? '',
    SLUICE_TASK: task.name,
    SLUICE_TASK_INSTANCE_ID: String(taskRun.id),
    SLUICE_ATTEMPT: String(taskRun.attempt),
    SLUICE_FENCE: String(taskRun.fence),
    ...Object.fromEntries(pins.flatMap(pinEnvironment)),
  };
}

function pinEnvironment(pin: PinValues): readonly (readonly [string, string])[] {
  const { spark, flink, trino } = readOptions(pin);
  const values = {
    SNAPSHOT_ID: pin.snapshotId,
    PREVIOUS_SNAPSHOT_ID: pin.previousSnapshotId ?? '',
    INCREMENTAL: String(pin.incremental),
    INCREMENTAL_REASON: pin.incrementalReason ?? '',
    WATERMARK: time(pin.watermark) ?? '',
    SCHEMA_ID: pin.schemaId ?? '',
    TAG: pin.tag ?? '',
    COMMIT_TIME: time(pin.commitTime) ?? '',
    LOCATION: pin.location ?? '',
    READ_OPTIONS_SPARK: spark,
    READ_OPTIONS_FLINK: flink,
    READ_OPTIONS_TRINO: trino,
  };
  const prefix = `SLUICE_ASSET_${pin.alias.toUpperCase()}_`;
  return Object.entries(values).map(([name, value]) => [prefix + name, value] as const);
}

const time = (at: EpochMs | null): string | null => (at === null ? null : isoTime(at));

/** The text of the file that `$SLUICE_CONTEXT` names: one JSON object. Ids of table formats are strings, times ISO 8601 UTC, unknown is null. */
export function taskContextJson(
  { run, workflow, task, taskRun, pins }: TaskIdentity,
  { values }: TaskParameters,
): string {
  const context = {
    workflow: {
      code: workflow.code,
      name: workflow.name,
      version: workflow.version,
      project: workflow.projectName,
      timezone: workflow.timezone,
    },
    run: { id: run.id, commandType: run.commandType, scheduleTime: time(run.scheduleTime) },
    trigger: { key: run.triggerKey, group: run.triggerGroup },
    task: {
      code: task.code,
      name: task.name,
      type: task.type,
      instanceId: taskRun.id,
      attempt: taskRun.attempt,
      fence: taskRun.fence,
    },
    assets: Object.fromEntries(pins.map((pin) => [pin.alias, pinContext(pin)])),
    parameters: Object.fromEntries([...values].map(([name, { text }]) => [name, text])),
  };
  return `${JSON.stringify(context, null, 2)}\n`;
}

const pinContext = (pin: PinValues): Readonly<Record<string, unknown>> => ({
  assetKey: pin.assetKey,
  format: pin.format,
  snapshotId: pin.snapshotId,
  readAs: pin.readAs ?? pin.snapshotId,
  previousSnapshotId: pin.previousSnapshotId,
  incremental: pin.incremental,
  incrementalReason: pin.incrementalReason,
  watermark: time(pin.watermark),
  schemaId: pin.schemaId,
  tag: pin.tag,
  commitTime: time(pin.commitTime),
  location: pin.location,
  readOptions: readOptions(pin),
});
