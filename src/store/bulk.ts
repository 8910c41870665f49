import { CompiledQuery } from 'kysely';
import type { Insertable, Updateable } from 'kysely';
import { kindsOf } from './column-kinds.ts';
import type { Database, Db } from './database.ts';
import type { LoadRows } from './dialect.ts';
import type { View } from './engine.ts';

/**
 * Many rows by statements whose text is written once and then kept prepared. A query builder writes the text anew for every call, which for
 * rows of thirty columns takes longer than the database does.
 */

type Values = Readonly<Record<string, unknown>>;
type Place = Pick<View, 'db' | 'dialect'>;

const texts = new Map<string, string>();

const remembered = (key: string, write: () => string): string => {
  const known = texts.get(key);
  if (known !== undefined) return known;
  const text = write();
  texts.set(key, text);
  return text;
};

/** Says a statement over `given`: rows of these columns, as what may follow INSERT INTO t (…). */
type TextFor = (given: string, columns: readonly string[]) => string;

/** All rows must have the columns of the first. `what` tells statements on a table apart. How many rows were written. */
const write = async (
  { db, dialect: { name, manyRows } }: Place,
  table: string,
  what: string,
  rows: readonly Values[],
  textFor: TextFor,
): Promise<number> => {
  const [first] = rows;
  if (first === undefined) return 0;
  const columns = Object.keys(first);
  const key = `${name} ${table} ${what} ${columns.join()}`;
  let written = 0n;
  for (let at = 0; at < rows.length; ) {
    const size = manyRows.sizes.find((each) => each <= rows.length - at) ?? rows.length - at;
    const text = remembered(`${key} ${manyRows.sameText ? '' : size}`, () =>
      textFor(manyRows.text(kindsOf(table, columns), size), columns),
    );
    const values = manyRows.values(rows.slice(at, at + size), columns);
    const result = await db.executeQuery(CompiledQuery.raw(text, values));
    written += result.numAffectedRows ?? 0n;
    at += size;
  }
  return Number(written);
};

/**
 * Inserts rows; one that collides with a unique key is an error, after which the transaction must be undone: the engine then does it once more.
 * ON CONFLICT would be kinder, but has PostgreSQL look into the unique indexes before it writes to them, for every row.
 */
export const insertMany = async <T extends keyof Database>(
  place: Place,
  table: T,
  rows: readonly Insertable<Database[T]>[],
): Promise<void> => {
  const load = rows.length < LOADED_FROM ? null : place.dialect.manyRows.load;
  if (load === null) await insert(place, table, rows as readonly Values[], '');
  else await loadRows(place.db, load, table, rows as readonly Values[]);
};

/** Fewer rows are not worth another way to the database and back. */
const LOADED_FROM = 16;

const loadRows = async (db: Db, load: LoadRows, table: string, rows: readonly Values[]): Promise<void> => {
  const columns = Object.keys(rows[0] ?? {});
  await db.executeQuery(CompiledQuery.raw(load.text(table, columns), [load.data(rows, columns)]));
};

const insert = (place: Place, table: string, rows: readonly Values[], ending: string): Promise<number> =>
  write(
    place,
    table,
    ending,
    rows,
    (given, columns) => `insert into ${table} (${columns.join(', ')}) ${given} ${ending}`,
  );

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
): Promise<number> =>
  write(place, table, 'update', rows as readonly Values[], (given, columns) => {
    const set = columns.filter((column) => column !== key).map((column) => `${column} = given.${column}`);
    return `with given (${columns.join(', ')}) as (${given})
      update ${table} set ${set.join(', ')} from given where ${table}.${key} = given.${key}`;
  });
