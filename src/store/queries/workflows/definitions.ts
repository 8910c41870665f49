import type { AssetKey } from '../../../core/asset/key.ts';
import { SluiceError } from '../../../core/errors.ts';
import type { Parameter, TaskDefinition, WorkflowDefinition } from '../../../core/workflow/definition.ts';
import { failureStrategies, groupsOf, isSet, num, numOrNull, parse, releaseStates, waitOf } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { View } from '../../engine.ts';
import { findProject, isCode } from './projects.ts';

const CACHED = 2_000;

type Header = Row<'t_ds_workflow_definition'>;

/** A version of a workflow as it was saved; its release state is that of the time when it was first read. */
export const definitionAt = async (view: View, code: bigint, version: bigint): Promise<WorkflowDefinition> => {
  const key = `${code}:${version}`;
  const known = view.definitions.get(key);
  if (known !== undefined) return known;
  const definition = await readDefinition(view, code, version);
  if (view.definitions.size >= CACHED) view.definitions.clear();
  view.definitions.set(key, definition);
  return definition;
};

/** The newest version of a workflow. */
export const newestDefinition = async (view: View, header: Header): Promise<WorkflowDefinition> => {
  const definition = await definitionAt(view, header.code, header.version);
  const releaseState = releaseStates.name(header.release_state);
  return definition.releaseState === releaseState ? definition : { ...definition, releaseState };
};

const readDefinition = async (view: View, code: bigint, version: bigint): Promise<WorkflowDefinition> => {
  const row = await view.db
    .selectFrom('t_ds_workflow_definition_log as log')
    .leftJoin('t_ds_workflow_definition as header', 'header.code', 'log.code')
    .innerJoin('t_ds_project as project', 'project.code', 'log.project_code')
    .selectAll('log')
    .select(['header.release_state', 'project.name as project_name'])
    .where('log.code', '=', code)
    .where('log.version', '=', version)
    .executeTakeFirstOrThrow();
  return {
    code: num(row.code),
    version: num(row.version),
    projectCode: num(row.project_code),
    projectName: row.project_name,
    name: row.name,
    description: row.description,
    releaseState: row.release_state === null ? 'OFFLINE' : releaseStates.name(row.release_state), // null: it was removed
    timezone: row.timezone_id,
    globalParams: parse<readonly Parameter[]>(row.global_params),
    failureStrategy: failureStrategies.name(row.failure_strategy),
    inputs: parse<readonly AssetKey[]>(row.inputs_json),
    groups: groupsOf(row.groups_json),
    tasks: await tasksAt(view, code, version),
  };
};

/** The tasks of a version in the order in which they were declared. */
const tasksAt = async (view: View, code: bigint, version: bigint): Promise<readonly TaskDefinition[]> => {
  const rows = await view.db
    .selectFrom('t_ds_workflow_task_relation as relation')
    .innerJoin('t_ds_task_definition_log as task', (join) =>
      join.onRef('task.code', '=', 'relation.post_task_code').onRef('task.version', '=', 'relation.post_task_version'),
    )
    .selectAll('task')
    .select('relation.pre_task_code')
    .where('relation.workflow_definition_code', '=', code)
    .where('relation.workflow_definition_version', '=', version)
    .orderBy('relation.position')
    .orderBy('relation.id')
    .execute();
  const nameOf = new Map(rows.map((row) => [row.code, row.name]));
  const tasks = new Map(rows.map((row) => [row.code, taskOf(row)]));
  for (const row of rows) {
    const before = nameOf.get(row.pre_task_code);
    const task = tasks.get(row.code);
    if (before !== undefined && task !== undefined)
      tasks.set(row.code, { ...task, dependsOn: [...task.dependsOn, before] });
  }
  return [...tasks.values()];
};

const taskOf = (row: Row<'t_ds_task_definition_log'>): TaskDefinition => ({
  code: num(row.code),
  name: row.name,
  description: row.description,
  type: row.task_type,
  params: parse<Readonly<Record<string, unknown>>>(row.task_params),
  localParams: parse<readonly Parameter[]>(row.local_params),
  dependsOn: [],
  flag: isSet(row.flag) ? 'YES' : 'NO',
  failRetryTimes: num(row.fail_retry_times),
  failRetryIntervalSeconds: num(row.fail_retry_interval_seconds),
  timeoutSeconds: numOrNull(row.timeout_seconds),
  inputs: parse<readonly AssetKey[]>(row.inputs_json),
  outputs: parse<readonly AssetKey[]>(row.outputs_json),
  wait: waitOf(row.wait_json),
});

/** Throws NOT_FOUND, naming the tasks that there are. */
export const taskNamed = (workflow: WorkflowDefinition, name: string): TaskDefinition => {
  const task = workflow.tasks.find((each) => each.name === name);
  if (task !== undefined) return task;
  const known = workflow.tasks.map((each) => each.name).join(', ') || 'none';
  throw new SluiceError('NOT_FOUND', `Workflow ${workflow.name} has no task ${name}; its tasks are: ${known}.`);
};

const headers = (view: View) => view.db.selectFrom('t_ds_workflow_definition').selectAll();

/** Throws NOT_FOUND. */
export const headerOf = async (view: View, code: bigint): Promise<Header> => {
  const header = await headers(view).where('code', '=', code).executeTakeFirst();
  if (header === undefined)
    throw new SluiceError('NOT_FOUND', `There is no workflow with code ${code}: list the workflows.`);
  return header;
};

/** By name or code, in one project or, with null, in the only one that has it. Throws NOT_FOUND. */
export const findWorkflow = async (
  view: View,
  project: string | null,
  nameOrCode: string,
): Promise<WorkflowDefinition> => {
  const byName = await inProject(view, project, headers(view).where('name', '=', nameOrCode));
  const found =
    byName.length === 0 && isCode(nameOrCode)
      ? await inProject(view, project, headers(view).where('code', '=', BigInt(nameOrCode)))
      : byName;
  const [header] = found;
  if (header === undefined)
    throw new SluiceError(
      'NOT_FOUND',
      `There is no workflow ${nameOrCode}: list the workflows, or apply a file that declares it.`,
    );
  if (found.length > 1)
    throw new SluiceError('NOT_FOUND', `${found.length} projects have a workflow ${nameOrCode}: name the project.`);
  return newestDefinition(view, header);
};

const inProject = async (
  view: View,
  project: string | null,
  query: ReturnType<typeof headers>,
): Promise<readonly Header[]> =>
  (project === null ? query : query.where('project_code', '=', (await findProject(view, project)).code)).execute();

export const listWorkflows = async (view: View, project: string | null): Promise<readonly WorkflowDefinition[]> => {
  const found = await inProject(view, project, headers(view).orderBy('name').orderBy('code'));
  const workflows: WorkflowDefinition[] = [];
  for (const header of found) workflows.push(await newestDefinition(view, header));
  return workflows;
};
