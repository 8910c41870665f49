import Type from 'typebox';
import { SluiceError } from '../../core/errors.ts';
import type { Routes } from '../app.ts';
import { WorkflowInFile } from '../contract/apply-file.ts';
import { ProjectParam } from '../contract/common.ts';
import { ReleaseInput, SavedWorkflowBody, WorkflowBody, WorkflowInput } from '../contract/workflows.ts';
import { projectName, projectNameFor } from '../actions/find.ts';
import { ifDeclaredSo, readWorkflow, saveWorkflow } from '../actions/save-workflow.ts';
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
      if (body.skip === true && body.releaseState === 'OFFLINE')
        throw new SluiceError(
          'BAD_REQUEST',
          'Leave out skip: offline, what arrives is kept; say skip when the workflow goes online again.',
        );
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
      config: { permission: 'admin', repeats: 'ANSWERED', checksTexts: true, documentedBody: WorkflowInFile },
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
      const workflow = readWorkflow(deps, body);
      const made = repetition ? await ifDeclaredSo(deps, project, workflow) : null;
      const saved =
        made ?? (await saveWorkflow(deps, project, workflow, { strict: query.strict ?? false, version: 0 }));
      return reply.code(201).send(saved);
    },
  );
  app.put(
    `${PATH}/:code`,
    {
      config: { permission: 'admin', checksTexts: true, documentedBody: WorkflowInFile },
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
      const workflow = readWorkflow(deps, body);
      if (workflow.name !== before.name)
        throw new SluiceError(
          'BAD_REQUEST',
          `Keep the name ${before.name}: a workflow of another name is another workflow.`,
        );
      return saveWorkflow(deps, project, workflow, {
        strict: query.strict ?? false,
        version: query.version ?? before.version,
      });
    },
  );
};
