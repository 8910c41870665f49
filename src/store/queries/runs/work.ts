import type { TaskDefinition, WorkflowDefinition } from '../../../core/workflow/definition.ts';
import { upstreamOutputs } from '../../../core/workflow/output.ts';
import { planLaunch } from '../../../core/workflow/plan.ts';
import type { WorkflowRun } from '../../../core/workflow/run.ts';
import type { EpochMs } from '../../../core/time.ts';
import { big, bigOrNull, outputsJson } from '../../codecs.ts';
import type { Tx, View } from '../../engine.ts';
import type { TaskEnding, TaskOffer } from '../../store.ts';
import { definitionAt } from '../workflows/definitions.ts';
import { pinFacts, taskPinFacts } from './pin-facts.ts';
import { advanceRun, applySteps, lockRun, runRow } from './planning.ts';
import { HANDED_OUT, type RunRow, type TaskRow, runOf, runState, taskRunOf, taskState } from './rows.ts';

/** The commands that wait, in the order in which they are taken. */
export const waitingCommands = async (view: View, limit: number): Promise<readonly bigint[]> => {
  const query = view.db.selectFrom('t_ds_command').select('id').orderBy('workflow_instance_priority').orderBy('id');
  return (await query.limit(limit).execute()).map((row) => row.id);
};

/** Takes one command; null: somebody else took it, or its run no longer waits. */
export const launchCommand = async (tx: Tx, id: bigint): Promise<WorkflowRun | null> => {
  const command = await tx.db
    .selectFrom('t_ds_command')
    .select('workflow_instance_id')
    .where('id', '=', id)
    .executeTakeFirst();
  if (command === undefined) return null;
  const loaded = await lockRun(tx, command.workflow_instance_id);
  const taken = await tx.db.deleteFrom('t_ds_command').where('id', '=', id).executeTakeFirst();
  if (taken.numDeletedRows !== 1n) return null;
  const steps = planLaunch(loaded.facts);
  await applySteps(tx, loaded, steps);
  return steps.length === 0 ? null : runOf(await runRow(tx, loaded.row.id));
};

/** The attempts that are due, handed out: each gets a fence that no attempt before had. */
export const dispatchDue = async (tx: Tx, limit: number): Promise<readonly TaskOffer[]> => {
  const due = await tx.db
    .selectFrom('t_ds_task_instance')
    .selectAll()
    .where('state', '=', taskState('SUBMITTED_SUCCESS'))
    .where('waiting', '=', 0n)
    .where('flag', '=', 1n)
    .where((e) => e.or([e('not_before', 'is', null), e('not_before', '<=', tx.now)]))
    .orderBy('workflow_instance_priority')
    .orderBy('id')
    .limit(limit)
    .execute();
  const handed: TaskRow[] = [];
  for (const row of due) {
    const change = { state: taskState('DISPATCH'), fence: row.fence + 1n };
    const result = await tx.db
      .updateTable('t_ds_task_instance')
      .set(change)
      .where('id', '=', row.id)
      .where('state', '=', row.state)
      .where('fence', '=', row.fence)
      .executeTakeFirst();
    if (result.numUpdatedRows === 1n) handed.push({ ...row, ...change });
  }
  if (handed.length > 0) tx.hint('CHANGED_RUNS');
  return offersOf(tx, handed);
};

export const nextDispatchAt = async (view: View): Promise<EpochMs | null> => {
  const waiting = view.db
    .selectFrom('t_ds_task_instance')
    .select('not_before')
    .where('state', '=', taskState('SUBMITTED_SUCCESS'))
    .where('waiting', '=', 0n)
    .where('flag', '=', 1n)
    .limit(1);
  if ((await waiting.where('not_before', 'is', null).executeTakeFirst()) !== undefined) return view.now;
  const next = await waiting.where('not_before', 'is not', null).orderBy('not_before').executeTakeFirst();
  return next?.not_before ?? null;
};

/** The part of an offer that is the same for all attempts of a run. */
type SharedPart = Omit<TaskOffer, 'task' | 'taskRun' | 'upstream'>;

/** Attempts with everything needed to start or find them; runs and their pins are read once. */
const offersOf = async (view: View, rows: readonly TaskRow[]): Promise<readonly TaskOffer[]> => {
  const runs = new Map<bigint, SharedPart>();
  const offers: TaskOffer[] = [];
  for (const row of rows) {
    const shared =
      runs.get(row.workflow_instance_id) ?? (await sharedPart(view, await runRow(view, row.workflow_instance_id)));
    runs.set(row.workflow_instance_id, shared);
    const taskRun = taskRunOf(row);
    const task = shared.workflow.tasks.find(({ code }) => code === taskRun.taskCode);
    if (task === undefined)
      throw new Error(
        `Run ${taskRun.runId} has an attempt of task ${taskRun.taskCode}, which its workflow does not have.`,
      );
    const pins =
      taskRun.pins.size === 0
        ? shared.pins
        : [...shared.pins, ...(await taskPinFacts(view, taskRun, task, shared.pins))];
    offers.push({ ...shared, task, taskRun, pins, upstream: await upstreamOf(view, row, shared.workflow, task) });
  }
  return offers;
};

/** Asked for only where a task of the workflow gives something out. */
const upstreamOf = async (
  view: View,
  row: TaskRow,
  workflow: WorkflowDefinition,
  task: TaskDefinition,
): Promise<TaskOffer['upstream']> => {
  if (task.dependsOn.length === 0 || !givesOut(workflow)) return [];
  const rows = await view.db
    .selectFrom('t_ds_task_instance')
    .selectAll()
    .where('workflow_instance_id', '=', row.workflow_instance_id)
    .where('flag', '=', 1n)
    .where('var_pool', 'is not', null)
    .execute();
  return upstreamOutputs(workflow, task, rows.map(taskRunOf));
};

const givesOut = ({ tasks }: WorkflowDefinition): boolean =>
  tasks.some(({ localParams }) => localParams.some(({ direct }) => direct === 'OUT'));

const sharedPart = async (view: View, run: RunRow): Promise<SharedPart> => {
  const workflow = await definitionAt(view, run.workflow_definition_code, run.workflow_definition_version);
  return { run: runOf(run), workflow, pins: await pinFacts(view, run, workflow) };
};

export const startTask = async (
  tx: Tx,
  id: bigint,
  fence: number,
  at: EpochMs,
  host: string,
  pid: number | null,
): Promise<boolean> => {
  const row = await tx.db.selectFrom('t_ds_task_instance').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined || row.fence !== big(fence)) return false;
  // The start is reported a second time, as the first answer got lost: it is still this attempt's turn.
  if (row.state === taskState('RUNNING_EXECUTION')) return true;
  const limit = await timeoutOf(tx, row);
  const result = await tx.db
    .updateTable('t_ds_task_instance')
    .set({
      state: taskState('RUNNING_EXECUTION'),
      start_time: at,
      host,
      pid: bigOrNull(pid),
      deadline: limit === null ? null : at + BigInt(limit) * 1000n,
    })
    .where('id', '=', id)
    .where('fence', '=', row.fence)
    .where('state', '=', taskState('DISPATCH'))
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  if (limit !== null) tx.hint('DEADLINES');
  tx.hint('CHANGED_RUNS');
  return true;
};

const timeoutOf = async (tx: Tx, row: TaskRow): Promise<number | null> => {
  const run = await runRow(tx, row.workflow_instance_id);
  const workflow = await definitionAt(tx, run.workflow_definition_code, run.workflow_definition_version);
  return workflow.tasks.find(({ code }) => big(code) === row.task_code)?.timeoutSeconds ?? null;
};

/** An attempt that was to be killed and did not succeed was killed, however its process took the signal, and whichever server sent it. */
export const endTask = async (tx: Tx, id: bigint, fence: number, ending: TaskEnding): Promise<boolean> => {
  const attempt = tx.db.selectFrom('t_ds_task_instance').where('id', '=', id);
  const run = await attempt.select('workflow_instance_id').executeTakeFirst();
  if (run === undefined) return false;
  // First the run, then its tasks, as whoever stops it does; who asked for a kill before is seen.
  await tx.dialect.lockRow(tx.db, 't_ds_workflow_instance', 'id', run.workflow_instance_id);
  const row = await attempt.select(['workflow_instance_id', 'kill_reason', 'reason']).executeTakeFirstOrThrow();
  const killed = row.kill_reason !== null && ending.state !== 'SUCCESS';
  const result = await tx.db
    .updateTable('t_ds_task_instance')
    .set({
      state: taskState(killed ? 'KILL' : ending.state),
      end_time: ending.endedAt,
      exit_code: bigOrNull(ending.exitCode),
      var_pool: ending.state === 'SUCCESS' ? outputsJson(ending.outputs ?? []) : null,
      // An attempt that went on because its time to wait was up keeps that as its reason.
      reason: killed ? row.kill_reason : (ending.reason ?? row.reason),
    })
    .where('id', '=', id)
    .where('fence', '=', big(fence))
    .where('state', 'in', HANDED_OUT)
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  await advanceRun(tx, row.workflow_instance_id);
  tx.hint('CHANGED_RUNS');
  return true;
};

const handedOut = (view: View) =>
  view.db.selectFrom('t_ds_task_instance').selectAll().where('state', 'in', HANDED_OUT).orderBy('id');

export const unfinishedOffers = async (view: View): Promise<readonly TaskOffer[]> =>
  offersOf(view, await handedOut(view).execute());

export const killableAttempts = async (view: View) => {
  const rows = await handedOut(view)
    .where((e) => e.or([e('kill_reason', 'is not', null), e('deadline', '<=', view.now)]))
    .execute();
  return rows.map((row) => ({ taskRun: taskRunOf(row), timedOut: row.kill_reason === null }));
};

export const nextDeadlineAt = async (view: View): Promise<EpochMs | null> => {
  const row = await view.db
    .selectFrom('t_ds_task_instance')
    .select('deadline')
    .where('state', '=', taskState('RUNNING_EXECUTION'))
    .where('deadline', '>', view.now)
    .orderBy('deadline')
    .limit(1)
    .executeTakeFirst();
  return row?.deadline ?? null;
};

/** Runs that the plan has a say in. */
export const activeRuns = async (view: View): Promise<readonly bigint[]> => {
  const states = [runState('RUNNING_EXECUTION'), runState('READY_PAUSE'), runState('READY_STOP')];
  const rows = await view.db
    .selectFrom('t_ds_workflow_instance')
    .select('id')
    .where('state', 'in', states)
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
};
