import type { PlanLine, WorkflowDeclaration } from '../../../core/declaration/declaration.ts';
import { SluiceError } from '../../../core/errors.ts';
import type { WorkflowDefinition } from '../../../core/workflow/definition.ts';
import { big, canonical, failureStrategies, flag, groupsJson, releaseStates, text, waitJson } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { Tx } from '../../engine.ts';
import { newestDefinition } from './definitions.ts';
import { nextCode } from './projects.ts';
import { enqueueWorkflow } from '../groups/queue.ts';

type TaskDeclaration = WorkflowDeclaration['tasks'][number];

export interface Saved {
  readonly code: bigint;
  readonly line: PlanLine;
}

/** Saves the workflow if it differs from its newest version: a new version, in which tasks keep their code by their name. */
export const saveWorkflow = async (
  tx: Tx,
  project: Row<'t_ds_project'>,
  declared: WorkflowDeclaration,
  expected: number | null,
): Promise<Saved> => {
  const header = await tx.db
    .selectFrom('t_ds_workflow_definition')
    .selectAll()
    .where('project_code', '=', project.code)
    .where('name', '=', declared.name)
    .executeTakeFirst();
  refuseOtherVersion(declared.name, header?.version ?? 0n, expected);
  if (header === undefined) return createWorkflow(tx, project, declared);
  const before = await newestDefinition(tx, header);
  const details = differences(before, declared);
  const newVersion = details.length > 0;
  const released = before.releaseState !== declared.releaseState;
  const version = newVersion ? header.version + 1n : header.version;
  if (newVersion) await insertVersion(tx, header.code, version, project, declared);
  if (newVersion || released) await moveHeader(tx, header, version, declared.releaseState);
  const lines = released ? [...details, `goes ${declared.releaseState}`] : details;
  const action = lines.length === 0 ? 'UNCHANGED' : 'UPDATE';
  return { code: header.code, line: { kind: 'WORKFLOW', name: declared.name, action, details: lines } };
};

const refuseOtherVersion = (name: string, version: bigint, expected: number | null): void => {
  if (expected === null || big(expected) === version) return;
  throw new SluiceError(
    'CONFLICT',
    expected === 0
      ? `There is a workflow ${name} already: change that one, or take another name.`
      : `Look at workflow ${name} again: it is at version ${version}, and this change was made for version ${expected}.`,
  );
};

const moveHeader = async (
  tx: Tx,
  header: Row<'t_ds_workflow_definition'>,
  version: bigint,
  releaseState: WorkflowDeclaration['releaseState'],
): Promise<void> => {
  await tx.db
    .updateTable('t_ds_workflow_definition')
    .set({ version, release_state: releaseStates.code(releaseState), update_time: tx.now })
    .where('id', '=', header.id)
    .execute();
  await enqueueWorkflow(tx, header.code);
};

const createWorkflow = async (tx: Tx, project: Row<'t_ds_project'>, declared: WorkflowDeclaration): Promise<Saved> => {
  const code = await nextCode(tx, 'workflow');
  await tx.db
    .insertInto('t_ds_workflow_definition')
    .values({
      code,
      version: 1n,
      name: declared.name,
      project_code: project.code,
      release_state: releaseStates.code(declared.releaseState),
      flag: 1n,
      create_time: tx.now,
      update_time: tx.now,
    })
    .execute();
  await insertVersion(tx, code, 1n, project, declared);
  const details = [`${declared.tasks.length} ${declared.tasks.length === 1 ? 'task' : 'tasks'}`];
  return { code, line: { kind: 'WORKFLOW', name: declared.name, action: 'CREATE', details } };
};

const FIELDS = ['description', 'timezone', 'globalParams', 'failureStrategy', 'inputs', 'groups'] as const;

/** What differs, for people; empty: nothing that makes a new version. */
const differences = (before: WorkflowDefinition, declared: WorkflowDeclaration): readonly string[] => {
  const fields = FIELDS.filter((field) => canonical(before[field]) !== canonical(declared[field]));
  const old = new Map(before.tasks.map(({ code: _, ...task }) => [task.name, canonical(task)]));
  const now = new Map(declared.tasks.map((task) => [task.name, canonical(task)]));
  const added = [...now.keys()].filter((name) => !old.has(name));
  const removed = [...old.keys()].filter((name) => !now.has(name));
  const changed = [...now].filter(([name, task]) => old.has(name) && old.get(name) !== task).map(([name]) => name);
  const list = (what: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [`${what} ${names.join(', ')}`];
  const details = [
    ...list('changes', fields),
    ...list('adds task', added),
    ...list('removes task', removed),
    ...list('changes task', changed),
  ];
  const reordered = canonical([...old.keys()]) !== canonical([...now.keys()]);
  return details.length === 0 && reordered ? ['changes the order of its tasks'] : details;
};

const insertVersion = async (
  tx: Tx,
  code: bigint,
  version: bigint,
  project: Row<'t_ds_project'>,
  declared: WorkflowDeclaration,
): Promise<void> => {
  await tx.db
    .insertInto('t_ds_workflow_definition_log')
    .values({
      code,
      version,
      name: declared.name,
      project_code: project.code,
      description: declared.description,
      timezone_id: declared.timezone,
      global_params: text(declared.globalParams),
      failure_strategy: failureStrategies.code(declared.failureStrategy),
      inputs_json: text(declared.inputs),
      groups_json: groupsJson(declared.groups),
      create_time: tx.now,
    })
    .execute();
  const tasks = new Map<string, TaskVersion>();
  for (const task of declared.tasks) tasks.set(task.name, await saveTask(tx, code, project, task));
  await dropOtherTasks(tx, code, [...tasks.keys()]);
  await insertRelations(tx, code, version, declared.tasks, tasks);
};

interface TaskVersion {
  readonly code: bigint;
  readonly version: bigint;
}

/** A task that did not change keeps its version; one that comes back under its old name has its old code. */
const saveTask = async (
  tx: Tx,
  workflow: bigint,
  project: Row<'t_ds_project'>,
  task: TaskDeclaration,
): Promise<TaskVersion> => {
  const known = await tx.db
    .selectFrom('t_ds_task_definition_log')
    .selectAll()
    .where('workflow_definition_code', '=', workflow)
    .where('name', '=', task.name)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  const content = taskContent(task);
  const code = known?.code ?? (await nextCode(tx, 'task'));
  const same =
    known !== undefined &&
    Object.entries(content).every(([column, value]) => known[column as keyof typeof known] === value);
  const version = same ? known.version : (known?.version ?? 0n) + 1n;
  const owner = { project_code: project.code, workflow_definition_code: workflow };
  if (!same)
    await tx.db
      .insertInto('t_ds_task_definition_log')
      .values({ code, version, ...owner, ...content, create_time: tx.now })
      .execute();
  const newest = { version, task_type: task.type, update_time: tx.now };
  const head = { code, name: task.name, ...owner, ...newest, create_time: tx.now };
  await tx.dialect.upsert(tx.db, 't_ds_task_definition', head, ['code'], newest);
  return { code, version };
};

const taskContent = (task: TaskDeclaration) => ({
  name: task.name,
  description: task.description,
  task_type: task.type,
  task_params: text(task.params),
  local_params: text(task.localParams),
  flag: flag(task.flag === 'YES'),
  fail_retry_times: BigInt(task.failRetryTimes),
  fail_retry_interval_seconds: BigInt(task.failRetryIntervalSeconds),
  timeout_seconds: task.timeoutSeconds === null ? null : BigInt(task.timeoutSeconds),
  inputs_json: text(task.inputs),
  outputs_json: text(task.outputs),
  wait_json: waitJson(task.wait),
});

const dropOtherTasks = async (tx: Tx, workflow: bigint, names: readonly string[]): Promise<void> => {
  const all = tx.db.deleteFrom('t_ds_task_definition').where('workflow_definition_code', '=', workflow);
  await (names.length === 0 ? all : all.where('name', 'not in', names)).execute();
};

const insertRelations = async (
  tx: Tx,
  code: bigint,
  version: bigint,
  declared: readonly TaskDeclaration[],
  tasks: ReadonlyMap<string, TaskVersion>,
): Promise<void> => {
  const none: TaskVersion = { code: 0n, version: 0n };
  const rows = declared.flatMap((task, position) => {
    const before =
      task.dependsOn.length === 0 ? [none] : [...new Set(task.dependsOn)].map((name) => tasks.get(name) ?? none);
    const post = tasks.get(task.name) ?? none;
    return before.map((pre) => ({
      workflow_definition_code: code,
      workflow_definition_version: version,
      pre_task_code: pre.code,
      pre_task_version: pre.version,
      post_task_code: post.code,
      post_task_version: post.version,
      position: BigInt(position),
    }));
  });
  await tx.dialect.insertIgnore(tx.db, 't_ds_workflow_task_relation', rows);
};
