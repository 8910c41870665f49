import Type from 'typebox';
import type { RunOperation } from '../../core/workflow/plan.ts';
import type { TaskRun } from '../../core/workflow/run.ts';
import { RUN_STATES } from '../../core/workflow/run-state.ts';
import { OptionalBody, PageOf, PageQuery, ProjectParam } from '../contract/common.ts';
import { OperateInput, RunBody, RunDetailsBody, RunTasksBody } from '../contract/workflows.ts';
import { projectName, runOf } from '../actions/find.ts';
import type { Routes } from '../app.ts';
import { pageBody } from '../views/common.ts';
import { runBody, runDetailsBody, taskRunBody } from '../views/workflows.ts';

const Params = Type.Object({ ...ProjectParam, id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) });
const tags = ['workflow-instances'];
const PATH = '/projects/:projectCode/workflow-instances';

const OPERATIONS: readonly { readonly name: string; readonly operation: RunOperation; readonly does: string }[] = [
  { name: 'pause', operation: 'PAUSE', does: 'Running tasks finish, no other starts.' },
  { name: 'resume', operation: 'RESUME', does: 'A paused or stopped run goes on.' },
  { name: 'stop', operation: 'STOP', does: 'Running tasks are killed.' },
  {
    name: 'rerun',
    operation: 'RERUN',
    does: 'A finished run begins again from its first tasks, with the same pins unless repin.',
  },
  {
    name: 'recover',
    operation: 'RECOVER',
    does: 'Failed tasks of a failed run and all after them run again, with the same pins unless repin.',
  },
];

export const runRoutes: Routes = (app, deps) => {
  const { store } = deps;
  app.get(
    PATH,
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listWorkflowInstances',
        tags,
        summary: 'Runs, newest first.',
        params: Type.Object(ProjectParam),
        querystring: Type.Object({
          ...PageQuery,
          workflow: Type.Optional(Type.String({ minLength: 1, description: "The workflow's code or name." })),
          state: Type.Optional(Type.Enum([...RUN_STATES])),
        }),
        response: { 200: PageOf(RunBody) },
      },
    },
    async ({ params, query }) => {
      const project = await projectName(store, params.projectCode);
      const { workflow, state, ...page } = query;
      const filter = {
        project,
        ...(workflow === undefined ? {} : { workflowCode: (await store.definitions.workflow(project, workflow)).code }),
        ...(state === undefined ? {} : { state }),
      };
      return pageBody(await store.runs.list(filter, page), runBody);
    },
  );
  app.get(
    `${PATH}/:id`,
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'getWorkflowInstance',
        tags,
        summary: 'One run with the newest attempt of each task.',
        params: Params,
        response: { 200: RunDetailsBody },
      },
    },
    async ({ params }) => runDetailsBody(await runOf(store, params.projectCode, params.id)),
  );
  app.get(
    `${PATH}/:id/tasks`,
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listTaskInstances',
        tags,
        summary: 'The tasks of a run, with all attempts.',
        params: Params,
        response: { 200: RunTasksBody },
      },
    },
    async ({ params }) => {
      const { tasks, history, waiting } = await runOf(store, params.projectCode, params.id);
      const body = (task: TaskRun) => taskRunBody(task, waiting.get(task.id));
      return { tasks: tasks.map(body), history: history.map(body) };
    },
  );
  operationRoutes(app, deps);
};

const operationRoutes: Routes = (app, { store }) => {
  for (const { name, operation, does } of OPERATIONS)
    app.post(
      `${PATH}/:id/${name}`,
      {
        config: { permission: 'operate', repeats: 'HARMLESS' },
        schema: {
          operationId: `${name}WorkflowInstance`,
          tags,
          summary: does,
          params: Params,
          body: OptionalBody(OperateInput),
          response: { 200: RunDetailsBody },
        },
      },
      async ({ params, body }) => {
        await runOf(store, params.projectCode, params.id);
        await store.runs.operate(params.id, operation, { repin: body?.repin ?? false });
        return runDetailsBody(await store.runs.get(params.id));
      },
    );
};
