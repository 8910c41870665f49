import type { WorkflowDeclaration } from '../../core/declaration/declaration.ts';
import { type Place, refuseUnkept } from '../../core/declaration/read.ts';
import { parseWorkflow } from '../../core/declaration/workflow.ts';
import type { SavedWorkflowBody } from '../contract/workflows.ts';
import type { ApiDeps } from '../deps.ts';
import { refusalOf } from '../http/problems.ts';
import { workflowBody } from '../views/workflows.ts';
import { applyDeclaration } from './declare.ts';

/** The workflow that a request declares. Throws with everything that is wrong with it. */
export const readWorkflow = ({ declarations }: ApiDeps, body: unknown): WorkflowDeclaration => {
  const place: Place = { path: [], problems: [] };
  refuseUnkept(place, body);
  if (place.problems.length > 0) throw refusalOf(place.problems);
  const workflow = parseWorkflow(place, body, declarations);
  if (workflow === null || place.problems.length > 0) throw refusalOf(place.problems);
  return workflow;
};

/** The workflow if it is there already and just as declared: an earlier try of the same request has made it. Else null. */
export const ifDeclaredSo = async (
  deps: ApiDeps,
  project: string,
  workflow: WorkflowDeclaration,
): Promise<SavedWorkflowBody | null> => {
  const declaration = { project, assets: [], workflows: [workflow] };
  const { lines, warnings } = await applyDeclaration(deps, declaration, { dryRun: true, strict: false });
  if (lines.some(({ action }) => action !== 'UNCHANGED')) return null;
  return { ...workflowBody(await deps.store.definitions.workflow(project, workflow.name)), plan: lines, warnings };
};

/** Applies the workflow alone, on the version for which the change was made (0: it must be new), and shows what that made of it. */
export const saveWorkflow = async (
  deps: ApiDeps,
  project: string,
  workflow: WorkflowDeclaration,
  { strict, version }: { readonly strict: boolean; readonly version: number },
): Promise<SavedWorkflowBody> => {
  const declaration = { project, assets: [], workflows: [workflow] };
  const expect = new Map([[workflow.name, version]]);
  const { lines, warnings } = await applyDeclaration(deps, declaration, { dryRun: false, strict, expect });
  const saved = await deps.store.definitions.workflow(project, workflow.name);
  return { ...workflowBody(saved), plan: lines, warnings };
};
