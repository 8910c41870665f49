import Type from 'typebox';
import { NOTHING_STATED, type StatedEvent } from '../../core/asset/event.ts';
import type { AssetKey } from '../../core/asset/key.ts';
import type { Asset } from '../../core/asset/state.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Routes } from '../app.ts';
import { EventsReceiptBody } from '../contract/asset-events.ts';
import { ApproveSchemaInput, AssetStateBody, ScanBody, ScanInput, VersionBody } from '../contract/assets.ts';
import { AssetParams, OptionalBody, PageOf, PageQuery } from '../contract/common.ts';
import type { ApiDeps } from '../deps.ts';
import { assetOf } from '../actions/find.ts';
import { answerStated } from '../views/receipts.ts';
import { stateBody, versionBody } from '../views/assets.ts';
import { pageBody, timeOrNull } from '../views/common.ts';

const SCAN_SECONDS = 30;
const tags = ['assets'];
const ONE = '/projects/:projectCode/assets/:assetKey';

/** What has become of one asset's table, and what people decide about it. */
export const assetVersionRoutes: Routes = (app, deps) => {
  const { store } = deps;
  app.get(
    `${ONE}/versions`,
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'listAssetVersions',
        tags,
        summary: 'Its versions, newest first.',
        params: AssetParams,
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
      config: { permission: 'operate', repeats: 'HARMLESS' },
      schema: {
        operationId: 'scanAsset',
        tags,
        summary: 'Looks at the table now and answers when the look has ended, or after timeoutSeconds.',
        params: AssetParams,
        body: OptionalBody(ScanInput),
        response: { 200: ScanBody },
      },
    },
    async ({ params, body }) =>
      scan(deps, await assetOf(store, params.projectCode, params.assetKey), body?.timeoutSeconds),
  );
  decisionRoutes(app, deps);
};

/** What a person decides. */
const decisionRoutes: Routes = (app, { store, onStated }) => {
  app.post(
    `${ONE}/release`,
    {
      config: { permission: 'operate', repeats: 'HARMLESS' },
      schema: {
        operationId: 'releaseAsset',
        tags,
        summary:
          'Lets an asset go on that a gap, a rollback or a re-creation holds (onGap, onRollback, onRecreate: HOLD).',
        params: AssetParams,
        response: { 200: AssetStateBody },
      },
    },
    async ({ params }) => {
      const { asset } = await assetOf(store, params.projectCode, params.assetKey);
      return stateBody(await store.assets.release(asset.key));
    },
  );
  app.post(
    `${ONE}/approve-schema`,
    {
      config: { permission: 'operate', repeats: 'KNOWN' },
      schema: {
        operationId: 'approveSchema',
        tags,
        summary: 'Approves (or rejects) a schema by its id, even before its first commit.',
        params: AssetParams,
        body: ApproveSchemaInput,
        response: { 202: EventsReceiptBody },
      },
    },
    async ({ params, body, headers }, reply) => {
      const { asset } = await assetOf(store, params.projectCode, params.assetKey);
      const stated = [approval(asset.key, body, headers['idempotency-key'])];
      const receipts = await store.assets.recordStated(stated);
      onStated?.(stated, receipts);
      return reply.code(202).send(answerStated(receipts, null));
    },
  );
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
  ...NOTHING_STATED,
  assetKey,
  eventType: body.decision === 'REJECT' ? 'SCHEMA_CHANGE_REJECTED' : 'SCHEMA_CHANGE_APPROVED',
  sourceType: 'USER',
  eventId: body.eventId ?? (typeof idempotencyKey === 'string' ? idempotencyKey : null),
  schemaId: String(body.schemaId),
});
