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
  test('three requests record at a time, the others in the order in which they came', async () => {
    const turns = new Turns(() => null);
    const works = Array.from({ length: 5 }, () => work());
    const ended = works.map((one) => turns.record(begin(one)));
    const begun = async () => {
      await turn();
      await turn();
      return works.map((one) => one.begun);
    };
    expect(await begun()).toEqual([true, true, true, false, false]);
    works[1]?.end();
    expect(await begun()).toEqual([true, true, true, true, false]);
    for (const one of works) one.end();
    await Promise.all(ended);
    expect(await begun()).toEqual([true, true, true, true, true]);
  });

  test('a request that fails makes room for the next', async () => {
    const turns = new Turns(() => null);
    const fails = () => turns.record(() => Promise.reject(new Error('no')));
    await Promise.allSettled([fails(), fails(), fails(), fails()]);
    expect(await turns.record(async () => 'recorded')).toBe('recorded');
  });

  test('one request goes on beside the master; the second waits for it, also for transactions that follow one another', async () => {
    const master = new Busy();
    const turns = new Turns(() => master.idle());
    const [first, second] = [work(), work()];
    void master.during(first.promise).then(() => master.during(second.promise));
    const requests = [work(), work()];
    const ended = requests.map((one) => turns.record(begin(one)));
    first.end();
    await turn();
    expect(requests.map((one) => one.begun)).toEqual([true, false]);
    second.end();
    await turn();
    await turn();
    expect(requests.map((one) => one.begun)).toEqual([true, true]);
    for (const one of requests) one.end();
    await Promise.all(ended);
    expect(master.idle()).toBeNull();
  });

  test('but a master that never pauses holds up no request', async () => {
    const master = new Busy();
    const turns = new Turns(() => master.idle());
    const [endless, request] = [work(), work()];
    const busy = master.during(endless.promise);
    const before = turns.record(begin(request));
    expect(await turns.record(async () => 'recorded')).toBe('recorded');
    request.end();
    endless.end();
    await Promise.all([before, busy]);
  });

  test('the next part of a backlog waits until two requests are recorded, or none is left', async () => {
    const turns = new Turns(() => null);
    const works = [work(), work(), work()];
    const ended = works.map((one) => turns.record(begin(one)));
    let evaluated = 0;
    const evaluation = turns.next().then(() => (evaluated += 1));
    await turn();
    works[0]?.end();
    await turn();
    expect(evaluated).toBe(0);
    works[1]?.end();
    await evaluation;
    const last = turns.next().then(() => (evaluated += 1));
    await turn();
    await turn();
    expect(evaluated).toBe(1);
    works[2]?.end();
    await Promise.all([...ended, last]);
    await turns.next(); // nothing is being recorded
    expect(evaluated).toBe(2);
  });

  test('between two parts of a backlog everything else has its turn, even if nothing is being recorded', async () => {
    const turns = new Turns(() => null);
    let others = 0;
    setTimeout(() => (others += 1), 0);
    const until = Date.now() + 1_000;
    while (others === 0 && Date.now() < until) await turns.next();
    expect(others).toBe(1);
  });

  test('one who records again and again, and is answered at once, lets others record', async () => {
    const master = new Busy();
    const turns = new Turns(() => master.idle());
    const endless = work();
    const busy = master.during(endless.promise);
    let recorded = 0;
    let times = 0;
    const again = async (): Promise<void> => {
      for (; recorded === 0 && times < 100_000; times += 1) await turns.record(async () => {});
    };
    const first = again();
    await turns.record(async () => (recorded += 1));
    await first;
    endless.end();
    await busy;
    expect(times).toBeLessThan(100_000);
  });
});
