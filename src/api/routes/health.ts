import Type from 'typebox';
import type { Routes } from '../app.ts';

const Health = Type.Object({ status: Type.String(), version: Type.String() });
const Readiness = Type.Object({ status: Type.String(), problems: Type.Array(Type.String()) });

/** For whoever watches the server: does it live, can it work, what does it count? */
export const healthRoutes: Routes = (app, deps) => {
  app.get(
    '/healthz',
    {
      config: { permission: 'public' },
      schema: { operationId: 'getHealth', tags: ['health'], summary: 'The process lives.', response: { 200: Health } },
    },
    () => ({ status: 'ok', version: deps.version }),
  );
  app.get(
    '/readyz',
    {
      config: { permission: 'public' },
      schema: {
        operationId: 'getReadiness',
        tags: ['health'],
        summary: 'Whether it can work, and if not why.',
        response: { 200: Readiness, 503: Readiness },
      },
    },
    async (_request, reply) => {
      const problems = [...(await deps.notReady())];
      return problems.length === 0
        ? { status: 'ready', problems }
        : reply.code(503).send({ status: 'not ready', problems });
    },
  );
  app.get(
    '/metrics',
    {
      config: { permission: 'read' },
      schema: { operationId: 'getMetrics', tags: ['health'], summary: 'Prometheus.', produces: ['text/plain'] },
    },
    async (_request, reply) =>
      reply
        .type(deps.metrics.contentType)
        .serializer(String)
        .send(await deps.metrics.text()),
  );
};
