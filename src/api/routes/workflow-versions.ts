import Type from 'typebox';
import { isoTime } from '../../core/time.ts';
import { projectName } from '../actions/find.ts';
import type { Routes } from '../app.ts';
import { PageOf, PageQuery, ProjectParam } from '../contract/common.ts';
import { WorkflowBody, WorkflowVersionBody } from '../contract/workflows.ts';
import { pageBody } from '../views/common.ts';
import { workflowBody } from '../views/workflows.ts';

const Params = Type.Object({
  ...ProjectParam,
  code: Type.String({ minLength: 1, maxLength: 255, description: "The workflow's code or name." }),
});
const tags = ['workflow-definitions'];
const PATH = '/projects/:projectCode/workflow-definitions/:code/versions';

/** What a workflow was before: every version that was ever saved. */
export const workflowVersionRoutes: Routes = (app, { store }) => {
  const { definitions } = store;
  app.get(
    PATH,
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
    `${PATH}/:version`,
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
