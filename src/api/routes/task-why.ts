import Type from 'typebox';
import { ProjectParam } from '../contract/common.ts';
import { TaskWhyBody } from '../contract/task-why.ts';
import { projectName } from '../actions/find.ts';
import type { Routes } from '../app.ts';
import { taskWhyBody } from '../views/task-why.ts';

const name = (description: string) => Type.String({ minLength: 1, maxLength: 255, description });

export const taskWhyRoutes: Routes = (app, { store }) => {
  app.get(
    '/projects/:projectCode/workflow-definitions/:code/tasks/:task/why',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'whyTaskWaits',
        tags: ['dependencies'],
        summary: 'What a waiting task waits for, in each run in which it does, and what last released it.',
        params: Type.Object({
          ...ProjectParam,
          code: name("The workflow's code or name."),
          task: name("The task's name."),
        }),
        response: { 200: TaskWhyBody },
      },
    },
    async ({ params }) => {
      const project = await projectName(store, params.projectCode);
      const workflow = await store.definitions.workflow(project, params.code);
      return taskWhyBody(workflow.name, await store.groups.explainTask(workflow.code, params.task));
    },
  );
};
