import type { TaskRun, WorkflowRun } from '../../../core/workflow/run.ts';
import {
  RUN_STATES,
  RUN_STATE_CODES,
  type RunState,
  isRunFinished,
  runStateOf,
} from '../../../core/workflow/run-state.ts';
import { TASK_STATE_CODES, type TaskState, taskStateOf } from '../../../core/workflow/task-state.ts';
import {
  commandTypes,
  dependTypes,
  failureStrategies,
  isSet,
  num,
  numOrNull,
  outputsOf,
  parse,
  pinsOf,
} from '../../codecs.ts';
import type { Row } from '../../database.ts';

export type RunRow = Row<'t_ds_workflow_instance'>;
export type TaskRow = Row<'t_ds_task_instance'>;

export const runState = (state: RunState): bigint => BigInt(RUN_STATE_CODES[state]);
export const taskState = (state: TaskState): bigint => BigInt(TASK_STATE_CODES[state]);

/** A run that its group waits for. */
export const UNFINISHED_RUNS: readonly bigint[] = RUN_STATES.filter((state) => !isRunFinished(state)).map(runState);
/** An executor has the attempt or may have it. */
export const HANDED_OUT: readonly bigint[] = [taskState('DISPATCH'), taskState('RUNNING_EXECUTION')];

const known = <S>(state: S | undefined, code: bigint): S => {
  if (state === undefined) throw new Error(`The database holds state ${code}, which this Sluice does not know.`);
  return state;
};

export const runOf = (row: RunRow): WorkflowRun => ({
  id: num(row.id),
  workflowCode: num(row.workflow_definition_code),
  workflowVersion: num(row.workflow_definition_version),
  state: known(runStateOf(num(row.state)), row.state),
  commandType: commandTypes.name(row.command_type),
  startTasks: parse<readonly number[]>(row.start_tasks_json),
  taskDependType: dependTypes.name(row.task_depend_type),
  failureStrategy: failureStrategies.name(row.failure_strategy),
  params: parse<Readonly<Record<string, string>>>(row.start_params),
  pins: pinsOf(row.pins_json),
  triggerGroup: row.trigger_group,
  triggerKey: row.trigger_key,
  scheduleTime: row.schedule_time,
  startTime: row.start_time,
  endTime: row.end_time,
  runTimes: num(row.run_times),
});

export const taskRunOf = (row: TaskRow): TaskRun => ({
  id: num(row.id),
  runId: num(row.workflow_instance_id),
  taskCode: num(row.task_code),
  name: row.name,
  type: row.task_type,
  state: known(taskStateOf(num(row.state)), row.state),
  attempt: num(row.attempt),
  retryTimes: num(row.retry_times),
  valid: isSet(row.flag),
  waiting: isSet(row.waiting),
  pins: row.pins_json === null ? new Map() : pinsOf(row.pins_json),
  fence: num(row.fence),
  notBefore: row.not_before,
  submitTime: row.submit_time,
  startTime: row.start_time,
  endTime: row.end_time,
  deadline: row.deadline,
  exitCode: numOrNull(row.exit_code),
  outputs: outputsOf(row.var_pool),
  reason: row.reason,
});
