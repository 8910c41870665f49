import type { Condition, Leaf } from '../../../core/asset/condition.ts';
import { triggerKey } from '../../../core/asset/trigger-key.ts';
import type { DependencyGroup } from '../../../core/asset/group.ts';
import type { Pins } from '../../../core/asset/version.ts';
import type { EpochMs } from '../../../core/time.ts';
import type { TaskDefinition } from '../../../core/workflow/definition.ts';
import { groupsInForce } from '../../../core/workflow/task-wait.ts';
import { big, conditionJson, flag, num, pinsJson, settingsJson } from '../../codecs.ts';
import type { Tx } from '../../engine.ts';
import type { EvaluationReport } from '../../store.ts';
import { lockIfKnown } from '../assets/load.ts';
import { insertConsumed } from '../groups/baselines.ts';
import { groupName, type LoadedGroup } from '../groups/facts.ts';
import { enqueue } from '../groups/queue.ts';
import { recordTrigger } from '../groups/triggers.ts';
import { type RunRow, taskState } from '../runs/rows.ts';
import { beginningOf } from './baselines.ts';

/**
 * The life of a waiting attempt: it is SUBMITTED_SUCCESS with `waiting` set, which no dispatch sees, and its groups are rows. Whatever
 * ends the wait clears the one and removes the other in the same transaction.
 */

/** The columns with which an attempt of a task that waits is made. */
export const waitColumns = (
  tx: Tx,
  task: TaskDefinition | undefined,
  pinsBefore: string | undefined,
  notBefore: EpochMs | null,
) => {
  const waits = pinsBefore === undefined && groupsInForce(task?.wait ?? null).length > 0;
  const seconds = waits ? (task?.wait?.timeoutSeconds ?? null) : null;
  const from = notBefore !== null && notBefore > tx.now ? notBefore : tx.now;
  return {
    waiting: flag(waits),
    pins_json: pinsBefore ?? null,
    deadline: seconds === null ? null : from + BigInt(Math.round(seconds * 1000)),
  };
};

/** Task code → what released an earlier attempt of the run: later ones read the same, as they do with the run's pins. */
export const pinsBefore = async (
  tx: Tx,
  run: RunRow,
  tasks: readonly TaskDefinition[],
): Promise<ReadonlyMap<bigint, string>> => {
  const found = new Map<bigint, string>();
  for (const { code, wait } of tasks) {
    if (groupsInForce(wait).length === 0) continue;
    const row = await tx.db
      .selectFrom('t_ds_task_instance')
      .select('pins_json')
      .where('workflow_instance_id', '=', run.id)
      .where('task_code', '=', big(code))
      .where('pins_json', 'is not', null)
      .where('pins_void', '=', 0n)
      .orderBy('attempt', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined && row.pins_json !== null) found.set(big(code), row.pins_json);
  }
  return found;
};

/** The run has taken new pins. What released earlier attempts of its tasks must not be handed on to later ones. */
export const voidPins = async (tx: Tx, runId: bigint): Promise<void> => {
  await tx.db
    .updateTable('t_ds_task_instance')
    .set({ pins_void: 1n })
    .where('workflow_instance_id', '=', runId)
    .execute();
};

/** Makes the groups of the attempts that were just made of these tasks, and queues their first evaluation. */
export const beginWaiting = async (
  tx: Tx,
  run: RunRow,
  tasks: ReadonlyMap<bigint, TaskDefinition | undefined>,
): Promise<void> => {
  if (tasks.size === 0) return;
  const waiting = await tx.db
    .selectFrom('t_ds_task_instance')
    .select(['id', 'task_code', 'deadline'])
    .where('workflow_instance_id', '=', run.id)
    .where('flag', '=', 1n)
    .where('waiting', '=', 1n)
    .orderBy('id')
    .execute();
  const attempts = waiting.filter((each) => tasks.has(each.task_code));
  const made: bigint[] = [];
  for (const { id, task_code: code } of attempts) {
    const task = tasks.get(code);
    if (task?.wait === undefined || task.wait === null) continue;
    for (const [position, group] of groupsInForce(task.wait).entries())
      made.push(await insertTaskGroup(tx, run, task, id, group, position));
  }
  if (attempts.some(({ deadline }) => deadline !== null)) tx.hint('DEADLINES');
  await enqueue(tx, made, tx.now);
};

/** Names of groups hold no colon. */
const rowName = (taskRunId: bigint, group: string): string => `${taskRunId}:${group}`;

/** Columns that a group of a waiting task and its members have alike. */
const ownerColumns = (tx: Tx, run: RunRow, task: TaskDefinition) => ({
  workflow_definition_code: run.workflow_definition_code,
  task_definition_code: big(task.code),
  create_time: tx.now,
  update_time: tx.now,
});

const insertTaskGroup = async (
  tx: Tx,
  run: RunRow,
  task: TaskDefinition,
  taskRunId: bigint,
  group: DependencyGroup,
  position: number,
): Promise<bigint> => {
  const groupId = await tx.dialect.insertForId(tx.db, 't_ds_asset_dependency_group', {
    ...ownerColumns(tx, run, task),
    task_instance_id: taskRunId,
    dependency_group: rowName(taskRunId, group.name),
    position: BigInt(position),
    settings_json: settingsJson(group),
    enabled: 1n,
    paused: 0n,
    revision: 0n,
    ready: 0n,
    leaves_json: '[]',
  });
  for (const [place, condition] of group.conditions.entries())
    await insertTaskMember(tx, run, task, { groupId, group: group.name, condition, position: place });
  return groupId;
};

const insertTaskMember = async (
  tx: Tx,
  run: RunRow,
  task: TaskDefinition,
  member: {
    readonly groupId: bigint;
    readonly group: string;
    readonly condition: Condition;
    readonly position: number;
  },
): Promise<void> => {
  if (task.wait === null) throw new Error(`Task ${task.name} has a group and nothing to wait for.`);
  const { condition } = member;
  const key = condition.assetKey;
  const dependencyId = await tx.dialect.insertForId(tx.db, 't_ds_asset_dependency', {
    ...ownerColumns(tx, run, task),
    group_id: member.groupId,
    dependency_group: member.group,
    asset_key: key,
    asset_hash: tx.sha256(key),
    position: BigInt(member.position),
    condition_json: conditionJson(condition),
    enabled: 1n,
  });
  await lockIfKnown(tx, key);
  const { consumed, since } = await beginningOf(tx, run, task.code, task.wait, condition);
  await insertConsumed(tx, dependencyId, consumed, null, since);
};

/**
 * The attempt no longer waits: its groups go, and with them (by the tables' foreign keys) their members, what those consumed, their queue
 * entries and the history of their leaves. Whoever changes groups and attempts in one transaction locks the groups first.
 */
export const removeGroups = async (tx: Tx, taskRunId: bigint): Promise<void> => {
  await tx.db.deleteFrom('t_ds_asset_dependency_group').where('task_instance_id', '=', taskRunId).execute();
};

export const NOT_WAITING = { waiting: 0n, deadline: null } as const;

/** Ends the wait of an attempt that goes on; false: it no longer waited. */
export const stopWaiting = async (
  tx: Tx,
  taskRunId: bigint,
  change: { readonly pins_json: string | null; readonly reason: string | null },
): Promise<boolean> => {
  await removeGroups(tx, taskRunId);
  const result = await tx.db
    .updateTable('t_ds_task_instance')
    .set({ ...NOT_WAITING, ...change })
    .where('id', '=', taskRunId)
    .where('waiting', '=', 1n)
    .where('state', '=', taskState('SUBMITTED_SUCCESS'))
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  tx.hint('TASKS');
  tx.hint('CHANGED_RUNS');
  return true;
};

/** One of its groups is ready: trigger history, the task's pins and its turn to be handed out, together. */
export const releaseTask = async (
  tx: Tx,
  { row, owner }: LoadedGroup,
  pins: Pins,
  leaves: readonly Leaf[],
): Promise<EvaluationReport['released']> => {
  if (owner === null) throw new Error(`Group ${row.dependency_group} belongs to no task that it could release.`);
  if (!(await stopWaiting(tx, owner.taskRunId, { pins_json: pinsJson(pins), reason: null }))) return null;
  const group = groupName(row);
  const task = { code: owner.task.code, instanceId: num(owner.taskRunId) };
  const key = triggerKey({ workflowCode: num(row.workflow_definition_code), task, group, pins }, tx.sha256);
  await recordTrigger(tx, {
    key,
    workflowCode: row.workflow_definition_code,
    group,
    pins,
    leaves,
    released: { runId: owner.runId, taskCode: big(owner.task.code), taskRunId: owner.taskRunId },
  });
  return {
    taskRunId: num(owner.taskRunId),
    runId: num(owner.runId),
    triggerKey: key,
    pins,
  };
};
