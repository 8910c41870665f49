/**
 * Local times of a time zone. A local time is a number: the milliseconds since 1970 that its year, month … would have in UTC, so that
 * `new Date(local).getUTC…()` reads it. Years 1 to 9999.
 */
import type { EpochMs } from '../../time.ts';

const FORMATS = new Map<string, Intl.DateTimeFormat>(); // making one costs far more than using it

/** Is this a name that the time-zone database knows (`Asia/Shanghai`, `UTC`)? */
export function isTimezone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = FORMATS.get(timezone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23', // h24 and `hour12: false` write midnight as 24
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  FORMATS.set(timezone, made);
  return made;
}

/** The local time of an instant. Throws RangeError for an unknown time zone. */
export function toLocal(timezone: string, at: EpochMs): number {
  const ms = Number(at);
  return ms + offsetAt(timezone, ms);
}

/** Local time minus UTC, in milliseconds (whole seconds: before about 1900 offsets are not whole minutes). */
function offsetAt(timezone: string, ms: number): number {
  const second = Math.floor(ms / 1000) * 1000;
  const part: Record<string, number> = {};
  for (const { type, value } of formatOf(timezone).formatToParts(second)) part[type] = Number(value);
  const { year = 1, month = 1, day = 1, hour = 0, minute = 0, second: seconds = 0 } = part;
  return utc(year, month, day, hour, minute, seconds) - second;
}

/** `Date.UTC` for every year: the built-in one reads 0 to 99 as 1900 to 1999. */
export function utc(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  return date.getTime();
}

const DAY = 86_400_000; // further than any offset, closer than any two changes of one

/**
 * The instant of a local time. Where clocks go back it is the earlier of the two; a time that clocks skip is moved on (or, if asked, back) by
 * as much as they skip: on is what java.time does.
 */
export function toInstant(timezone: string, local: number, skipped: 'ON' | 'BACK' = 'ON'): EpochMs {
  const before = offsetAt(timezone, local - DAY);
  const after = offsetAt(timezone, local + DAY);
  const fits = [before, after].find((offset) => offsetAt(timezone, local - offset) === offset);
  return BigInt(local - (fits ?? (skipped === 'ON' ? before : after)));
}
