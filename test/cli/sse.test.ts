import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { serverSentEvents } from '../../src/cli/sse.ts';

const read = async (chunks: readonly string[]) => {
  const events = [];
  for await (const event of serverSentEvents(
    (async function* () {
      yield* chunks;
    })(),
  ))
    events.push(event);
  return events;
};

const STREAM =
  'id: 3\nevent: log\ndata: {"text":"a: b\\n\\nc"}\n\n: still here\n\nid: 9\nevent: end\ndata: {"state":"SUCCESS"}\n\n';

describe('server-sent events', () => {
  test('comments are left out, data is parsed', async () => {
    expect(await read([STREAM])).toEqual([
      { event: 'log', data: { text: 'a: b\n\nc' } },
      { event: 'end', data: { state: 'SUCCESS' } },
    ]);
  });

  test('however the stream is cut, the events are the same', async () => {
    const whole = await read([STREAM]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: STREAM.length }), { maxLength: 8 }), async (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), STREAM.length];
        const chunks = at.slice(1).map((end, i) => STREAM.slice(at[i], end));
        expect(await read(chunks)).toEqual(whole);
      }),
    );
  });
});
