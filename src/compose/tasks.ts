import type { TaskCheck, TaskSettings } from '../core/declaration/workflow.ts';
import { ok, refuse, type Result } from '../core/result.ts';
import { assetSensor } from '../tasks/asset-sensor.ts';
import { noop } from '../tasks/noop.ts';
import { shell } from '../tasks/shell.ts';
import type { TaskPlugin } from '../tasks/task.ts';

/** All task types. A new one is one file in tasks/, one line here and one page in docs/guide/tasks. */
export const TASK_PLUGINS: readonly TaskPlugin[] = [shell, noop, assetSensor];

const BY_TYPE = new Map(TASK_PLUGINS.map((plugin) => [plugin.type, plugin]));

export const taskPlugin = (type: string): TaskPlugin | undefined => BY_TYPE.get(type);

/** Can a task of this type follow what is declared? Says which types there are if it is none of them. */
export const checkTask: TaskCheck = (type, params, settings) => {
  const plugin = taskPlugin(type);
  if (plugin === undefined)
    return refuse('BAD_FILE', `There is no task type ${type}: use one of ${[...BY_TYPE.keys()].join(', ')}.`);
  const checked = plugin.check(params);
  return checked.ok && !plugin.hasBody ? checkBodiless(type, settings) : checked;
};

const checkBodiless = (type: string, { localParams, timeoutSeconds }: TaskSettings): Result<void> => {
  if (localParams.length > 0)
    return refuse(
      'BAD_FILE',
      `Leave "localParams" out: a task of type ${type} runs nothing that could read or give out a parameter.`,
    );
  if (timeoutSeconds === null) return ok(undefined);
  return refuse(
    'BAD_FILE',
    `Leave "timeoutSeconds" out: a task of type ${type} runs nothing that could take long; how long one with "groups" may wait is its "timeoutMinutes".`,
  );
};
