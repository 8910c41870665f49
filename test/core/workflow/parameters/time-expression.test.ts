import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatLocal } from '../../../../src/core/workflow/parameters/date-pattern.ts';
import { evaluateTime, replaceTimes } from '../../../../src/core/workflow/parameters/time-expression.ts';
import { isTimezone, toInstant, toLocal } from '../../../../src/core/workflow/parameters/zone.ts';

const at = (iso: string): bigint => BigInt(Date.parse(iso));
const value = (expression: string, iso: string, timezone = 'UTC'): string => {
  const result = evaluateTime(expression, { at: at(iso), timezone });
  return result.ok ? result.value : `refused: ${result.problem.code}`;
};

describe('time expressions', () => {
  test.each([
    // a day is a day on the calendar, an hour an hour on the clock, also where clocks change
    ['yyyyMMddHHmm+1', '2024-03-30T13:00:00Z', 'Europe/Berlin', '202403311400'],
    ['yyyyMMddHHmm+24/24', '2024-03-30T13:00:00Z', 'Europe/Berlin', '202403311500'],
    ['yyyyMMddHHmm+1', '2024-03-30T01:30:00Z', 'Europe/Berlin', '202403310330'], // 02:30 is skipped
    ['yyyyMMddHHmm-1', '2024-04-01T00:30:00Z', 'Europe/Berlin', '202403310330'],
    // a day that was skipped as a whole: on when counting on, back when counting back
    ['yyyyMMdd+1', '2011-12-30T02:00:00Z', 'Pacific/Apia', '20111231'],
    ['yyyyMMdd-1', '2011-12-30T22:00:00Z', 'Pacific/Apia', '20111229'],
    ['add_months(yyyyMMdd,1)', '2024-01-31T00:00:00Z', 'UTC', '20240229'],
    ['add_months(yyyyMMdd,-12*2)', '2024-02-29T00:00:00Z', 'UTC', '20220228'],
    ['year_week(yyyy-MM-dd)', '2024-12-30T08:00:00Z', 'UTC', '2025-01'],
    ['year_week(yyyy,7)', '2026-01-01T00:00:00Z', 'UTC', '202553'],
    [
      'timestamp(yyyyMMdd000000)',
      '2024-06-01T20:00:00Z',
      'Asia/Shanghai',
      String(Date.parse('2024-06-01T16:00:00Z') / 1000),
    ],
    [
      "EEEE d MMMM yyyy, h:mm a 'o''clock'",
      '2024-02-29T15:04:00Z',
      'UTC',
      "Thursday 29 February 2024, 3:04 PM o'clock",
    ],
    ['SSS QQQ qqqq DDD kk KK w YYYY', '2024-02-29T00:00:00.120Z', 'UTC', '120 Q1 1st quarter 060 24 00 9 2024'],
  ])('%s at %s in %s is %s', (expression, iso, timezone, expected) => {
    expect(value(expression, iso, timezone)).toBe(expected);
  });

  test.each([
    'foo',
    'yyyyMMdd-',
    'yyyyMMdd--1',
    'yyyyMMdd+1/0',
    'yyyyMMdd+1+1',
    'yyyyMMdd + 1',
    'add_months(yyyyMMdd)',
    'this_day()',
    'timestamp(yyyyMMdd)',
    'timestamp(timestamp(yyyyMMddHHmmss))',
    'constructor(yyyy)',
    'yyyyMMdd-9999999999',
    'yyyyMMdd+99999999',
    'yyyyMMdd-99999999',
    'year_week(yyyy,8)',
    "yyyy'",
    ' ',
  ])('%s is refused', (expression) => {
    expect(value(expression, '2024-02-29T00:00:00Z')).toBe('refused: BAD_PARAMETER');
  });

  test('in a text: all of them, and what is none stays', () => {
    const base = { at: at('2024-02-29T12:00:00Z'), timezone: 'Asia/Shanghai' };
    expect(replaceTimes('dt=$[yyyyMMdd-1]/h=$[HH] $[] $[3] a[0] $x', base)).toEqual({
      ok: true,
      value: 'dt=20240228/h=20 $[] $[3] a[0] $x',
    });
    expect(replaceTimes('$[yyyy] $[nope]', base)).toMatchObject({
      ok: false,
      problem: { detail: expect.stringContaining('$[nope]') },
    });
  });
});

describe('local times', () => {
  const zones = [
    'UTC',
    'Asia/Shanghai',
    'America/New_York',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Asia/Kolkata',
    'Pacific/Apia',
    'America/Sao_Paulo',
  ];
  const instant = fc.integer({ min: Date.UTC(1950, 0), max: Date.UTC(2035, 0) }).map((ms) => BigInt(ms));

  test('an instant comes back from its local time, or an hour of the same name earlier', () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones), instant, (zone, ms) => {
        const local = toLocal(zone, ms);
        const back = toInstant(zone, local);
        expect(toLocal(zone, back)).toBe(local);
        expect(back <= ms).toBe(true);
        expect(ms - back).toBeLessThanOrEqual(7_200_000n);
      }),
      { numRuns: 300 },
    );
  });

  test('midnight is 00, years before 1900 keep their seconds of offset', () => {
    expect(new Date(toLocal('Europe/Berlin', at('2024-06-01T22:00:00Z'))).toISOString()).toBe(
      '2024-06-02T00:00:00.000Z',
    );
    expect(new Date(toLocal('America/New_York', at('1850-01-01T12:00:00Z'))).toISOString()).toBe(
      '1850-01-01T07:03:58.000Z',
    );
  });

  test('unknown zones are known to be unknown', () => {
    expect([isTimezone('Asia/Shanghai'), isTimezone('Mars/Olympus'), isTimezone('')]).toEqual([true, false, false]);
  });

  test('numbers with too many letters are refused', () => {
    expect(formatLocal(0, 'ddd')).toMatchObject({ ok: false, problem: { detail: expect.stringContaining('ddd') } });
  });
});
