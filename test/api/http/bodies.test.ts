import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { apply, BASE, bearer, openApi, ORDERS, TOKEN } from '../harness.ts';

const raw = async (payload: string, headers: Record<string, string> = {}, url = `${BASE}/assets`) => {
  const api = await openApi();
  return api.inject({
    method: 'POST',
    url,
    payload,
    headers: { ...bearer(TOKEN), 'content-type': 'application/json', ...headers },
  });
};

describe('bodies that are not right', () => {
  test.each<[string, string, Record<string, string>, number, string, RegExp]>([
    ['half a document', '{"key":', {}, 400, 'BAD_REQUEST', /^Send valid JSON/],
    ['no body', '', {}, 400, 'BAD_REQUEST', /body/],
    ['another type', 'key: x', { 'content-type': 'text/yaml' }, 415, 'UNSUPPORTED_MEDIA_TYPE', /application\/json/],
    [
      'a form',
      'key=x',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      /application\/json/,
    ],
    ['an unknown field', '{"key":"paimon://a/b","loction":"/x"}', {}, 400, 'BAD_REQUEST', /Remove "loction" from body/],
    ['a missing field', '{}', {}, 400, 'BAD_REQUEST', /Add "key" to body/],
    ['a number for a text', '{"key":5}', {}, 400, 'BAD_REQUEST', /body\.key/],
    [
      'a text for a number',
      '{"key":"paimon://a/b","pollIntervalSeconds":"5"}',
      {},
      400,
      'BAD_REQUEST',
      /pollIntervalSeconds/,
    ],
    ['a word that is no choice', '{"key":"paimon://a/b","onGap":"WAIT"}', {}, 400, 'BAD_REQUEST', /CONTINUE, HOLD/],
    ['a key that is none', '{"key":"nonsense"}', {}, 400, 'BAD_ASSET_KEY', /./],
    ['a prototype', '{"key":"paimon://a/b","__proto__":{"x":1}}', {}, 400, 'BAD_REQUEST', /__proto__/],
    [
      'an unsafe number',
      '{"key":"paimon://a/b","pollIntervalSeconds":9007199254740993}',
      {},
      400,
      'BAD_REQUEST',
      /Write 9007199254740993 as a string at pollIntervalSeconds/,
    ],
    ['a number beyond all', '{"pollIntervalSeconds":1e400}', {}, 400, 'BAD_REQUEST', /Write 1e400 as a string/],
    ['an abyss', `${'['.repeat(5000)}${']'.repeat(5000)}`, {}, 400, 'BAD_REQUEST', /at most 64 levels deep/],
    ['a bottomless abyss', '['.repeat(500_000) + ']'.repeat(500_000), {}, 400, 'BAD_REQUEST', /./],
    ['too much', JSON.stringify({ key: 'x'.repeat(1_100_000) }), {}, 413, 'BODY_TOO_LARGE', /Send less at once/],
  ])('%s', async (_, payload, headers, status, code, detail) => {
    const answer = await raw(payload, headers);
    expect([answer.status, answer.json['code']]).toEqual([status, code]);
    expect(answer.json['detail']).toMatch(detail);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(Object.keys(answer.json)).toEqual(
      expect.arrayContaining(['type', 'title', 'status', 'code', 'detail', 'instance']),
    );
  });

  test('lists by name are given whole, or page by page', async () => {
    const api = await openApi();
    await apply(api);
    for (const table of ['e', 'd', 'c']) await api.post(`${BASE}/assets`, { key: `paimon://x/${table}` });
    const keysOf = ({ json }: { json: object }) => (json as { items: { key: string }[] }).items.map(({ key }) => key);
    const all = keysOf(await api.get(`${BASE}/assets`));
    expect(all).toEqual([ORDERS, 'paimon://ods_db/payments', 'paimon://x/c', 'paimon://x/d', 'paimon://x/e']);
    const pages: string[][] = [];
    for (let cursor: unknown = ''; cursor !== null; ) {
      const answer = await api.get(`${BASE}/assets?limit=2${cursor === '' ? '' : `&cursor=${String(cursor)}`}`);
      pages.push(keysOf(answer));
      cursor = answer.json['nextCursor'];
    }
    expect(pages).toEqual([all.slice(0, 2), all.slice(2, 4), all.slice(4)]);
    const first = (await api.get(`${BASE}/workflow-definitions?limit=1`)).json;
    expect([(first['items'] as unknown as { name: string }[]).map(({ name }) => name), first['nextCursor']]).toEqual([
      ['trade'],
      null,
    ]);
    expect((await api.get('/api/v1/projects?limit=1')).json['items']).toHaveLength(1);
    expect((await api.get(`${BASE}/assets?cursor=${Buffer.from('5').toString('base64url')}`)).status).toBe(400);
  });

  test('what goes wrong inside says nothing of the inside', async () => {
    const api = await openApi({
      notReady: async () => {
        throw new Error('secret detail at /some/path');
      },
    });
    const { status, text, json } = await api.get('/readyz');
    expect([status, json['code']]).toEqual([500, 'INTERNAL']);
    expect(text).not.toContain('secret');
  });

  test.each([
    ['limit=0', /limit/],
    ['limit=501', /limit/],
    ['limit=abc', /limit/],
    ['limit=5&limit=6', /limit/],
    ['state=NOPE', /state/],
  ])('a query that is not right: %s', async (query, detail) => {
    const api = await openApi();
    await apply(api);
    const { status, json } = await api.get(`${BASE}/workflow-instances?${query}`);
    expect([status, json['code']]).toEqual([400, 'BAD_REQUEST']);
    expect(json['detail']).toMatch(detail);
  });

  test.each([
    ['what is no field of the list', 'stat=SUCCESS', 'Correct "stat" after the "?": did you mean "state"?'],
    [
      'what another list takes',
      'eventType=TAG_MOVED',
      'Leave out "eventType" after the "?": this route takes limit, cursor, workflow, state.',
    ],
  ])('a filter that would be without effect: %s', async (_what, query, detail) => {
    const api = await openApi();
    await apply(api);
    const { status, json } = await api.get(`${BASE}/workflow-instances?${query}`);
    expect([status, json['detail']]).toEqual([400, detail]);
    expect((await api.get('/metrics?any=thing')).status).toBe(200);
  });

  test('a list of more events than one request may carry says how many, and an empty one that it is empty', async () => {
    const api = await openApi();
    await apply(api);
    const post = async (count: number) => {
      const events = Array.from({ length: count }, () => ({ assetKey: ORDERS, eventType: 'CDC_LAG_RECOVERED' }));
      const { status, json } = await api.post(`${BASE}/asset-events`, events);
      return [status, json['detail'] ?? json['accepted']];
    };
    expect(await post(1_001)).toEqual([400, 'Send at most 1000 at once: body has more.']);
    expect(await post(0)).toEqual([400, 'Correct body: it must NOT have fewer than 1 items.']);
    expect(await post(1_000)).toEqual([202, 1_000]);
    expect((await api.get(`${BASE}/asset-events?limit=1`)).json['items']).toHaveLength(1);
  });

  test('a value of another type than several that would do', async () => {
    const answer = await raw('true', {}, `${BASE}/asset-events`);
    expect(answer.json['detail']).toBe('Correct body: it must be object or array.');
  });

  test('bytes that are no UTF-8', async () => {
    const api = await openApi();
    const payload = Buffer.concat([Buffer.from('{"key":"paimon://a/'), Buffer.from([0xff]), Buffer.from('"}')]);
    const headers = { ...bearer(TOKEN), 'content-type': 'application/json' };
    const { status, json } = await api.inject({ method: 'POST', url: `${BASE}/assets`, payload, headers });
    expect([status, json['detail']]).toEqual([400, 'Send JSON in UTF-8: the body holds bytes that are none.']);
  });

  test.each([
    ['DELETE', `${BASE}/assets`, 'GET, HEAD, POST'],
    ['PATCH', `${BASE}/assets/1`, 'DELETE, GET, HEAD'],
    ['GET', `${BASE}/assets/1/scan`, 'POST'],
    ['OPTIONS', `${BASE}/workflow-instances/1/stop`, 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['HEAD', '/api/v1/events/stream', 'GET'],
  ] as const)('a method that the address does not answer to: %s %s', async (method, url, allowed) => {
    const api = await openApi();
    const { status, headers, text } = await api.inject({ method, url, headers: bearer(TOKEN) });
    expect([status, headers['allow']]).toEqual([405, allowed]);
    expect(headers['access-control-allow-origin']).toBeUndefined();
    if (method !== 'HEAD') expect(JSON.parse(text)).toMatchObject({ code: 'METHOD_NOT_ALLOWED', status: 405 });
  });

  test.each([
    ['FOO / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
    ['nonsense\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('bytes that are no request: %.12j', async (bytes, status) => {
    const api = await openApi();
    const url = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }));
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(Number(url.port), url.hostname, () => socket.write(bytes));
      socket.on('data', (data) => (text += data.toString()));
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
    });
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*application/problem\\+json`));
    expect(JSON.parse(body)).toMatchObject({ status, code: 'BAD_REQUEST', detail: expect.any(String) as string });
  });

  test('answers are not to be kept or guessed at by who passes them on', async () => {
    const api = await openApi();
    await apply(api);
    const { headers } = await api.get(`${BASE}/assets`);
    expect([headers['cache-control'], headers['x-content-type-options']]).toEqual(['no-store', 'nosniff']);
  });

  test.each(['nonsense', Buffer.from('9999999999999999999').toString('base64url')])(
    'a cursor that nobody gave: %s',
    async (cursor) => {
      const api = await openApi();
      await apply(api);
      const { status, json } = await api.get(`${BASE}/asset-events?cursor=${cursor}`);
      expect([status, json['code']]).toEqual([400, 'BAD_REQUEST']);
    },
  );

  test.each(['/api/v1/%zz', '/%', `/api/v1/projects/${'x'.repeat(5000)}/assets`])(
    'an address that is none: %.20s',
    async (url) => {
      const api = await openApi();
      const { status, json, headers } = await api.get(url);
      expect([400, 404]).toContain(status);
      expect(json['code']).toBe(status === 400 ? 'BAD_REQUEST' : 'NOT_FOUND');
      expect(headers['content-type']).toContain('application/problem+json');
    },
  );

  test('readiness with a reason', async () => {
    const api = await openApi({ notReady: async () => ['The database does not answer.'] });
    const { status, json } = await api.get('/readyz');
    expect([status, json]).toEqual([503, { status: 'not ready', problems: ['The database does not answer.'] }]);
  });

  test('an asset key with slashes, percent signs and 512 characters is one segment', async () => {
    const api = await openApi();
    const odd = 'paimon://a%2Fb/c%25d';
    const long = `paimon://d/${'%20'.repeat(160)}`;
    for (const key of [odd, long, ORDERS]) {
      expect((await api.post(`${BASE}/assets`, { key })).status, key).toBe(200);
      const { status, json } = await api.get(`${BASE}/assets/${encodeURIComponent(key)}`);
      expect([status, json['key']]).toEqual([200, key]);
    }
  });
});
