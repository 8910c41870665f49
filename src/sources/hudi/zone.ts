import { isTimezone, toInstant, toLocal, utc } from '../../core/workflow/parameters/zone.ts';
import type { EpochMs } from '../../core/time.ts';
import { orderText } from './instants.ts';
import type { TableConfig } from './properties.ts';

/**
 * Hudi names its actions by the writer's local time unless told otherwise, and does not say which zone that is. The lines above the
 * properties do: a writer puts the time of writing there twice, in UTC and in its own zone (facts/formats.md, 3.2).
 */
export interface Header {
  /** A zone's name or an offset (`Asia/Shanghai`, `+08:00`). */
  readonly zone: string;
  /** When the properties were written, by the writer's clock. */
  readonly savedAt: EpochMs;
}

/** What was found out about the zone of a table's times. */
export interface ZoneFinding {
  readonly zone: string;
  /** The header that was seen last. */
  readonly savedAt: EpochMs | null;
}

export const UTC = 'UTC';

/** Zones behind the abbreviations that Java prints, with the offset in minutes that tells alike ones apart. */
const ZONES: readonly (readonly [abbreviation: string, minutes: number, zone: string])[] = [
  ['PST', -480, 'America/Los_Angeles'],
  ['PDT', -420, 'America/Los_Angeles'],
  ['MST', -420, 'America/Denver'],
  ['MDT', -360, 'America/Denver'],
  ['CST', -360, 'America/Chicago'],
  ['CDT', -300, 'America/Chicago'],
  ['EST', -300, 'America/New_York'],
  ['EDT', -240, 'America/New_York'],
  ['GMT', 0, 'UTC'],
  ['UTC', 0, 'UTC'],
  ['BST', 60, 'Europe/London'],
  ['WEST', 60, 'Europe/Lisbon'],
  ['CET', 60, 'Europe/Berlin'],
  ['CEST', 120, 'Europe/Berlin'],
  ['EET', 120, 'Europe/Helsinki'],
  ['EEST', 180, 'Europe/Helsinki'],
  ['AEST', 600, 'Australia/Sydney'],
  ['AEDT', 660, 'Australia/Sydney'],
];

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const JAVA_DATE = /\b([A-Z][a-z]{2}) (\d{1,2}) (\d{2}):(\d{2}):(\d{2}) (\S+) (\d{4})$/;
const ISO_DATE = /\b(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?)Z$/;
const MINUTE = 60_000;
/** All offsets in use are multiples of it. */
const QUARTER = 15 * MINUTE;

/** The writer's zone and clock, from the lines above the properties; null if they do not tell. */
export function readHeader({ comments }: TableConfig): Header | null {
  const iso = comments.map((line) => ISO_DATE.exec(line)?.[1]).find((found) => found !== undefined);
  const java = comments.map((line) => JAVA_DATE.exec(line)).findLast((found) => found !== null);
  if (!java) return null;
  const [, month = '', day, hour, minute, second, abbreviation = '', year] = java;
  const local = utc(Number(year), MONTHS.indexOf(month) + 1, Number(day), Number(hour), Number(minute), Number(second));
  const saved = iso === undefined ? Number.NaN : Date.parse(`${iso.slice(0, 23).padEnd(19, '0')}Z`);
  if (Number.isNaN(saved)) return byAbbreviation(abbreviation, local);
  const minutes = (Math.round((local - saved) / QUARTER) * QUARTER) / MINUTE;
  const known = ZONES.find(([name, offset]) => name === abbreviation && offset === minutes);
  return { zone: known?.[2] ?? offsetZone(minutes), savedAt: BigInt(saved) };
}

/** Without the time in UTC only an abbreviation that has one meaning tells. */
function byAbbreviation(abbreviation: string, local: number): Header | null {
  const zones = new Set(ZONES.filter(([name]) => name === abbreviation).map(([, , zone]) => zone));
  const [zone] = zones;
  if (zone === undefined || abbreviation === 'CST' || abbreviation === 'BST') return null;
  return { zone, savedAt: toInstant(zone, local) };
}

function offsetZone(minutes: number): string {
  if (minutes === 0) return UTC;
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`;
}

/** The time as a number that `core/workflow/zone.ts` calls local; null for what is no time (Hudi's bootstrap instants, damage). */
function localTime(time: string): number | null {
  const [, year, month, day, hour, minute, second, ms] =
    /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{3})?/.exec(time) ?? [];
  const local = utc(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
  return Number(year) < 1970 || Number(month) < 1 || Number(month) > 12 || Number.isNaN(local)
    ? null
    : local + Number(ms ?? 0);
}

/** Milliseconds that local time is ahead of UTC in a zone written as an offset; null for a zone with a name. */
function offsetOf(zone: string): number | null {
  if (zone === UTC) return 0;
  const [, sign, hours, minutes] = /^([+-])(\d{2}):(\d{2})$/.exec(zone) ?? [];
  if (sign === undefined) return isTimezone(zone) ? null : 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE;
}

/** Epoch ms of a time in an action's name; null for what is no time. */
export function instantOf(time: string, zone: string): EpochMs | null {
  const local = localTime(time);
  if (local === null) return null;
  const offset = offsetOf(zone);
  return offset === null ? toInstant(zone, local) : BigInt(local - offset);
}

const localOf = (at: EpochMs, zone: string): number => {
  const offset = offsetOf(zone);
  return offset === null ? toLocal(zone, at) : Number(at) + offset;
};

/** What tells the zone of some times. */
export interface Evidence {
  readonly config: TableConfig;
  readonly header: Header | null;
  readonly before: ZoneFinding | null;
  /** Times in names that are new: of completion where names tell it, else of request. */
  readonly times: readonly string[];
}

/** How close a name's time and the writing of the properties must be to belong together. */
const NEAR = 30 * MINUTE;

/** The zone of the times. The header's, unless the times show by their closeness to its writing that they are of another. */
export function findZone({ config, header, before, times }: Evidence): ZoneFinding {
  const savedAt = header?.savedAt ?? before?.savedAt ?? null;
  if (config.utc) return { zone: UTC, savedAt };
  if (header === null) return { zone: before?.zone ?? UTC, savedAt };
  const isOldNews = before !== null && before.savedAt === header.savedAt;
  if (isOldNews || (before !== null && times.length === 0))
    return { zone: before.zone, savedAt: isOldNews ? savedAt : before.savedAt };
  const locals = times.map(localTime).filter((local) => local !== null);
  const isNear = (zone: string): boolean => {
    const saved = localOf(header.savedAt, zone);
    return locals.some((local) => Math.abs(local - saved) < NEAR);
  };
  const near = [header.zone, before?.zone ?? UTC, UTC].find(isNear);
  return { zone: near ?? before?.zone ?? header.zone, savedAt };
}

/** Bounds on when actions that are new were completed. */
export interface Bounds {
  /** After this: what was completed then had been seen before; null if nothing says so. */
  readonly notBefore: EpochMs | null;
  /** Before this: the newest file was there then; null if nothing says so. */
  readonly notAfter: EpochMs | null;
}

/** How far clocks may differ. */
const SKEW = BigInt(15 * MINUTE);

/**
 * Epoch ms of a time in a name. Where the zone puts it outside its bounds, its writer was in another zone: the first of the others that fits
 * is taken, else a zone that makes it end at `notAfter`. null for what is no time.
 */
export function resolveTime(time: string, zones: readonly string[], bounds: Bounds): EpochMs | null {
  const fits = (at: EpochMs): boolean =>
    (bounds.notBefore === null || at >= bounds.notBefore - SKEW) &&
    (bounds.notAfter === null || at <= bounds.notAfter + SKEW);
  let first: EpochMs | null = null;
  for (const zone of zones) {
    const at = instantOf(time, zone);
    if (at !== null && fits(at)) return at;
    first ??= at;
  }
  return shifted(time, bounds) ?? first;
}

/** An unknown zone that is a whole number of quarter hours away from UTC, if the time lies in the future by UTC. */
function shifted(time: string, { notAfter }: Bounds): EpochMs | null {
  const local = localTime(time);
  if (local === null || notAfter === null || BigInt(local) <= notAfter + SKEW) return null;
  const offset = Math.ceil((local - Number(notAfter)) / QUARTER) * QUARTER;
  return offset <= 14 * 60 * MINUTE ? BigInt(local - offset) : null;
}

/** The later of two times in names. */
export const laterTime = (a: string, b: string): string => (orderText(a) < orderText(b) ? b : a);
