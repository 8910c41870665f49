/**
 * `$[…]`: DolphinScheduler's time expressions (facts/dolphinscheduler.md 2.7), in the workflow's time zone.
 * Days, weeks and months are counted on the calendar, hours and minutes on the clock that never jumps, so a day with a clock change is one day.
 */
import { ok, refuse } from '../../result.ts';
import type { Result } from '../../result.ts';
import type { EpochMs } from '../../time.ts';
import { formatLocal, weekOf } from './date-pattern.ts';
import { toInstant, toLocal, utc } from './zone.ts';

/** What time expressions count from: the run's schedule time, else now. */
export interface TimeBase {
  readonly at: EpochMs;
  /** IANA name. */
  readonly timezone: string;
}

const DAY_MS = 86_400_000;
const MINUTES_A_DAY = 1440;

/**
 * The text with every `$[expression]` in it replaced. `$[]` and `$[5]` (one digit: an array's index) stay as they are. BAD_PARAMETER for
 * an expression that means nothing: nobody wants its text in a script.
 */
export function replaceTimes(text: string, base: TimeBase): Result<string> {
  let out = '';
  let from = 0;
  for (const match of text.matchAll(/\$\[([^$\]]+)\]/g)) {
    const [whole, expression = ''] = match;
    if (/^\d$/.test(expression)) continue;
    const value = evaluateTime(expression, base);
    if (!value.ok) return value;
    out += text.slice(from, match.index) + value.value;
    from = match.index + whole.length;
  }
  return ok(out + text.slice(from));
}

/** The value of one expression, without its `$[ ]`. */
export function evaluateTime(expression: string, base: TimeBase): Result<string> {
  const call = /^timestamp\((.*)\)$/s.exec(expression);
  const value = call === null ? evaluate(expression, base) : secondsOf(evaluate(call[1] ?? '', base), base);
  if (value.ok) return value;
  return refuse('BAD_PARAMETER', `The time expression $[${expression}] cannot be used. ${value.problem.detail}`);
}

/** Unix seconds of a text written as yyyyMMddHHmmss. */
function secondsOf(text: Result<string>, { timezone }: TimeBase): Result<string> {
  if (!text.ok) return text;
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text.value) ?? [];
  const local = utc(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
  if (Number.isNaN(local) || !writable(local))
    return refuse('BAD_PARAMETER', 'timestamp() needs a time written as yyyyMMddHHmmss.');
  return ok((toInstant(timezone, local) / 1000n).toString());
}

function evaluate(expression: string, base: TimeBase): Result<string> {
  const [, name = '', inside = ''] = /^([a-z_]+)\((.*)\)$/s.exec(expression) ?? [];
  const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  const now = toLocal(base.timezone, base.at);
  if (known !== undefined) return apply(known, inside.split(','), now, base.timezone);
  const [, pattern, sum] = /^(.*)([+-]\d+(?:[*/]\d+)*)$/s.exec(expression) ?? [];
  if (pattern === undefined || sum === undefined) return write(now, expression, now, base.timezone);
  const moved = shift(base, sum);
  return moved.ok ? write(moved.value, pattern, now, base.timezone) : moved;
}

/** `+1`, `-7*2`: days; with a division (`+1/24`, `-15/24/60`): that part of 24 hours, whole minutes. */
function shift({ at, timezone }: TimeBase, sum: string): Result<number> {
  const isClock = sum.includes('/');
  const amount = calculate(isClock ? `${sum.slice(0, 1)}${MINUTES_A_DAY}*${sum.slice(1)}` : sum);
  if (!amount.ok) return amount;
  const local = toLocal(timezone, at);
  if (!isClock) return ok(local + amount.value * DAY_MS);
  const instant = at + BigInt(amount.value) * 60_000n;
  return writable(Number(instant)) ? ok(toLocal(timezone, instant)) : TOO_FAR;
}

const LARGEST = 2 ** 31; // what a factor of theirs can be; it also keeps every product exact enough to be refused
const FURTHEST = utc(9999, 12, 30);
const EARLIEST = utc(1, 1, 2);

const writable = (ms: number): boolean => ms >= EARLIEST && ms <= FURTHEST;

const TOO_FAR = refuse('BAD_PARAMETER', 'The time lies outside of the years 1 to 9999.');

/** A product and quotient of whole numbers, from left to right, each division rounded towards zero: `-12*2`, `1440*1/24`. */
function calculate(text: string): Result<number> {
  const bad = refuse('BAD_PARAMETER', `${text} is not a whole number or a product or quotient of such numbers.`);
  const [, sign, first, rest = ''] = /^\s*([+-]?)(\d+)((?:[*/]\d+)*)\s*$/.exec(text) ?? [];
  if (first === undefined) return bad;
  let value = Number(first);
  for (const [, operator, digits] of rest.matchAll(/([*/])(\d+)/g)) {
    const factor = Number(digits);
    if (factor >= LARGEST) return bad;
    value = operator === '*' ? value * factor : Math.trunc(value / factor);
  }
  if (!(value < LARGEST * MINUTES_A_DAY)) return bad; // a division by zero ends here too
  return ok(sign === '-' && value !== 0 ? -value : value);
}

function write(local: number, pattern: string, now: number, timezone: string): Result<string> {
  if (!writable(local)) return TOO_FAR;
  if (/-\s*$|-\s+\d/.test(pattern))
    return refuse('BAD_PARAMETER', `What stands after the - in ${pattern} is not a number of days.`);
  return formatLocal(existing(local, now, timezone), pattern);
}

/** A local time that the clocks skip becomes one that exists: later, unless that leaves the day and we count back from `now`. */
function existing(local: number, now: number, timezone: string): number {
  const later = toLocal(timezone, toInstant(timezone, local));
  const leftTheDay = Math.floor(later / DAY_MS) !== Math.floor(local / DAY_MS);
  return leftTheDay && local < now ? toLocal(timezone, toInstant(timezone, local, 'BACK')) : later;
}

/** A function of a pattern and a number; `number` says whether it must be there (what it is if not). */
interface TimeFunction {
  readonly number: 'NEEDED' | 'NONE' | { readonly default: number };
  readonly range?: readonly [number, number];
  readonly at?: (local: number, n: number) => number;
  /** Writes the value itself. */
  readonly text?: (local: number, pattern: string, n: number) => string;
}

function apply(one: TimeFunction, args: readonly string[], now: number, timezone: string): Result<string> {
  const [pattern = '', text] = args;
  const fewest = one.number === 'NEEDED' ? 2 : 1;
  const most = one.number === 'NONE' ? 1 : 2;
  if (args.length < fewest || args.length > most)
    return refuse('BAD_PARAMETER', `The function takes ${most === 1 ? 'a pattern' : 'a pattern and a number'}.`);
  const amount = text !== undefined ? calculate(text) : ok(typeof one.number === 'object' ? one.number.default : 0);
  if (!amount.ok) return amount;
  const [least, greatest] = one.range ?? [-LARGEST, LARGEST];
  if (amount.value < least || amount.value > greatest)
    return refuse('BAD_PARAMETER', `The number must be from ${least} to ${greatest}.`);
  const written = write(one.at?.(now, amount.value) ?? now, pattern, now, timezone);
  return written.ok && one.text !== undefined ? ok(one.text(now, pattern, amount.value)) : written;
}

const FUNCTIONS: Readonly<Record<string, TimeFunction>> = {
  add_months: { number: 'NEEDED', at: addMonths },
  month_begin: { number: 'NEEDED', at: (local, days) => monthBegin(local, 0) + days * DAY_MS },
  month_end: { number: 'NEEDED', at: (local, days) => monthEnd(local, 0) + days * DAY_MS },
  week_begin: { number: 'NEEDED', at: (local, days) => weekBegin(local) + days * DAY_MS },
  week_end: { number: 'NEEDED', at: (local, days) => weekBegin(local) + (6 + days) * DAY_MS },
  month_first_day: { number: { default: 0 }, at: monthBegin },
  month_last_day: { number: { default: 0 }, at: monthEnd },
  week_first_day: { number: { default: 0 }, at: (local, weeks) => weekBegin(local) + weeks * 7 * DAY_MS },
  week_last_day: { number: { default: 0 }, at: (local, weeks) => weekBegin(local) + (weeks * 7 + 6) * DAY_MS },
  this_day: { number: 'NONE' },
  last_day: { number: 'NONE', at: (local) => local - DAY_MS },
  year_week: { number: { default: 1 }, range: [1, 7], text: yearWeek },
};

/** The same day `months` later, or the last of that month if it is shorter. The time of day stays, here and below. */
function addMonths(local: number, months: number): number {
  const date = new Date(local);
  const first = monthBegin(local, months);
  return first + (Math.min(date.getUTCDate(), daysInMonth(first)) - 1) * DAY_MS;
}

function monthBegin(local: number, months: number): number {
  const date = new Date(local);
  date.setUTCMonth(date.getUTCMonth() + months, 1);
  return date.getTime();
}

function monthEnd(local: number, months: number): number {
  const first = monthBegin(local, months);
  return first + (daysInMonth(first) - 1) * DAY_MS;
}

function daysInMonth(local: number): number {
  const date = new Date(local);
  date.setUTCMonth(date.getUTCMonth() + 1, 0);
  return date.getUTCDate();
}

/** Monday of the same week. */
const weekBegin = (local: number): number => local - ((new Date(local).getUTCDay() + 6) % 7) * DAY_MS;

/** Year and number of the week; a dash between them if the pattern has one. */
function yearWeek(local: number, pattern: string, firstDay: number): string {
  const { year, week } = weekOf(local, firstDay);
  return `${String(year).padStart(4, '0')}${pattern.includes('-') ? '-' : ''}${String(week).padStart(2, '0')}`;
}
