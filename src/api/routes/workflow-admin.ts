import Type from 'typebox';
import type { WorkflowDeclaration } from '../../core/declaration/declaration.ts';
import type { Place } from '../../core/declaration/read.ts';
import { parseWorkflow } from '../../core/declaration/workflow.ts';
import { SluiceError } from '../../core/errors.ts';
import { isoTime } from '../../core/time.ts';
import type { Routes } from '../app.ts';
import { WorkflowInFile } from '../contract/apply-file.ts';
import { PageOf, PageQuery, ProjectParam } from '../contract/common.ts';
import {
  ReleaseInput,
  SavedWorkflowBody,
  WorkflowBody,
  WorkflowInput,
  WorkflowVersionBody,
} from '../contract/workflows.ts';
import { applyDeclaration } from '../actions/declare.ts';
import type { ApiDeps } from '../deps.ts';
import { DeclarationError } from '../http/problems.ts';
import { projectName, projectNameFor } from '../actions/find.ts';
import { pageBody } from '../views/common.ts';
import { workflowBody } from '../views/workflows.ts';

const Params = Type.Object({
  ...ProjectParam,
  code: Type.String({ minLength: 1, maxLength: 255, description: "The workflow's code or name." }),
});
const Strict = Type.Object({
  strict: Type.Optional(Type.Boolean({ description: 'Refuse conditions on assets that are not registered.' })),
});
const tags = ['workflow-definitions'];
const PATH = '/projects/:projectCode/workflow-definitions';

/** Workflow definitions: made, changed, put online and offline, removed. */
export const workflowAdminRoutes: Routes = (app, deps) => {
  savingRoutes(app, deps);
  versionRoutes(app, deps);
  const { definitions } = deps.store;
  app.post(
    `${PATH}/:code/release`,
    {
      config: { permission: 'operate', repeats: 'HARMLESS' },
      schema: {
        operationId: 'releaseWorkflow',
        tags,
        summary: 'Online or offline. Offline, no group of it fires; what arrives is kept for when it is online again.',
        params: Params,
        body: ReleaseInput,
        response: { 200: WorkflowBody },
      },
    },
    async ({ params, body }) => {
      const { code } = await definitions.workflow(await projectName(deps.store, params.projectCode), params.code);
      return workflowBody(await definitions.release(code, body.releaseState, body.skip === true ? 'SKIP' : 'CATCH_UP'));
    },
  );
  app.delete(
    `${PATH}/:code`,
    {
      config: { permission: 'admin' },
      schema: {
        operationId: 'deleteWorkflow',
        tags,
        summary: 'Removes an offline workflow without unfinished runs, with what its groups consumed. Its runs stay.',
        params: Params,
        response: { 204: Type.Null() },
      },
    },
    async ({ params }, reply) => {
      const { code } = await definitions.workflow(await projectName(deps.store, params.projectCode), params.code);
      await definitions.remove(code);
      return reply.code(204).send(null);
    },
  );
};

const savingRoutes: Routes = (app, deps) => {
  const { definitions } = deps.store;
  app.post(
    PATH,
    {
      config: { permission: 'admin', repeats: 'ANSWERED', documentedBody: WorkflowInFile },
      schema: {
        operationId: 'createWorkflow',
        tags,
        summary: 'A new workflow, in the form in which the apply file declares one.',
        params: Type.Object(ProjectParam),
        querystring: Strict,
        body: WorkflowInput,
        response: { 201: SavedWorkflowBody },
      },
    },
    async ({ params, query, body, repetition }, reply) => {
      const project = await projectNameFor(deps.store, params.projectCode);
      const workflow = read(body, deps);
      const made = repetition ? await asItStands(deps, project, workflow) : null;
      const saved = made ?? (await save(deps, project, workflow, { strict: query.strict ?? false, version: 0 }));
      return reply.code(201).send(saved);
    },
  );
  app.put(
    `${PATH}/:code`,
    {
      config: { permission: 'admin', documentedBody: WorkflowInFile },
      schema: {
        operationId: 'updateWorkflow',
        tags,
        summary:
          'The workflow becomes what is declared: a new version, if anything differs. Groups keep what they consumed.',
        params: Params,
        querystring: Type.Object({
          ...Strict.properties,
          version: Type.Optional(
            Type.Integer({
              minimum: 1,
              description: 'The version that the change was made for; another one is refused.',
            }),
          ),
        }),
        body: WorkflowInput,
        response: { 200: SavedWorkflowBody },
      },
    },
    async ({ params, query, body }) => {
      const project = await projectName(deps.store, params.projectCode);
      const before = await definitions.workflow(project, params.code);
      const workflow = read(body, deps);
      if (workflow.name !== before.name)
        throw new SluiceError(
          'BAD_REQUEST',
          `Keep the name ${before.name}: a workflow of another name is another workflow.`,
        );
      return save(deps, project, workflow, { strict: query.strict ?? false, version: query.version ?? before.version });
    },
  );
};

const versionRoutes: Routes = (app, { store }) => {
  const { definitions } = store;
  app.get(
    `${PATH}/:code/versions`,
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listWorkflowVersions',
        tags,
        summary: 'Its versions, newest first.',
        params: Params,
        querystring: Type.Object(PageQuery),
        response: { 200: PageOf(WorkflowVersionBody) },
      },
    },
    async ({ params, query }) => {
      const { code } = await definitions.workflow(await projectName(store, params.projectCode), params.code);
      const page = await definitions.versions(code, query);
      return pageBody(page, (version) => ({ ...version, createTime: isoTime(version.createTime) }));
    },
  );
  app.get(
    `${PATH}/:code/versions/:version`,
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'getWorkflowVersion',
        tags,
        summary: 'The workflow as that version had it.',
        params: Type.Object({ ...Params.properties, version: Type.Integer({ minimum: 1 }) }),
        response: { 200: WorkflowBody },
      },
    },
    async ({ params }) => {
      const { code } = await definitions.workflow(await projectName(store, params.projectCode), params.code);
      return workflowBody(await definitions.version(code, params.version));
    },
  );
};

const read = (body: unknown, deps: ApiDeps): WorkflowDeclaration => {
  const place: Place = { path: [], problems: [] };
  const workflow = parseWorkflow(place, body, deps.declarations);
  const [first] = place.problems;
  if (workflow !== null && first === undefined) return workflow;
  throw new DeclarationError(first?.code ?? 'BAD_REQUEST', first?.detail ?? 'Correct the workflow.', place.problems);
};

/** The workflow, if it is there and just what is declared: a request before this one has made it. */
const asItStands = async (
  deps: ApiDeps,
  project: string,
  workflow: WorkflowDeclaration,
): Promise<SavedWorkflowBody | null> => {
  const declaration = { project, assets: [], workflows: [workflow] };
  const { lines, warnings } = await applyDeclaration(deps, declaration, { dryRun: true, strict: false });
  if (lines.some(({ action }) => action !== 'UNCHANGED')) return null;
  return { ...workflowBody(await deps.store.definitions.workflow(project, workflow.name)), plan: lines, warnings };
};

const save = async (
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
