import swagger from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify from 'fastify';
import type { App, Routes } from './app.ts';
import { authenticate, checkHost, requirePermissions } from './http/auth.ts';
import type { ApiDeps } from './deps.ts';
import { documentOptions } from './docs/openapi.ts';
import { honourKeys, requireRepeats } from './http/idempotency.ts';
import { convertParameters, readJsonBodies } from './http/json-body.ts';
import { noteMethods } from './http/methods.ts';
import { answerBadAddress, answerNoRequest, answerProblems } from './http/problems.ts';
import { applyRoutes } from './routes/apply.ts';
import { assetEventRoutes } from './routes/asset-events.ts';
import { assetRoutes } from './routes/assets.ts';
import { assetVersionRoutes } from './routes/asset-versions.ts';
import { docsRoutes } from './routes/docs.ts';
import { dependencyRoutes } from './routes/dependencies.ts';
import { taskWhyRoutes } from './routes/task-why.ts';
import { eventStreamRoutes } from './routes/event-stream.ts';
import { groupAdminRoutes } from './routes/group-admin.ts';
import { healthRoutes } from './routes/health.ts';
import { logRoutes } from './routes/logs.ts';
import { pageRoutes } from './routes/page.ts';
import { projectRoutes } from './routes/projects.ts';
import { runRoutes } from './routes/runs.ts';
import { triggerHistoryRoutes } from './routes/trigger-history.ts';
import { workflowAdminRoutes } from './routes/workflow-admin.ts';
import { workflowVersionRoutes } from './routes/workflow-versions.ts';
import { workflowRoutes } from './routes/workflows.ts';

const BASE = '/api/v1';
const MEBIBYTE = 1024 * 1024;

const RESOURCES: readonly Routes[] = [
  projectRoutes,
  applyRoutes,
  assetRoutes,
  assetVersionRoutes,
  assetEventRoutes,
  dependencyRoutes,
  taskWhyRoutes,
  workflowRoutes,
  workflowAdminRoutes,
  workflowVersionRoutes,
  groupAdminRoutes,
  runRoutes,
  logRoutes,
  triggerHistoryRoutes,
  eventStreamRoutes,
];

/**
 * The HTTP server, ready to `listen` (contract.md 2). Rejects if a route declares no permission. `extra` adds routes under the same law.
 */
export const createApi = async (deps: ApiDeps, extra: readonly Routes[] = []): Promise<App> => {
  const app = Fastify({
    bodyLimit: MEBIBYTE,
    frameworkErrors: answerBadAddress,
    clientErrorHandler: answerNoRequest,
    // An asset key has up to 512 characters, percent-encoded; and who types an address may end it with a slash.
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: true },
    forceCloseConnections: true, // followers of a log must not keep a stopping server alive
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allowUnionTypes: true } },
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  requirePermissions(app);
  requireRepeats(app);
  answerProblems(app, noteMethods(app), deps.log);
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-content-type-options', 'nosniff');
    // What is true now may not be so a moment later, and is for who has the token alone.
    if (request.url.startsWith(BASE)) void reply.header('cache-control', 'no-store');
  });
  readJsonBodies(app);
  checkHost(app, deps.allowedHosts);
  authenticate(app, deps.tokens);
  convertParameters(app);
  honourKeys(app, deps.store.idempotency);
  await app.register(swagger, documentOptions(deps.version));
  await app.register(async (scope) => healthRoutes(scope as App, deps));
  await app.register(async (scope) => pageRoutes(scope as App, deps));
  await app.register(async (scope) => docsRoutes(scope as App, deps));
  await app.register(async (scope) => addResources(scope as App, deps, extra), { prefix: BASE });
  await app.ready();
  return app;
};

const addResources = (app: App, deps: ApiDeps, extra: readonly Routes[]): void => {
  for (const routes of [...RESOURCES, ...extra]) routes(app, deps);
  app.get('/openapi.json', { config: { permission: 'public' }, schema: { hide: true } }, () => app.swagger());
};
