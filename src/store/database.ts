import type { Kysely, Selectable } from 'kysely';
import type { WORKFLOWS } from './migrations/0001-workflows.ts';
import type { ASSETS } from './migrations/0002-assets.ts';
import type { WAITING } from './migrations/0003-waiting.ts';
import type { PUSHES } from './migrations/0004-pushes.ts';
import type { OUTPUTS } from './migrations/0005-outputs.ts';
import type { CHANGES } from './migrations/0006-changes.ts';
import type { PAUSED_PROJECTS } from './migrations/0008-paused-projects.ts';
import type { AddedBy, RowsOf } from './table.ts';

/** All tables as the newest migration leaves them. */
export type Database = Merged<
  RowsOf<
    typeof WORKFLOWS.tables &
      typeof ASSETS.tables &
      typeof WAITING.tables &
      typeof PUSHES.tables &
      typeof CHANGES.tables
  >,
  AddedBy<typeof WAITING.changes & typeof PUSHES.changes & typeof OUTPUTS.changes & typeof PAUSED_PROJECTS.changes>
>;

type Merged<T, A> = { [Name in keyof T]: Name extends keyof A ? T[Name] & A[Name] : T[Name] };

export type Db = Kysely<Database>;

export type Row<T extends keyof Database> = Selectable<Database[T]>;
