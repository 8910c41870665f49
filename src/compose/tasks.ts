import { refuse, type Result } from '../core/result.ts';
import { assetSensor } from '../tasks/asset-sensor.ts';
import { noop } from '../tasks/noop.ts';
import { shell } from '../tasks/shell.ts';
import type { TaskPlugin } from '../tasks/task.ts';

/** All task types. A new one is one file in tasks/, one line here and one page in docs/guide/tasks. */
export const TASK_PLUGINS: readonly TaskPlugin[] = [shell, noop, assetSensor];

const BY_TYPE = new Map(TASK_PLUGINS.map((plugin) => [plugin.type, plugin]));

export const taskPlugin = (type: string): TaskPlugin | undefined => BY_TYPE.get(type);

/** Are these parameters usable for this task type? Says which types there are if it is none of them. */
export const checkTask = (type: string, params: Readonly<Record<string, unknown>>): Result<void> =>
  taskPlugin(type)?.check(params) ??
  refuse('BAD_FILE', `There is no task type ${type}: use one of ${[...BY_TYPE.keys()].join(', ')}.`);
