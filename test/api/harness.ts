import type { InjectOptions } from 'fastify';
import Value from 'typebox/value';
import { expect, onTestFinished } from 'vitest';
import type { App, Routes } from '../../src/api/app.ts';
import type { ApiDeps } from '../../src/api/deps.ts';
import { createApi } from '../../src/api/server.ts';
import { ok, refuse } from '../../src/core/result.ts';
import { type SimulatedClock, simulatedClock } from '../../src/runtime/clock.ts';
import { sha256 } from '../../src/runtime/hash.ts';
import { nonce } from '../../src/runtime/id.ts';
import { createLog } from '../../src/runtime/log.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';

/** An API over a real, empty SQLite store in memory. The clock stands still. Every answer is held against its route's schema. */
export interface Api {
  readonly app: App;
  readonly store: Store;
  readonly clock: SimulatedClock;
  /** Keys that somebody asked to look at, in order. */
  readonly scans: string[];
  /** Task instance id → its log. */
  readonly logs: Map<number, Uint8Array>;
  get(url: string, headers?: Record<string, string>): Promise<Answer>;
  post(url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  inject(options: InjectOptions): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly text: string;
  /** The body as JSON; reading it where it is none throws. */
  readonly json: Record<string, never>;
}

export const BASE = '/api/v1/projects/gmv';
export const ORDERS = 'paimon://ods_db/orders';
export const PAYMENTS = 'paimon://ods_db/payments';
export const TOKEN = 'admin-token';
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
export const segment = encodeURIComponent;

/** `url`: a database file, for what must survive a restart or is prepared by SQL. */
export const openApi = async (
  changes: Partial<ApiDeps> = {},
  extra: readonly Routes[] = [],
  url = ':memory:',
): Promise<Api> => {
  const clock = simulatedClock();
  const store = await openStore({ url, clock: clock.now, nonce, sha256 });
  await store.admin.migrate();
  await store.admin.claimOwnership('test');
  const scans: string[] = [];
  const logs = new Map<number, Uint8Array>();
  const deps: ApiDeps = {
    store,
    scanNow: async (keys) => void scans.push(...keys),
    attemptLog: async ({ taskRunId }, _run, offset, limit) => {
      const all = logs.get(taskRunId) ?? new Uint8Array();
      return { bytes: all.subarray(offset, offset + limit), size: all.length };
    },
    takesPushes: true,
    notReady: async () => [],
    metrics: { contentType: 'text/plain; version=0.0.4', text: async () => 'sluice_up 1\n' },
    declarations: {
      timezone: 'UTC',
      checkTask: (type) =>
        type === 'NOOP' || type === 'SHELL' ? ok(undefined) : refuse('BAD_FILE', `There is no ${type}.`),
    },
    tokens: [
      { name: 'admin', token: TOKEN, grants: 'admin' },
      { name: 'operator', token: 'operate-token', grants: 'operate' },
      { name: 'viewer', token: 'read-token', grants: 'read' },
    ],
    allowedHosts: ['sluice.example'],
    clock,
    log: createLog({
      level: process.env['SLUICE_DEBUG'] === undefined ? 'silent' : 'error',
      destination: 'stderr',
      now: clock.now,
    }),
    version: '0.0.0',
    ...changes,
  };
  const app = await createApi(deps, [holdToSchema, ...extra]);
  onTestFinished(async () => {
    await app.close();
    await store.close();
  });
  const inject = async (options: InjectOptions): Promise<Answer> => {
    const { statusCode, headers, body } = await app.inject(options);
    return {
      status: statusCode,
      headers,
      text: body,
      get json() {
        return JSON.parse(body) as Record<string, never>;
      },
    };
  };
  const headersOf = (headers: Record<string, string>) => ({ ...bearer(TOKEN), ...headers });
  return {
    app,
    store,
    clock,
    scans,
    logs,
    inject,
    get: (url, headers = {}) => inject({ url, headers: headersOf(headers) }),
    post: (url, body, headers = {}) =>
      inject({
        method: 'POST',
        url,
        headers: headersOf(headers),
        ...(body === undefined ? {} : { payload: body as object }),
      }),
  };
};

const holdToSchema: Routes = (app) => {
  app.addHook('preSerialization', async (request, reply, payload) => {
    const responses = request.routeOptions.schema?.response as Record<string, object> | undefined;
    const schema = responses?.[reply.statusCode];
    if (schema !== undefined && reply.getHeader('content-type')?.toString().includes('problem') !== true)
      expect(
        [...Value.Errors(schema, JSON.parse(JSON.stringify(payload)))],
        `${request.method} ${request.url}`,
      ).toEqual([]);
    return payload;
  });
};

export const condition = (assetKey: string, rest: object = {}) => ({ assetKey, ...rest });

/** Two pushed tables and a workflow of two tasks that waits for both; `changes` to the workflow. */
export const declaration = (changes: object = {}) => ({
  apiVersion: 'sluice/v1',
  project: 'gmv',
  assets: [{ key: ORDERS }, { key: PAYMENTS }],
  workflows: [
    {
      name: 'trade',
      triggers: [{ group: 'both', all: [condition(ORDERS), condition(PAYMENTS)] }],
      tasks: [
        { name: 'dwd', type: 'NOOP' },
        { name: 'dws', type: 'NOOP', dependsOn: ['dwd'] },
      ],
      ...changes,
    },
  ],
});

export const apply = async (api: Api, file: object = declaration()): Promise<void> => {
  const { status, text } = await api.post(`${BASE}/apply`, { declaration: file });
  expect(status, text).toBe(200);
};

export const commit = (assetKey: string, snapshotId: string | number, rest: object = {}) => ({
  assetKey,
  eventType: 'SNAPSHOT_COMMITTED',
  snapshotId,
  commitKind: 'APPEND',
  dataChange: true,
  ...rest,
});

/** Pushes events and lets the groups that they touch decide. */
export const push = async (api: Api, ...events: object[]): Promise<void> => {
  const { status, text } = await api.post(`${BASE}/asset-events`, events);
  expect(status, text).toBe(202);
  await api.store.groups.evaluateDue(100);
};

/** Launches what was commanded and hands out what can start; ends each attempt with the state given. */
export const work = async (api: Api, state: 'SUCCESS' | 'FAILURE' = 'SUCCESS'): Promise<void> => {
  await api.store.runs.launch(100);
  for (let offers = await api.store.runs.dispatch(100); offers.length > 0; offers = await api.store.runs.dispatch(100))
    for (const { taskRun } of offers) {
      await api.store.runs.taskStarted(taskRun.id, taskRun.fence, api.clock.now(), 'here', null);
      const ending = { state, exitCode: state === 'SUCCESS' ? 0 : 1, reason: null, endedAt: api.clock.now() };
      await api.store.runs.taskEnded(taskRun.id, taskRun.fence, ending);
    }
};
