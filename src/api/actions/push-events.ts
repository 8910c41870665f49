import type { FastifyRequest } from 'fastify';
import type Type from 'typebox';
import type { StatedEvent } from '../../core/asset/event.ts';
import { SluiceError } from '../../core/errors.ts';
import { refuse, type Result } from '../../core/result.ts';
import type { Store } from '../../store/store.ts';
import { EventInput, type EventsReceiptBody } from '../contract/asset-events.ts';
import type { ApiDeps } from '../deps.ts';
import { exactValues } from '../http/json-body.ts';
import { describe } from '../http/problems.ts';
import { answerStated, type Refused } from '../views/receipts.ts';
import { statedEvent } from './stated-event.ts';

/** An event of a request, with its position there. */
interface Indexed {
  readonly index: number;
  readonly event: StatedEvent;
}

/**
 * Records the events of a request, one or a list: those that cannot be read and those of another project's assets are refused one by one,
 * the others go to the store together.
 */
export const pushEvents = async (
  { store, onStated, onRefused, takesPushes }: ApiDeps,
  project: string,
  request: FastifyRequest,
): Promise<EventsReceiptBody> => {
  if (!takesPushes)
    throw new SluiceError(
      'FORBIDDEN',
      'This server is configured to take no pushed events: its operator can set asset-event-scheduling.enabled and its event-source.push-receiver.enabled to true.',
    );
  const { events, unreadable } = readEvents(request);
  const elsewhere = await ofOtherProjects(store, project, events);
  onRefused?.([
    ...unreadable.map(({ problem }) => ({ assetKey: null, problem })),
    ...elsewhere.map(({ index, problem }) => ({ assetKey: keyAt(events, index), problem })),
  ]);
  const ours = events.filter(({ index }) => !elsewhere.some((refusal) => refusal.index === index));
  const stated = ours.map(({ event }) => event);
  const receipts = await store.assets.recordStated(stated);
  onStated?.(stated, receipts);
  const indexes = Array.isArray(request.body) ? ours.map(({ index }) => index) : null;
  return answerStated(receipts, indexes, [...unreadable, ...elsewhere]);
};

const readEvents = (
  request: FastifyRequest,
): { readonly events: readonly Indexed[]; readonly unreadable: readonly Refused[] } => {
  const { body } = request;
  const raw: readonly unknown[] = Array.isArray(body) ? body : [body];
  const events: Indexed[] = [];
  const unreadable: Refused[] = [];
  for (const [index, each] of raw.entries()) {
    const read = readEvent(request, each, fallbackId(request, index));
    if (read.ok) events.push({ index, event: read.value });
    else unreadable.push({ index, problem: read.problem });
  }
  return { events, unreadable };
};

const keyAt = (events: readonly Indexed[], index: number) =>
  events.find((each) => each.index === index)?.event.assetKey ?? null;

/** Without an eventId the request's Idempotency-Key names the statement; in a list, with its position. */
const fallbackId = ({ headers, body }: FastifyRequest, index: number): string | null => {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string' || key === '') return null;
  return Array.isArray(body) ? `${key}/${index}` : key;
};

const readEvent = (request: FastifyRequest, raw: unknown, fallback: string | null): Result<StatedEvent> => {
  try {
    return readExact(request, exactValues(raw), fallback);
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
const ofOtherProjects = async (
  store: Store,
  project: string,
  events: readonly Indexed[],
): Promise<readonly Refused[]> => {
  const owners = await store.assets.owners([...new Set(events.map(({ event }) => event.assetKey))]);
  return events.flatMap(({ index, event }): Refused[] => {
    const owner = owners.get(event.assetKey);
    if (owner === undefined || owner === project) return [];
    const detail = `Send events of ${event.assetKey} to the project that owns it: "${project}" does not.`;
    return [{ index, problem: { code: 'UNKNOWN_ASSET', detail } }];
  });
};
