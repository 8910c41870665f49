import type { Parameter } from '../workflow/definition.ts';
import { at, complain, type Fields, type Place, readList, readParameters } from './read.ts';

/** What DolphinScheduler keeps among the parameters of every task, whatever its type; here it is no task type's own business. */
const OF_EVERY_TASK = ['localParams', 'resourceList'];

/** The parameters that are the task type's own. */
export const ownParams = (params: Fields): Fields =>
  Object.fromEntries(Object.entries(params).filter(([key]) => !OF_EVERY_TASK.includes(key)));

/**
 * A task's local parameters. They belong beside `params`; DolphinScheduler has them inside, and whoever comes from there finds them taken. `place` is the
 * task's. Files from DolphinScheduler's resource centre are refused, as a script would not find them.
 */
export const readLocalParams = (place: Place, fields: Fields, params: Fields): readonly Parameter[] => {
  const beside = readParameters(place, fields, 'localParams');
  const here = at(place, 'params', 'localParams');
  const inside = readParameters(at(place, 'params'), params, 'localParams');
  if (readList(at(place, 'params', 'resourceList'), params['resourceList']).length > 0)
    complain(
      at(place, 'params', 'resourceList'),
      'Leave "resourceList" out: this version of Sluice hands no files to tasks; let the script name them by their paths.',
    );
  if (beside.length > 0 && inside.length > 0 && !same(beside, inside))
    complain(
      here,
      'Put all parameters of the task into "localParams" beside "params": those that stand here are others, and only one list can hold.',
    );
  return beside.length > 0 ? beside : inside;
};

const same = (a: readonly Parameter[], b: readonly Parameter[]): boolean =>
  a.length === b.length &&
  a.every((one) =>
    b.some(({ prop, direct, value }) => prop === one.prop && direct === one.direct && value === one.value),
  );
