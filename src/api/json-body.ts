import type { FastifyInstance } from 'fastify';
import { SluiceError } from '../core/errors.ts';

const DEEPEST = 64;
/** Below this key numbers of any size are only kept as text, so they need not fit. */
const EVIDENCE = 'payload';

/** An integer that a JS number cannot hold, with its digits. */
class Unsafe {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

const bad = (detail: string): SluiceError => new SluiceError('BAD_REQUEST', detail);

const keepDigits = (key: string, value: unknown, context?: { readonly source?: string }): unknown => {
  if (key === '__proto__') throw bad('Leave out the key "__proto__": it is not allowed in a request.');
  const exact = typeof value !== 'number' || Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
  return exact ? value : new Unsafe(context?.source ?? String(value));
};

/**
 * A request's JSON. A number that JSON.parse would round silently is an error that names its place, as ids of table formats exceed 2^53;
 * only inside `payload` any number may stand, and keeps its digits. Throws SluiceError BAD_REQUEST.
 */
export const parseBody = (text: string): unknown => {
  if (text.trim() === '') return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text, keepDigits);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw bad(`Send valid JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  return settle(parsed, [], false);
};

const settle = (value: unknown, path: readonly string[], evidence: boolean): unknown => {
  if (path.length > DEEPEST) throw bad(`Send JSON that is nested at most ${DEEPEST} levels deep.`);
  if (value instanceof Unsafe) {
    if (evidence) return JSON.rawJSON(value.source);
    throw bad(`Write ${value.source} as a string at ${path.join('.') || 'the top'}: JSON numbers lose digits beyond 2^53.`);
  }
  if (Array.isArray(value)) return value.map((item, i) => settle(item, [...path, String(i)], evidence));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, settle(item, [...path, key], evidence || key === EVIDENCE)]);
  return Object.fromEntries(entries) as unknown;
};

/** JSON is the only body that the server reads. An empty one is no body, whatever its content type says. */
export const readJsonBodies = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_request: unknown, text: string | Buffer) =>
    parseBody(text.toString()),
  );
};

/**
 * Query strings and path parameters come as text: where the route's schema says integer or boolean, decimal digits and true/false become
 * one. Bodies are never converted, so `"5"` is no number there.
 */
export const convertParameters = (app: FastifyInstance): void => {
  app.addHook('preValidation', async (request) => {
    const { querystring, params } = request.routeOptions.schema ?? {};
    convert(request.query, querystring);
    convert(request.params, params);
  });
};

const convert = (values: unknown, schema: unknown): void => {
  const types = (schema as { properties?: Record<string, { type?: string }> } | undefined)?.properties ?? {};
  const fields = values as Record<string, unknown>;
  for (const [name, { type }] of Object.entries(types)) {
    const text = fields[name];
    if (typeof text !== 'string') continue;
    if (type === 'integer' && /^\d{1,16}$/.test(text)) fields[name] = Number(text);
    if (type === 'boolean' && (text === 'true' || text === 'false')) fields[name] = text === 'true';
  }
};
