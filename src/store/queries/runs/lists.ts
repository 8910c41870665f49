import { SluiceError } from '../../../core/errors.ts';
import type { WorkflowDefinition } from '../../../core/workflow/definition.ts';
import { buildGraph, topologicalOrder } from '../../../core/workflow/graph.ts';
import { RUN_STATES, type RunState } from '../../../core/workflow/run-state.ts';
import type { TaskRun } from '../../../core/workflow/run.ts';
import { big, isSet } from '../../codecs.ts';
import type { View } from '../../engine.ts';
import { pageOf, sliceOf } from '../../paging.ts';
import type { PageRequest, RunDetails, RunStore } from '../../store.ts';
import { definitionAt } from '../workflows/definitions.ts';
import { runRow } from './planning.ts';
import { findProject } from '../workflows/projects.ts';
import { type RunRow, type TaskRow, runOf, runState, taskRunOf } from './rows.ts';
import { waitingOf } from '../waits/why.ts';

export const runDetails = async (view: View, id: number): Promise<RunDetails> =>
  detailsOf(view, await runRow(view, big(id)));

export const detailsOfTask = async (view: View, taskRunId: number): Promise<RunDetails> => {
  const query = view.db
    .selectFrom('t_ds_task_instance')
    .select('workflow_instance_id')
    .where('id', '=', big(taskRunId));
  const row = await query.executeTakeFirst();
  if (row === undefined)
    throw new SluiceError('NOT_FOUND', `There is no task instance ${taskRunId}: show the run to see its tasks.`);
  return detailsOf(view, await runRow(view, row.workflow_instance_id));
};

const detailsOf = async (view: View, row: RunRow): Promise<RunDetails> => {
  const [details] = await withTasks(view, [row]);
  if (details === undefined) throw new Error(`Run ${row.id} was not found again.`);
  return { ...details, waiting: await waitingOf(view, details.tasks) };
};

type RunFilter = Parameters<RunStore['list']>[0];

export const listRuns = async (view: View, filter: RunFilter, page: PageRequest): ReturnType<RunStore['list']> => {
  const slice = sliceOf(page);
  let query = view.db.selectFrom('t_ds_workflow_instance').selectAll().where('id', '<', slice.below);
  if (filter.project !== undefined)
    query = query.where('project_code', '=', (await findProject(view, filter.project)).code);
  if (filter.workflowCode !== undefined) query = query.where('workflow_definition_code', '=', big(filter.workflowCode));
  if (filter.state !== undefined) query = query.where('state', '=', runState(namedState(filter.state)));
  const rows = await query
    .orderBy('id', 'desc')
    .limit(slice.limit + 1)
    .execute();
  const details = await withTasks(view, rows);
  return pageOf(
    details,
    slice,
    ({ run }) => big(run.id),
    (each) => each,
  );
};

const namedState = (name: string): RunState => {
  const state = RUN_STATES.find((each) => each === name);
  if (state === undefined)
    throw new SluiceError('BAD_REQUEST', `There is no run state ${name}; use one of ${RUN_STATES.join(', ')}.`);
  return state;
};

const withTasks = async (view: View, runs: readonly RunRow[]): Promise<readonly RunDetails[]> => {
  if (runs.length === 0) return [];
  const rows = await view.db
    .selectFrom('t_ds_task_instance')
    .selectAll()
    .where(
      'workflow_instance_id',
      'in',
      runs.map((run) => run.id),
    )
    .orderBy('id')
    .execute();
  const details: RunDetails[] = [];
  for (const run of runs) {
    const workflow = await definitionAt(view, run.workflow_definition_code, run.workflow_definition_version);
    const own = rows.filter((row) => row.workflow_instance_id === run.id);
    details.push({
      run: runOf(run),
      workflow: workflow.name,
      project: workflow.projectName,
      tasks: inOrder(workflow, own),
      history: own.map(taskRunOf),
      waiting: new Map(),
    });
  }
  return details;
};

/** The valid attempts in topological order. */
const inOrder = (workflow: WorkflowDefinition, rows: readonly TaskRow[]): readonly TaskRun[] => {
  const graph = buildGraph(workflow.tasks);
  const order = graph.ok ? topologicalOrder(graph.value) : workflow.tasks.map((task) => task.name);
  const place = new Map(order.map((name, i) => [name, i]));
  const placeOf = (task: TaskRun): number => place.get(task.name) ?? order.length;
  return rows
    .filter((row) => isSet(row.flag))
    .map(taskRunOf)
    .sort((a, b) => placeOf(a) - placeOf(b));
};
