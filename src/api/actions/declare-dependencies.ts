import { type DependencyRow, parseDependencyRows, withDependencies } from '../../core/declaration/dependency-rows.ts';
import { SluiceError } from '../../core/errors.ts';
import { valueOrThrow } from '../../core/result.ts';
import type { WorkflowDefinition } from '../../core/workflow/definition.ts';
import type { ApplyPlanBody } from '../contract/apply.ts';
import { applyDeclaration } from './declare.ts';
import type { ApiDeps } from '../deps.ts';
import { refusalOf } from '../http/problems.ts';

/** How often it is tried again where somebody else changed the same workflow meanwhile. */
const ATTEMPTS = 3;

/** Adds the rows of RFC 5.3 to the workflows and tasks that they name, all or nothing. */
export const declareDependencies = async (deps: ApiDeps, project: string, body: unknown): Promise<ApplyPlanBody> => {
  const parsed = parseDependencyRows(body);
  if (!parsed.ok) throw refusalOf(parsed.problems);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await declare(deps, project, parsed.rows);
    } catch (error) {
      const overtaken = error instanceof SluiceError && error.code === 'CONFLICT';
      if (!overtaken || attempt >= ATTEMPTS) throw error;
    }
  }
};

const declare = async (deps: ApiDeps, project: string, rows: readonly DependencyRow[]): Promise<ApplyPlanBody> => {
  const workflows = await deps.store.definitions.workflows(project);
  const named = new Map<WorkflowDefinition, DependencyRow[]>();
  for (const row of rows) {
    const workflow = workflowOf(workflows, row);
    named.set(workflow, [...(named.get(workflow) ?? []), row]);
  }
  const declared = [...named].map(([workflow, its]) => valueOrThrow(withDependencies(workflow, its)));
  const expect = new Map([...named.keys()].map(({ name, version }) => [name, version]));
  const declaration = { project, assets: [], workflows: declared };
  return applyDeclaration(deps, declaration, { dryRun: false, strict: false, expect });
};

/** The workflow of a row: as it says, else the one that has the task. Throws NOT_FOUND. */
const workflowOf = (
  workflows: readonly WorkflowDefinition[],
  { workflow, task }: DependencyRow,
): WorkflowDefinition => {
  const has = ({ tasks }: WorkflowDefinition): boolean =>
    task === null || tasks.some(({ code, name }) => String(code) === task || name === task);
  const found = workflows.filter(
    (each) => (workflow === null || String(each.code) === workflow || each.name === workflow) && has(each),
  );
  const [only, second] = found;
  if (only !== undefined && second === undefined) return only;
  const where = workflow === null ? 'of this project' : workflow;
  if (second !== undefined)
    throw new SluiceError('NOT_FOUND', `Add "workflowDefinitionCode": ${found.length} workflows have a task ${task}.`);
  throw new SluiceError(
    'NOT_FOUND',
    task === null
      ? `Name a workflow of this project by its code or name: there is no ${where}.`
      : `Name a task of workflow ${where} by its code or name: there is no ${task}.`,
  );
};
