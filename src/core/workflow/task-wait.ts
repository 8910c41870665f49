import type { Condition, Leaf } from '../asset/condition.ts';
import type { DependencyGroup } from '../asset/group.ts';
import type { AssetKey } from '../asset/key.ts';
import { durationWords } from '../asset/words.ts';
import type { TaskDefinition, TaskWait, WorkflowDefinition } from './definition.ts';

/** The groups that an attempt of the task waits for; empty: it does not wait. Disabled ones are out of force. */
export const groupsInForce = (wait: TaskWait | null): readonly DependencyGroup[] =>
  wait === null ? [] : wait.groups.filter(({ enabled }) => enabled);

/** Every condition that releases the task, of groups that are not in force too. */
export const waitConditions = ({ wait }: Pick<TaskDefinition, 'wait'>): readonly Condition[] =>
  (wait?.groups ?? []).flatMap(({ conditions }) => conditions);

/** Where a condition begins: explicit minSnapshotId takes the place of the task's baseline, and reference data has none. */
export const baselineOf = (wait: TaskWait, condition: Condition): TaskWait['baseline'] =>
  condition.snapshotRequired && condition.minSnapshotId === null ? wait.baseline : 'NONE';

/** The assets of which a run must remember how far they were when it began. */
export const runStartAssets = (workflow: Pick<WorkflowDefinition, 'tasks'>): readonly AssetKey[] => {
  const keys = workflow.tasks.flatMap(({ wait }) =>
    groupsInForce(wait).flatMap(({ conditions }) =>
      conditions.flatMap((each) => (wait !== null && baselineOf(wait, each) === 'RUN_START' ? [each.assetKey] : [])),
    ),
  );
  return [...new Set(keys)];
};

interface Waiters extends Pick<WorkflowDefinition, 'groups' | 'inputs'> {
  readonly tasks: readonly Pick<TaskDefinition, 'name' | 'wait' | 'inputs'>[];
}

/** Every asset that a run of the workflow may be pinned to from its first instant. */
const pinnedAssets = ({ groups, inputs, tasks }: Waiters): ReadonlySet<AssetKey> =>
  new Set([
    ...groups.flatMap(({ conditions }) => conditions.map(({ assetKey }) => assetKey)),
    ...inputs,
    ...tasks.flatMap((task) => task.inputs),
  ]);

const neverMet = (wait: TaskWait, condition: Condition): string | null => {
  const key = condition.assetKey;
  if (baselineOf(wait, condition) === 'RUN_START')
    return `The run is pinned to a version of ${key} from its start, so a newer one never counts: leave baseline RUN_START out, or take ${key} out of the workflow's triggers and inputs.`;
  if (condition.schemaChanged || condition.minAddedRecords !== null)
    return `The run is pinned to a version of ${key} from its start, so what changed since another one is not asked here: move schemaChanged and minAddedRecords into the workflow's triggers.`;
  return null;
};

/** What must be refused when the workflow is saved: conditions of waiting tasks that the run's own pins make impossible. */
export const waitProblems = (
  workflow: Waiters,
): readonly { readonly task: string; readonly group: string; readonly detail: string }[] => {
  const pinned = pinnedAssets(workflow);
  return workflow.tasks.flatMap(({ name, wait }) =>
    (wait?.groups ?? []).flatMap((group) =>
      group.conditions
        .filter(({ assetKey }) => wait !== null && pinned.has(assetKey))
        .flatMap((condition) => {
          const detail = wait === null ? null : neverMet(wait, condition);
          return detail === null ? [] : [{ task: name, group: group.name, detail }];
        }),
    ),
  );
};

/** How a group of a waiting task stands: its name and its tree. */
export interface WaitingGroup {
  readonly group: string;
  readonly leaves: readonly Leaf[];
}

const groupWords = ({ group, leaves }: WaitingGroup): string => {
  const open = leaves.filter(({ met }) => !met);
  if (open.length === 0) return `${group} to be looked at`;
  return open.map(({ alias, needed, actual }) => `${alias ?? group}: ${needed} (${actual})`).join(' and ');
};

/** What a task waits for, for people: `orders: a version newer than 4 (newest is 4), or …`. */
export const waitingWords = (groups: readonly WaitingGroup[]): string => groups.map(groupWords).join(', or ');

const THEN: Readonly<Record<TaskWait['onTimeout'], string>> = {
  FAIL: '',
  SUCCEED: ' It went on without.',
  WARN: ' It goes on waiting.',
};

/** Why an attempt failed, or went on, when its time was up. */
export const timeoutSentence = ({ timeoutSeconds, onTimeout }: TaskWait, groups: readonly WaitingGroup[]): string =>
  `Waited ${durationWords(timeoutSeconds ?? 0)} in vain for ${waitingWords(groups)}.${THEN[onTimeout]}`;
