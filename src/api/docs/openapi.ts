import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { TSchema } from 'typebox';
import { ProblemDocument } from '../contract/common.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body as the document shows it, where the route checks it by other means than its schema. */
    documentedBody?: TSchema;
  }
}

interface Operation {
  requestBody?: { required?: boolean; content?: Record<string, { schema?: { anyOf?: readonly { type?: string }[] } }> };
  responses?: Record<string, { description?: string }>;
}

/** The OpenAPI document, made of what the routes declare. */
export const documentOptions = (version: string): FastifyDynamicSwaggerOptions => ({
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Sluice', version, description: 'A workflow scheduler for the lakehouse.' },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: plain(ProblemDocument) as object },
    },
    security: [{ token: [] }],
  },
  transform: ({ schema, url, route }) => {
    const { permission, documentedBody } = route.config ?? {};
    return {
      schema: {
        ...schema,
        ...(documentedBody === undefined ? {} : { body: documentedBody }),
        'x-permission': permission,
        ...(permission === 'public' ? { security: [] } : {}),
      },
      url,
    };
  },
  transformObject: (document) => {
    if (!('openapiObject' in document)) return document.swaggerObject;
    const { openapiObject } = document;
    for (const operations of Object.values(openapiObject.paths ?? {}))
      for (const operation of Object.values(operations ?? {})) finish(operation as Operation);
    return openapiObject;
  },
});

const plain = (schema: TSchema): unknown => JSON.parse(JSON.stringify(schema));

const MEANINGS: Readonly<Record<string, string>> = {
  200: 'Done.',
  201: 'Made.',
  202: 'Taken.',
  204: 'Done; there is nothing to say.',
  503: 'Not able to work now.',
};

/** Every other answer is a problem; a body that may be null may be left out. */
const finish = ({ requestBody, responses = {} }: Operation): void => {
  for (const [status, response] of Object.entries(responses)) response.description = MEANINGS[status] ?? 'Answered.';
  responses['default'] = {
    description: 'A problem (RFC 9457).',
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  } as { description: string };
  for (const { schema } of Object.values(requestBody?.content ?? {}))
    if (requestBody !== undefined && schema?.anyOf?.some(({ type }) => type === 'null') === true)
      requestBody.required = false;
};
