import Type from 'typebox';
import type { App, Routes } from '../app.ts';
import { OptionalBody, ProjectParam, ResumeInput } from '../contract/common.ts';
import { GroupAnswerBody } from '../contract/dependencies.ts';
import type { ApiDeps } from '../deps.ts';
import { projectName } from '../actions/find.ts';
import { groupAnswer } from '../views/workflows.ts';

const name = (description: string) => Type.String({ minLength: 1, maxLength: 255, description });
const Params = Type.Object({ ...ProjectParam, code: name("The workflow's code or name."), group: name('Its name.') });
const GROUP = '/projects/:projectCode/workflow-definitions/:code/groups/:group';
const tags = ['dependencies'];

/** What people do to one group of a workflow. */
export const groupAdminRoutes: Routes = (app, deps) => {
  pauseRoute(app, deps);
  resumeRoute(app, deps);
};

const pauseRoute = (app: App, { store }: ApiDeps): void => {
  app.post(
    `${GROUP}/pause`,
    {
      config: { permission: 'operate', repeats: 'HARMLESS' },
      schema: {
        operationId: 'pauseGroup',
        tags,
        summary: 'The group starts no run until it is resumed; what its tables do goes on being recorded.',
        params: Params,
        response: { 200: GroupAnswerBody },
      },
    },
    async ({ params }) => {
      const project = await projectName(store, params.projectCode);
      const { code } = await store.definitions.workflow(project, params.code);
      return groupAnswer(await store.groups.pause(code, params.group));
    },
  );
};

const resumeRoute = (app: App, { store }: ApiDeps): void => {
  app.post(
    `${GROUP}/resume`,
    {
      config: { permission: 'operate', repeats: 'HARMLESS' },
      schema: {
        operationId: 'resumeGroup',
        tags,
        summary: 'A paused group goes on: one run for all that arrived meanwhile, or with skip none for it.',
        params: Params,
        body: OptionalBody(ResumeInput),
        response: { 200: GroupAnswerBody },
      },
    },
    async ({ params, body }) => {
      const project = await projectName(store, params.projectCode);
      const { code } = await store.definitions.workflow(project, params.code);
      const how = body?.skip === true ? 'SKIP' : 'CATCH_UP';
      return groupAnswer(await store.groups.resume(code, params.group, how));
    },
  );
};
