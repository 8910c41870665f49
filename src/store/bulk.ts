import { CompiledQuery } from 'kysely';
import type { Insertable, Updateable } from 'kysely';
import type { Database } from './database.ts';
import type { View } from './engine.ts';

/**
 * Many rows by statements whose text is written once and then kept prepared. A query builder writes the text anew for every call, which for
 * rows of thirty columns takes longer than the database does.
 */

type Values = Readonly<Record<string, unknown>>;
type Place = Pick<View, 'db' | 'dialect'>;

/** Rows in one statement: a few sizes only, so that few texts are kept; SQLite and PostgreSQL take more parameters than these ever have. */
const SIZES = [250, 64, 16, 4, 1] as const;

const texts = new Map<string, string>();

const remembered = (key: string, write: () => string): string => {
  const known = texts.get(key);
  if (known !== undefined) return known;
  const text = write();
  texts.set(key, text);
  return text;
};

const insertText = ({ dialect }: Place, table: string, columns: readonly string[], rows: number): string => {
  let n = 0;
  const row = (): string => `(${columns.map(() => dialect.parameter((n += 1))).join(', ')})`;
  return `insert into ${table} (${columns.join(', ')}) values ${Array.from({ length: rows }, row).join(', ')}`;
};

/** Says a statement for so many rows. */
type TextFor = (columns: readonly string[], rows: number) => string;

/** All rows must have the columns of the first. `what` tells statements apart. How many rows were written. */
const write = async (place: Place, what: string, rows: readonly Values[], textFor: TextFor): Promise<number> => {
  const [first] = rows;
  if (first === undefined) return 0;
  const columns = Object.keys(first);
  const names = columns.join();
  let written = 0n;
  for (let at = 0; at < rows.length; ) {
    const size = SIZES.find((each) => each <= rows.length - at) ?? 1;
    const text = remembered(`${place.dialect.name} ${what} ${size} ${names}`, () => textFor(columns, size));
    const result = await place.db.executeQuery(CompiledQuery.raw(text, valuesOf(rows.slice(at, at + size), columns)));
    written += result.numAffectedRows ?? 0n;
    at += size;
  }
  return Number(written);
};

const valuesOf = (rows: readonly Values[], columns: readonly string[]): unknown[] => {
  const values: unknown[] = [];
  for (const row of rows) for (const column of columns) values.push(row[column] ?? null);
  return values;
};

/** Inserts the rows that collide with no unique key; how many. */
export const insertMany = <T extends keyof Database>(
  place: Place,
  table: T,
  rows: readonly Insertable<Database[T]>[],
): Promise<number> => insert(place, table, rows as readonly Values[], 'on conflict do nothing');

const insert = (place: Place, table: string, rows: readonly Values[], ending: string): Promise<number> =>
  write(place, `${table} ${ending}`, rows, (columns, size) => `${insertText(place, table, columns, size)} ${ending}`);

/**
 * Inserts rows, or sets the other columns of those that have the same values in `keys` (a unique key). `onlyIf`: SQL that must hold for that,
 * over `table` and `excluded`. How many rows were written. No key may come twice.
 */
export const upsertMany = <T extends keyof Database>(
  place: Place,
  table: T,
  rows: readonly Insertable<Database[T]>[],
  keys: readonly (keyof Database[T] & string)[],
  onlyIf = '',
): Promise<number> => {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => !(keys as readonly string[]).includes(column));
  const set = columns.map((column) => `${column} = excluded.${column}`).join(', ');
  const ending = `on conflict (${keys.join(', ')}) do update set ${set}${onlyIf === '' ? '' : ` where ${onlyIf}`}`;
  return insert(place, table, rows as readonly Values[], ending);
};

/** Sets the other columns of the rows that have these values in `key`; none may be null. How many rows were written. */
export const updateMany = <T extends keyof Database>(
  place: Place,
  table: T,
  rows: readonly Updateable<Database[T]>[],
  key: keyof Database[T] & string,
): Promise<number> => {
  const kinds = Object.values(rows[0] ?? {}).map((value) => (typeof value === 'bigint' ? 'bigint' : 'text'));
  return write(place, `update ${table}`, rows as readonly Values[], (columns, size) => {
    let n = 0;
    // The first row says what the columns are: a parameter alone would be a text.
    const value = (at: number, first: boolean): string => {
      const parameter = place.dialect.parameter((n += 1));
      return first ? `cast(${parameter} as ${kinds[at]})` : parameter;
    };
    const row = (_: unknown, i: number): string => `(${columns.map((_, at) => value(at, i === 0)).join(', ')})`;
    const set = columns.filter((column) => column !== key).map((column) => `${column} = given.${column}`);
    return `with given (${columns.join(', ')}) as (values ${Array.from({ length: size }, row).join(', ')})
      update ${table} set ${set.join(', ')} from given where ${table}.${key} = given.${key}`;
  });
};
