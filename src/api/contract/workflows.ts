import Type, { type Static } from 'typebox';
import { PlanLineBody } from './apply.ts';
import { Code, Nullable, PinsBody, Time } from './common.ts';
import { ConditionBody, GroupBody } from './dependencies.ts';

const ParameterBody = Type.Object({ prop: Type.String(), direct: Type.Enum(['IN', 'OUT']), value: Type.String() });

const TaskWaitBody = Type.Object({
  groups: Type.Array(
    Type.Object({
      ...Type.Pick(GroupBody, ['name', 'advance', 'quietSeconds', 'maxWaitSeconds', 'enabled']).properties,
      conditions: Type.Array(ConditionBody),
    }),
  ),
  baseline: Type.String(),
  timeoutSeconds: Nullable(Type.Number()),
  onTimeout: Type.String(),
  checkIntervalSeconds: Nullable(Type.Number()),
});

const TaskDefinitionBody = Type.Object({
  code: Code,
  name: Type.String(),
  description: Type.String(),
  type: Type.String(),
  params: Type.Record(Type.String(), Type.Unknown()),
  localParams: Type.Array(ParameterBody),
  dependsOn: Type.Array(Type.String()),
  flag: Type.String(),
  failRetryTimes: Type.Integer(),
  failRetryIntervalSeconds: Type.Number(),
  timeoutSeconds: Nullable(Type.Number()),
  inputs: Type.Array(Type.String()),
  outputs: Type.Array(Type.String()),
  /** What it waits for once the tasks before it have succeeded; null: nothing. */
  wait: Nullable(TaskWaitBody),
});

export const WorkflowBody = Type.Object({
  code: Code,
  version: Type.Integer(),
  projectCode: Code,
  project: Type.String(),
  name: Type.String(),
  description: Type.String(),
  releaseState: Type.String(),
  timezone: Type.String(),
  globalParams: Type.Array(ParameterBody),
  failureStrategy: Type.String(),
  inputs: Type.Array(Type.String()),
  groups: Type.Array(GroupBody),
  tasks: Type.Array(TaskDefinitionBody),
});
export type WorkflowBody = Static<typeof WorkflowBody>;

const Name = Type.String({ minLength: 1, maxLength: 255 });

/** A workflow as the apply file declares it (docs/reference/apply.schema.json); what is wrong with it comes back in `problems`. */
export const WorkflowInput = Type.Object({ name: Name });

export const ReleaseInput = Type.Object(
  {
    releaseState: Type.Enum(['ONLINE', 'OFFLINE']),
    skip: Type.Optional(
      Type.Boolean({
        description: 'Online: what arrived while it was offline starts no run. Default: one run for all of it.',
      }),
    ),
  },
  { additionalProperties: false },
);

/** `plan`: what the change means for its groups, line by line. */
export const SavedWorkflowBody = Type.Object({
  ...WorkflowBody.properties,
  plan: Type.Array(PlanLineBody),
  warnings: Type.Array(Type.String()),
});
export type SavedWorkflowBody = Static<typeof SavedWorkflowBody>;

export const WorkflowVersionBody = Type.Object({
  version: Type.Integer(),
  description: Type.String(),
  createTime: Time,
});
export type WorkflowVersionBody = Static<typeof WorkflowVersionBody>;

/** A manual start. A pin is a snapshot id, or `tag:NAME`. `startTasks` with TASK_ONLY runs these alone, with TASK_POST also all after them. */
export const StartInput = Type.Object(
  {
    params: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]))),
    pins: Type.Optional(Type.Record(Type.String(), Type.Union([Name, Type.Integer()]))),
    consume: Type.Optional(Type.Boolean()),
    startTasks: Type.Optional(Type.Array(Name)),
    taskDependType: Type.Optional(Type.Enum(['TASK_POST', 'TASK_PRE', 'TASK_ONLY'])),
  },
  { additionalProperties: false },
);
export type StartInput = Static<typeof StartInput>;

export const OperateInput = Type.Object({ repin: Type.Optional(Type.Boolean()) }, { additionalProperties: false });

export const RunBody = Type.Object({
  id: Type.Integer(),
  workflow: Type.String(),
  state: Type.String(),
  commandType: Type.String(),
  triggerGroup: Nullable(Type.String()),
  triggerKey: Nullable(Type.String()),
  pins: PinsBody,
  startTime: Time,
  endTime: Nullable(Time),
  params: Type.Record(Type.String(), Type.String()),
  project: Type.String(),
  workflowDefinitionCode: Code,
  workflowVersion: Type.Integer(),
  scheduleTime: Nullable(Time),
  runTimes: Type.Integer(),
});
export type RunBody = Static<typeof RunBody>;

/** One attempt of a task. */
export const TaskRunBody = Type.Object({
  id: Type.Integer(),
  code: Code,
  name: Type.String(),
  type: Type.String(),
  state: Type.String(),
  attempt: Type.Integer(),
  submitTime: Time,
  startTime: Nullable(Time),
  endTime: Nullable(Time),
  exitCode: Nullable(Type.Integer()),
  reason: Nullable(Type.String()),
  /** SUBMITTED_SUCCESS, and held until a group of the task is ready or its time is up (`deadline`). */
  waiting: Type.Boolean(),
  /** For people; null: it does not wait, or (in lists) it is not said. */
  waitingFor: Nullable(Type.String()),
  /** When an attempt that waits or runs is over its limit. */
  deadline: Nullable(Time),
  /** What released it from waiting; the run's pins are its too. */
  pins: PinsBody,
  /** What it gave to the tasks behind it. */
  outputs: Type.Record(Type.String(), Type.String()),
});
export type TaskRunBody = Static<typeof TaskRunBody>;

export const RunDetailsBody = Type.Object({ ...RunBody.properties, tasks: Type.Array(TaskRunBody) });
export type RunDetailsBody = Static<typeof RunDetailsBody>;

/** `tasks`: the newest attempt of each; `history`: all attempts, oldest first. */
export const RunTasksBody = Type.Object({ tasks: Type.Array(TaskRunBody), history: Type.Array(TaskRunBody) });
export type RunTasksBody = Static<typeof RunTasksBody>;

export const StartedBody = Type.Object({ ...RunDetailsBody.properties, duplicate: Type.Boolean() });
export type StartedBody = Static<typeof StartedBody>;

/** A piece of an attempt's log. `nextOffset` is where to go on; `finished`: the attempt has ended and this is all. */
export const LogBody = Type.Object({
  taskInstanceId: Type.Integer(),
  offset: Type.Integer(),
  nextOffset: Type.Integer(),
  size: Type.Integer(),
  state: Type.String(),
  finished: Type.Boolean(),
  text: Type.String(),
});
export type LogBody = Static<typeof LogBody>;
