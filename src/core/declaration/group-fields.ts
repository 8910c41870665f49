import { nearest } from '../nearest.ts';
import { ok, type Problem, type Result, refuse } from '../result.ts';
import { type EpochMs, parseTime } from '../time.ts';
import type { Fields } from './read.ts';

/** What a mapping may hold; a field of `notYet` is a known one that this version does not support, with what to do instead. */
export interface FieldShape {
  readonly known: readonly string[];
  readonly notYet: Readonly<Record<string, string>>;
}

/** Reads fields of one mapping. The first problem is kept, with where it stands in words; reading goes on with the fallback. */
export interface Reader {
  readonly where: string;
  readonly raw: Fields;
  problem: Problem | null;
}

export const complain = (reader: Reader, detail: string, code: Problem['code'] = 'BAD_FILE'): void => {
  reader.problem ??= { code, detail: `${reader.where}: ${detail}` };
};

/** How a value is shown in a message; bigints too, which JSON cannot write. */
const shown = (value: unknown): string =>
  typeof value === 'bigint'
    ? `${value}`
    : (JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? `${part}` : part)) ?? 'nothing').slice(
        0,
        80,
      );

/** A reader over the mapping; unknown fields and those not supported yet are problems. */
export const readerOf = (where: string, raw: Fields, shape: FieldShape): Reader => {
  const reader: Reader = { where, raw, problem: null };
  for (const key of Object.keys(raw)) {
    if (shape.known.includes(key)) continue;
    const instead = Object.hasOwn(shape.notYet, key) ? shape.notYet[key] : undefined;
    const meant = nearest(key, shape.known);
    const guess = meant === undefined ? `the fields here are ${shape.known.join(', ')}` : `did you mean "${meant}"?`;
    if (instead === undefined) complain(reader, `the field "${key}" is not known: ${guess}`);
    else complain(reader, `"${key}" is not supported by this version: ${instead}.`);
  }
  return reader;
};

/** The value of a field; undefined where it is absent or null. */
export const valueOf = (reader: Reader, key: string): unknown => reader.raw[key] ?? undefined;

/** Reads a field with `parse`, which answers undefined for what it cannot take; absent: the fallback. */
const read = <T>(
  reader: Reader,
  key: string,
  fallback: T,
  what: string,
  parse: (value: unknown) => T | undefined,
): T => {
  const value = valueOf(reader, key);
  if (value === undefined) return fallback;
  const parsed = parse(value);
  if (parsed !== undefined) return parsed;
  complain(reader, `"${key}" must be ${what}, not ${shown(value)}.`);
  return fallback;
};

export const readFlag = (reader: Reader, key: string, fallback: boolean): boolean =>
  read(reader, key, fallback, 'true or false', (value) => {
    if (typeof value === 'boolean') return value;
    // The RFC's flags are 1 and 0.
    return value === 1 || value === 0 ? value === 1 : undefined;
  });

export const readChoice = <T extends string>(reader: Reader, key: string, choices: readonly T[], fallback: T): T =>
  read(reader, key, fallback, `one of ${choices.join(', ')}`, (value) => choices.find((choice) => choice === value));

/** null where the field is absent. */
export const readOption = <T extends string>(reader: Reader, key: string, choice: T): T | null =>
  read<T | null>(reader, key, null, `${choice} (or left out)`, (value) => (value === choice ? choice : undefined));

const asText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

export const readText = (reader: Reader, key: string): string | null =>
  read<string | null>(reader, key, null, 'a text that is not empty', asText);

export const readTexts = (reader: Reader, key: string): readonly string[] =>
  read<readonly string[]>(reader, key, [], 'a list of texts', (value) =>
    Array.isArray(value) && value.every((part: unknown) => asText(part) !== undefined)
      ? (value as string[])
      : undefined,
  );

/** An id of a table format: a text, or an integer that was not rounded on its way here. */
export const asId = (value: unknown): string | undefined =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value)) ? `${value}` : asText(value);

export const readId = (reader: Reader, key: string): string | null =>
  read<string | null>(reader, key, null, 'the id in quotes (a number above 2^53 would be rounded)', asId);

export const readSeconds = (reader: Reader, key: string): number | null =>
  read<number | null>(reader, key, null, 'a number of seconds above 0', (value) =>
    typeof value === 'number' && Number.isFinite(value) && value > 0 && value <= 1e9 ? value : undefined,
  );

export const readCount = (reader: Reader, key: string): bigint | null =>
  read<bigint | null>(reader, key, null, 'a whole number of at least 0', (value) => {
    const whole = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
    return typeof whole === 'bigint' && whole >= 0n ? whole : undefined;
  });

/** An instant: epoch milliseconds, or ISO 8601 with a time zone. */
export const asInstant = (value: unknown): EpochMs | undefined => {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' ? parseTime(value) : undefined;
};

/** The value if nothing was complained about, else the first problem. */
export const outcome = <T>(reader: Reader, value: T): Result<T> =>
  reader.problem === null ? ok(value) : refuse(reader.problem.code, reader.problem.detail);
