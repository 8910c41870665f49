import Type from 'typebox';
import { ASSET_EVENT_TYPES } from '../../core/asset/event.ts';
import { EventBody, EventOrEvents, EventsInput, EventsReceiptBody } from '../contract/asset-events.ts';
import { PageOf, PageQuery, ProjectParam } from '../contract/common.ts';
import { namedKey, projectName } from '../actions/find.ts';
import { pushEvents } from '../actions/push-events.ts';
import type { Routes } from '../app.ts';
import { eventBody } from '../views/assets.ts';
import { pageBody } from '../views/common.ts';

const BODY_LIMIT = 5 * 1024 * 1024;
const tags = ['asset-events'];
const PATH = '/projects/:projectCode/asset-events';

export const assetEventRoutes: Routes = (app, deps) => {
  app.post(
    PATH,
    {
      bodyLimit: BODY_LIMIT,
      config: { permission: 'operate', repeats: 'KNOWN', checksValues: true, documentedBody: EventOrEvents },
      schema: {
        operationId: 'pushAssetEvents',
        tags,
        summary: 'One event, or up to 1,000: a bad one loses no other.',
        params: Type.Object(ProjectParam),
        body: EventsInput,
        response: { 202: EventsReceiptBody },
      },
    },
    async (request, reply) => {
      const project = await projectName(deps.store, request.params.projectCode);
      return reply.code(202).send(await pushEvents(deps, project, request));
    },
  );
  app.get(
    PATH,
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listAssetEvents',
        tags,
        summary: 'What happened, newest first.',
        params: Type.Object(ProjectParam),
        querystring: Type.Object({
          ...PageQuery,
          assetKey: Type.Optional(
            Type.String({ minLength: 1, maxLength: 512, description: "The asset's key or code." }),
          ),
          eventType: Type.Optional(Type.Enum([...ASSET_EVENT_TYPES])),
        }),
        response: { 200: PageOf(EventBody) },
      },
    },
    async ({ params, query }) => {
      const project = await projectName(deps.store, params.projectCode);
      const { assetKey, eventType, ...page } = query;
      const filter = {
        project,
        ...(assetKey === undefined ? {} : { key: await namedKey(deps.store, assetKey) }),
        ...(eventType === undefined ? {} : { eventType }),
      };
      return pageBody(await deps.store.assets.events(filter, page), eventBody);
    },
  );
};
