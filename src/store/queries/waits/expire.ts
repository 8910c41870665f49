import type { EpochMs } from '../../../core/time.ts';
import { timeoutSentence, type WaitingGroup } from '../../../core/workflow/task-wait.ts';
import { num } from '../../codecs.ts';
import type { Tx, View } from '../../engine.ts';
import type { TimedOutWait } from '../../store.ts';
import { decide } from '../groups/evaluate.ts';
import { type GroupRow, groupName } from '../groups/facts.ts';
import { advanceRun, applySteps, lockRun } from '../runs/planning.ts';
import { releaseTask, stopWaiting } from './wait.ts';

/** Attempts whose wait is over, longest overdue first. */
export const overdueWaits = async (view: View, limit: number): Promise<readonly bigint[]> => {
  const rows = await view.db
    .selectFrom('t_ds_task_instance')
    .select('id')
    .where('waiting', '=', 1n)
    .where('deadline', '<=', view.now)
    .orderBy('deadline')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
};

export const nextWaitDeadlineAt = async (view: View): Promise<EpochMs | null> => {
  const row = await view.db
    .selectFrom('t_ds_task_instance')
    .select('deadline')
    .where('waiting', '=', 1n)
    .where('deadline', 'is not', null)
    .orderBy('deadline')
    .limit(1)
    .executeTakeFirst();
  return row?.deadline ?? null;
};

/** The groups of a waiting attempt, in the order in which they were declared. */
export const taskGroups = (view: View, taskRunIds: readonly bigint[]): Promise<readonly GroupRow[]> =>
  view.db
    .selectFrom('t_ds_asset_dependency_group')
    .selectAll()
    .where('task_instance_id', 'in', taskRunIds)
    .orderBy('task_instance_id')
    .orderBy('position')
    .execute();

/** Ends one wait whose time is up; null: it ended in the meantime. */
export const expireWait = async (tx: Tx, taskRunId: bigint): Promise<TimedOutWait | null> => {
  const attempt = await tx.db
    .selectFrom('t_ds_task_instance')
    .select('workflow_instance_id')
    .where('id', '=', taskRunId)
    .executeTakeFirst();
  if (attempt === undefined) return null;
  const loaded = await lockRun(tx, attempt.workflow_instance_id);
  const { workflow, tasks, run } = loaded.facts;
  const taskRun = tasks.find((each) => each.id === num(taskRunId));
  const task = workflow.tasks.find(({ code }) => code === taskRun?.taskCode);
  if (taskRun === undefined || task === undefined || task.wait === null) return null;
  if (!taskRun.waiting || taskRun.deadline === null || taskRun.deadline > tx.now) return null;
  const report = { workflow: workflow.name, task: task.name, runId: run.id, taskRunId: taskRun.id };
  const last = await lastLook(tx, taskRunId);
  if (last.released) return { ...report, outcome: 'RELEASED', reason: null };
  const reason = timeoutSentence(task.wait, last.groups);
  switch (task.wait.onTimeout) {
    case 'SUCCEED':
      await stopWaiting(tx, taskRunId, { pins_json: null, reason });
      break;
    case 'WARN':
      await tx.db
        .updateTable('t_ds_task_instance')
        .set({ deadline: null, reason })
        .where('id', '=', taskRunId)
        .execute();
      break;
    case 'FAIL':
      await applySteps(tx, loaded, [{ kind: 'MOVE_TASK', taskRunId: taskRun.id, to: 'FAILURE', reason }]);
      await advanceRun(tx, attempt.workflow_instance_id);
      break;
  }
  tx.hint('CHANGED_RUNS');
  return { ...report, outcome: task.wait.onTimeout, reason };
};

/** Evaluates the groups once more before the wait is given up: what came in time may not have been looked at yet. */
const lastLook = async (
  tx: Tx,
  taskRunId: bigint,
): Promise<{ readonly released: boolean; readonly groups: readonly WaitingGroup[] }> => {
  const groups: WaitingGroup[] = [];
  for (const row of await taskGroups(tx, [taskRunId])) {
    await tx.dialect.lockRow(tx.db, 't_ds_asset_dependency_group', 'id', row.id);
    const { loaded, evaluation } = await decide(tx, row);
    if (evaluation.ready) {
      await releaseTask(tx, loaded, evaluation.pins, evaluation.leaves);
      return { released: true, groups };
    }
    groups.push({ group: groupName(row), leaves: evaluation.leaves });
  }
  return { released: false, groups };
};
