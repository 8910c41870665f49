import { SluiceError } from '../../../core/errors.ts';
import type { WorkflowDefinition } from '../../../core/workflow/definition.ts';
import { num, releaseStates } from '../../codecs.ts';
import type { Tx, View } from '../../engine.ts';
import { pageOf, sliceOf } from '../../paging.ts';
import type { DefinitionStore, PageRequest, Resume } from '../../store.ts';
import { definitionAt, headerOf, newestDefinition } from './definitions.ts';
import { skipAhead } from '../groups/admin.ts';
import { enqueueWorkflow } from '../groups/queue.ts';
import { freeGroupIdsOf } from '../groups/rows.ts';
import { UNFINISHED_RUNS } from '../runs/rows.ts';

/**
 * Puts a workflow online or offline; its groups are evaluated again. Online, `how` says what becomes of what arrived while it was offline: SKIP is
 * refused (CONFLICT) where it was online all the time, as nothing would be skipped.
 */
export const releaseWorkflow = async (
  tx: Tx,
  code: bigint,
  state: WorkflowDefinition['releaseState'],
  how: Resume,
): Promise<WorkflowDefinition> => {
  await tx.dialect.lockRow(tx.db, 't_ds_workflow_definition', 'code', code);
  const before = await headerOf(tx, code);
  const release = releaseStates.code(state);
  if (how === 'SKIP' && state === 'ONLINE' && before.release_state === release)
    throw new SluiceError(
      'CONFLICT',
      `Leave out skip: workflow ${before.name} is online already, so nothing was kept for it that could be skipped.`,
    );
  if (before.release_state !== release) {
    if (state === 'ONLINE' && how === 'SKIP') await skipAhead(tx, await freeGroupIdsOf(tx, code));
    await tx.db
      .updateTable('t_ds_workflow_definition')
      .set({ release_state: release, update_time: tx.now })
      .where('code', '=', code)
      .execute();
    await enqueueWorkflow(tx, code);
    tx.hint('CHANGED');
  }
  return newestDefinition(tx, await headerOf(tx, code));
};

/**
 * Removes a workflow with its groups and what they consumed. Its versions stay, as its runs and triggers do: they say what was done.
 * Throws CONFLICT while it is online or a run of it is unfinished.
 */
export const removeWorkflow = async (tx: Tx, code: bigint): Promise<void> => {
  await tx.dialect.lockRow(tx.db, 't_ds_workflow_definition', 'code', code);
  const header = await headerOf(tx, code);
  if (releaseStates.name(header.release_state) === 'ONLINE')
    throw new SluiceError(
      'CONFLICT',
      `Put workflow ${header.name} offline first: it is online, so its tables may start it.`,
    );
  // First the groups: one that fires right now has then made its run, which is seen here.
  await tx.db.deleteFrom('t_ds_asset_dependency_group').where('workflow_definition_code', '=', code).execute();
  const unfinished = await tx.db
    .selectFrom('t_ds_workflow_instance')
    .select('id')
    .where('workflow_definition_code', '=', code)
    .where(tx.dialect.among('state', UNFINISHED_RUNS))
    .limit(1)
    .executeTakeFirst();
  if (unfinished !== undefined)
    throw new SluiceError(
      'CONFLICT',
      `Stop run ${unfinished.id} of workflow ${header.name}, or wait for its end, first.`,
    );
  await tx.db.deleteFrom('t_ds_task_definition').where('workflow_definition_code', '=', code).execute();
  await tx.db.deleteFrom('t_ds_workflow_definition').where('code', '=', code).execute();
  tx.hint('CHANGED');
};

export const listWorkflowVersions = async (
  view: View,
  code: bigint,
  page: PageRequest,
): ReturnType<DefinitionStore['versions']> => {
  await headerOf(view, code);
  const slice = sliceOf(page);
  const rows = await view.db
    .selectFrom('t_ds_workflow_definition_log')
    .select(['version', 'description', 'create_time'])
    .where('code', '=', code)
    .where('version', '<', slice.below)
    .orderBy('version', 'desc')
    .limit(slice.limit + 1)
    .execute();
  return pageOf(
    rows,
    slice,
    (row) => row.version,
    (row) => ({ version: num(row.version), description: row.description, createTime: row.create_time }),
  );
};

/** Throws NOT_FOUND. */
export const workflowVersion = async (view: View, code: bigint, version: bigint): Promise<WorkflowDefinition> => {
  const header = await headerOf(view, code);
  if (version < 1n || version > header.version)
    throw new SluiceError(
      'NOT_FOUND',
      `Workflow ${header.name} has versions 1 to ${header.version}: there is no version ${version}.`,
    );
  return definitionAt(view, code, version);
};
