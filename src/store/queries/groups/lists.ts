import { sql, type SqlBool } from 'kysely';
import type { EpochMs } from '../../../core/time.ts';
import { big, isSet, leavesOf, num, numOrNull, pinsOf } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { View } from '../../engine.ts';
import { pageOf, sliceOf } from '../../paging.ts';
import type { GroupExplanation, GroupStore, PageRequest, TriggerRecord, WorkflowExplanation } from '../../store.ts';
import { RARE_EVENTS } from '../../rare-events.ts';
import { eventOf } from '../assets/rows.ts';
import { headerOf } from '../workflows/definitions.ts';
import { decide } from './evaluate.ts';
import { groupName, type GroupRow } from './facts.ts';
import { oldestChange } from './queue.ts';
import { ownGroups } from './rows.ts';
import { findProject } from '../workflows/projects.ts';

export const nextDueAt = async (view: View): Promise<EpochMs | null> => {
  const change = await oldestChange(view);
  if (change !== null) return change;
  const query = view.db.selectFrom('t_ds_asset_evaluation_queue').select('due_time').orderBy('due_time').limit(1);
  return (await query.executeTakeFirst())?.due_time ?? null;
};

export const explainWorkflow = async (view: View, workflowCode: number): Promise<WorkflowExplanation> => {
  const header = await headerOf(view, big(workflowCode));
  const rows = await ownGroups(view, header.code).selectAll().orderBy('position').execute();
  const groups: GroupExplanation[] = [];
  for (const row of rows) groups.push(await explainGroup(view, row));
  return {
    groups,
    suppressed: await suppressedTriggers(view, header.code),
    ignored: await ignoredEvents(view, header.code),
  };
};

/** Of each kind, on the page that says why. */
const SHOWN = 10;

const suppressedTriggers = async (view: View, code: bigint): Promise<readonly TriggerRecord[]> => {
  const rows = await triggers(view)
    .where('history.workflow_definition_code', '=', code)
    .where('history.suppressed_count', '>', 0n)
    .orderBy('history.suppressed_time', 'desc')
    .limit(SHOWN)
    .execute();
  return rows.map(triggerOf);
};

const IGNORED = ['IGNORED_STALE', 'UNCONFIRMED'] as const;

const ignoredEvents = async (view: View, code: bigint): Promise<WorkflowExplanation['ignored']> => {
  const assets = view.db
    .selectFrom('t_ds_asset_dependency as dependency')
    .innerJoin('t_ds_asset as asset', 'asset.asset_hash', 'dependency.asset_hash')
    .select('asset.id')
    .where('dependency.workflow_definition_code', '=', code);
  const rows = await view.db
    .selectFrom('t_ds_asset_event')
    .selectAll()
    .where(sql<SqlBool>`${sql.raw(RARE_EVENTS.unused)}`)
    .where('status', 'in', IGNORED)
    .where('asset_id', 'in', assets)
    .orderBy('id', 'desc')
    .limit(SHOWN)
    .execute();
  return rows.map(eventOf);
};

export const explainGroup = async (view: View, row: GroupRow): Promise<GroupExplanation> => {
  const { loaded, evaluation } = await decide(view, row);
  const { group, members } = loaded.facts;
  return {
    group: groupName(row),
    paused: isSet(row.paused),
    ready: evaluation.ready,
    leaves: evaluation.leaves,
    conditions: group.conditions,
    consumed: new Map([...members].map(([key, member]) => [key, member.consumed])),
    lastFire: lastFireOf(row),
  };
};

const lastFireOf = (row: GroupRow): GroupExplanation['lastFire'] => {
  const {
    last_fire_time: at,
    last_instance_id: run,
    last_trigger_key: key,
    last_pins_json: pins,
    last_leaves_json: leaves,
  } = row;
  if (at === null || run === null || key === null || pins === null || leaves === null) return null;
  return { runId: num(run), at, triggerKey: key, pins: pinsOf(pins), leaves: leavesOf(leaves) };
};

type TriggerFilter = Parameters<GroupStore['triggerHistory']>[0];

export const listTriggers = async (
  view: View,
  filter: TriggerFilter,
  page: PageRequest,
): ReturnType<GroupStore['triggerHistory']> => {
  const slice = sliceOf(page);
  let query = triggers(view).where('history.id', '<', slice.below);
  if (filter.workflowCode !== undefined)
    query = query.where('history.workflow_definition_code', '=', big(filter.workflowCode));
  if (filter.runId !== undefined) query = query.where('history.workflow_instance_id', '=', big(filter.runId));
  if (filter.project !== undefined)
    query = query.where('workflow.project_code', '=', (await findProject(view, filter.project)).code);
  const rows = await query
    .orderBy('history.id', 'desc')
    .limit(slice.limit + 1)
    .execute();
  return pageOf(rows, slice, (row) => row.id, triggerOf);
};

/** With the name of the workflow's first version, which stays when the workflow is removed. */
const triggers = (view: View) =>
  view.db
    .selectFrom('t_ds_asset_trigger_history as history')
    .innerJoin('t_ds_workflow_definition_log as workflow', (join) =>
      join.onRef('workflow.code', '=', 'history.workflow_definition_code').on('workflow.version', '=', 1n),
    )
    .selectAll('history')
    .select('workflow.name as workflow_name');

const triggerOf = (row: Row<'t_ds_asset_trigger_history'> & { readonly workflow_name: string }): TriggerRecord => ({
  id: num(row.id),
  triggerKey: row.trigger_key,
  workflowCode: num(row.workflow_definition_code),
  workflow: row.workflow_name,
  task:
    row.task_definition_code === null
      ? null
      : { code: num(row.task_definition_code), taskRunId: num(row.task_instance_id ?? 0n) },
  group: row.dependency_group,
  runId: numOrNull(row.workflow_instance_id),
  status: row.trigger_status as TriggerRecord['status'],
  pins: pinsOf(row.pins_json),
  leaves: leavesOf(row.leaves_json),
  createTime: row.create_time,
  suppressed:
    row.suppressed_count === null || row.suppressed_time === null
      ? null
      : { count: num(row.suppressed_count), at: row.suppressed_time },
});
