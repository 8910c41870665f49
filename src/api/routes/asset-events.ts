import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { ASSET_EVENT_TYPES, type StatedEvent } from '../../core/asset/event.ts';
import { SluiceError } from '../../core/errors.ts';
import { refuse, type Result } from '../../core/result.ts';
import { EventBody, EventInput, EventOrEvents, EventsInput, EventsReceiptBody } from '../contract/asset-events.ts';
import { PageOf, PageQuery, ProjectParam } from '../contract/common.ts';
import type { ApiDeps } from '../deps.ts';
import { exactNumbers } from '../http/json-body.ts';
import { describe } from '../http/problems.ts';
import { namedKey, projectName } from '../actions/find.ts';
import { answerStated, type Refused } from '../views/receipts.ts';
import type { Routes } from '../app.ts';
import { statedEvent } from '../actions/stated-event.ts';
import type { Store } from '../../store/store.ts';
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
      config: { permission: 'operate', repeats: 'KNOWN', checksNumbers: true, documentedBody: EventOrEvents },
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
      return reply.code(202).send(await push(deps, project, request, request.body));
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

const push = async (
  { store, onStated, onRefused }: ApiDeps,
  project: string,
  request: FastifyRequest,
  body: unknown,
): Promise<EventsReceiptBody> => {
  const raw: readonly unknown[] = Array.isArray(body) ? body : [body];
  const read = raw.map((event, index) => ({
    index,
    result: readEvent(request, event, fallbackId(request, body, index)),
  }));
  const refused: Refused[] = [];
  const events: { index: number; event: StatedEvent }[] = [];
  for (const { index, result } of read) {
    if (result.ok) events.push({ index, event: result.value });
    else refused.push({ index, problem: result.problem });
  }
  const foreign = await foreigners(store, project, events);
  onRefused?.([
    ...refused.map(({ problem }) => ({ assetKey: null, problem })),
    ...foreign.map(({ index, problem }) => ({ assetKey: keyAt(events, index), problem })),
  ]);
  const ours = events.filter(({ index }) => !foreign.some((refusal) => refusal.index === index));
  const stated = ours.map(({ event }) => event);
  const receipts = await store.assets.recordStated(stated);
  onStated?.(stated, receipts);
  const indexes = Array.isArray(body) ? ours.map(({ index }) => index) : null;
  return answerStated(receipts, indexes, [...refused, ...foreign]);
};

const keyAt = (events: readonly { readonly index: number; readonly event: StatedEvent }[], index: number) =>
  events.find((each) => each.index === index)?.event.assetKey ?? null;

/** Without an eventId the request's Idempotency-Key names the statement; in a list, with its position. */
const fallbackId = (request: FastifyRequest, body: unknown, index: number): string | null => {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string' || key === '') return null;
  return Array.isArray(body) ? `${key}/${index}` : key;
};

const readEvent = (request: FastifyRequest, raw: unknown, fallback: string | null): Result<StatedEvent> => {
  try {
    return readExact(request, exactNumbers(raw), fallback);
  } catch (error) {
    if (error instanceof SluiceError) return refuse('BAD_EVENT', error.message);
    throw error;
  }
};

const readExact = (request: FastifyRequest, raw: unknown, fallback: string | null): Result<StatedEvent> => {
  const validate = request.getValidationFunction(EventInput) ?? request.compileValidationSchema(EventInput);
  if (validate(raw)) return statedEvent(raw as Type.Static<typeof EventInput>, fallback);
  return refuse('BAD_EVENT', describe(validate.errors ?? [], 'event'));
};

/** Events of assets that another project owns. Unknown assets are the store's to refuse. */
const foreigners = async (
  store: Store,
  project: string,
  events: readonly { readonly index: number; readonly event: StatedEvent }[],
): Promise<readonly Refused[]> => {
  const owners = await store.assets.owners([...new Set(events.map(({ event }) => event.assetKey))]);
  return events.flatMap(({ index, event }): Refused[] => {
    const owner = owners.get(event.assetKey);
    if (owner === undefined || owner === project) return [];
    const detail = `Send events of ${event.assetKey} to the project that owns it: "${project}" does not.`;
    return [{ index, problem: { code: 'UNKNOWN_ASSET', detail } }];
  });
};
