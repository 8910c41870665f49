import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../../core/errors.ts';
import type { IdempotencyStore } from '../../store/store.ts';
import type { App } from '../app.ts';

/**
 * What a POST means under an Idempotency-Key that was used before. ANSWERED: the answer of the first time is given again. KNOWN: it is carried out
 * again by a store that knows what it did, and says so ("duplicate"). HARMLESS: it makes nothing, so that once more does no harm.
 */
export const REPEATS = ['ANSWERED', 'KNOWN', 'HARMLESS'] as const;

export type Repeats = (typeof REPEATS)[number];

declare module 'fastify' {
  interface FastifyContextConfig {
    repeats?: Repeats;
  }
  interface FastifyRequest {
    /** The same request came before under the same key and has no answer yet: the server died in it, or is still working on it. */
    repetition: boolean;
  }
}

const LONGEST_KEY = 255;

/** Refuses at start every POST that does not say what a repetition means. */
export const requireRepeats = (app: App): void => {
  app.addHook('onRoute', ({ method, url, config }) => {
    const posts = (Array.isArray(method) ? method : [method]).includes('POST');
    if (posts && !REPEATS.some((each) => each === config?.repeats))
      throw new Error(`The route POST ${url} does not say what a repetition means: add config: { repeats }.`);
  });
};

/**
 * Honours `Idempotency-Key` on every POST that makes something, for a day and across restarts: a key stands for one request, and another body
 * under it is refused. A request that was refused leaves its key free.
 */
export const honourKeys = (app: App, store: IdempotencyStore): void => {
  const held = new WeakMap<FastifyRequest, string>();
  app.decorateRequest('repetition', false);
  app.addHook('preHandler', async (request, reply) => {
    const key = keyOf(request);
    if (key === null) return undefined;
    const { kind, answer } = await store.claim(key, contentOf(request.body));
    if (kind === 'OTHER')
      throw new SluiceError(
        'IDEMPOTENCY_KEY_REUSED',
        'Send this request under an Idempotency-Key of its own: the one given was used for another request.',
      );
    if (answer !== null && request.routeOptions.config.repeats === 'ANSWERED') return replay(reply, answer);
    request.repetition = kind === 'SAME';
    held.set(request, key);
    return undefined;
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const key = held.get(request);
    if (key === undefined) return payload;
    held.delete(request);
    if (reply.statusCode >= 400) await store.free(key);
    else await store.keep(key, { status: reply.statusCode, body: answerOf(request, payload) });
    return payload;
  });
};

const answerOf = (request: FastifyRequest, payload: unknown): string =>
  request.routeOptions.config.repeats === 'ANSWERED' && typeof payload === 'string' ? payload : '';

/** The key with its route and place; null: there is none, or it means nothing here. */
const keyOf = (request: FastifyRequest): string | null => {
  const { repeats } = request.routeOptions.config;
  const key = request.headers['idempotency-key'];
  if (request.method !== 'POST' || repeats === undefined || repeats === 'HARMLESS') return null;
  if (typeof key !== 'string' || key === '') return null;
  if (key.length > LONGEST_KEY)
    throw new SluiceError('BAD_REQUEST', `Send an Idempotency-Key of at most ${LONGEST_KEY} characters.`);
  return `${request.method} ${request.url} ${key}`;
};

/** Equal for equal bodies, whatever the order of their keys. */
const contentOf = (body: unknown): string =>
  JSON.stringify(body, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  ) ?? '';

const replay = (
  reply: FastifyReply,
  { status, body }: { readonly status: number; readonly body: string },
): FastifyReply => {
  void reply.code(status).header('idempotency-replayed', 'true').type('application/json; charset=utf-8');
  return reply.serializer((text: unknown) => String(text)).send(body as never);
};
