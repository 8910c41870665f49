import Type from 'typebox';
import type { StatedEvent } from '../../core/asset/event.ts';
import type { AssetKey } from '../../core/asset/key.ts';
import type { Asset } from '../../core/asset/state.ts';
import { parseAsset } from '../../core/declaration-parse.ts';
import type { Place } from '../../core/declaration-read.ts';
import { SluiceError } from '../../core/errors.ts';
import { ApplyPlanBody } from '../contract/apply.ts';
import { EventsReceiptBody } from '../contract/asset-events.ts';
import {
  ApproveSchemaInput,
  AssetBody,
  AssetDetailsBody,
  AssetInput,
  AssetStateBody,
  ScanBody,
  ScanInput,
  VersionBody,
} from '../contract/assets.ts';
import { OptionalBody, PageOf, PageQuery, ProjectParam } from '../contract/common.ts';
import { applyDeclaration } from '../declare.ts';
import type { ApiDeps } from '../deps.ts';
import { DeclarationError } from '../problems.ts';
import { assetOf, projectName, projectNameFor } from '../projects.ts';
import { answerStated } from '../receipts.ts';
import type { Routes } from '../app.ts';
import { EMPTY_EVENT } from '../stated.ts';
import { assetBody, assetDetailsBody, stateBody, versionBody } from '../views/assets.ts';
import { pageBody, timeOrNull } from '../views/common.ts';

const Params = Type.Object({
  ...ProjectParam,
  assetKey: Type.String({ description: 'Percent-encoded as one segment.' }),
});
const SCAN_SECONDS = 30;
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
      schema: { operationId: 'getAsset', tags, params: Params, response: { 200: AssetDetailsBody } },
    },
    async ({ params }) => assetDetailsBody(await assetOf(store, params.projectCode, params.assetKey)),
  );
  app.get(
    `${ONE}/state`,
    {
      config: { permission: 'read' },
      schema: { operationId: 'getAssetState', tags, params: Params, response: { 200: AssetStateBody } },
    },
    async ({ params }) => stateBody((await assetOf(store, params.projectCode, params.assetKey)).state),
  );
  versionRoutes(app, deps);
};

const versionRoutes: Routes = (app, deps) => {
  const { store } = deps;
  app.get(
    `${ONE}/versions`,
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listAssetVersions',
        tags,
        params: Params,
        querystring: Type.Object(PageQuery),
        response: { 200: PageOf(VersionBody) },
      },
    },
    async ({ params, query }) => {
      const { asset } = await assetOf(store, params.projectCode, params.assetKey);
      return pageBody(await store.assets.versions(asset.key, query), versionBody);
    },
  );
  app.post(
    `${ONE}/scan`,
    {
      config: { permission: 'operate' },
      schema: {
        operationId: 'scanAsset',
        tags,
        summary: 'Looks at the table now and answers when the look has ended, or after timeoutSeconds.',
        params: Params,
        body: OptionalBody(ScanInput),
        response: { 200: ScanBody },
      },
    },
    async ({ params, body }) =>
      scan(deps, await assetOf(store, params.projectCode, params.assetKey), body?.timeoutSeconds),
  );
  app.post(
    `${ONE}/approve-schema`,
    {
      config: { permission: 'operate' },
      schema: {
        operationId: 'approveSchema',
        tags,
        summary: 'Approves (or rejects) a schema by its id, even before its first commit.',
        params: Params,
        body: ApproveSchemaInput,
        response: { 202: EventsReceiptBody },
      },
    },
    async ({ params, body, headers }, reply) => {
      const { asset } = await assetOf(store, params.projectCode, params.assetKey);
      const receipts = await store.assets.recordStated([approval(asset.key, body, headers['idempotency-key'])]);
      return reply.code(202).send(answerStated(receipts, null));
    },
  );
};

const read = (body: unknown): Asset => {
  const place: Place = { path: [], problems: [] };
  const asset = parseAsset(place, body);
  const [first] = place.problems;
  if (asset !== null && first === undefined) return asset;
  throw new DeclarationError(first?.code ?? 'BAD_REQUEST', first?.detail ?? 'Correct the asset.', place.problems);
};

const scan = async (
  deps: ApiDeps,
  before: {
    readonly asset: Asset;
    readonly state: { readonly lastOrdinal: number };
    readonly lastScanAt: bigint | null;
  },
  timeoutSeconds: number = SCAN_SECONDS,
) => {
  const { key, location } = before.asset;
  if (location === null)
    throw new SluiceError(
      'CONFLICT',
      `Register ${key} with a location first: without one it lives from pushed events only.`,
    );
  const until = deps.clock.monotonicMs() + timeoutSeconds * 1000;
  await deps.scanNow([key], timeoutSeconds * 1000);
  const { state, lastScanAt } = await deps.store.assets.get(key);
  return {
    assetKey: key,
    finished: deps.clock.monotonicMs() < until,
    newVersions: state.lastOrdinal - before.state.lastOrdinal,
    state: stateBody(state),
    lastScanAt: timeOrNull(lastScanAt),
  };
};

const approval = (
  assetKey: AssetKey,
  body: Type.Static<typeof ApproveSchemaInput>,
  idempotencyKey: string | string[] | undefined,
): StatedEvent => ({
  ...EMPTY_EVENT,
  assetKey,
  eventType: body.decision === 'REJECT' ? 'SCHEMA_CHANGE_REJECTED' : 'SCHEMA_CHANGE_APPROVED',
  sourceType: 'USER',
  eventId: body.eventId ?? (typeof idempotencyKey === 'string' ? idempotencyKey : null),
  schemaId: String(body.schemaId),
});
