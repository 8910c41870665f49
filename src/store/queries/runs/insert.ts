import type { Pins } from '../../../core/asset/version.ts';
import type { WorkflowDefinition } from '../../../core/workflow/definition.ts';
import type { CommandType, TaskDependType } from '../../../core/workflow/run.ts';
import { commandTypes, dependTypes, failureStrategies, pinsJson, text } from '../../codecs.ts';
import type { Tx } from '../../engine.ts';
import { runState } from './rows.ts';
import { beginOrdinals } from '../waits/baselines.ts';

/** DolphinScheduler's MEDIUM; lower goes first. */
const PRIORITY = 2n;

export interface NewRun {
  readonly workflow: WorkflowDefinition;
  readonly commandType: CommandType;
  readonly startTasks: readonly number[];
  readonly taskDependType: TaskDependType;
  readonly params: Readonly<Record<string, string>>;
  readonly pins: Pins;
  readonly trigger: { readonly group: string; readonly groupId: bigint; readonly key: string } | null;
  readonly idempotency: { readonly key: string; readonly hash: string } | null;
}

/** Makes a run and the command that launches it. Returns the run's id. */
export const insertRun = async (tx: Tx, run: NewRun): Promise<bigint> => {
  const { workflow, trigger } = run;
  const id = await tx.dialect.insertForId(tx.db, 't_ds_workflow_instance', {
    workflow_definition_code: workflow.code,
    workflow_definition_version: workflow.version,
    project_code: workflow.projectCode,
    state: runState('SUBMITTED_SUCCESS'),
    state_history: text([{ time: tx.now.toString(), state: 'SUBMITTED_SUCCESS', reason: null }]),
    command_type: commandTypes.code(run.commandType),
    start_tasks_json: text(run.startTasks),
    task_depend_type: dependTypes.code(run.taskDependType),
    failure_strategy: failureStrategies.code(workflow.failureStrategy),
    start_params: text(run.params),
    pins_json: pinsJson(run.pins),
    trigger_group: trigger?.group ?? null,
    trigger_group_id: trigger?.groupId ?? null,
    trigger_key: trigger?.key ?? null,
    idempotency_key: run.idempotency?.key ?? null,
    idempotency_hash: run.idempotency?.hash ?? null,
    begin_ordinals_json: await beginOrdinals(tx, workflow),
    schedule_time: null,
    start_time: tx.now,
    run_times: 1n,
    workflow_instance_priority: PRIORITY,
  });
  await insertCommand(
    tx,
    { id, code: BigInt(workflow.code), version: BigInt(workflow.version), priority: PRIORITY },
    run.commandType,
  );
  return id;
};

export interface CommandedRun {
  readonly id: bigint;
  readonly code: bigint;
  readonly version: bigint;
  readonly priority: bigint;
}

/** One command a run: whoever asks for a second must have taken the first away. */
export const insertCommand = async (tx: Tx, run: CommandedRun, commandType: CommandType): Promise<void> => {
  await tx.db
    .insertInto('t_ds_command')
    .values({
      command_type: commandTypes.code(commandType),
      workflow_definition_code: run.code,
      workflow_definition_version: run.version,
      workflow_instance_id: run.id,
      workflow_instance_priority: run.priority,
      create_time: tx.now,
    })
    .execute();
  tx.hint('COMMANDS');
  tx.hint('CHANGED_RUNS');
};
