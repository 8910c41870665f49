import { describe, expect, test } from 'vitest';
import { Busy } from '../../src/store/busy.ts';
import { Turns } from '../../src/store/turns.ts';

/** Work that ends when it is told to. */
const work = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { begun: false, end: resolve, promise };
};
const begin = (one: ReturnType<typeof work>) => (): Promise<void> => {
  one.begun = true;
  return one.promise;
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  test('two requests record at a time, the others in the order in which they came', async () => {
    const turns = new Turns(() => null);
    const works = [work(), work(), work(), work()];
    const ended = works.map((one) => turns.record(begin(one)));
    const begun = async () => {
      await turn();
      return works.map((one) => one.begun);
    };
    expect(await begun()).toEqual([true, true, false, false]);
    works[1]?.end();
    expect(await begun()).toEqual([true, true, true, false]);
    for (const one of works) one.end();
    await Promise.all(ended);
    expect(await begun()).toEqual([true, true, true, true]);
  });

  test('a request that fails makes room for the next', async () => {
    const turns = new Turns(() => null);
    const fails = () => turns.record(() => Promise.reject(new Error('no')));
    await Promise.allSettled([fails(), fails(), fails()]);
    expect(await turns.record(async () => 'recorded')).toBe('recorded');
  });

  test('the master’s transactions go first, also those that follow one another', async () => {
    const master = new Busy();
    const turns = new Turns(() => master.idle());
    const [first, second] = [work(), work()];
    void master.during(first.promise).then(() => master.during(second.promise));
    const request = work();
    const ended = turns.record(begin(request));
    first.end();
    await turn();
    expect(request.begun).toBe(false);
    second.end();
    request.end();
    await ended;
    expect(master.idle()).toBeNull();
  });

  test('but a master that never pauses holds up no request', async () => {
    const master = new Busy();
    const turns = new Turns(() => master.idle());
    const endless = work();
    const busy = master.during(endless.promise);
    expect(await turns.record(async () => 'recorded')).toBe('recorded');
    endless.end();
    await busy;
  });

  test('an evaluation waits for what is being recorded', async () => {
    const turns = new Turns(() => null);
    const request = work();
    const ended = turns.record(begin(request));
    let evaluates = false;
    const evaluation = turns.next().then(() => (evaluates = true));
    await turn();
    expect(evaluates).toBe(false);
    request.end();
    await Promise.all([ended, evaluation]);
    expect(evaluates).toBe(true);
  });
});
