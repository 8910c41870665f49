import type { Condition, Leaf } from '../../core/asset/condition.ts';
import type { DependencyGroup } from '../../core/asset/group.ts';
import { isoTime } from '../../core/time.ts';
import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import type { TaskRun } from '../../core/workflow/run.ts';
import type { GroupExplanation, RunDetails, TriggerRecord } from '../../store/store.ts';
import type {
  ConditionBody,
  DependenciesBody,
  GroupAnswerBody,
  GroupBody,
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

/** Why a group has not fired, and why it last did. */
export const groupAnswer = ({ group, ready, leaves, lastFire }: GroupExplanation): GroupAnswerBody => ({
  group,
  ready,
  results: leaves.map(leafBody),
  lastFire:
    lastFire === null
      ? null
      : {
          runId: lastFire.runId,
          at: isoTime(lastFire.at),
          triggerKey: lastFire.triggerKey,
          pins: pinsBody(lastFire.pins),
          results: lastFire.leaves.map(leafBody),
        },
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
  status: record.status,
  pins: pinsBody(record.pins),
  createTime: isoTime(record.createTime),
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

export const taskRunBody = (task: TaskRun): TaskRunBody => ({
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
});

export const runDetailsBody = (details: RunDetails): RunDetailsBody => ({
  ...runBody(details),
  tasks: details.tasks.map(taskRunBody),
});
