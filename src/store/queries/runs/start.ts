import { SluiceError } from '../../../core/errors.ts';
import { valueOrThrow } from '../../../core/result.ts';
import { type RunOperation, operateRun } from '../../../core/workflow/plan.ts';
import type { WorkflowRun } from '../../../core/workflow/run.ts';
import { cannotRepin } from '../../../core/workflow/run-words.ts';
import { big, commandTypes, num, pinsJson } from '../../codecs.ts';
import type { Tx } from '../../engine.ts';
import type { StartRequest } from '../../store.ts';
import { headerOf, newestDefinition, taskNamed } from '../workflows/definitions.ts';
import { applySteps, type LoadedRun, lockRun, runRow } from './planning.ts';
import { insertCommand, insertRun } from './insert.ts';
import { choosePins, consumePins } from './pins.ts';
import { runOf } from './rows.ts';
import { beginOrdinals } from '../waits/baselines.ts';
import { voidPins } from '../waits/wait.ts';

/** The run and its command, or the run that this idempotency key made before. */
export const startManually = async (
  tx: Tx,
  request: StartRequest,
): Promise<{ readonly runId: number; readonly duplicate: boolean }> => {
  const code = big(request.workflowCode);
  await tx.dialect.lockRow(tx.db, 't_ds_workflow_definition', 'code', code);
  const workflow = await newestDefinition(tx, await headerOf(tx, code));
  const idempotency = idempotencyOf(tx, request);
  const before = idempotency === null ? undefined : await runOfKey(tx, idempotency.hash);
  if (before !== undefined) return { runId: num(before.id), duplicate: true };
  if (workflow.releaseState === 'OFFLINE')
    throw new SluiceError(
      'CONFLICT',
      `Workflow ${workflow.name} is offline: put it online first ("sluice workflow online ${workflow.name}").`,
    );
  if (request.consume && workflow.groups.length === 0)
    throw new SluiceError(
      'BAD_REQUEST',
      `Leave out consume: workflow ${workflow.name} has no group that could consume.`,
    );
  const pins = await choosePins(tx, workflow, request.pins);
  const runId = await insertRun(tx, {
    workflow,
    commandType: 'START_PROCESS',
    startTasks: request.startTasks.map((name) => taskNamed(workflow, name).code),
    taskDependType: request.taskDependType,
    params: request.params,
    pins,
    trigger: null,
    idempotency,
  });
  if (request.consume) await consumePins(tx, code, pins);
  return { runId: num(runId), duplicate: false };
};

/** One key means one run of one workflow. */
const idempotencyOf = (tx: Tx, { idempotencyKey, workflowCode }: StartRequest) =>
  idempotencyKey === null ? null : { key: idempotencyKey, hash: tx.sha256(`${workflowCode} ${idempotencyKey}`) };

const runOfKey = (tx: Tx, hash: string) =>
  tx.db.selectFrom('t_ds_workflow_instance').select('id').where('idempotency_hash', '=', hash).executeTakeFirst();

/** As if the run began now: it takes the newest versions, and its waiting tasks wait again. */
const newPins = async (tx: Tx, { row, facts }: LoadedRun) => {
  await voidPins(tx, row.id);
  return {
    pins_json: pinsJson(await choosePins(tx, facts.workflow, new Map())),
    begin_ordinals_json: await beginOrdinals(tx, facts.workflow),
  };
};

/** What a person asked for; the run as it is then. */
export const operate = async (tx: Tx, id: bigint, operation: RunOperation, repin: boolean): Promise<WorkflowRun> => {
  const loaded = await lockRun(tx, id);
  if (repin && operation !== 'RERUN' && operation !== 'RECOVER')
    throw new SluiceError('BAD_REQUEST', cannotRepin(operation));
  const operated = valueOrThrow(operateRun(loaded.facts, operation));
  const { steps, commandType } = operated;
  await tx.db.deleteFrom('t_ds_command').where('workflow_instance_id', '=', id).execute();
  await applySteps(tx, loaded, steps);
  if (commandType !== null) {
    const pins = repin ? await newPins(tx, loaded) : {};
    const again = { command_type: commandTypes.code(commandType), run_times: loaded.row.run_times + 1n, ...pins };
    await tx.db.updateTable('t_ds_workflow_instance').set(again).where('id', '=', id).execute();
    const {
      workflow_definition_code: code,
      workflow_definition_version: version,
      workflow_instance_priority: priority,
    } = loaded.row;
    await insertCommand(tx, { id, code, version, priority }, commandType);
  }
  return runOf(await runRow(tx, id));
};
