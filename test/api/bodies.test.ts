import { describe, expect, test } from 'vitest';
import { apply, BASE, bearer, openApi, ORDERS, TOKEN } from './harness.ts';

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
    ['another type', 'key: x', { 'content-type': 'text/yaml' }, 400, 'BAD_REQUEST', /Content-Type: application\/json/],
    [
      'a form',
      'key=x',
      { 'content-type': 'application/x-www-form-urlencoded' },
      400,
      'BAD_REQUEST',
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

  test('a cursor that nobody gave', async () => {
    const api = await openApi();
    await apply(api);
    const { status, json } = await api.get(`${BASE}/asset-events?cursor=nonsense`);
    expect([status, json['code']]).toEqual([400, 'BAD_REQUEST']);
  });

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
