/** One key of the configuration: how its value is read and what it is without one. `T` is the value's type. */
export interface Setting<T> {
  readonly setting: true;
  readonly fallback: T;
  /** What it takes, for messages and the reference: `a whole number from 0 to 65535`. */
  readonly takes: string;
  /** One sentence for the reference. */
  readonly doc: string;
  /** A value of the YAML file, or the text of an environment variable or flag; undefined if it is not of the kind. */
  readonly read: (value: unknown) => T | undefined;
}

/** A section: keys in kebab-case, as in the file. */
export interface Section {
  readonly [key: string]: Setting<unknown> | Section;
}

export const isSetting = (node: Setting<unknown> | Section): node is Setting<unknown> => node['setting'] === true;

type CamelCase<K> = K extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : K;

/** The frozen object that a section becomes: keys in camelCase. */
export type ValuesOf<S> = {
  readonly [K in keyof S as CamelCase<K>]: S[K] extends Setting<infer T> ? T : ValuesOf<S[K]>;
};

export const camelCase = (key: string): string =>
  key.replace(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());

export const kebabCase = (key: string): string => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const readInteger = (value: unknown): number | undefined => {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^-?\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
};

export const integer = (fallback: number, [least, most]: readonly [number, number], doc: string): Setting<number> => ({
  setting: true,
  fallback,
  takes: `a whole number from ${least} to ${most}`,
  doc,
  read: (value) => {
    const read = readInteger(value);
    return read !== undefined && read >= least && read <= most ? read : undefined;
  },
});

const readDecimal = (value: unknown): number | undefined => {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^\d{1,9}(\.\d{1,3})?$/.test(text.trim()) ? Number(text) : undefined;
};

/** A number of seconds, down to the millisecond. */
export const seconds = (fallback: number, [least, most]: readonly [number, number], doc: string): Setting<number> => ({
  setting: true,
  fallback,
  takes: `a number of seconds from ${least} to ${most}`,
  doc,
  read: (value) => {
    const read = readDecimal(value);
    return read !== undefined && read >= least && read <= most ? read : undefined;
  },
});

const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
]);

export const boolean = (fallback: boolean, doc: string): Setting<boolean> => ({
  setting: true,
  fallback,
  takes: 'true or false',
  doc,
  read: (value) => BOOLEANS.get(String(value).trim().toLowerCase()),
});

export const text = (fallback: string, doc: string): Setting<string> => ({
  setting: true,
  fallback,
  takes: 'a text',
  doc,
  read: (value) => (typeof value === 'string' && value.trim() !== '' ? value : undefined),
});

export const choice = <const T extends string>(fallback: T, all: readonly T[], doc: string): Setting<T> => ({
  setting: true,
  fallback,
  takes: all.length === 1 ? `${all[0]}, the only one of this version` : `one of ${all.join(', ')}`,
  doc,
  read: (value) => all.find((one) => one === value),
});

export const list = (doc: string): Setting<readonly string[]> => ({
  setting: true,
  fallback: Object.freeze([]),
  takes: 'a list of texts (in an environment variable: separated by commas)',
  doc,
  read: (value) => {
    const items: unknown = typeof value === 'string' ? value.split(',').map((item) => item.trim()) : value;
    if (!Array.isArray(items) || !items.every((item) => typeof item === 'string')) return undefined;
    return Object.freeze(items.filter((item) => item !== ''));
  },
});

/** The same key where it may be left out: null then. */
export const optional = <T>(base: Setting<T>): Setting<T | null> => ({ ...base, fallback: null });
