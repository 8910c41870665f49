import type { Migration } from '../table.ts';

/** What a task gave to those behind it, as DolphinScheduler's var_pool: a JSON list of {prop, direct, type, value}. */
export const OUTPUTS = {
  version: 5,
  name: 'outputs of tasks',
  tables: {},
  changes: { t_ds_task_instance: { columns: { var_pool: 'text?' } } },
} as const satisfies Migration;
