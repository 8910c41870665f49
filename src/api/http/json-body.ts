import type { FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { SluiceError } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import { isKept, leaveOut, shownName } from '../../core/text.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route calls `exactValues` itself, for each part of the body on its own. */
    checksValues?: boolean;
    /** The route itself says which texts no database keeps, each with its place in what is declared. */
    checksTexts?: boolean;
    /** The body may hold `// comments`, as the RFC's examples do. */
    comments?: boolean;
  }
}

const DEEPEST = 64;
/** Below this key numbers of any size are only kept as text, so they need not fit. */
const EVIDENCE = 'payload';

/** A number that JSON.stringify writes with the digits given (ECMAScript's JSON.rawJSON, which TypeScript's library does not know yet). */
const rawJson = (JSON as unknown as { rawJSON(text: string): object }).rawJSON;

/** An integer that a JS number cannot hold, with its digits. */
class Unsafe {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

const bad = (detail: string): SluiceError => new SluiceError('BAD_REQUEST', detail);

const tooDeep = (): SluiceError => bad(`Send JSON that is nested at most ${DEEPEST} levels deep.`);

const keepDigits = (key: string, value: unknown, context?: { readonly source?: string }): unknown => {
  if (key === '__proto__') throw bad('Leave out the key "__proto__": it is not allowed in a request.');
  const exact =
    typeof value !== 'number' || Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
  return exact ? value : new Unsafe(context?.source ?? String(value));
};

/** `//` begins a comment only outside of texts, where JSON has no use for it. */
const withoutComments = (text: string): string =>
  text.replace(/"(?:\\.|[^"\\])*"|\/\/[^\n]*/g, (part) => (part.startsWith('"') ? part : ''));

/** A request's JSON in which `exactValues` has not looked for numbers and texts yet. Empty text is no body. Throws SluiceError BAD_REQUEST. */
const parseBody = (text: string): unknown => {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text, keepDigits) as unknown;
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    if (error instanceof RangeError) throw tooDeep();
    throw bad(`Send valid JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
};

/**
 * The value, if every number and every text in it will be what the sender wrote. A number that JSON.parse would round silently is an error that
 * names its place, as ids of table formats exceed 2^53, and so is a text that no database keeps; only inside `payload`, which is kept as JSON, any
 * may stand, numbers with their digits. Throws SluiceError BAD_REQUEST.
 */
export const exactValues = (parsed: unknown): unknown => settle(parsed, [], { evidence: false, texts: true });

/** What is looked at: not the texts of routes that do so themselves, nothing in what is only kept. */
interface Looks {
  readonly evidence: boolean;
  readonly texts: boolean;
}

const settle = (value: unknown, path: readonly string[], looks: Looks): unknown => {
  if (path.length > DEEPEST) throw tooDeep();
  if (typeof value === 'string' && looks.texts && !isKept(value)) throw bad(leaveOut(path.join('.') || 'the body'));
  if (value instanceof Unsafe) {
    if (looks.evidence) return rawJson(value.source);
    throw bad(
      `Write ${value.source} as a string at ${path.join('.') || 'the top'}: JSON numbers lose digits beyond 2^53.`,
    );
  }
  if (Array.isArray(value)) return value.map((item, i) => settle(item, [...path, String(i)], looks));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    if (looks.texts && !isKept(key))
      throw bad(leaveOut(`the key ${shownName(key)} of ${path.join('.') || 'the body'}`));
    return [key, settle(item, [...path, key], key === EVIDENCE ? { evidence: true, texts: false } : looks)];
  });
  return Object.fromEntries(entries) as unknown;
};

/** What is not UTF-8 would be stored as other characters than were sent. Throws SluiceError BAD_REQUEST. */
const decoded = (bytes: string | Buffer): string => {
  try {
    return typeof bytes === 'string' ? bytes : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw bad('Send JSON in UTF-8: the body holds bytes that are none.');
  }
};

/** JSON is the only body that the server reads. An empty one is no body, whatever its content type says. */
export const readJsonBodies = (app: App): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: string | Buffer) => {
      const { comments, checksTexts, checksValues } = request.routeOptions.config;
      const text = decoded(bytes);
      const body = parseBody(comments === true ? withoutComments(text) : text);
      return checksValues === true ? body : settle(body, [], { evidence: false, texts: checksTexts !== true });
    },
  );
};

/**
 * Query strings and path parameters come as text: where the route's schema says integer or boolean, decimal digits and true/false become
 * one. Bodies are never converted, so `"5"` is no number there.
 */
export const convertParameters = (app: App): void => {
  app.addHook('preValidation', async (request) => {
    const { querystring, params } = request.routeOptions.schema ?? {};
    // Who watches the server, or opens its page, may add what it likes to an address.
    if (!request.routeOptions.url?.startsWith('/api/')) return;
    refuseUnkept(request.query, 'after the "?"');
    refuseUnkept(request.params, 'in the address');
    refuseUnknown(request.query, querystring);
    convert(request.query, querystring);
    convert(request.params, params);
  });
};

/** `%00` in an address. Halves of surrogate pairs cannot be percent-encoded. */
const refuseUnkept = (values: unknown, where: string): void => {
  for (const [name, value] of Object.entries(values as object))
    for (const text of [name, value].flat())
      if (typeof text === 'string' && !isKept(text)) throw bad(leaveOut(`${shownName(name)} ${where}`));
};

/** A filter that is misspelt would show everything without a word. */
const refuseUnknown = (query: unknown, schema: unknown): void => {
  const known = Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
  const unknown = Object.keys(query as object).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = nearest(unknown, known);
  if (meant !== undefined) throw bad(`Correct "${unknown}" after the "?": did you mean "${meant}"?`);
  const takes = known.length === 0 ? 'nothing' : known.join(', ');
  throw bad(`Leave out "${unknown}" after the "?": this route takes ${takes}.`);
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
