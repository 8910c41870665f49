import Type from 'typebox';
import { formatAssetKey } from '../../core/asset/key.ts';
import type { Asset } from '../../core/asset/state.ts';
import { parseAsset } from '../../core/declaration/parse.ts';
import type { Place } from '../../core/declaration/read.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Routes } from '../app.ts';
import { ApplyPlanBody } from '../contract/apply.ts';
import { AssetBody, AssetDetailsBody, AssetRegistration, AssetStateBody } from '../contract/assets.ts';
import { AssetParams, PageOf, PageQuery, ProjectParam } from '../contract/common.ts';
import { applyDeclaration } from '../actions/declare.ts';
import { DeclarationError } from '../http/problems.ts';
import { assetOf, keyOf, projectName, projectNameFor } from '../actions/find.ts';
import { namedPage } from '../views/named-page.ts';
import { assetBody, assetDetailsBody, stateBody } from '../views/assets.ts';

const tags = ['assets'];
const ONE = '/projects/:projectCode/assets/:assetKey';

export const assetRoutes: Routes = (app, deps) => {
  const { store } = deps;
  app.post(
    '/projects/:projectCode/assets',
    {
      config: { permission: 'admin', repeats: 'ANSWERED' },
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

const read = (body: AssetRegistration): Asset => {
  const place: Place = { path: [], problems: [] };
  const asset = parseAsset(place, withKey(body));
  const [first] = place.problems;
  if (asset !== null && first === undefined) return asset;
  throw new DeclarationError(first?.code ?? 'BAD_REQUEST', first?.detail ?? 'Correct the asset.', place.problems);
};

/** The RFC's names of an asset's parts beside its key, or instead of it. Throws BAD_REQUEST where they disagree. */
const withKey = (body: AssetRegistration): object => {
  const { assetKey, storageFormat, sourceType, catalogName, databaseName, tableName, partitionExpr: _, ...rest } = body;
  const format = (storageFormat ?? sourceType)?.toLowerCase();
  const whole = typeof format === 'string' && typeof databaseName === 'string' && typeof tableName === 'string';
  const composed = whole
    ? formatAssetKey({
        format,
        catalog: catalogName ?? 'default',
        database: databaseName,
        table: tableName,
        branch: 'main',
      })
    : undefined;
  const keys = [rest.key, assetKey, composed].flatMap((key) => (key === undefined ? [] : keyOf(key)));
  const [key] = keys;
  if (key === undefined)
    throw new SluiceError(
      'BAD_REQUEST',
      'Add "key" to body: it names the table, as in paimon://ods_db/ods_order_latest.',
    );
  const other = keys.find((each) => each !== key);
  if (other !== undefined) throw new SluiceError('BAD_REQUEST', `Name one table: the body names ${key} and ${other}.`);
  return { ...rest, key };
};
