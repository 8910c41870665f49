import { CompiledQuery } from 'kysely';
import type { Insertable } from 'kysely';
import type { Database } from './database.ts';
import type { View } from './engine.ts';

/**
 * Many rows by statements whose text is written once and then kept prepared. A query builder writes the text anew for every call, which for
 * rows of thirty columns takes longer than the database does.
 */

type Values = Readonly<Record<string, unknown>>;
type Place = Pick<View, 'db' | 'dialect'>;

/** Rows in one statement: a few sizes only, so that few texts are kept; SQLite and PostgreSQL take more parameters than these ever have. */
const SIZES = [64, 16, 4, 1] as const;

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

/** All rows must have the columns of the first. How many rows were written. */
const write = async (place: Place, table: string, rows: readonly Values[], ending: string): Promise<number> => {
  const [first] = rows;
  if (first === undefined) return 0;
  const columns = Object.keys(first);
  const names = columns.join();
  let written = 0n;
  for (let at = 0; at < rows.length; ) {
    const size = SIZES.find((each) => each <= rows.length - at) ?? 1;
    const key = `${place.dialect.name} ${table} ${size} ${names} ${ending}`;
    const text = remembered(key, () => `${insertText(place, table, columns, size)} ${ending}`);
    const values = rows.slice(at, at + size).flatMap((row) => columns.map((column) => row[column] ?? null));
    const result = await place.db.executeQuery(CompiledQuery.raw(text, values));
    written += result.numAffectedRows ?? 0n;
    at += size;
  }
  return Number(written);
};

/** Inserts the rows that collide with no unique key; how many. */
export const insertMany = <T extends keyof Database>(
  place: Place,
  table: T,
  rows: readonly Insertable<Database[T]>[],
): Promise<number> => write(place, table, rows as readonly Values[], 'on conflict do nothing');

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
  return write(place, table, rows as readonly Values[], ending);
};
