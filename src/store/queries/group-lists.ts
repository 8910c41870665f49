import type { EpochMs } from '../../core/time.ts';
import { big, leavesOf, num, numOrNull, pinsOf } from '../codecs.ts';
import type { View } from '../engine.ts';
import { pageOf, sliceOf } from '../paging.ts';
import type { GroupExplanation, GroupStore, PageRequest, TriggerRecord } from '../store.ts';
import { headerOf } from './definitions.ts';
import { decide } from './group-evaluate.ts';
import { groupName, type GroupRow } from './group-facts.ts';
import { findProject } from './projects.ts';

export const nextDueAt = async (view: View): Promise<EpochMs | null> => {
  const query = view.db.selectFrom('t_ds_asset_evaluation_queue').select('due_time').orderBy('due_time').limit(1);
  return (await query.executeTakeFirst())?.due_time ?? null;
};

export const explainWorkflow = async (view: View, workflowCode: number): Promise<readonly GroupExplanation[]> => {
  const header = await headerOf(view, big(workflowCode));
  const rows = await view.db
    .selectFrom('t_ds_asset_dependency_group')
    .selectAll()
    .where('workflow_definition_code', '=', header.code)
    .where('task_definition_code', '=', 0n)
    .orderBy('position')
    .execute();
  const groups: GroupExplanation[] = [];
  for (const row of rows) groups.push(await explainGroup(view, row));
  return groups;
};

export const explainGroup = async (view: View, row: GroupRow): Promise<GroupExplanation> => {
  const { loaded, evaluation } = await decide(view, row);
  const { group, members } = loaded.facts;
  return {
    group: groupName(row),
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
  let query = view.db
    .selectFrom('t_ds_asset_trigger_history as history')
    // The first version: it stays when the workflow is removed.
    .innerJoin('t_ds_workflow_definition_log as workflow', (join) =>
      join.onRef('workflow.code', '=', 'history.workflow_definition_code').on('workflow.version', '=', 1n),
    )
    .selectAll('history')
    .select('workflow.name as workflow_name')
    .where('history.id', '<', slice.below);
  if (filter.workflowCode !== undefined)
    query = query.where('history.workflow_definition_code', '=', big(filter.workflowCode));
  if (filter.project !== undefined)
    query = query.where('workflow.project_code', '=', (await findProject(view, filter.project)).code);
  const rows = await query
    .orderBy('history.id', 'desc')
    .limit(slice.limit + 1)
    .execute();
  return pageOf(
    rows,
    slice,
    (row) => row.id,
    (row): TriggerRecord => ({
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
      createTime: row.create_time,
    }),
  );
};
