import { isLong } from './json.ts';

/** Milliseconds since 1970-01-01T00:00:00Z, as bigint: what tables, the database and the clock speak. */
export type EpochMs = bigint;

const WRITABLE = 8_640_000_000_000_000n; // the last instant that a Date can hold

/** ISO 8601 UTC with milliseconds, or the decimal number where the instant lies outside what ISO 8601 can write. */
export const isoTime = (at: EpochMs): string =>
  at >= -WRITABLE && at <= WRITABLE ? new Date(Number(at)).toISOString() : at.toString();

/** Epoch milliseconds of an ISO 8601 time with a zone, or of a decimal number of at most 64 bits; undefined if it is neither. */
export const parseTime = (text: string): EpochMs | undefined => {
  if (/^-?\d{1,19}$/.test(text)) return isLong(BigInt(text)) ? BigInt(text) : undefined;
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d))?$/.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : BigInt(ms);
};
