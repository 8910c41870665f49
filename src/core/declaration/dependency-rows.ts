import { conditionFromDeclaration } from './condition.ts';
import type { Condition } from '../asset/condition.ts';
import type { DependencyGroup } from '../asset/group.ts';
import { groupFromDeclaration, refuseNeverWaiting, taskGroupFromDeclaration, validateGroup } from './group.ts';
import type { WorkflowDeclaration } from './declaration.ts';
import {
  at,
  complain,
  type Fields,
  type FileProblem,
  type Place,
  readFields,
  readMapping,
  readRequired,
  readText,
  refuseUnkept,
  type Shape,
  take,
} from './read.ts';
import { groupProblems } from './workflow.ts';
import { type Result, refuse, ok } from '../result.ts';
import type { TaskDefinition, WorkflowDefinition } from '../workflow/definition.ts';

/** One row of the RFC's array (5.3): what a workflow, or one of its tasks, waits for of one asset. */
export interface DependencyRow {
  /** Code or name; null: the workflow of the task. */
  readonly workflow: string | null;
  /** Code or name; null: the whole workflow waits. */
  readonly task: string | null;
  readonly group: string;
  readonly condition: Condition;
  readonly enabled: boolean;
}

const ROW: Shape = {
  known: [
    'workflowDefinitionCode',
    'taskDefinitionCode',
    'assetKey',
    'dependencyGroup',
    'conditionJson',
    'enabledFlag',
  ],
};

export type DependencyRows =
  | { readonly ok: true; readonly rows: readonly DependencyRow[] }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

/** One row or an array of them, as plain JSON; or everything that is wrong with them. */
export const parseDependencyRows = (raw: unknown): DependencyRows => {
  const place: Place = { path: [], problems: [] };
  const list: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  if (list.length === 0) complain(place, 'Send at least one dependency.');
  refuseUnkept(place, raw);
  if (place.problems.length > 0) return { ok: false, problems: place.problems };
  const rows = list.flatMap((row, i) => readRow(Array.isArray(raw) ? at(place, i) : place, row) ?? []);
  return place.problems.length === 0 ? { ok: true, rows } : { ok: false, problems: place.problems };
};

const readRow = (place: Place, raw: unknown): DependencyRow | null => {
  const fields = readFields(place, raw, ROW);
  if (fields === null) return null;
  const workflow = readCode(place, fields, 'workflowDefinitionCode');
  const task = readCode(place, fields, 'taskDefinitionCode');
  if (workflow === null && task === null)
    complain(place, 'Add "workflowDefinitionCode": it says which workflow waits.');
  const condition = readCondition(place, fields);
  const group = readText(place, fields, 'dependencyGroup', 'default');
  return condition === null ? null : { workflow, task, group, condition, enabled: readEnabled(place, fields) };
};

const readCode = (place: Place, fields: Fields, key: string): string | null => {
  const value = fields[key];
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'string' && value !== '') return value;
  complain(at(place, key), `Write a code or a name for "${key}".`);
  return null;
};

const readEnabled = (place: Place, fields: Fields): boolean => {
  const value = fields['enabledFlag'] ?? 1;
  if (value === 1 || value === true) return true;
  if (value !== 0 && value !== false) complain(at(place, 'enabledFlag'), 'Write 1 or 0 for "enabledFlag".');
  return false;
};

/** `conditionJson` is a mapping, or its text as the RFC's column holds it; the asset may stand in it once more. */
const readCondition = (place: Place, fields: Fields): Condition | null => {
  const assetKey = readRequired(place, fields, 'assetKey');
  const here = at(place, 'conditionJson');
  const given = fields['conditionJson'] ?? {};
  const mapping = readMapping(here, typeof given === 'string' ? parsedText(here, given) : given);
  if (assetKey === null || mapping === null) return null;
  const condition = take(here, conditionFromDeclaration({ assetKey, ...mapping }, 'conditionJson'));
  const outside = take(at(place, 'assetKey'), conditionFromDeclaration({ assetKey }, 'assetKey'));
  if (condition === null || outside === null) return null;
  if (condition.assetKey !== outside.assetKey)
    complain(here, `Name one asset: the row says ${outside.assetKey}, its conditionJson ${condition.assetKey}.`);
  return condition;
};

const parsedText = (place: Place, text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    complain(place, 'Write JSON for "conditionJson".');
    return {};
  }
};

/**
 * The workflow with these rows added (all of it: rows name it). A row takes the place of the condition on its asset in its group; conditions that no row
 * names stay, and so do groups. `enabledFlag` speaks for the whole group.
 */
export const withDependencies = (
  workflow: WorkflowDefinition,
  rows: readonly DependencyRow[],
): Result<WorkflowDeclaration> => {
  const { code: _code, version: _version, projectCode: _project, projectName: _name, ...declared } = workflow;
  const own = addRows(
    workflow.groups,
    rows.filter(({ task }) => task === null),
    'WORKFLOW',
  );
  if (!own.ok) return own;
  const tasks: WorkflowDeclaration['tasks'][number][] = [];
  for (const { code, ...task } of workflow.tasks) {
    const its = rows.filter(({ task: named }) => named === String(code) || named === task.name);
    const wait = waitWith(task.wait, its);
    if (!wait.ok) return wait;
    tasks.push({ ...task, wait: wait.value });
  }
  const changed: WorkflowDeclaration = { ...declared, groups: own.value, tasks };
  const [problem] = groupProblems(changed);
  return problem === undefined ? ok(changed) : refuse(problem.code, problem.detail);
};

const waitWith = (wait: TaskDefinition['wait'], rows: readonly DependencyRow[]): Result<TaskDefinition['wait']> => {
  if (rows.length === 0) return ok(wait);
  const groups = addRows(wait?.groups ?? [], rows, 'TASK');
  if (!groups.ok) return groups;
  const before = wait ?? {
    baseline: 'LAST_SUCCESS',
    timeoutSeconds: null,
    onTimeout: 'FAIL',
    checkIntervalSeconds: null,
  };
  return ok({ ...before, groups: groups.value });
};

const addRows = (
  groups: readonly DependencyGroup[],
  rows: readonly DependencyRow[],
  owner: 'WORKFLOW' | 'TASK',
): Result<readonly DependencyGroup[]> => {
  const result = new Map(groups.map((group) => [group.name, group]));
  for (const name of new Set(rows.map(({ group }) => group))) {
    const its = rows.filter(({ group }) => group === name);
    const group = groupWith(result.get(name), name, its, owner);
    if (!group.ok) return group;
    result.set(name, group.value);
  }
  return ok([...result.values()]);
};

const groupWith = (
  before: DependencyGroup | undefined,
  name: string,
  rows: readonly DependencyRow[],
  owner: 'WORKFLOW' | 'TASK',
): Result<DependencyGroup> => {
  const enabled = rows[0]?.enabled ?? true;
  if (rows.some((row) => row.enabled !== enabled))
    return refuse(
      'BAD_FILE',
      `Group "${name}": give all its rows the same enabledFlag, which stands for the whole group.`,
    );
  const base = before === undefined ? emptyGroup(name, rows, owner) : ok(before);
  if (!base.ok) return base;
  const given = new Map(rows.map(({ condition }) => [condition.assetKey, condition]));
  if (given.size < rows.length)
    return refuse('BAD_FILE', `Group "${name}": put all demands on one asset into one row, there are two.`);
  const kept = (before?.conditions ?? []).map((condition) => given.get(condition.assetKey) ?? condition);
  const added = rows
    .map(({ condition }) => condition)
    .filter((one) => !kept.some((other) => other.assetKey === one.assetKey));
  const group = validateGroup({ ...base.value, enabled, conditions: [...kept, ...added] });
  return group.ok && owner === 'WORKFLOW' ? refuseNeverWaiting(group.value) : group;
};

/** A group of this name with every default, to which the conditions are added. */
const emptyGroup = (
  name: string,
  rows: readonly DependencyRow[],
  owner: 'WORKFLOW' | 'TASK',
): Result<DependencyGroup> => {
  const raw = { group: name, all: rows.slice(0, 1).map(({ condition: { assetKey } }) => ({ assetKey })) };
  return owner === 'TASK' ? taskGroupFromDeclaration(raw) : groupFromDeclaration(raw);
};
