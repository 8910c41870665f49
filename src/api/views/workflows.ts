import type { Condition, Leaf } from '../../core/asset/condition.ts';
import type { DependencyGroup } from '../../core/asset/group.ts';
import { isoTime } from '../../core/time.ts';
import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import type { TaskRun } from '../../core/workflow/run.ts';
import { type WaitingGroup, waitingWords } from '../../core/workflow/task-wait.ts';
import type { GroupExplanation, RunDetails, TriggerRecord } from '../../store/store.ts';
import type {
  ConditionBody,
  DependenciesBody,
  GroupAnswerBody,
  GroupBody,
  LastFireBody,
  LeafBody,
  TriggerRecordBody,
} from '../contract/dependencies.ts';
import type { RunBody, RunDetailsBody, TaskRunBody, WorkflowBody } from '../contract/workflows.ts';
import { countOrNull, pinsBody, refOrNull, timeOrNull } from './common.ts';

const leafBody = (leaf: Leaf): LeafBody => ({ ...leaf, since: isoTime(leaf.since) });

const conditionBody = (condition: Condition): ConditionBody => ({
  ...condition,
  operations: [...condition.operations],
  qualityChecks: [...condition.qualityChecks],
  watermarkGte: timeOrNull(condition.watermarkGte),
  minAddedRecords: countOrNull(condition.minAddedRecords),
  backfill: condition.backfill ?? 'EXCLUDE',
  cdcLag: condition.cdcLag ?? null,
});

const groupBody = ({ renamedFrom: _, ...group }: DependencyGroup): GroupBody => ({
  ...group,
  startFrom: typeof group.startFrom === 'string' ? group.startFrom : { ...group.startFrom },
  conditions: group.conditions.map(conditionBody),
});

const taskGroupBody = ({ name, advance, quietSeconds, maxWaitSeconds, enabled, conditions }: DependencyGroup) => ({
  name,
  advance,
  quietSeconds,
  maxWaitSeconds,
  enabled,
  conditions: conditions.map(conditionBody),
});

/** Why a group has not fired, and why it last did. */
export const groupAnswer = ({ group, paused, ready, leaves, lastFire }: GroupExplanation): GroupAnswerBody => ({
  group,
  paused,
  ready,
  results: leaves.map(leafBody),
  lastFire: lastFire === null ? null : lastFireBody(lastFire),
});

export const lastFireBody = (fire: NonNullable<GroupExplanation['lastFire']>): LastFireBody => ({
  runId: fire.runId,
  at: isoTime(fire.at),
  triggerKey: fire.triggerKey,
  pins: pinsBody(fire.pins),
  results: fire.leaves.map(leafBody),
});

export const dependencyGroup = (explanation: GroupExplanation): DependenciesBody['groups'][number] => ({
  ...groupAnswer(explanation),
  conditions: explanation.conditions.map(conditionBody),
  consumed: Object.fromEntries([...explanation.consumed].map(([key, ref]) => [key, refOrNull(ref)])),
});

export const triggerBody = (record: TriggerRecord): TriggerRecordBody => ({
  id: record.id,
  triggerKey: record.triggerKey,
  workflowDefinitionCode: record.workflowCode,
  workflow: record.workflow,
  group: record.group,
  workflowInstanceId: record.runId,
  taskDefinitionCode: record.task?.code ?? null,
  taskInstanceId: record.task?.taskRunId ?? null,
  status: record.status,
  pins: pinsBody(record.pins),
  results: record.leaves.map(leafBody),
  createTime: isoTime(record.createTime),
  suppressedCount: record.suppressed?.count ?? 0,
  suppressedTime: timeOrNull(record.suppressed?.at ?? null),
});

export const workflowBody = ({ projectName, ...workflow }: WorkflowDefinition): WorkflowBody => ({
  ...workflow,
  project: projectName,
  globalParams: [...workflow.globalParams],
  inputs: [...workflow.inputs],
  groups: workflow.groups.map(groupBody),
  tasks: workflow.tasks.map((task) => ({
    ...task,
    params: { ...task.params },
    localParams: [...task.localParams],
    dependsOn: [...task.dependsOn],
    inputs: [...task.inputs],
    outputs: [...task.outputs],
    wait: task.wait === null ? null : { ...task.wait, groups: task.wait.groups.map(taskGroupBody) },
  })),
});

export const runBody = ({ run, workflow, project }: RunDetails): RunBody => ({
  id: run.id,
  workflow,
  state: run.state,
  commandType: run.commandType,
  triggerGroup: run.triggerGroup,
  triggerKey: run.triggerKey,
  pins: pinsBody(run.pins),
  startTime: isoTime(run.startTime),
  endTime: timeOrNull(run.endTime),
  params: { ...run.params },
  project,
  workflowDefinitionCode: run.workflowCode,
  workflowVersion: run.workflowVersion,
  scheduleTime: timeOrNull(run.scheduleTime),
  runTimes: run.runTimes,
});

/** `waiting`: what the attempt waits for, as far as that is known. */
export const taskRunBody = (task: TaskRun, groups: readonly WaitingGroup[] = []): TaskRunBody => ({
  id: task.id,
  code: task.taskCode,
  name: task.name,
  type: task.type,
  state: task.state,
  attempt: task.attempt,
  submitTime: isoTime(task.submitTime),
  startTime: timeOrNull(task.startTime),
  endTime: timeOrNull(task.endTime),
  exitCode: task.exitCode,
  reason: task.reason,
  waiting: task.waiting,
  waitingFor: task.waiting && groups.length > 0 ? waitingWords(groups) : null,
  deadline: timeOrNull(task.deadline),
  pins: pinsBody(task.pins),
  outputs: Object.fromEntries(task.outputs.map(({ prop, value }) => [prop, value])),
});

export const runDetailsBody = (details: RunDetails): RunDetailsBody => ({
  ...runBody(details),
  tasks: details.tasks.map((task) => taskRunBody(task, details.waiting.get(task.id))),
});
