import type { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ChangeFeed } from '../../src/api/changes.ts';
import { simulatedClock } from '../../src/runtime/clock.ts';
import type { Hint } from '../../src/store/store.ts';
import { type Api, apply, BASE, bearer, commit, openApi, ORDERS, PAYMENTS, push, TOKEN, work } from './harness.ts';

const STREAM = '/api/v1/events/stream';

interface Follower {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  /** The next event as it came. */
  next(): Promise<string>;
}

const follow = async (api: Api, headers: Record<string, string> = {}): Promise<Follower> => {
  const answer = await api.app.inject({
    url: STREAM,
    headers: { ...bearer(TOKEN), ...headers },
    payloadAsStream: true,
  });
  const stream = answer.stream();
  onTestFinished(() => void stream.destroy());
  return { status: answer.statusCode, headers: answer.headers, next: reader(stream) };
};

const reader = (stream: Readable): (() => Promise<string>) => {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest = '';
  return async () => {
    while (!rest.includes('\n\n')) {
      const { value, done } = await chunks.next();
      if (done === true) throw new Error('the stream ended');
      rest += value.toString();
    }
    const event = rest.slice(0, rest.indexOf('\n\n'));
    rest = rest.slice(event.length + 2);
    return event;
  };
};

const changed = (...kinds: string[]): string => `event: changed\ndata: ${JSON.stringify({ kinds })}`;

describe('the stream of changes', () => {
  test('tells what kinds of things changed', async () => {
    const api = await openApi();
    await apply(api);
    const { status, headers, next } = await follow(api);
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([200, 'text/event-stream', 'no-store']);
    expect(await next()).toBe('event: ready\ndata: {}');
    const rest = () => api.clock.advance(200);
    await api.post(`${BASE}/asset-events`, commit(ORDERS, 1));
    expect(await next()).toBe(changed('assets'));
    await api.store.groups.evaluateDue(10);
    rest();
    expect(await next()).toBe(changed('groups'));
    await push(api, commit(PAYMENTS, 1));
    rest();
    expect(await next()).toBe(changed('assets', 'groups', 'runs'));
    await work(api);
    rest();
    expect(await next()).toMatch(/"runs"/);
  });

  test('what an earlier connection had last changes nothing', async () => {
    const api = await openApi();
    const { next } = await follow(api, { 'last-event-id': '999999' });
    expect(await next()).toBe('event: ready\ndata: {}');
    await apply(api);
    expect(await next()).toBe(changed('assets', 'groups', 'runs', 'workflows'));
  });

  test('needs a token, and HEAD opens none', async () => {
    const api = await openApi();
    expect((await api.inject({ url: STREAM })).status).toBe(401);
    expect((await api.inject({ method: 'HEAD', url: STREAM, headers: bearer(TOKEN) })).status).toBe(405);
  });

  test('the page after the last that there is room for is told so', async () => {
    const api = await openApi();
    for (let i = 0; i < 100; i += 1) expect((await follow(api)).status).toBe(200);
    const refused = await api.get(STREAM);
    expect([refused.status, refused.json['code']]).toEqual([503, 'TOO_MANY_FOLLOWERS']);
  });

  test('over a socket: a stopping server ends it', { timeout: 10_000 }, async () => {
    const api = await openApi();
    const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
    const answer = await fetch(url + STREAM, { headers: bearer(TOKEN) });
    const text = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await text?.read())?.value).toBe('event: ready\ndata: {}\n\n');
    await apply(api);
    expect((await text?.read())?.value).toContain('event: changed');
    const ended = text?.read().then(
      ({ done }) => done,
      () => true,
    );
    await api.app.close();
    expect(await ended).toBe(true);
  });
});

describe('the feed behind it', () => {
  const open = () => {
    let tell: (hint: Hint) => void = () => {};
    const clock = simulatedClock();
    const feed = new ChangeFeed({ onHint: (listener) => void (tell = listener) }, clock);
    return { feed, clock, tell: (hint: Hint) => tell(hint) };
  };

  test('at most five events a second, and none is lost', async () => {
    const { feed, clock, tell } = open();
    const next = reader(feed.follow());
    await next();
    let events = 0;
    for (let i = 0; i < 100; i += 1) {
      tell(i % 2 === 0 ? 'CHANGED_ASSETS' : 'CHANGED_RUNS');
      clock.advance(10);
      if (i % 20 !== 19) continue;
      expect(await next()).toMatch(/changed/);
      events += 1;
    }
    tell('CHANGED_GROUPS');
    clock.advance(200);
    expect(await next()).toContain('"groups"');
    expect(events).toBe(5);
  });

  test('a reader that does not read costs nothing more, and gets all at once', async () => {
    const { feed, clock, tell } = open();
    const stream = feed.follow();
    const next = reader(stream);
    for (let i = 0; i < 10_000; i += 1) {
      tell('CHANGED_RUNS');
      clock.advance(50);
    }
    expect(stream.readableLength).toBeLessThan(200);
    expect(await next()).toContain('ready');
    expect(await next()).toBe(changed('runs'));
  });

  test('work for masters is no news', async () => {
    const { feed, clock, tell } = open();
    const next = reader(feed.follow());
    await next();
    for (const hint of ['ASSETS', 'GROUPS', 'COMMANDS', 'TASKS'] as const) tell(hint);
    tell('CHANGED_RUNS');
    clock.advance(200);
    expect(await next()).toBe(changed('runs'));
  });

  test('a sign of life in every quiet quarter of a minute', async () => {
    const { feed, clock } = open();
    const next = reader(feed.follow());
    await next();
    for (let i = 0; i < 3; i += 1) {
      clock.advance(15_000);
      expect(await next()).toBe(': still here');
    }
  });

  test('there is room again when somebody has gone', () => {
    const { feed } = open();
    const followers = Array.from({ length: 100 }, () => feed.follow());
    expect(() => feed.follow()).toThrow('Close some of the 100 pages');
    followers[0]?.destroy();
    feed.follow();
    feed.close();
  });

  test('who has gone leaves nothing behind, and a closed feed takes nobody', async () => {
    const { feed, clock, tell } = open();
    const [one, two] = [feed.follow(), feed.follow()];
    await reader(one)();
    tell('CHANGED');
    one.destroy();
    expect(feed.size).toBe(1);
    feed.close();
    expect([feed.size, two.destroyed, clock.timers]).toEqual([0, true, 0]);
    expect(() => feed.follow()).toThrow('follow this server');
  });
});
