import { describe, expect, test } from 'vitest';
import { wholeCharacters } from '../../src/api/http/utf8.ts';
import { serverSentEvents } from '../../src/cli/sse.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type Api, apply, BASE, bearer, openApi, TOKEN, work } from './harness.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const LOG = `${BASE}/task-instances/1/log`;

/** A run whose first task has been handed out and started. */
const running = async (): Promise<Api> => {
  const api = await openApi({ clock: systemClock });
  await apply(api);
  await api.post(`${BASE}/workflow-definitions/trade/start`);
  await api.store.runs.launch(10);
  const [offer] = await api.store.runs.dispatch(10);
  if (offer === undefined) throw new Error('nothing was handed out');
  expect(offer.taskRun.id).toBe(1);
  await api.store.runs.taskStarted(1, offer.taskRun.fence, api.clock.now(), 'here', null);
  return api;
};

const end = async (api: Api): Promise<void> => {
  const [offer] = await api.store.runs.unfinished();
  await api.store.runs.taskEnded(1, offer?.taskRun.fence ?? 0, {
    state: 'SUCCESS',
    exitCode: 0,
    reason: null,
    endedAt: api.clock.now(),
  });
};

describe('logs over HTTP', () => {
  test('pieces by offset, never half a character', async () => {
    const api = await running();
    api.logs.set(1, bytes('ab€cd'));
    expect((await api.get(`${LOG}?limit=4`)).json).toEqual({
      taskInstanceId: 1,
      offset: 0,
      nextOffset: 2,
      size: 7,
      state: 'RUNNING_EXECUTION',
      finished: false,
      text: 'ab',
    });
    expect((await api.get(`${LOG}?offset=2`)).json).toMatchObject({ text: '€cd', nextOffset: 7, finished: false });
    await end(api);
    expect((await api.get(`${LOG}?offset=7`)).json).toMatchObject({
      text: '',
      nextOffset: 7,
      finished: true,
      state: 'SUCCESS',
    });
  });

  test('a log that ends in half a character still comes to its end', async () => {
    const api = await running();
    api.logs.set(1, bytes('a€').subarray(0, 3));
    expect((await api.get(LOG)).json).toMatchObject({ text: 'a', nextOffset: 1 });
    await end(api);
    expect((await api.get(LOG)).json).toMatchObject({ text: 'a\ufffd', nextOffset: 3, finished: true });
  });

  test('followed over a socket: what is there, what comes, and the end', async () => {
    const api = await running();
    api.logs.set(1, bytes('one\n'));
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
    const response = await fetch(url + LOG, { headers: { ...bearer(TOKEN), accept: 'text/event-stream' } });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = serverSentEvents(response.body?.pipeThrough(new TextDecoderStream()) as AsyncIterable<string>);
    expect((await events.next()).value).toEqual({ event: 'log', data: { offset: 0, text: 'one\n' } });
    api.logs.set(1, bytes('one\ntwo\n'));
    expect((await events.next()).value).toEqual({ event: 'log', data: { offset: 4, text: 'two\n' } });
    await end(api);
    expect((await events.next()).value).toEqual({ event: 'end', data: { state: 'SUCCESS', exitCode: 0 } });
    expect((await events.next()).done).toBe(true);
  });

  test('a follower that lost its connection goes on where it was', async () => {
    const api = await running();
    api.logs.set(1, bytes('one\ntwo\n'));
    await end(api);
    const { text } = await api.get(LOG, { accept: 'text/event-stream', 'last-event-id': '4' });
    expect(text).toBe(
      'id: 8\nevent: log\ndata: {"offset":4,"text":"two\\n"}\n\nid: 8\nevent: end\ndata: {"state":"SUCCESS","exitCode":0}\n\n',
    );
  });

  test('a server that stops lets nobody hold it up', async () => {
    const api = await running();
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
    api.logs.set(1, bytes('x'));
    const response = await fetch(url + LOG, { headers: { ...bearer(TOKEN), accept: 'text/event-stream' } });
    const reader = response.body?.getReader();
    await reader?.read();
    await api.app.close();
    await expect(reader?.read()).rejects.toThrow();
  });

  test('no more logs are followed at once than the server can bear', async () => {
    const api = await running();
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
    const gone = new AbortController();
    const headers = { ...bearer(TOKEN), accept: 'text/event-stream' };
    const ask = (signal?: AbortSignal) => fetch(url + LOG, { headers, ...(signal === undefined ? {} : { signal }) });
    api.logs.set(1, bytes('x'));
    const open = await Promise.all(Array.from({ length: 100 }, () => ask(gone.signal)));
    expect(open.map(({ status }) => status)).toEqual(open.map(() => 200));
    const refused = await ask();
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, 'TOO_MANY_FOLLOWERS']);
    gone.abort();
    await expect.poll(async () => (await ask()).status, { timeout: 10_000 }).toBe(200);
  });

  test('logs are not there for who has no token', async () => {
    const api = await running();
    expect((await api.inject({ url: LOG, headers: { accept: 'text/event-stream' } })).status).toBe(401);
    await work(api);
  });
});

describe('whole characters', () => {
  test.each(['a', '€', 'ä', '😀', 'x😀'])('every cut of "%s"', (text) => {
    const all = bytes(text);
    for (let end = 1; end <= all.length; end += 1) {
      const whole = wholeCharacters(all.subarray(0, end));
      expect(whole.length).toBeGreaterThan(0);
      if (whole.length < end)
        expect(text.startsWith(new TextDecoder('utf-8', { fatal: true }).decode(whole))).toBe(true);
    }
    expect(wholeCharacters(all)).toEqual(all);
  });

  test('bytes that are no text go through', () => {
    expect(wholeCharacters(new Uint8Array([0x80, 0x80, 0x80, 0x80]))).toHaveLength(4);
    expect(wholeCharacters(new Uint8Array())).toHaveLength(0);
  });
});
