import type { Migration } from '../table.ts';

/**
 * Tasks that wait for tables (semantics.md, 5). The groups of a waiting attempt are rows of t_ds_asset_dependency_group and its members
 * like those of a workflow, so that one reverse index finds whatever an event concerns; they live as long as the attempt waits.
 */
export const WAITING = {
  version: 3,
  name: 'waiting tasks',
  tables: {
    // What each task consumed of each asset in the runs of its workflow that succeeded: the baseline LAST_SUCCESS. It never goes back.
    t_ds_task_dependency_consumed: {
      columns: {
        task_definition_code: 'int',
        asset_hash: 'hash',
        asset_key: 'key',
        epoch: 'int',
        ordinal: 'int',
        snapshot_id: 'name',
        schema_id: 'name?',
        workflow_instance_id: 'int',
        update_time: 'int',
      },
      primaryKey: ['task_definition_code', 'asset_hash'],
    },
  },
  changes: {
    t_ds_task_definition_log: { columns: { wait_json: 'text?' } },
    t_ds_workflow_instance: {
      // How far the assets were when the run began, for the baseline RUN_START: only those that a task asks for.
      columns: { begin_ordinals_json: 'text?' },
    },
    t_ds_task_instance: {
      columns: {
        // Not to be handed out; its groups are rows, and `deadline` is the end of its wait.
        waiting: 'flag',
        // What released the attempt; a later attempt of the same task takes it over, unless the run took new pins since.
        pins_json: 'text?',
        pins_void: 'flag',
      },
      index: [
        ['state', 'waiting', 'workflow_instance_priority', 'id'],
        ['waiting', 'deadline'],
      ],
    },
    // Set: the group belongs to this waiting attempt, and its name is `<task instance>:<group>`, so that names of different attempts differ.
    t_ds_asset_dependency_group: { columns: { task_instance_id: 'int?' }, index: [['task_instance_id']] },
    t_ds_asset_trigger_history: { columns: {}, index: [['task_definition_code', 'id']] },
  },
} as const satisfies Migration;
