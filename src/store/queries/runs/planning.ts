import { SluiceError } from '../../../core/errors.ts';
import { type PlanStep, type RunFacts, planRun } from '../../../core/workflow/plan.ts';
import { isRunFinished, type RunState } from '../../../core/workflow/run-state.ts';
import { isTaskFinished } from '../../../core/workflow/task-state.ts';
import { big, isSet, num, parse, text } from '../../codecs.ts';
import { Overtaken, type Tx, type View } from '../../engine.ts';
import { definitionAt } from '../workflows/definitions.ts';
import { enqueueWorkflow } from '../groups/queue.ts';
import { type RunRow, runOf, runState, taskRunOf, taskState } from './rows.ts';
import { noteConsumed } from '../waits/baselines.ts';
import { beginWaiting, NOT_WAITING, pinsBefore, removeGroups, waitColumns } from '../waits/wait.ts';

export interface LoadedRun {
  readonly row: RunRow;
  readonly facts: RunFacts;
}

/** Throws NOT_FOUND. */
export const runRow = async (view: View, id: bigint): Promise<RunRow> => {
  const row = await view.db.selectFrom('t_ds_workflow_instance').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw new SluiceError('NOT_FOUND', `There is no run ${id}: list the runs.`);
  return row;
};

/** The run as the plan sees it. It is locked, so that of two tasks that end at once the second sees the end of the first, and a task behind both is submitted. */
export const lockRun = async (tx: Tx, id: bigint): Promise<LoadedRun> => {
  await tx.dialect.lockRow(tx.db, 't_ds_workflow_instance', 'id', id);
  const row = await runRow(tx, id);
  const workflow = await definitionAt(tx, row.workflow_definition_code, row.workflow_definition_version);
  const tasks = await tx.db
    .selectFrom('t_ds_task_instance')
    .selectAll()
    .where('workflow_instance_id', '=', id)
    .where('flag', '=', 1n)
    .orderBy('id')
    .execute();
  return { row, facts: { run: runOf(row), workflow, tasks: tasks.map(taskRunOf), now: tx.now } };
};

/** Writes what the plan has to add. (One pass is enough: the plan says all at once.) */
export const advanceRun = async (tx: Tx, id: bigint): Promise<void> => {
  const loaded = await lockRun(tx, id);
  await applySteps(tx, loaded, planRun(loaded.facts));
};

export const applySteps = async (tx: Tx, loaded: LoadedRun, steps: readonly PlanStep[]): Promise<void> => {
  const submits = steps.filter((step) => step.kind === 'SUBMIT');
  if (submits.length > 0) await submitTasks(tx, loaded, submits);
  await leaveWaiting(tx, loaded, steps);
  let run = loaded.row;
  for (const step of steps) if (step.kind !== 'SUBMIT') run = await applyStep(tx, loaded, run, step);
  if (run.state === SUCCEEDED && loaded.row.state !== SUCCEEDED) await noteConsumed(tx, run, loaded.facts.tasks);
};

const SUCCEEDED = runState('SUCCESS');

/** Attempts that the steps take out of waiting, by themselves or with their run, lose their groups. */
const leaveWaiting = async (tx: Tx, { facts }: LoadedRun, steps: readonly PlanStep[]): Promise<void> => {
  const ends = steps.some((step) => step.kind === 'MOVE_RUN' && isRunFinished(step.to));
  const left = new Set(steps.flatMap((step) => ('taskRunId' in step && step.kind !== 'KILL' ? [step.taskRunId] : [])));
  for (const { id, waiting } of facts.tasks) {
    if (!waiting || !(ends || left.has(id))) continue;
    await removeGroups(tx, big(id));
    await updateTask(tx, id, NOT_WAITING);
  }
};

const applyStep = async (
  tx: Tx,
  loaded: LoadedRun,
  run: RunRow,
  step: Exclude<PlanStep, { kind: 'SUBMIT' }>,
): Promise<RunRow> => {
  switch (step.kind) {
    case 'MOVE_TASK':
      await moveTask(tx, loaded, step);
      return run;
    case 'KILL':
      await askForKill(tx, step.taskRunId, step.reason);
      return run;
    case 'INVALIDATE':
      await updateTask(tx, step.taskRunId, { flag: 0n });
      return run;
    case 'MOVE_RUN':
      return moveRunTo(tx, run, step.to, step.reason);
  }
};

/** Dispatch and start do not lock the run. If one of them has moved the attempt since the plan was made, the plan must be made again. */
const moveTask = async (
  tx: Tx,
  { facts }: LoadedRun,
  { taskRunId, to, reason }: Extract<PlanStep, { kind: 'MOVE_TASK' }>,
): Promise<void> => {
  const seen = facts.tasks.find(({ id }) => id === taskRunId);
  if (seen === undefined) throw new Error(`The plan moves attempt ${taskRunId}, which is none of its run's.`);
  const result = await tx.db
    .updateTable('t_ds_task_instance')
    .set({ state: taskState(to), reason, end_time: isTaskFinished(to) ? tx.now : null })
    .where('id', '=', big(taskRunId))
    .where('state', '=', taskState(seen.state))
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) throw new Overtaken(`Attempt ${taskRunId} is no longer ${seen.state}.`);
};

type TaskChange = { readonly flag: bigint } | typeof NOT_WAITING;

const updateTask = async (tx: Tx, id: number, change: TaskChange): Promise<void> => {
  await tx.db.updateTable('t_ds_task_instance').set(change).where('id', '=', big(id)).execute();
};

/** The plan repeats its KILL for as long as the attempt lives. Only the first one wakes the reaper. */
const askForKill = async (tx: Tx, id: number, reason: string): Promise<void> => {
  const query = tx.db.updateTable('t_ds_task_instance').set({ kill_reason: reason }).where('id', '=', big(id));
  const result = await query.where('kill_reason', 'is', null).executeTakeFirst();
  if (result.numUpdatedRows > 0n) tx.hint('TASKS');
};

const moveRunTo = async (tx: Tx, run: RunRow, to: RunState, reason: string | null): Promise<RunRow> => {
  const history = [...parse<readonly unknown[]>(run.state_history), { time: tx.now.toString(), state: to, reason }];
  const finished = isRunFinished(to);
  const change = {
    state: runState(to),
    state_reason: reason,
    state_history: text(history),
    end_time: finished ? tx.now : null,
  };
  await tx.db.updateTable('t_ds_workflow_instance').set(change).where('id', '=', run.id).execute();
  if (finished) await enqueueWorkflow(tx, run.workflow_definition_code);
  tx.hint('CHANGED_RUNS');
  return { ...run, ...change };
};

type Submit = Extract<PlanStep, { kind: 'SUBMIT' }>;

const submitTasks = async (tx: Tx, { row, facts }: LoadedRun, submits: readonly Submit[]): Promise<void> => {
  const attempts = await attemptsMade(tx, row);
  const tasks = new Map(facts.workflow.tasks.map((task) => [task.code, task]));
  const again = submits.flatMap(({ taskCode }) => (attempts.has(big(taskCode)) ? (tasks.get(taskCode) ?? []) : []));
  const released = await pinsBefore(tx, row, again);
  for (const { replaces } of submits) if (replaces !== null) await updateTask(tx, replaces, { flag: 0n });
  const rows = submits.map((step) => ({
    workflow_instance_id: row.id,
    task_code: big(step.taskCode),
    name: tasks.get(step.taskCode)?.name ?? String(step.taskCode),
    task_type: tasks.get(step.taskCode)?.type ?? '',
    state: taskState('SUBMITTED_SUCCESS'),
    attempt: (attempts.get(big(step.taskCode)) ?? 0n) + 1n,
    retry_times: big(step.retryTimes),
    flag: 1n,
    fence: 0n,
    not_before: step.notBefore,
    submit_time: tx.now,
    workflow_instance_priority: row.workflow_instance_priority,
    ...waitColumns(tx, tasks.get(step.taskCode), released.get(big(step.taskCode)), step.notBefore),
  }));
  const written = await tx.dialect.insertIgnore(tx.db, 't_ds_task_instance', rows);
  if (written !== rows.length) throw new Error(`An attempt of run ${row.id} was about to be made twice.`);
  const waiting = new Set(rows.filter((each) => isSet(each.waiting)).map((each) => each.task_code));
  await beginWaiting(tx, row, new Map([...waiting].map((code) => [code, tasks.get(num(code))])));
  tx.hint('TASKS');
};

/** The newest attempt of each task, of those that no longer count too. */
const attemptsMade = async (tx: Tx, run: RunRow): Promise<ReadonlyMap<bigint, bigint>> => {
  if (run.state === runState('SUBMITTED_SUCCESS') && run.run_times === 1n) return new Map();
  const rows = await tx.db
    .selectFrom('t_ds_task_instance')
    .select((e) => ['task_code', e.fn.max('attempt').as('attempt')])
    .where('workflow_instance_id', '=', run.id)
    .groupBy('task_code')
    .execute();
  return new Map(rows.map((row) => [row.task_code, BigInt(row.attempt)]));
};
