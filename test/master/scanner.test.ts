import { describe, expect, test } from 'vitest';
import { parseAssetKey, type AssetKey } from '../../src/core/asset/key.ts';
import { type Poll, unreadable } from '../../src/core/asset/poll.ts';
import type { Asset } from '../../src/core/asset/state.ts';
import { fullEveryMs, needsRecording, pauseAfter } from '../../src/master/scan-policy.ts';
import { Scanner } from '../../src/master/scanner.ts';
import { type SimulatedClock, simulatedClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import type { AssetStore, RecordReceipt, ScanTarget } from '../../src/store/store.ts';

const INTERVAL_MS = 30_000;

const key = (table: string): AssetKey => {
  const parsed = parseAssetKey(`paimon://db/${table}`);
  if (!parsed.ok) throw new Error(parsed.problem.detail);
  return parsed.value;
};

const asset = (table: string): Asset => ({
  key: key(table),
  location: `/tables/${table}`,
  description: '',
  pushMode: 'VERIFY',
  onGap: 'CONTINUE',
  onRollback: 'IGNORE',
  onRecreate: 'CONTINUE',
  schemaPolicy: 'AUTO',
  requiredChecks: [],
  pollIntervalMs: null,
});

const target = (table: string): ScanTarget => ({
  asset: asset(table),
  cursor: { v: 1 },
  revision: 1,
  failures: 0,
  mustRecord: false,
  scanRequests: 0,
});

const idle: Poll = { ...unreadable({ v: 1 }, '', true), outcome: { kind: 'NONE' } };
const news: Poll = { ...idle, outcome: { kind: 'NEW' } };

/** A scanner over these tables; `answers` says what each read gives, `reads` what was read and how deep. */
const scannerOver = (
  tables: readonly string[],
  answer: (table: string) => Promise<Poll>,
  width = 4,
  interval: number | null = INTERVAL_MS,
) => {
  const clock: SimulatedClock = simulatedClock();
  const reads: string[] = [];
  const recorded: string[] = [];
  const idleRecorded: string[] = [];
  /** How often a look at a table was asked for. */
  const asked = new Map<string, number>();
  const loads: string[] = [];
  const now = (table: string): ScanTarget => {
    const scanRequests = asked.get(table) ?? 0;
    return { ...target(table), scanRequests, mustRecord: scanRequests > 0 };
  };
  const assets = {
    scanTargets: async (which?: unknown) => {
      loads.push(which === 'WANTED' ? 'WANTED' : 'ALL');
      return tables.map(now).filter(({ mustRecord }) => mustRecord || which !== 'WANTED');
    },
    recordPoll: async (of: AssetKey): Promise<RecordReceipt> => {
      const table = of.slice('paimon://db/'.length);
      recorded.push(table);
      return { kind: 'RECORDED', target: { ...now(table), revision: recorded.length + 1 }, events: [] };
    },
    recordIdle: async (polls: readonly { readonly key: AssetKey }[]) =>
      void idleRecorded.push(...polls.map((one) => one.key)),
  } as unknown as AssetStore;
  const scanner = new Scanner({
    assets,
    read: async ({ asset: { key: of } }, depth) => {
      const table = of.slice('paimon://db/'.length);
      reads.push(`${table} ${depth}`);
      return answer(table);
    },
    clock,
    log: createLog({ level: 'silent', destination: 'stderr', now: clock.now }),
    intervalMs: () => interval,
    width,
    onRecorded: () => {},
    onScanned: () => {},
  });
  const turn = async (): Promise<number | null> => {
    const next = await scanner.runOnce(new AbortController().signal);
    await scanner.settle();
    return next;
  };
  const ask = (table: string): void => {
    asked.set(table, (asked.get(table) ?? 0) + 1);
    scanner.reload('WANTED');
  };
  return { scanner, clock, reads, recorded, idleRecorded, turn, ask, loads };
};

describe('scanner', () => {
  test('looks at every table once, then again after its interval, and writes nothing for idle ones but that it looked', async () => {
    const { clock, reads, recorded, idleRecorded, turn } = scannerOver(['a', 'b'], async () => idle);
    await turn();
    await turn();
    expect(reads).toEqual(['a FULL', 'b FULL']);
    clock.advance(INTERVAL_MS);
    await turn();
    expect(reads.slice(2)).toEqual(['a QUICK', 'b QUICK']);
    expect(recorded).toEqual([]);
    expect(new Set(idleRecorded)).toEqual(new Set([key('a'), key('b')]));
  });

  test('a table that is not polled is read when somebody asks, again where that failed, and else never', async () => {
    const broken: Poll = { ...idle, outcome: { kind: 'UNREADABLE', reason: 'The folder is gone.', retryable: true } };
    const answers = [broken, idle];
    const { clock, reads, turn, ask } = scannerOver(['a'], async () => answers.shift() ?? idle, 4, null);
    await turn();
    clock.advance(3_600_000);
    await turn();
    expect(reads).toEqual([]);
    ask('a');
    await turn();
    expect(reads).toEqual(['a FULL']);
    clock.advance(60_000);
    await turn();
    expect(reads).toEqual(['a FULL', 'a FULL']);
    clock.advance(3_600_000);
    await turn();
    expect(reads).toEqual(['a FULL', 'a FULL']);
  });

  test('looks fully at least once a minute', async () => {
    const { clock, reads, turn } = scannerOver(['a'], async () => idle);
    for (let i = 0; i < 5; i++) {
      await turn();
      clock.advance(INTERVAL_MS);
    }
    expect(reads).toEqual(['a FULL', 'a QUICK', 'a FULL', 'a QUICK', 'a FULL']);
  });

  test('records what is new', async () => {
    const { recorded, turn } = scannerOver(['a', 'b'], async (table) => (table === 'b' ? news : idle));
    await turn();
    expect(recorded).toEqual(['b']);
  });

  test('a look that is asked for comes at once, once and fully, and only what is asked for is loaded', async () => {
    const { reads, loads, turn, ask } = scannerOver(['a', 'b'], async () => idle);
    await turn();
    ask('b');
    await turn();
    await turn();
    expect(reads).toEqual(['a FULL', 'b FULL', 'b FULL']);
    expect(loads).toEqual(['ALL', 'WANTED']);
  });

  test('a look that is asked for while the table is being read begins after that', async () => {
    const first = Promise.withResolvers<Poll>();
    const answers = [first.promise, Promise.resolve(news), Promise.resolve(news)];
    const { scanner, reads, turn, ask } = scannerOver(['a'], () => answers.shift() ?? Promise.resolve(idle));
    const signal = new AbortController().signal;
    await scanner.runOnce(signal);
    ask('a');
    await scanner.runOnce(signal);
    expect(reads).toEqual(['a FULL']);
    first.resolve(news);
    await scanner.settle();
    await turn();
    expect(reads).toEqual(['a FULL', 'a FULL']);
    await turn();
    expect(reads).toHaveLength(2);
  });

  test('a table that hangs holds one place and delays no other', async () => {
    const hangs = Promise.withResolvers<Poll>();
    const { scanner, clock, reads } = scannerOver(
      ['bad', 'a', 'b', 'c'],
      (table) => (table === 'bad' ? hangs.promise : Promise.resolve(idle)),
      2,
    );
    const signal = new AbortController().signal;
    for (let i = 0; i < 3; i++) {
      await scanner.runOnce(signal);
      await scanner.scanNow([key('a'), key('b'), key('c')], 1_000);
      clock.advance(INTERVAL_MS);
    }
    expect(reads.filter((read) => read.startsWith('bad'))).toHaveLength(1);
    expect(reads.filter((read) => read.startsWith('c ')).length).toBeGreaterThanOrEqual(3);
    hangs.resolve(idle);
    await scanner.settle();
  });

  test('an unreadable table is told once, then tried again with growing pauses, and told when it is readable again', async () => {
    let broken = true;
    const { clock, reads, recorded, turn } = scannerOver(['a'], async () =>
      broken ? unreadable({ v: 1 }, 'disk', true) : idle,
    );
    await turn();
    clock.advance(INTERVAL_MS);
    await turn();
    expect(reads).toHaveLength(1); // the pause is longer than the interval now
    clock.advance(INTERVAL_MS);
    await turn();
    expect(reads).toHaveLength(2);
    expect(recorded).toEqual(['a']); // the same reason is written once
    broken = false;
    clock.advance(INTERVAL_MS * 4);
    await turn();
    expect(recorded).toEqual(['a', 'a']);
    expect(reads.every((read) => read.endsWith('FULL'))).toBe(true);
  });

  test('scanNow waits for a scan begun after it was asked, also while one is under way', async () => {
    const first = Promise.withResolvers<Poll>();
    const polls = [first.promise, Promise.resolve(news)];
    const { scanner, reads, recorded } = scannerOver(['a'], () => polls.shift() ?? Promise.resolve(idle));
    await scanner.runOnce(new AbortController().signal);
    const asked = scanner.scanNow([key('a')], 10_000);
    first.resolve(idle);
    await asked;
    expect(reads).toHaveLength(2);
    expect(recorded).toEqual(['a']);
  });

  test('says when it wants to look again, and is woken by a scan that is due sooner', async () => {
    const { scanner, clock } = scannerOver(['a'], async () => idle);
    let woken = 0;
    scanner.onWanted(() => {
      woken += 1;
    });
    const next = await scanner.runOnce(new AbortController().signal);
    await scanner.settle();
    expect(next).toBeGreaterThan(INTERVAL_MS);
    expect(woken).toBe(1);
    clock.advance(10);
    expect(await scanner.runOnce(new AbortController().signal)).toBeLessThanOrEqual(INTERVAL_MS);
  });
});

describe('pauses and depth', () => {
  test('a pause doubles with each failure up to ten minutes, and is never shorter than the interval', () => {
    expect([0, 1, 2, 3, 30].map((failures) => pauseAfter(failures, 30_000))).toEqual([
      30_000, 60_000, 120_000, 240_000, 600_000,
    ]);
    expect(pauseAfter(5, 3_600_000)).toBe(3_600_000);
  });

  test('every fourth scan is full, at least one a minute', () => {
    expect([100, 10_000, 30_000, 300_000].map(fullEveryMs)).toEqual([400, 40_000, 60_000, 60_000]);
  });

  test('the first read of a table is recorded even if it finds nothing: groups begin there', () => {
    const before = { failures: 0, reason: null };
    expect(needsRecording({ ...target('a'), cursor: null }, idle, before)).toBe(true);
    expect(needsRecording(target('a'), idle, before)).toBe(false);
    expect(needsRecording({ ...target('a'), mustRecord: true }, idle, before)).toBe(true);
  });
});
