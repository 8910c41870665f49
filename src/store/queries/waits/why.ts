import type { TaskRun } from '../../../core/workflow/run.ts';
import type { WaitingGroup } from '../../../core/workflow/task-wait.ts';
import { big, leavesOf, num, pinsOf } from '../../codecs.ts';
import type { View } from '../../engine.ts';
import type { GroupExplanation, TaskExplanation, WaitingAttempt } from '../../store.ts';
import { chunks } from '../assets/load.ts';
import { headerOf, newestDefinition, taskNamed } from '../workflows/definitions.ts';
import { groupName } from '../groups/facts.ts';
import { explainGroup } from '../groups/lists.ts';
import { taskRunOf } from '../runs/rows.ts';
import { taskGroups } from './expire.ts';

/** Attempts of which each group is looked at; where more wait, they are counted. */
const SHOWN = 20;

/** Why a waiting task has not gone on, and why it last did. Throws NOT_FOUND. */
export const explainTask = async (view: View, workflowCode: number, name: string): Promise<TaskExplanation> => {
  const workflow = await newestDefinition(view, await headerOf(view, big(workflowCode)));
  const task = taskNamed(workflow, name);
  const ids = await waitingIds(view, workflow.code, task.code);
  const lastRelease = await releaseOf(view, task.code);
  const waiting: WaitingAttempt[] = [];
  for (const id of ids.slice(0, SHOWN)) waiting.push(await waitingAttempt(view, id, lastRelease));
  return { task: task.name, wait: task.wait, waiting, waitingCount: ids.length, lastRelease };
};

/** Newest first. Their groups say which they are, so that attempts of other states are not read. */
const waitingIds = async (view: View, workflowCode: number, taskCode: number): Promise<readonly bigint[]> => {
  const rows = await view.db
    .selectFrom('t_ds_asset_dependency_group')
    .select('task_instance_id')
    .distinct()
    .where('workflow_definition_code', '=', big(workflowCode))
    .where('task_definition_code', '=', big(taskCode))
    .where('task_instance_id', 'is not', null)
    .orderBy('task_instance_id', 'desc')
    .execute();
  return rows.flatMap((row) => row.task_instance_id ?? []);
};

const waitingAttempt = async (
  view: View,
  id: bigint,
  lastRelease: TaskExplanation['lastRelease'],
): Promise<WaitingAttempt> => {
  const row = await view.db.selectFrom('t_ds_task_instance').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const { runId, attempt, submitTime: since, deadline } = taskRunOf(row);
  const groups: GroupExplanation[] = [];
  for (const group of await taskGroups(view, [id])) {
    const explained = await explainGroup(view, group);
    groups.push({ ...explained, lastFire: lastRelease?.group === explained.group ? lastRelease : null });
  }
  return { runId, taskRunId: num(id), attempt, since, deadline, groups };
};

const releaseOf = async (view: View, taskCode: number): Promise<TaskExplanation['lastRelease']> => {
  const row = await view.db
    .selectFrom('t_ds_asset_trigger_history')
    .selectAll()
    .where('task_definition_code', '=', big(taskCode))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined || row.workflow_instance_id === null) return null;
  return {
    group: row.dependency_group,
    runId: num(row.workflow_instance_id),
    at: row.create_time,
    triggerKey: row.trigger_key,
    pins: pinsOf(row.pins_json),
    leaves: leavesOf(row.leaves_json),
  };
};

/** By task run: what the attempts among these wait for, as it was evaluated last. */
export const waitingOf = async (
  view: View,
  attempts: readonly TaskRun[],
): Promise<ReadonlyMap<number, readonly WaitingGroup[]>> => {
  const ids = attempts.filter(({ waiting }) => waiting).map(({ id }) => big(id));
  const found = new Map<number, WaitingGroup[]>(ids.map((id) => [num(id), []]));
  for (const some of chunks(ids))
    for (const row of await taskGroups(view, some))
      found.get(num(row.task_instance_id ?? 0n))?.push({ group: groupName(row), leaves: leavesOf(row.leaves_json) });
  return found;
};
