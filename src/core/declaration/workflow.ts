import type { DependencyGroup } from '../asset/group.ts';
import { groupFromDeclaration } from './group.ts';
import type { WorkflowDeclaration } from './declaration.ts';
import {
  at,
  complain,
  type Fields,
  type FileProblem,
  type Place,
  readChoice,
  readCount,
  readFields,
  readFlag,
  readKeys,
  readList,
  readMapping,
  readNames,
  readParameters,
  readRequired,
  readText,
  type Shape,
  take,
} from './read.ts';
import { ownParams, readLocalParams } from './task-params.ts';
import { ASSET_SENSOR, readWait, WAIT_KEYS } from './wait.ts';
import { nearest } from '../nearest.ts';
import type { Result } from '../result.ts';
import type { TaskDefinition } from '../workflow/definition.ts';
import { buildGraph } from '../workflow/graph.ts';
import { isTimezone } from '../workflow/parameters/zone.ts';
import { waitProblems } from '../workflow/task-wait.ts';

/** What a task says beside its parameters that only a type which runs something can follow. */
export type TaskSettings = Pick<TaskDefinition, 'localParams' | 'timeoutSeconds'>;

/** Does a task type take these parameters, and what stands beside them? An unknown type is a problem too. */
export type TaskCheck = (
  type: string,
  params: Readonly<Record<string, unknown>>,
  settings: TaskSettings,
) => Result<void>;

/** What a workflow takes from its surroundings. `timezone`: the server's, an IANA name. */
export interface WorkflowDefaults {
  readonly timezone: string;
  readonly checkTask: TaskCheck;
}

type TaskDeclaration = Omit<TaskDefinition, 'code'>;

const WORKFLOW: Shape = {
  known: [
    'name',
    'description',
    'releaseState',
    'timezone',
    'globalParams',
    'failureStrategy',
    'inputs',
    'assetTriggerEnabled',
    'triggers',
    'tasks',
  ],
  notYet: {
    schedule: 'start the workflow by triggers, or by hand with "sluice run"',
    edgeMode: 'edges open when the task before succeeded',
    executionType: 'a group with whileRunning: WAIT never starts a second run beside an unfinished one',
    onPinExpired: 'leave it out',
    target: 'tasks run on this server',
  },
};

const TASK: Shape = {
  known: [
    'name',
    'type',
    'description',
    'params',
    'localParams',
    'dependsOn',
    'flag',
    'failRetryTimes',
    'failRetryIntervalSeconds',
    'timeoutSeconds',
    'inputs',
    'outputs',
    ...WAIT_KEYS,
  ],
  notYet: {
    taskGroup: 'leave it out',
    taskGroupId: 'leave it out',
    taskGroupPriority: 'leave it out',
    workerGroup: 'tasks run on this server',
    environmentCode: 'set the variables in the script',
    delayTime: 'let the script wait',
    taskPriority: 'leave it out',
  },
};

const TYPES_NOT_YET: Readonly<Record<string, string>> = {
  SUB_WORKFLOW: 'declare its tasks in this workflow',
  SUB_PROCESS: 'declare its tasks in this workflow',
  SWITCH: 'decide inside a SHELL script',
  CONDITIONS: 'decide inside a SHELL script',
  DEPENDENT: "depend on the table that the other workflow writes, in this workflow's triggers",
  SQL: "call the database's command line from a SHELL task",
  HTTP: 'call curl from a SHELL task',
  SPARK: 'call spark-submit from a SHELL task',
  PYTHON: 'call python from a SHELL task',
};

const WEEK_SECONDS = 604_800;

/** One entry of `workflows`; null, with the reason noted at the place, if it has no usable name. Problems elsewhere in it are noted and reading goes on. */
export const parseWorkflow = (place: Place, raw: unknown, defaults: WorkflowDefaults): WorkflowDeclaration | null => {
  const fields = readFields(place, raw, WORKFLOW);
  const name = fields && readName(place, fields);
  if (fields === null || name === null) return null;
  const workflow = workflowOf(place, fields, name, defaults);
  refuseWaits(place, workflow);
  return workflow;
};

const refuseWaits = (place: Place, workflow: WorkflowDeclaration): void => {
  refuseTaskAliases(at(place, 'tasks'), workflow);
  for (const { task, group, detail } of waitProblems(workflow))
    complain(at(place, 'tasks'), `Task "${task}", group "${group}": ${detail}`);
};

/** What is wrong with the groups of a workflow and of its tasks as they stand beside each other, each sound by itself. */
export const groupProblems = (workflow: WorkflowDeclaration): readonly FileProblem[] => {
  const place: Place = { path: [], problems: [] };
  refuseSharedAliases(workflow.groups.map((group) => ({ place, group })));
  refuseWaits(place, workflow);
  return place.problems;
};

const workflowOf = (place: Place, fields: Fields, name: string, defaults: WorkflowDefaults): WorkflowDeclaration => ({
  name,
  description: readText(place, fields, 'description', ''),
  releaseState: readChoice(place, fields, 'releaseState', ['ONLINE', 'OFFLINE']),
  timezone: readTimezone(place, fields, defaults.timezone),
  globalParams: readGlobalParams(place, fields),
  failureStrategy: readChoice(place, fields, 'failureStrategy', ['CONTINUE', 'END']),
  inputs: readKeys(place, fields, 'inputs'),
  groups: readGroups(place, fields),
  tasks: readTasks(at(place, 'tasks'), fields['tasks'], defaults.checkTask),
});

const readGlobalParams = (place: Place, fields: Fields): WorkflowDeclaration['globalParams'] => {
  const params = readParameters(place, fields, 'globalParams');
  for (const { prop, direct } of params)
    if (direct === 'OUT')
      complain(
        at(place, 'globalParams'),
        `Leave "direct: OUT" out of "${prop}": only tasks give values out, each those that its own "localParams" name as OUT.`,
      );
  return params;
};

/** Names are looked up where a code may stand too, so a name that is all digits would be taken for one. */
const readName = (place: Place, fields: Fields): string | null => {
  const name = readRequired(place, fields, 'name');
  if (name === null || (name.length <= 255 && !/^\d+$/.test(name))) return name;
  complain(at(place, 'name'), 'Give a name of at most 255 characters that is not a number (a number means a code).');
  return null;
};

const readTimezone = (place: Place, fields: Fields, fallback: string): string => {
  const zone = readText(place, fields, 'timezone', fallback);
  if (isTimezone(zone)) return zone;
  complain(at(place, 'timezone'), `Write an IANA time zone such as Asia/Shanghai or UTC: "${zone}" is none.`);
  return fallback;
};

/** `assetTriggerEnabled: false` takes every group of the workflow out of force without forgetting what it consumed. */
const readGroups = (place: Place, fields: Fields): readonly DependencyGroup[] => {
  const enabled = readFlag(place, fields, 'assetTriggerEnabled', true);
  const here = at(place, 'triggers');
  const groups = readList(here, fields['triggers']).map((raw, i) => ({
    place: at(here, i),
    group: take(at(here, i), groupFromDeclaration(raw)),
  }));
  const names = new Set<string>();
  for (const { place: where, group } of groups) {
    if (group !== null && names.has(group.name))
      complain(where, `A group "${group.name}" stands here already: rename one.`);
    if (group !== null) names.add(group.name);
  }
  refuseSharedAliases(groups);
  return groups.flatMap(({ group }) => (group === null ? [] : { ...group, enabled: group.enabled && enabled }));
};

/** An alias names one asset in all of a workflow: `${asset.orders…}` must mean the same table whichever group started the run. */
const refuseSharedAliases = (groups: readonly { place: Place; group: DependencyGroup | null }[]): void => {
  const owners = new Map<string, { readonly alias: string; readonly assetKey: string }>();
  for (const { place, group } of groups)
    for (const { alias, assetKey } of group?.conditions ?? []) {
      const name = alias.toUpperCase();
      const owner = owners.get(name) ?? { alias, assetKey };
      owners.set(name, owner);
      if (owner.assetKey === assetKey) continue;
      const other =
        owner.alias === alias ? '' : ` as "${owner.alias}", which is the same in the names of environment variables,`;
      complain(
        place,
        `Give ${assetKey} an alias of its own: "${alias}"${other} already stands for ${owner.assetKey} in this workflow.`,
      );
    }
};

/** A waiting task has the run's pins beside its own, so its aliases may mean nothing else either. */
const refuseTaskAliases = (place: Place, { groups, tasks }: WorkflowDeclaration): void => {
  const unheard: Place = { ...place, problems: [] };
  const waited = tasks.flatMap(({ wait }) => wait?.groups ?? []);
  refuseSharedAliases([
    ...groups.map((group) => ({ place: unheard, group })),
    ...waited.map((group) => ({ place, group })),
  ]);
};

const readTasks = (place: Place, raw: unknown, check: TaskCheck): readonly TaskDeclaration[] => {
  const listed = readList(place, raw);
  if (listed.length === 0) complain(place, 'Declare at least one task.');
  const tasks = listed.map((task, i) => ({ place: at(place, i), task: parseTask(at(place, i), task, check) }));
  const read = tasks.flatMap(({ task }) => task ?? []);
  const before = place.problems.length;
  refuseSameNames(tasks);
  for (const { place: where, task } of tasks) if (task !== null) refuseUnknownTasks(where, task, read);
  // A graph of tasks that could not all be read would only repeat what was said above.
  if (place.problems.length === before && read.length === listed.length) take(place, buildGraph(read));
  return read;
};

const refuseSameNames = (tasks: readonly { place: Place; task: TaskDeclaration | null }[]): void => {
  const names = new Set<string>();
  for (const { place, task } of tasks) {
    if (task !== null && names.has(task.name))
      complain(at(place, 'name'), `A task "${task.name}" stands here already: rename one.`);
    if (task !== null) names.add(task.name);
  }
};

const refuseUnknownTasks = (place: Place, task: TaskDeclaration, all: readonly TaskDeclaration[]): void => {
  const names = all.map((other) => other.name);
  for (const [i, name] of task.dependsOn.entries()) {
    if (names.includes(name)) continue;
    const guess = nearest(name, names);
    complain(
      at(place, 'dependsOn', i),
      `No task of this workflow is called "${name}"${guess === undefined ? ': correct or remove it.' : `: did you mean "${guess}"?`}`,
    );
  }
};

const parseTask = (place: Place, raw: unknown, check: TaskCheck): TaskDeclaration | null => {
  const fields = readFields(place, raw, TASK);
  const name = fields && readName(place, fields);
  if (fields === null || name === null) return null;
  const given = fields['params'] === undefined ? {} : (readMapping(at(place, 'params'), fields['params']) ?? {});
  const params = ownParams(given);
  const settings: TaskSettings = {
    localParams: readLocalParams(place, fields, given),
    timeoutSeconds: readCount(place, fields, 'timeoutSeconds', { fallback: null, least: 1, most: 30 * WEEK_SECONDS }),
  };
  const type = readType(place, fields, { params, settings, check });
  return {
    name,
    description: readText(place, fields, 'description', ''),
    type,
    params: type === ASSET_SENSOR ? withoutWait(params) : params,
    ...settings,
    dependsOn: readNames(place, fields, 'dependsOn'),
    flag: readChoice(place, fields, 'flag', ['YES', 'NO']),
    ...readRetries(place, fields),
    inputs: readKeys(place, fields, 'inputs'),
    outputs: readKeys(place, fields, 'outputs'),
    wait: readWait(place, fields, params, type),
  };
};

const readRetries = (
  place: Place,
  fields: Fields,
): Pick<TaskDefinition, 'failRetryTimes' | 'failRetryIntervalSeconds'> => {
  const interval = { fallback: 60, least: 0, most: WEEK_SECONDS };
  if ((fields['failRetryIntervalSeconds'] ?? null) !== null && (fields['failRetryTimes'] ?? null) === null)
    complain(at(place, 'failRetryIntervalSeconds'), 'Add "failRetryTimes": without it a task is not tried again.');
  return {
    failRetryTimes: readCount(place, fields, 'failRetryTimes', { fallback: 0, least: 0, most: 1000 }),
    failRetryIntervalSeconds: readCount(place, fields, 'failRetryIntervalSeconds', interval),
  };
};

/** What an ASSET_SENSOR waits for is said by `wait` alone. */
const withoutWait = (params: Fields): Fields =>
  Object.fromEntries(Object.entries(params).filter(([key]) => !WAIT_KEYS.some((known) => known === key)));

/** Checks the parameters too: which there are is the task type's own business. */
const readType = (
  place: Place,
  fields: Fields,
  { params, settings, check }: { readonly params: Fields; readonly settings: TaskSettings; readonly check: TaskCheck },
): string => {
  const type = readText(place, fields, 'type', 'SHELL');
  const instead = Object.hasOwn(TYPES_NOT_YET, type) ? TYPES_NOT_YET[type] : undefined;
  if (instead !== undefined) {
    complain(at(place, 'type'), `This version of Sluice does not have ${type} tasks yet: ${instead}.`);
    return type;
  }
  const checked = check(type, params, settings);
  if (!checked.ok) complain(at(place, 'params'), checked.problem.detail, checked.problem.code);
  return type;
};
