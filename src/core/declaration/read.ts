import { type AssetKey, parseAssetKey } from '../asset/key.ts';
import type { ErrorCode } from '../errors.ts';
import { nearest } from '../nearest.ts';
import type { Result } from '../result.ts';
import { isKept, leaveOut, shownName } from '../text.ts';
import type { Parameter } from '../workflow/definition.ts';

/** Where in a file: keys and list positions from the top, as in `['workflows', 0, 'tasks', 2, 'type']`. */
export type FilePath = readonly (string | number)[];

/** One thing that is wrong with a file: where, and in one sentence what to do about it. */
export interface FileProblem {
  readonly path: FilePath;
  readonly code: ErrorCode;
  readonly detail: string;
}

/** A place in the file under inspection. All places of one file share one list of problems, so that reading goes on after the first. */
export interface Place {
  readonly path: FilePath;
  readonly problems: FileProblem[];
}

/** What an object may hold. `notYet`: known names that this version refuses, each with what to do instead. */
export interface Shape {
  readonly known: readonly string[];
  readonly notYet?: Readonly<Record<string, string>>;
}

export type Fields = Readonly<Record<string, unknown>>;

export const at = (place: Place, ...steps: FilePath): Place => ({ ...place, path: [...place.path, ...steps] });

export const complain = (place: Place, detail: string, code: ErrorCode = 'BAD_FILE'): void => {
  place.problems.push({ path: place.path, code, detail });
};

/** Notes every text below the place that no database keeps: names of keys where they stand, values at their own places. */
export const refuseUnkept = (place: Place, raw: unknown): void => {
  if (typeof raw === 'string' && !isKept(raw)) complain(place, leaveOut('this text'));
  if (typeof raw !== 'object' || raw === null) return;
  for (const [key, value] of Object.entries(raw)) {
    const step = Array.isArray(raw) ? Number(key) : key;
    if (isKept(key)) refuseUnkept(at(place, step), value);
    else complain(place, leaveOut(`the key ${shownName(key)} here`));
  }
};

/** `workflows[0].tasks[2].type`; the whole file is `the file`. */
export const pathText = (path: FilePath): string =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  ) || 'the file';

/** Is it an object with keys, of which nothing more is known? */
export const isMapping = (raw: unknown): raw is Fields =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw);

const kindOf = (raw: unknown): string => {
  if (raw === null || raw === undefined) return 'nothing';
  if (Array.isArray(raw)) return 'a list';
  return typeof raw === 'object' ? 'a mapping' : `${JSON.stringify(raw)}`;
};

/** The mapping at the place, whatever its keys, or null, with the reason noted at the place. */
export const readMapping = (place: Place, raw: unknown): Fields | null => {
  if (isMapping(raw)) return raw;
  complain(place, `Write a mapping of keys to values here, not ${kindOf(raw)}.`);
  return null;
};

/** The mapping at the place, or null, with the reason noted at the place. Keys that the shape does not know are problems; the rest is still read. */
export const readFields = (place: Place, raw: unknown, shape: Shape): Fields | null => {
  const fields = readMapping(place, raw);
  for (const key of Object.keys(fields ?? {})) refuseUnknown(at(place, key), key, shape);
  return fields;
};

const refuseUnknown = (place: Place, key: string, shape: Shape): void => {
  if (shape.known.includes(key)) return;
  const instead = shape.notYet !== undefined && Object.hasOwn(shape.notYet, key) ? shape.notYet[key] : undefined;
  if (instead !== undefined) {
    complain(place, `This version of Sluice does not have "${key}" yet: ${instead}.`);
    return;
  }
  const guess = nearest(key, shape.known);
  const hint = guess === undefined ? `the keys here are ${shape.known.join(', ')}` : `did you mean "${guess}"?`;
  complain(place, `"${key}" is not a key that is known here: ${hint}${guess === undefined ? '.' : ''}`);
};

/** The list at the place, empty where there is none. */
export const readList = (place: Place, raw: unknown): readonly unknown[] => {
  if (raw === undefined || raw === null) return [];
  if (Array.isArray(raw)) return raw;
  complain(place, `Write a list here, not ${kindOf(raw)}.`);
  return [];
};

/** A text that must be there and not be blank; null otherwise, with the reason noted at the place. */
export const readRequired = (place: Place, fields: Fields, key: string): string | null => {
  const value = fields[key];
  if (typeof value === 'string' && value.trim() !== '') return value;
  if (value === undefined || value === null || value === '') complain(place, `Add "${key}": it is missing.`);
  else
    complain(at(place, key), `Write a text for "${key}", in quotes if it looks like a number, not ${kindOf(value)}.`);
  return null;
};

export const readText = (place: Place, fields: Fields, key: string, fallback: string): string => {
  const value = fields[key] ?? fallback;
  if (typeof value === 'string') return value;
  complain(at(place, key), `Write a text for "${key}", not ${kindOf(value)}.`);
  return fallback;
};

export const readChoice = <T extends string>(
  place: Place,
  fields: Fields,
  key: string,
  choices: readonly [T, ...T[]],
  fallback: T = choices[0],
): T => {
  const value = fields[key] ?? fallback;
  const chosen = choices.find((choice) => choice === value);
  if (chosen !== undefined) return chosen;
  complain(at(place, key), `Write one of ${choices.join(', ')} for "${key}", not ${kindOf(value)}.`);
  return fallback;
};

export const readFlag = (place: Place, fields: Fields, key: string, fallback: boolean): boolean => {
  const value = fields[key] ?? fallback;
  if (typeof value === 'boolean') return value;
  complain(at(place, key), `Write true or false for "${key}", not ${kindOf(value)}.`);
  return fallback;
};

/** A whole number from `least` to `most`; `fallback` where the key is absent. */
export const readCount = <T extends number | null>(
  place: Place,
  fields: Fields,
  key: string,
  { fallback, least, most }: { readonly fallback: T; readonly least: number; readonly most: number },
): number | T => {
  const value = fields[key];
  if (value === undefined || value === null) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  complain(at(place, key), `Write a whole number from ${least} to ${most} for "${key}", not ${kindOf(value)}.`);
  return fallback;
};

/** A list of texts, each once. */
export const readNames = (place: Place, fields: Fields, key: string): readonly string[] => {
  const names: string[] = [];
  for (const [i, name] of readList(at(place, key), fields[key]).entries()) {
    if (typeof name !== 'string' || name === '') complain(at(place, key, i), `Write a name here, not ${kindOf(name)}.`);
    else if (names.includes(name)) complain(at(place, key, i), `"${name}" stands here twice: leave one out.`);
    else names.push(name);
  }
  return names;
};

/** What a Result says, or null and its problem noted at the place. */
export const take = <T>(place: Place, result: Result<T>): T | null => {
  if (result.ok) return result.value;
  complain(place, result.problem.detail, result.problem.code);
  return null;
};

/** A list of asset keys, made canonical. */
export const readKeys = (place: Place, fields: Fields, key: string): readonly AssetKey[] => {
  const texts = readNames(place, fields, key);
  return texts.flatMap((text, i) => take(at(place, key, i), parseAssetKey(text)) ?? []);
};

const PARAMETER: Shape = { known: ['prop', 'direct', 'type', 'value'] };

/** DolphinScheduler's. Whatever the type, a script gets the value's text, there as here. */
const PARAMETER_TYPES = [
  'VARCHAR',
  'INTEGER',
  'LONG',
  'FLOAT',
  'DOUBLE',
  'DATE',
  'TIME',
  'TIMESTAMP',
  'BOOLEAN',
  'LIST',
  'FILE',
] as const;

/** Parameters, as a mapping `name: value` or as DolphinScheduler's list of `{prop, direct, type, value}`. Numbers and booleans become text. */
export const readParameters = (place: Place, fields: Fields, key: string): readonly Parameter[] => {
  const raw = fields[key];
  const here = at(place, key);
  const listed = isMapping(raw)
    ? Object.entries(raw).map(([prop, value]) => ({ place: at(here, prop), raw: { prop, value } as unknown }))
    : readList(here, raw).map((entry, i) => ({ place: at(here, i), raw: entry }));
  const read = listed.flatMap((entry) => readParameter(entry.place, entry.raw) ?? []);
  for (const [i, { prop }] of read.entries())
    if (read.findIndex((other) => other.prop === prop) < i)
      complain(here, `The parameter "${prop}" stands here twice: leave one out.`);
  return read;
};

const readParameter = (place: Place, raw: unknown): Parameter | null => {
  const fields = readFields(place, raw, PARAMETER);
  const prop = fields && readRequired(place, fields, 'prop');
  if (fields === null || prop === null) return null;
  const value = parameterText(fields['value'] ?? '');
  if (value === null)
    complain(place, `Write a text, a number or true/false as the value of "${prop}", not ${kindOf(fields['value'])}.`);
  if (readChoice(place, fields, 'type', PARAMETER_TYPES) === 'FILE')
    complain(
      at(place, 'type'),
      `Give "${prop}" another type: no files are handed from task to task; let it hold the path of one.`,
    );
  return { prop, direct: readChoice(place, fields, 'direct', ['IN', 'OUT']), value: value ?? '' };
};

const parameterText = (value: unknown): string | null =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
