import type { Leaf } from '../../../core/asset/condition.ts';
import { consumedAfter, evaluateGroup, sameAnswers, sameLeaves } from '../../../core/asset/evaluate/evaluate.ts';
import type { Evaluation, GroupFacts } from '../../../core/asset/group.ts';
import { triggerKey } from '../../../core/asset/trigger-key.ts';
import type { Pins } from '../../../core/asset/version.ts';
import type { EpochMs } from '../../../core/time.ts';
import { insertMany, updateMany } from '../../bulk.ts';
import { flag, leavesJson, num, pinsJson } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { Tx, View } from '../../engine.ts';
import type { EvaluationReport } from '../../store.ts';
import { setConsumed } from './baselines.ts';
import { definitionAt } from '../workflows/definitions.ts';
import { groupName, type GroupRow, type LoadedGroup, loadGroup } from './facts.ts';
import { enqueue, enqueueQuietly, oldestChange, queueChanged } from './queue.ts';
import { recordTrigger } from './triggers.ts';
import { insertRun } from '../runs/insert.ts';
import { releaseTask } from '../waits/wait.ts';

/**
 * The groups whose evaluation is due, longest overdue first. Until these few are not enough, what changed is left alone, as more of it may come
 * together; but what changed before the last of them was queued goes before that one, or groups that are always due would keep it waiting.
 */
export const dueGroups = async (tx: Tx, limit: number): Promise<readonly bigint[]> => {
  const due = await queuedGroups(tx, limit);
  const last = due.length < limit ? undefined : due.at(-1);
  const comesFirst = last === undefined || (await changedBefore(tx, last.due_time));
  const all = comesFirst && (await queueChanged(tx)) ? await queuedGroups(tx, limit) : due;
  return all.map((row) => row.group_id);
};

const changedBefore = async (view: View, at: EpochMs): Promise<boolean> => {
  const change = await oldestChange(view);
  return change !== null && change < at;
};

const queuedGroups = (view: View, limit: number) =>
  view.db
    .selectFrom('t_ds_asset_evaluation_queue')
    .select(['group_id', 'due_time'])
    .where('due_time', '<=', view.now)
    .orderBy('due_time')
    .orderBy('group_id')
    .limit(limit)
    .execute();

/** The decision as it is now. Nearly always the newest few versions decide; a group that waits looks at all that it may. */
export const decide = async (
  view: View,
  row: GroupRow,
): Promise<{ readonly loaded: LoadedGroup; readonly evaluation: Evaluation }> => {
  const few = await loadGroup(view, row, 'FEW');
  const evaluation = evaluateGroup(few.facts);
  const sawAll = ![...few.facts.members.values()].some((member) => member.truncated);
  if (evaluation.ready || sawAll) return { loaded: few, evaluation };
  const loaded = await loadGroup(view, row, 'MOST');
  return { loaded, evaluation: evaluateGroup(loaded.facts) };
};

/** Takes one group from the queue and decides it; null: somebody else took it, or it is gone. */
export const evaluateQueued = async (tx: Tx, groupId: bigint): Promise<EvaluationReport | null> => {
  await tx.dialect.lockRow(tx.db, 't_ds_asset_dependency_group', 'id', groupId);
  // Whoever queued it has committed by now, or queues it again after us: nothing is missed.
  const taken = await tx.db
    .deleteFrom('t_ds_asset_evaluation_queue')
    .where('group_id', '=', groupId)
    .executeTakeFirst();
  if (taken.numDeletedRows !== 1n) return null;
  const row = await tx.db
    .selectFrom('t_ds_asset_dependency_group')
    .selectAll()
    .where('id', '=', groupId)
    .executeTakeFirst();
  if (row === undefined) return null;
  if (row.task_instance_id !== null) return evaluateWaiting(tx, row);
  const { loaded, evaluation } = await decide(tx, row);
  const changed = (await storeLeaves(tx, [{ ...loaded, evaluation }])).has(row.id);
  const fired = evaluation.ready ? await fire(tx, loaded, evaluation.pins, evaluation.leaves) : null;
  if (!evaluation.ready && evaluation.nextAt !== null) await enqueue(tx, [groupId], evaluation.nextAt);
  return {
    workflow: loaded.workflow.name,
    workflowCode: num(loaded.workflow.code),
    group: row.dependency_group,
    ready: evaluation.ready,
    leaves: evaluation.leaves,
    changed,
    fired,
    suppressed: evaluation.ready && fired === null,
    task: null,
    released: null,
  };
};

/** One group of a waiting attempt: it releases the attempt, or says why not. */
const evaluateWaiting = async (tx: Tx, row: GroupRow): Promise<EvaluationReport> => {
  const { loaded, evaluation } = await decide(tx, row);
  const { ready, leaves } = evaluation;
  const changed = ready || (await storeLeaves(tx, [{ ...loaded, evaluation }])).has(row.id);
  const released = ready ? await releaseTask(tx, loaded, evaluation.pins, leaves) : null;
  const next = ready ? null : checkAgainAt(loaded, evaluation.nextAt, tx.now);
  if (next !== null) await enqueue(tx, [row.id], next);
  const task = loaded.owner?.task.name ?? null;
  const { name: workflow, code } = loaded.workflow;
  return {
    workflow,
    workflowCode: num(code),
    group: groupName(row),
    ready,
    leaves,
    changed,
    fired: null,
    task,
    released,
  };
};

/** When time alone may change the answer, or when the task asks to be looked at anyway. */
const checkAgainAt = ({ owner }: LoadedGroup, nextAt: EpochMs | null, now: EpochMs): EpochMs | null => {
  const seconds = owner?.task.wait?.checkIntervalSeconds ?? null;
  if (seconds === null) return nextAt;
  const anyway = now + BigInt(Math.round(seconds * 1000));
  return nextAt !== null && nextAt < anyway ? nextAt : anyway;
};

/** A decision that leaves its group waiting. */
interface Undecided {
  readonly row: Pick<GroupRow, 'id' | 'ready' | 'task_instance_id'>;
  readonly facts: Pick<GroupFacts, 'previous'>;
  readonly evaluation: Evaluation;
}

/**
 * Stores the trees where an answer or its code changed, and each such leaf in the history; the groups of which that is so. What a leaf compares may
 * say something else each time; that is shown when somebody asks, and follows from what is stored. Of a waiting task it is stored too: its
 * run's page shows it.
 */
export const storeLeaves = async (tx: Tx, decided: readonly Undecided[]): Promise<ReadonlySet<bigint>> => {
  if (decided.some(({ facts, evaluation }) => !sameLeaves(facts.previous, evaluation.leaves)))
    tx.hint('CHANGED_GROUPS');
  const changed = decided.filter(hasChanged);
  if (changed.length === 0) return new Set();
  const rows = changed.map(({ row, evaluation: { leaves, ready } }) => ({
    id: row.id,
    leaves_json: leavesJson(leaves),
    ready: flag(ready),
    update_time: tx.now,
  }));
  await updateMany(tx, 't_ds_asset_dependency_group', rows, 'id');
  const history = changed.flatMap(({ row, facts: { previous }, evaluation: { leaves } }) =>
    [...leaves.filter((leaf) => !holds(previous, leaf)), ...opened(previous, leaves, tx.now)].map((leaf) =>
      historyRow(row.id, leaf),
    ),
  );
  await insertMany(tx, 't_ds_asset_leaf_history', history);
  tx.hint('CHANGED_GROUPS');
  return new Set(changed.map(({ row }) => row.id));
};

const hasChanged = ({ row, facts, evaluation: { leaves, ready } }: Undecided): boolean => {
  const unchanged = row.task_instance_id === null ? sameAnswers : sameLeaves;
  return !unchanged(facts.previous, leaves) || row.ready !== flag(ready);
};

const holds = (leaves: readonly Leaf[], leaf: Leaf): boolean =>
  leaves.some((other) => other.assetKey === leaf.assetKey && other.met === leaf.met && other.code === leaf.code);

/** A gate's leaf is there only while it is closed: that it opened is a change too. */
const opened = (before: readonly Leaf[], leaves: readonly Leaf[], now: bigint): readonly Leaf[] =>
  before
    .filter((leaf) => leaf.assetKey === null && !holds(leaves, leaf))
    .map((leaf) => ({ ...leaf, met: true, actual: 'no longer closed', since: now }));

const historyRow = (groupId: bigint, leaf: Leaf) => ({
  group_id: groupId,
  asset_key: leaf.assetKey,
  alias: leaf.alias,
  met: flag(leaf.met),
  code: leaf.code,
  needed: leaf.needed,
  actual: leaf.actual,
  since: leaf.since,
});

/**
 * Trigger history, consumed versions, run and command together. A key that has fired before (a group made anew over the same versions)
 * starts nothing, but its versions are consumed: what was done need not be waited for.
 */
const fire = async (
  tx: Tx,
  loaded: LoadedGroup,
  pins: Pins,
  leaves: readonly Leaf[],
): Promise<EvaluationReport['fired']> => {
  const { row, workflow } = loaded;
  const group = row.dependency_group;
  const key = triggerKey({ workflowCode: num(workflow.code), task: null, group, pins }, tx.sha256);
  const isNew = await recordTrigger(tx, { key, workflowCode: workflow.code, group, pins, leaves, released: null });
  await consume(tx, loaded, pins);
  // The tree that led to the fire is past; the next evaluation says what the group waits for now. It is not hurried: the run comes first.
  await enqueueQuietly(tx, [row.id], tx.now);
  if (!isNew) {
    await countSuppressed(tx, key);
    return null;
  }
  const runId = await startRun(tx, workflow, { group, groupId: row.id, key }, pins);
  await noteFire(tx, row.id, runId, key, pins, leaves);
  tx.hint('CHANGED_GROUPS');
  return { runId: num(runId), triggerKey: key, pins };
};

/** The same versions came up once more: it is told to people, and starts nothing. */
const countSuppressed = async (tx: Tx, key: string): Promise<void> => {
  await tx.db
    .updateTable('t_ds_asset_trigger_history')
    .set((e) => ({
      suppressed_count: e(e.fn.coalesce('suppressed_count', e.val(0n)), '+', 1n),
      suppressed_time: tx.now,
    }))
    .where('trigger_key', '=', key)
    .execute();
};

const startRun = async (
  tx: Tx,
  workflow: Row<'t_ds_workflow_definition'>,
  trigger: { readonly group: string; readonly groupId: bigint; readonly key: string },
  pins: Pins,
): Promise<bigint> => {
  const runId = await insertRun(tx, {
    workflow: await definitionAt(tx, workflow.code, workflow.version),
    commandType: 'ASSET_EVENT_TRIGGER',
    startTasks: [],
    taskDependType: 'TASK_POST',
    params: {},
    pins,
    trigger,
    idempotency: null,
  });
  await tx.db
    .updateTable('t_ds_asset_trigger_history')
    .set({ workflow_instance_id: runId })
    .where('trigger_key', '=', trigger.key)
    .execute();
  return runId;
};

const noteFire = async (
  tx: Tx,
  groupId: bigint,
  runId: bigint,
  key: string,
  pins: Pins,
  leaves: readonly Leaf[],
): Promise<void> => {
  await tx.db
    .updateTable('t_ds_asset_dependency_group')
    .set({
      last_fire_time: tx.now,
      last_instance_id: runId,
      last_trigger_key: key,
      last_pins_json: pinsJson(pins),
      last_leaves_json: leavesJson(leaves),
    })
    .where('id', '=', groupId)
    .execute();
};

/** Compare-and-set on the group's revision: two that fire from the same facts cannot both consume. */
const consume = async (tx: Tx, { row, facts, dependencies }: LoadedGroup, pins: Pins): Promise<void> => {
  const raised = await tx.db
    .updateTable('t_ds_asset_dependency_group')
    .set({ revision: row.revision + 1n })
    .where('id', '=', row.id)
    .where('revision', '=', row.revision)
    .executeTakeFirst();
  if (raised.numUpdatedRows !== 1n)
    throw new Error(`Group ${row.dependency_group} was changed by another writer while it fired.`);
  for (const [key, ref] of consumedAfter(pins, facts.members)) {
    const dependency = dependencies.get(key);
    if (dependency === undefined) continue;
    const member = facts.members.get(key);
    const version = member?.versions.find((each) => each.ordinal === ref.ordinal);
    const schemaId = version === undefined ? (member?.consumedSchemaId ?? null) : version.schemaId;
    await setConsumed(tx, dependency, { ref, schemaId, known: true });
  }
};

/** After a failure inside one group's evaluation: it is tried again later, and holds up no other. */
export const postpone = async (tx: Tx, groupId: bigint, byMs: bigint): Promise<void> => {
  await tx.db
    .updateTable('t_ds_asset_evaluation_queue')
    .set({ due_time: tx.now + byMs })
    .where('group_id', '=', groupId)
    .execute();
};
