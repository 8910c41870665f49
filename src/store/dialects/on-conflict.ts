import { type Insertable, type Kysely, sql } from 'kysely';
import type { Database, Db } from '../database.ts';
import type { Dialect } from '../dialect.ts';

/** What SQLite and PostgreSQL write alike: `INSERT … ON CONFLICT`. */

/** Tables are named at run time here, so the statement's row types are the caller's business. */
type Row = Record<string, unknown>;
export const loose = (db: Db): Kysely<Record<string, Row>> => db as unknown as Kysely<Record<string, Row>>;

/** SQLite takes 32,766 parameters in a statement, PostgreSQL 65,535 (facts/deps.md 2.2). */
const PARAMETERS = 32_000;

/** Rows in parts that one statement can hold. */
const parts = <T extends keyof Database>(rows: readonly Insertable<Database[T]>[]): readonly Row[][] => {
  const all = rows as readonly Row[];
  const width = Math.max(1, ...all.map((row) => Object.keys(row).length));
  const size = Math.floor(PARAMETERS / width);
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
};

export const onConflict: Pick<Dialect, 'insertIgnore' | 'upsert' | 'insertOrLower'> = {
  insertIgnore: async (db, table, rows) => {
    let inserted = 0;
    for (const part of parts(rows)) {
      const query = loose(db).insertInto(table).values(part);
      const result = await query.onConflict((conflict) => conflict.doNothing()).executeTakeFirst();
      inserted += Number(result.numInsertedOrUpdatedRows ?? 0n);
    }
    return inserted;
  },
  upsert: async (db, table, row, keys, set) => {
    await loose(db)
      .insertInto(table)
      .values(row as Row)
      .onConflict((conflict) => conflict.columns([...keys]).doUpdateSet(set as never))
      .execute();
  },
  insertOrLower: async (db, table, rows, key, column) => {
    for (const part of parts(rows))
      await loose(db)
        .insertInto(table)
        .values(part)
        .onConflict((conflict) =>
          conflict
            .column(key)
            .doUpdateSet({ [column]: sql.ref(`excluded.${column}`) } as never)
            .where(sql<boolean>`${sql.ref(`excluded.${column}`)} < ${sql.ref(`${table}.${column}`)}`),
        )
        .execute();
  },
};
