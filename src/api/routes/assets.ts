import Type from 'typebox';
import type { Routes } from '../app.ts';
import { ApplyPlanBody } from '../contract/apply.ts';
import { AssetBody, AssetDetailsBody, AssetRegistration, AssetStateBody } from '../contract/assets.ts';
import { AssetParams, PageOf, PageQuery, ProjectParam } from '../contract/common.ts';
import { applyDeclaration } from '../actions/declare.ts';
import { assetOf, projectName, projectNameFor } from '../actions/find.ts';
import { readRegistration } from '../actions/registration.ts';
import { namedPage } from '../views/named-page.ts';
import { assetBody, assetDetailsBody, stateBody } from '../views/assets.ts';

const tags = ['assets'];
const ONE = '/projects/:projectCode/assets/:assetKey';

export const assetRoutes: Routes = (app, deps) => {
  const { store } = deps;
  app.post(
    '/projects/:projectCode/assets',
    {
      config: { permission: 'admin', repeats: 'ANSWERED', checksTexts: true },
      schema: {
        operationId: 'registerAsset',
        tags,
        summary: 'Registers an asset, or updates it; a field that is left out gets its default.',
        params: Type.Object(ProjectParam),
        body: AssetRegistration,
        response: { 200: ApplyPlanBody },
      },
    },
    async ({ params, body }) => {
      const project = await projectNameFor(store, params.projectCode);
      return applyDeclaration(
        deps,
        { project, assets: [readRegistration(body)], workflows: [] },
        { dryRun: false, strict: false },
      );
    },
  );
  app.get(
    '/projects/:projectCode/assets',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listAssets',
        tags,
        summary: 'The assets of a project with their states, by key; all of them without a limit.',
        params: Type.Object(ProjectParam),
        querystring: Type.Object(PageQuery),
        response: { 200: PageOf(AssetBody) },
      },
    },
    async ({ params, query }) => {
      const assets = await store.assets.list(await projectName(store, params.projectCode));
      return namedPage(assets, ({ asset }) => asset.key, assetBody, query);
    },
  );
  oneAssetRoutes(app, deps);
};

const oneAssetRoutes: Routes = (app, { store }) => {
  app.get(
    ONE,
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'getAsset',
        tags,
        summary: 'One asset with tags, schemas, checks and readers.',
        params: AssetParams,
        response: { 200: AssetDetailsBody },
      },
    },
    async ({ params }) => assetDetailsBody(await assetOf(store, params.projectCode, params.assetKey)),
  );
  app.delete(
    ONE,
    {
      config: { permission: 'admin' },
      schema: {
        operationId: 'deleteAsset',
        tags,
        summary: 'Forgets an asset and its history. Refused while a group waits for it.',
        params: AssetParams,
        response: { 204: Type.Null() },
      },
    },
    async ({ params }, reply) => {
      const { asset } = await assetOf(store, params.projectCode, params.assetKey);
      await store.assets.remove(asset.key);
      return reply.code(204).send(null);
    },
  );
  app.get(
    `${ONE}/state`,
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'getAssetState',
        tags,
        summary: 'Its state: what decisions look at.',
        params: AssetParams,
        response: { 200: AssetStateBody },
      },
    },
    async ({ params }) => stateBody((await assetOf(store, params.projectCode, params.assetKey)).state),
  );
};
