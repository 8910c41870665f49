import type { Kysely, Selectable } from 'kysely';
import type { FIRST } from './migrations/0001-first.ts';
import type { RowsOf } from './table.ts';

/** All tables as the newest migration leaves them. */
export type Database = RowsOf<typeof FIRST.tables>;

export type Db = Kysely<Database>;

export type Row<T extends keyof Database> = Selectable<Database[T]>;
