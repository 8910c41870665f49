import Type from 'typebox';
import { projectName } from '../actions/find.ts';
import type { App, Routes } from '../app.ts';
import { OptionalBody, PageOf, PageQuery, ProjectBody, ProjectParam, ResumeInput } from '../contract/common.ts';
import type { ApiDeps } from '../deps.ts';
import { namedPage } from '../views/named-page.ts';

const Params = Type.Object(ProjectParam);
const tags = ['projects'];
const PROJECT = '/projects/:projectCode';

/** The projects that there are, and what people do to one as a whole. */
export const projectRoutes: Routes = (app, deps) => {
  listRoute(app, deps);
  steeringRoutes(app, deps);
};

const listRoute = (app: App, { store }: ApiDeps): void => {
  app.get(
    '/projects',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listProjects',
        tags,
        summary: 'Projects by name; all of them without a limit.',
        querystring: Type.Object(PageQuery),
        response: { 200: PageOf(ProjectBody) },
      },
    },
    async ({ query }) =>
      namedPage(
        await store.definitions.projects(),
        ({ name }) => name,
        ({ code, name, paused }) => ({ code, name, paused }),
        query,
      ),
  );
};

const steeringRoutes = (app: App, { store }: ApiDeps): void => {
  app.post(
    `${PROJECT}/pause`,
    {
      config: { permission: 'operate', repeats: 'HARMLESS' },
      schema: {
        operationId: 'pauseProject',
        tags,
        summary: 'No group of the project starts a run until it is resumed; what its tables do goes on being recorded.',
        params: Params,
        response: { 200: ProjectBody },
      },
    },
    async ({ params }) => store.definitions.pauseProject(await projectName(store, params.projectCode)),
  );
  app.post(
    `${PROJECT}/resume`,
    {
      config: { permission: 'operate', repeats: 'HARMLESS' },
      schema: {
        operationId: 'resumeProject',
        tags,
        summary: 'A paused project goes on: one run of each group for all that arrived meanwhile, or with skip none.',
        params: Params,
        body: OptionalBody(ResumeInput),
        response: { 200: ProjectBody },
      },
    },
    async ({ params, body }) => {
      const project = await projectName(store, params.projectCode);
      return store.definitions.resumeProject(project, body?.skip === true ? 'SKIP' : 'CATCH_UP');
    },
  );
};
