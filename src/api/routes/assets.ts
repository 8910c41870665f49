import Type from 'typebox';
import type { Asset } from '../../core/asset/state.ts';
import { parseAsset } from '../../core/declaration-parse.ts';
import type { Place } from '../../core/declaration-read.ts';
import type { Routes } from '../app.ts';
import { ApplyPlanBody } from '../contract/apply.ts';
import { AssetBody, AssetDetailsBody, AssetInput, AssetStateBody } from '../contract/assets.ts';
import { AssetParams, ProjectParam } from '../contract/common.ts';
import { applyDeclaration } from '../declare.ts';
import { DeclarationError } from '../problems.ts';
import { assetOf, projectName, projectNameFor } from '../projects.ts';
import { assetBody, assetDetailsBody, stateBody } from '../views/assets.ts';

const tags = ['assets'];
const ONE = '/projects/:projectCode/assets/:assetKey';

export const assetRoutes: Routes = (app, deps) => {
  const { store } = deps;
  app.post(
    '/projects/:projectCode/assets',
    {
      config: { permission: 'admin' },
      schema: {
        operationId: 'registerAsset',
        tags,
        summary: 'Registers an asset, or updates it; a field that is left out gets its default.',
        params: Type.Object(ProjectParam),
        body: AssetInput,
        response: { 200: ApplyPlanBody },
      },
    },
    async ({ params, body }) => {
      const project = await projectNameFor(store, params.projectCode);
      return applyDeclaration(deps, { project, assets: [read(body)], workflows: [] }, { dryRun: false, strict: false });
    },
  );
  app.get(
    '/projects/:projectCode/assets',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listAssets',
        tags,
        params: Type.Object(ProjectParam),
        response: { 200: Type.Object({ items: Type.Array(AssetBody) }) },
      },
    },
    async ({ params }) => ({
      items: (await store.assets.list(await projectName(store, params.projectCode))).map(assetBody),
    }),
  );
  app.get(
    ONE,
    {
      config: { permission: 'read' },
      schema: { operationId: 'getAsset', tags, params: AssetParams, response: { 200: AssetDetailsBody } },
    },
    async ({ params }) => assetDetailsBody(await assetOf(store, params.projectCode, params.assetKey)),
  );
  app.get(
    `${ONE}/state`,
    {
      config: { permission: 'read' },
      schema: { operationId: 'getAssetState', tags, params: AssetParams, response: { 200: AssetStateBody } },
    },
    async ({ params }) => stateBody((await assetOf(store, params.projectCode, params.assetKey)).state),
  );
};

const read = (body: unknown): Asset => {
  const place: Place = { path: [], problems: [] };
  const asset = parseAsset(place, body);
  const [first] = place.problems;
  if (asset !== null && first === undefined) return asset;
  throw new DeclarationError(first?.code ?? 'BAD_REQUEST', first?.detail ?? 'Correct the asset.', place.problems);
};
