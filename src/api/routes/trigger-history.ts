import Type from 'typebox';
import { PageOf, PageQuery, ProjectParam } from '../contract/common.ts';
import { TriggerRecordBody } from '../contract/dependencies.ts';
import { projectName } from '../actions/find.ts';
import type { Routes } from '../app.ts';
import { pageBody } from '../views/common.ts';
import { triggerBody } from '../views/workflows.ts';

export const triggerHistoryRoutes: Routes = (app, { store }) => {
  app.get(
    '/projects/:projectCode/asset-trigger-history',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listTriggerHistory',
        tags: ['trigger-history'],
        summary: 'What fired, with pins, trigger key and the tree that let it fire, newest first.',
        params: Type.Object(ProjectParam),
        querystring: Type.Object({
          ...PageQuery,
          workflow: Type.Optional(Type.String({ minLength: 1, description: "The workflow's code or name." })),
          run: Type.Optional(Type.Integer({ minimum: 1, description: 'What made this run, and released its tasks.' })),
        }),
        response: { 200: PageOf(TriggerRecordBody) },
      },
    },
    async ({ params, query }) => {
      const project = await projectName(store, params.projectCode);
      const { workflow, run, ...page } = query;
      const filter = {
        project,
        ...(workflow === undefined ? {} : { workflowCode: (await store.definitions.workflow(project, workflow)).code }),
        ...(run === undefined ? {} : { runId: run }),
      };
      return pageBody(await store.groups.triggerHistory(filter, page), triggerBody);
    },
  );
};
