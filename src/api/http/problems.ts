import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import type { Duplex } from 'node:stream';
import type { App } from '../app.ts';
import { type ErrorCode, ERRORS, SluiceError } from '../../core/errors.ts';
import type { FileProblem } from '../../core/declaration/read.ts';
import type { Log } from '../../runtime/log.ts';
import type { ProblemDocument } from '../contract/common.ts';
import type { Methods } from './methods.ts';

/** A declaration with everything that is wrong with it. */
export class DeclarationError extends SluiceError {
  readonly problems: readonly FileProblem[];
  constructor(code: ErrorCode, detail: string, problems: readonly FileProblem[]) {
    super(code, detail);
    this.problems = problems;
  }
}

/** The refusal of what a request declares. Its own sentence is that of the first problem. */
export const refusalOf = (problems: readonly FileProblem[]): DeclarationError => {
  const [first] = problems;
  return new DeclarationError(first?.code ?? 'BAD_REQUEST', first?.detail ?? 'Correct the request.', problems);
};

/** Every error leaves as a problem document (RFC 9457), 404s and malformed requests included; what is our own fault says nothing of its inside. */
export const answerProblems = (app: App, methods: Methods, log: Log): void => {
  app.setNotFoundHandler((request, reply) => answerNoRoute(request, reply, methods));
  app.setErrorHandler((error: FastifyError | Error, request, reply) => {
    const { code, detail } = explain(error);
    if (code === 'INTERNAL') log.error('A request failed.', { error, method: request.method, path: pathOf(request) });
    return send(request, reply, code, detail, error instanceof DeclarationError ? error.problems : undefined);
  });
};

const answerNoRoute = (request: FastifyRequest, reply: FastifyReply, methods: Methods): FastifyReply => {
  const path = pathOf(request);
  const allowed = methods.at(path).join(', ');
  if (allowed === '')
    return send(request, reply, 'NOT_FOUND', `There is nothing at ${path}: see /docs for what there is.`);
  void reply.header('allow', allowed);
  return send(request, reply, 'METHOD_NOT_ALLOWED', `Call ${path} with ${allowed}, not with ${request.method}.`);
};

/** For bytes that are no request: node has no request to answer then, only a connection. */
export const answerNoRequest = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { status, reason, detail } = NO_REQUEST[error.code ?? ''] ?? MALFORMED;
  const body = JSON.stringify(documentOf('BAD_REQUEST', detail, '/', status));
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
};

const MALFORMED = { status: 400, reason: 'Bad Request', detail: 'Send an HTTP request with a method that exists.' };

const NO_REQUEST: Readonly<Record<string, typeof MALFORMED>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    detail: 'Send shorter headers: they are longer than the server reads.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    reason: 'Request Timeout',
    detail: 'Send the request faster: the server waits for it no longer.',
  },
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
  const { status } = ERRORS[code];
  const document: ProblemDocument = {
    ...documentOf(code, detail, pathOf(request)),
    ...(problems === undefined
      ? {}
      : { problems: problems.map((problem) => ({ ...problem, path: [...problem.path] })) }),
  };
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  return reply.code(status).type('application/problem+json').serializer(JSON.stringify).send(document);
};

const documentOf = (
  code: ErrorCode,
  detail: string,
  instance: string,
  status: number = ERRORS[code].status,
): ProblemDocument => ({
  type: `urn:sluice:problem:${code}`,
  title: ERRORS[code].title,
  status,
  code,
  detail,
  instance,
});

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
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: 'Send JSON with "Content-Type: application/json": the server reads no other body.',
  },
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: 'BODY_TOO_LARGE',
    detail: 'Send less at once: the body is larger than this route takes.',
  },
};

/** Of a choice between shapes the one that fits best is meant: what is wrong with its inside says more than that it is not another type. */
const mostSpecific = (errors: readonly FastifySchemaValidationError[]): FastifySchemaValidationError | undefined =>
  errors.find(({ keyword }) => keyword !== 'type' && keyword !== 'anyOf') ?? errors[0];

/** The types that would have been right at the same place. */
const typesOf = (
  errors: readonly FastifySchemaValidationError[],
  { instancePath }: FastifySchemaValidationError,
): readonly string[] => [
  ...new Set(
    errors.flatMap((error) =>
      error.keyword === 'type' && error.instancePath === instancePath ? [String(error.params['type'])] : [],
    ),
  ),
];

/** One sentence for the first thing that a schema refuses. `context`: body, querystring, params, headers. */
export const describe = (errors: readonly FastifySchemaValidationError[], context = 'body'): string => {
  const first = mostSpecific(errors);
  if (first === undefined) return 'Correct the request: it does not have the shape that this route takes.';
  const place = `${context}${first.instancePath.replaceAll('/', '.')}`;
  const { params } = first as { params: Record<string, unknown> };
  if (first.keyword === 'additionalProperties')
    return `Remove "${String(params['additionalProperty'])}" from ${place}: it is not known there.`;
  if (first.keyword === 'required') return `Add "${String(params['missingProperty'])}" to ${place}: it is missing.`;
  if (first.keyword === 'maxItems') return `Send at most ${String(params['limit'])} at once: ${place} has more.`;
  if (first.keyword === 'type') return `Correct ${place}: it must be ${typesOf(errors, first).join(' or ')}.`;
  const allowed = Array.isArray(params['allowedValues']) ? `: ${params['allowedValues'].join(', ')}` : '';
  return `Correct ${place}: it ${first.message ?? 'has the wrong shape'}${allowed}.`;
};
