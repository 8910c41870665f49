import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import type { App } from './app.ts';
import { type ErrorCode, ERRORS, SluiceError } from '../core/errors.ts';
import type { FileProblem } from '../core/declaration-read.ts';
import type { Log } from '../runtime/log.ts';
import type { ProblemDocument } from './contract/common.ts';

/** A declaration with everything that is wrong with it. */
export class DeclarationError extends SluiceError {
  readonly problems: readonly FileProblem[];
  constructor(code: ErrorCode, detail: string, problems: readonly FileProblem[]) {
    super(code, detail);
    this.problems = problems;
  }
}

/** Every error leaves as a problem document (RFC 9457), 404s and malformed requests included; what is our own fault says nothing of its inside. */
export const answerProblems = (app: App, log: Log): void => {
  app.setNotFoundHandler((request, reply) =>
    send(
      request,
      reply,
      'NOT_FOUND',
      `There is no ${request.method} ${pathOf(request)}: see /api/v1/openapi.json for what there is.`,
    ),
  );
  app.setErrorHandler((error: FastifyError | Error, request, reply) => {
    const { code, detail } = explain(error);
    if (code === 'INTERNAL') log.error('A request failed.', { error, method: request.method, path: pathOf(request) });
    return send(request, reply, code, detail, error instanceof DeclarationError ? error.problems : undefined);
  });
};

/** For addresses that fastify gives up on before it looks for a route. */
export const answerBadAddress = (_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
  void send(
    request,
    reply,
    'BAD_REQUEST',
    'Correct the address: a part of it is too long, or its percent-encoding is broken.',
  );
};

const send = (
  request: FastifyRequest,
  reply: FastifyReply,
  code: ErrorCode,
  detail: string,
  problems?: readonly FileProblem[],
): FastifyReply => {
  const { status, title } = ERRORS[code];
  const document: ProblemDocument = {
    type: `urn:sluice:problem:${code}`,
    title,
    status,
    code,
    detail,
    instance: pathOf(request),
    ...(problems === undefined
      ? {}
      : { problems: problems.map((problem) => ({ ...problem, path: [...problem.path] })) }),
  };
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  return reply.code(status).type('application/problem+json').serializer(JSON.stringify).send(document);
};

/** Without the query, which may hold what nobody wants to see repeated. */
const pathOf = (request: FastifyRequest): string => request.url.split('?')[0] ?? '/';

const explain = (error: FastifyError | Error): { code: ErrorCode; detail: string } => {
  if (error instanceof SluiceError) return { code: error.code, detail: error.message };
  if ('validation' in error && error.validation !== undefined)
    return { code: 'BAD_REQUEST', detail: describe(error.validation, error.validationContext) };
  const known = 'code' in error ? FASTIFY_ERRORS[error.code] : undefined;
  if (known !== undefined) return known;
  const status = 'statusCode' in error ? error.statusCode : undefined;
  return status !== undefined && status >= 400 && status < 500
    ? { code: 'BAD_REQUEST', detail: `${error.message}.`.replace(/\.\.$/, '.') }
    : { code: 'INTERNAL', detail: "Look into the server's log: something went wrong inside Sluice." };
};

const FASTIFY_ERRORS: Readonly<Record<string, { code: ErrorCode; detail: string }>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'BAD_REQUEST',
    detail: 'Send JSON with "Content-Type: application/json": the server reads no other body.',
  },
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: 'BODY_TOO_LARGE',
    detail: 'Send less at once: the body is larger than this route takes.',
  },
};

/** One sentence for the first thing that a schema refuses. `context`: body, querystring, params, headers. */
export const describe = (errors: readonly FastifySchemaValidationError[], context = 'body'): string => {
  const [first] = errors;
  if (first === undefined) return 'Correct the request: it does not have the shape that this route takes.';
  const place = `${context}${first.instancePath.replaceAll('/', '.')}`;
  const { params } = first as { params: Record<string, unknown> };
  if (first.keyword === 'additionalProperties')
    return `Remove "${String(params['additionalProperty'])}" from ${place}: it is not known there.`;
  if (first.keyword === 'required') return `Add "${String(params['missingProperty'])}" to ${place}: it is missing.`;
  const allowed = Array.isArray(params['allowedValues']) ? `: ${params['allowedValues'].join(', ')}` : '';
  return `Correct ${place}: it ${first.message ?? 'has the wrong shape'}${allowed}.`;
};
