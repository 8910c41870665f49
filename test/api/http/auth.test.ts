import { json } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { type Api, bearer, openApi } from '../harness.ts';

interface Route {
  readonly method: string;
  readonly url: string;
  readonly permission: string;
  readonly operationId: string;
}

/** Every route there is, as the server's own document lists them. */
const routesOf = (api: Api): Route[] => {
  const { paths } = api.app.swagger() as unknown as { paths: Record<string, Record<string, Record<string, string>>> };
  return Object.entries(paths).flatMap(([url, methods]) =>
    Object.entries(methods).map(([method, page]) => ({
      method: method.toUpperCase(),
      url: url.replaceAll(/\{\w*(?:id|Id)\}/g, '1').replaceAll(/\{\w+\}/g, 'x'),
      permission: page['x-permission'] ?? 'none',
      operationId: page['operationId'] ?? '',
    })),
  );
};

const ask = (api: Api, route: Route, headers: Record<string, string>) =>
  route.operationId === 'streamEvents' && 'authorization' in headers
    ? begin(api, route, headers)
    : api.inject({ method: route.method as 'GET', url: route.url, headers });

/** How a stream that has no end begins; a refusal is read whole. */
const begin = async (api: Api, { url }: Route, headers: Record<string, string>) => {
  const answer = await api.app.inject({ url, headers, payloadAsStream: true });
  const stream = answer.stream();
  if (answer.statusCode !== 200) return { status: answer.statusCode, json: (await json(stream)) as { code?: string } };
  stream.destroy();
  return { status: 200, json: {} as { code?: string } };
};

const ORDER = ['public', 'read', 'operate', 'admin'];

describe('who may call', () => {
  test('every route declares what it asks, and has a name of its own', async () => {
    const routes = routesOf(await openApi());
    expect(routes.length).toBeGreaterThan(25);
    expect(routes.filter(({ permission }) => !ORDER.includes(permission))).toEqual([]);
    const names = routes.map(({ operationId }) => operationId);
    expect(names).not.toContain('');
    expect(new Set(names).size).toBe(names.length);
    expect(routes.filter(({ permission }) => permission === 'public').map(({ url }) => url)).toEqual([
      '/healthz',
      '/readyz',
    ]);
  });

  test('the matrix: every route with every token', async () => {
    const api = await openApi();
    const tokens = {
      none: null,
      wrong: 'not-a-token',
      read: 'read-token',
      operate: 'operate-token',
      admin: 'admin-token',
    };
    for (const route of routesOf(api))
      for (const [grants, token] of Object.entries(tokens)) {
        const answer = await ask(api, route, token === null ? {} : bearer(token));
        const { status } = answer;
        const what = `${route.method} ${route.url} with ${grants}`;
        if (route.permission === 'public') expect(status, what).toBe(200);
        else if (grants === 'none' || grants === 'wrong')
          expect([status, answer.json['code']], what).toEqual([401, 'UNAUTHENTICATED']);
        else if (ORDER.indexOf(grants) < ORDER.indexOf(route.permission))
          expect([status, answer.json['code']], what).toEqual([403, 'FORBIDDEN']);
        else expect([401, 403], what).not.toContain(status);
      }
  });

  test('HEAD asks for the same as GET', async () => {
    const api = await openApi();
    const { status } = await api.inject({ method: 'HEAD', url: '/api/v1/projects' });
    expect(status).toBe(401);
  });

  test('a route without a permission stops the start', async () => {
    const forgotten = openApi({}, [(app) => app.get('/forgotten', () => 'open to all')]);
    await expect(forgotten).rejects.toThrow('The route GET /api/v1/forgotten declares no permission');
  });

  test('a token in another scheme or with something behind it is none', async () => {
    const api = await openApi();
    for (const authorization of [
      'Basic admin-token',
      'Bearer',
      'Bearer admin-token x',
      'admin-token',
      'Bearer admin-tokenx',
    ])
      expect((await api.inject({ url: '/api/v1/projects', headers: { authorization } })).status, authorization).toBe(
        401,
      );
    expect(
      (await api.inject({ url: '/api/v1/projects', headers: { authorization: 'bearer admin-token' } })).status,
    ).toBe(200);
  });

  test.each([
    ['localhost:8484', 200],
    ['127.0.0.1:8484', 200],
    ['[::1]:8484', 200],
    ['SLUICE.example', 200],
    ['rebound.attacker.example:8484', 403],
    ['127.0.0.1.attacker.example', 403],
    ['localhost.attacker.example', 403],
  ])('asked as host "%s": %i', async (host, status) => {
    const api = await openApi();
    expect((await api.inject({ url: '/healthz', headers: { host } })).status).toBe(status);
  });

  test('an unknown path says nothing about who asks', async () => {
    const api = await openApi();
    const { status, json, headers } = await api.inject({ url: '/api/v1/nothing?token=secret' });
    expect([status, json['code'], json['instance']]).toEqual([404, 'NOT_FOUND', '/api/v1/nothing']);
    expect(headers['content-type']).toContain('application/problem+json');
  });
});
