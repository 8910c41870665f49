import type { DependencyGroup } from '../asset/group.ts';
import { taskGroupFromDeclaration } from './group.ts';
import { at, complain, type Fields, type Place, readChoice, readList, take } from './read.ts';
import type { TaskWait } from '../workflow/definition.ts';

/** The type of the task that waits and does nothing else; what it waits for stands in its params. */
export const ASSET_SENSOR = 'ASSET_SENSOR';

/** What says that a task waits, and how long: beside `params` on any task, inside them on an ASSET_SENSOR. */
export const WAIT_KEYS = ['groups', 'baseline', 'timeoutMinutes', 'onTimeout', 'checkIntervalSeconds'] as const;

const YEAR_MINUTES = 525_600;
const DAY_SECONDS = 86_400;

/**
 * What a task waits for; null: nothing. `place` is the task's. An ASSET_SENSOR has its keys in `params` as the RFC's does (4.1), or beside
 * them as any other task.
 */
export const readWait = (place: Place, fields: Fields, params: Fields, type: string): TaskWait | null => {
  const inside = type === ASSET_SENSOR && WAIT_KEYS.some((key) => params[key] !== undefined);
  const outside = WAIT_KEYS.find((key) => fields[key] !== undefined);
  if (inside && outside !== undefined)
    complain(at(place, outside), `Put "${outside}" into params, where the other keys of this sensor stand.`);
  return readKeys(inside ? at(place, 'params') : place, inside ? params : fields, type);
};

const readKeys = (place: Place, fields: Fields, type: string): TaskWait | null => {
  const groups = readGroups(at(place, 'groups'), fields['groups']);
  const setting = WAIT_KEYS.find((key) => key !== 'groups' && fields[key] !== undefined);
  if (fields['groups'] === undefined && type === ASSET_SENSOR)
    complain(at(place, 'params'), 'Add "groups" to params: without one an ASSET_SENSOR has nothing to wait for.');
  else if (fields['groups'] === undefined && setting !== undefined)
    complain(at(place, setting), `Add "groups": "${setting}" says how to wait, and nothing says what for.`);
  const timeoutMinutes = readMinutes(place, fields);
  const onTimeout = readChoice(place, fields, 'onTimeout', ['FAIL', 'SUCCEED', 'WARN']);
  if (fields['onTimeout'] !== undefined && timeoutMinutes === null)
    complain(at(place, 'onTimeout'), 'Add "timeoutMinutes": without one the task waits as long as it takes.');
  if (groups.length === 0) return null;
  if (fields['baseline'] !== undefined && !asksForNew(groups))
    complain(
      at(place, 'baseline'),
      'Leave "baseline" out: each condition here has a "minSnapshotId" or takes any version ("snapshotRequired: false").',
    );
  return {
    groups,
    baseline: readChoice(place, fields, 'baseline', ['LAST_SUCCESS', 'RUN_START', 'NONE']),
    timeoutSeconds: timeoutMinutes === null ? null : timeoutMinutes * 60,
    onTimeout,
    checkIntervalSeconds: readPositive(place, fields, 'checkIntervalSeconds', DAY_SECONDS),
  };
};

/** Is there a condition for which the baseline says what is new? */
const asksForNew = (groups: readonly DependencyGroup[]): boolean =>
  groups.some(({ conditions }) =>
    conditions.some(({ snapshotRequired, minSnapshotId }) => snapshotRequired && minSnapshotId === null),
  );

const readMinutes = (place: Place, fields: Fields): number | null =>
  readPositive(place, fields, 'timeoutMinutes', YEAR_MINUTES);

const readPositive = (place: Place, fields: Fields, key: string, most: number): number | null => {
  const value = fields[key];
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && value > 0 && value <= most) return value;
  complain(at(place, key), `Write a number above 0, at most ${most}, for "${key}", not ${JSON.stringify(value)}.`);
  return null;
};

const readGroups = (place: Place, raw: unknown): readonly DependencyGroup[] => {
  const listed = readList(place, raw);
  if (raw !== undefined && raw !== null && listed.length === 0)
    complain(place, 'List at least one group to wait for, or leave "groups" out.');
  const names = new Set<string>();
  return listed.flatMap((entry, i) => {
    const group = take(at(place, i), taskGroupFromDeclaration(entry));
    if (group === null) return [];
    if (names.has(group.name)) complain(at(place, i), `A group "${group.name}" stands here already: rename one.`);
    names.add(group.name);
    return [group];
  });
};
