import type { ColumnType, Generated } from 'kysely';

/**
 * What a migration may say, as data: each dialect renders it in its own SQL, and the row types of the queries are derived from it, so
 * that they cannot drift from the tables.
 *
 * id: 64-bit key given by the database; int: 64-bit; flag: 0 or 1; word: one of a closed list of names; name: up to 255 characters;
 * key: up to 512 (an asset key); hash: SHA-256 in hex, for unique keys over longer texts; text: of any length. `?` may be null.
 */
export type BaseKind = 'int' | 'flag' | 'word' | 'name' | 'key' | 'hash' | 'text';
export type ColumnKind = 'id' | BaseKind | `${BaseKind}?`;

export interface Table {
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Where there is no `id`. */
  readonly primaryKey?: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  readonly index?: readonly (readonly string[])[];
  /** Column → table whose only key it holds; rows go when the row that they point to goes. */
  readonly parents?: Readonly<Record<string, string>>;
}

/** What a migration does to a table that an earlier one made. */
export interface TableChange {
  /** New columns: ones that may be null, or flags, which are 0 in the rows that are there. */
  readonly columns: Readonly<Record<string, 'flag' | `${BaseKind}?`>>;
  readonly index?: readonly (readonly string[])[];
  /** Indexes that are no longer needed, by name: `TABLE_1` is the first that the table was made with. */
  readonly drop?: readonly string[];
  /** Columns with a parent that need not be looked for with every row: who inserts has it locked, who removes it removes these rows first. */
  readonly unlink?: readonly string[];
  /** Indexes of some rows only. A query uses one where it states the same condition in the same words. */
  readonly partial?: readonly { readonly on: readonly string[]; readonly where: string }[];
}

export interface Migration {
  /** 1, 2, 3 …: never reused, and a released one is never edited. */
  readonly version: number;
  readonly name: string;
  readonly tables: Readonly<Record<string, Table>>;
  /** By table. */
  readonly changes?: Readonly<Record<string, TableChange>>;
}

type Value<K> = K extends `${infer Base}?` ? Value<Base> | null : K extends 'int' | 'flag' | 'id' ? bigint : string;
/** Integers are read as bigint; a safe number may be written. */
type Written<K> = K extends `${infer Base}?`
  ? Written<Base> | null | undefined
  : Value<K> | (Value<K> extends bigint ? number : never);

type Column<K> = K extends 'id' ? Generated<bigint> : ColumnType<Value<K>, Written<K>, Written<K>>;

/** The columns that a migration adds; a flag may be left out when a row is inserted. */
export type AddedBy<T extends Readonly<Record<string, TableChange>>> = {
  [Name in keyof T]: {
    [C in keyof T[Name]['columns']]: ColumnType<
      Value<T[Name]['columns'][C]>,
      Written<T[Name]['columns'][C]> | undefined,
      Written<T[Name]['columns'][C]>
    >;
  };
};

/** The rows of a migration's tables, as Kysely wants them. */
export type RowsOf<T extends Readonly<Record<string, Table>>> = {
  [Name in keyof T]: { [C in keyof T[Name]['columns']]: Column<T[Name]['columns'][C]> };
};
