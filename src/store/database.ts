import type { Kysely, Selectable } from 'kysely';
import type { WORKFLOWS } from './migrations/0001-workflows.ts';
import type { ASSETS } from './migrations/0002-assets.ts';
import type { RowsOf } from './table.ts';

/** All tables as the newest migration leaves them. */
export type Database = RowsOf<typeof WORKFLOWS.tables & typeof ASSETS.tables>;

export type Db = Kysely<Database>;

export type Row<T extends keyof Database> = Selectable<Database[T]>;
