/** Java's date patterns (java.time.format.DateTimeFormatter, English, ISO weeks), as far as they need no time zone. */
import { ok, refuse } from '../../result.ts';
import type { Result } from '../../result.ts';
import { utc } from './zone.ts';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const DAY_MS = 86_400_000;

/** The week that a local time belongs to, when weeks begin on `firstDay` (1 Monday … 7 Sunday) and a year's first has at least 4 of its days. */
export function weekOf(local: number, firstDay: number): { readonly year: number; readonly week: number } {
  const date = new Date(local);
  const sinceFirst = (date.getUTCDay() - firstDay + 14) % 7;
  const fourth = new Date(local + (3 - sinceFirst) * DAY_MS); // a week lies in the year that has its fourth day
  return { year: fourth.getUTCFullYear(), week: Math.floor((dayOfYear(fourth) - 1) / 7) + 1 };
}

const dayOfYear = (date: Date): number => Math.floor((date.getTime() - utc(date.getUTCFullYear(), 1, 1)) / DAY_MS) + 1;

type Letter = (count: number, date: Date) => string | undefined;

/** A number of at least `count` digits; more letters than `max` are an error. */
const digits =
  (max: number, read: (date: Date) => number): Letter =>
  (count, date) =>
    count <= max ? String(read(date)).padStart(count, '0') : undefined;

/** Two letters: the last two digits. */
const year =
  (read: (date: Date) => number): Letter =>
  (count, date) =>
    count === 2 ? String(read(date) % 100).padStart(2, '0') : digits(19, read)(count, date);

/** One or two letters: a number; three: short; four: long; five: one letter. */
const name = (count: number, long: string, short: string): string | undefined =>
  [short, long, long.slice(0, 1)][count - 3];

const month: Letter = (count, date) => {
  const long = MONTHS[date.getUTCMonth()] ?? '';
  return count <= 2 ? digits(2, (at) => at.getUTCMonth() + 1)(count, date) : name(count, long, long.slice(0, 3));
};

const quarterOf = (date: Date): number => Math.floor(date.getUTCMonth() / 3) + 1;

const quarter: Letter = (count, date) => {
  const value = quarterOf(date);
  if (count <= 2) return digits(2, quarterOf)(count, date);
  if (count === 5) return String(value);
  return name(count, `${['1st', '2nd', '3rd', '4th'][value - 1]} quarter`, `Q${value}`);
};

const dayName: Letter = (count, date) => {
  const long = DAYS[date.getUTCDay()] ?? '';
  return name(Math.max(count, 3), long, long.slice(0, 3));
};

const fraction: Letter = (count, date) =>
  count <= 9 ? String(date.getUTCMilliseconds()).padStart(3, '0').padEnd(9, '0').slice(0, count) : undefined;

const msOfDay = (date: Date): number => ((date.getTime() % DAY_MS) + DAY_MS) % DAY_MS;

const LETTERS: Readonly<Record<string, Letter>> = {
  G: (count) => name(Math.max(count, 3), 'Anno Domini', 'AD'),
  y: year((date) => date.getUTCFullYear()),
  u: year((date) => date.getUTCFullYear()),
  Y: year((date) => weekOf(date.getTime(), 1).year),
  M: month,
  L: month,
  Q: quarter,
  q: quarter,
  w: digits(2, (date) => weekOf(date.getTime(), 1).week),
  d: digits(2, (date) => date.getUTCDate()),
  D: digits(3, dayOfYear),
  F: digits(1, (date) => Math.floor((date.getUTCDate() - 1) / 7) + 1),
  E: dayName,
  a: (count, date) => (count === 1 ? (date.getUTCHours() < 12 ? 'AM' : 'PM') : undefined),
  H: digits(2, (date) => date.getUTCHours()),
  k: digits(2, (date) => date.getUTCHours() || 24),
  h: digits(2, (date) => date.getUTCHours() % 12 || 12),
  K: digits(2, (date) => date.getUTCHours() % 12),
  m: digits(2, (date) => date.getUTCMinutes()),
  s: digits(2, (date) => date.getUTCSeconds()),
  S: fraction,
  A: digits(19, msOfDay),
  n: digits(19, (date) => date.getUTCMilliseconds() * 1_000_000),
  N: digits(19, (date) => msOfDay(date) * 1_000_000),
};

/** Quoted text (`''` is a quote), a run of one letter, or any other character. */
const TOKEN = /'((?:[^']|'')*)'|([A-Za-z])\2*|[^]/g;

/**
 * A local time (zone.ts) written in a Java pattern. BAD_PARAMETER for a letter or a number of letters that means nothing, for the
 * characters that Java reserves or that only an expression can hold (`{ } # ( ) +`), for an open quote and for a blank pattern.
 */
export function formatLocal(local: number, pattern: string): Result<string> {
  if (pattern.trim() === '') return refuse('BAD_PARAMETER', 'The time pattern is empty: write one such as yyyyMMdd.');
  const date = new Date(local);
  let text = '';
  for (const [token, quoted, letter] of pattern.matchAll(TOKEN)) {
    const part = letter !== undefined ? LETTERS[letter]?.(token.length, date) : literal(token, quoted);
    if (part === undefined)
      return refuse(
        'BAD_PARAMETER',
        `The time pattern ${pattern} cannot be read at ${token}: put text that is no part of a time in single quotes.`,
      );
    text += part;
  }
  return ok(text);
}

function literal(token: string, quoted: string | undefined): string | undefined {
  if (quoted !== undefined) return quoted === '' ? "'" : quoted.replaceAll("''", "'");
  if ("{}#()+'".includes(token)) return undefined;
  return token === '[' || token === ']' ? '' : token; // optional sections: everything in them is there when writing
}
