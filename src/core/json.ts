/** A JSON document with exact integers: those beyond 2^53 are bigint, all other numbers are numbers. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;

export type JsonObject = { readonly [key: string]: Json };

/**
 * Parses JSON without rounding: an integer that a JS number cannot hold becomes a bigint. (JSON.parse would round it silently; the
 * ids of table formats exceed 2^53.) Throws SyntaxError for what is not JSON.
 */
export const parseJson = (text: string): Json =>
  (MAY_ROUND.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text)) as Json;

/** 2^53 has 16 digits. A reviver makes parsing some ten times as slow, and most documents need none. */
const MAY_ROUND = /\d{16}/;
const INTEGER = /^-?\d+$/;

const exactInteger = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' &&
  !Number.isSafeInteger(value) &&
  context?.source !== undefined &&
  INTEGER.test(context.source)
    ? BigInt(context.source)
    : value;

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const LONG_MAX = 2n ** 63n - 1n;
const LONG_MIN = -(2n ** 63n);

/** Does the integer fit into 64 bits? */
export const isLong = (value: bigint): boolean => value >= LONG_MIN && value <= LONG_MAX;

/** The value as a 64-bit integer; undefined if it is no integer or does not fit. */
export const asLong = (value: Json | undefined): bigint | undefined => {
  const long =
    typeof value === 'bigint'
      ? value
      : typeof value === 'number' && Number.isSafeInteger(value)
        ? BigInt(value)
        : undefined;
  return long !== undefined && isLong(long) ? long : undefined;
};

/** JSON text with the keys of every object in order, so that equal documents have equal texts; bigints as plain digits. */
export const canonicalJson = (value: Json): string => {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(',')}}`;
};

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
