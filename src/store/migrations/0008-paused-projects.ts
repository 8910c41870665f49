import type { Migration } from '../table.ts';

/** While a project is paused no group of its workflows fires (semantics.md, 4). */
export const PAUSED_PROJECTS = {
  version: 8,
  name: 'paused projects',
  tables: {},
  changes: { t_ds_project: { columns: { paused: 'flag' } } },
} as const satisfies Migration;
