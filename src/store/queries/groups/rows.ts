import type { View } from '../../engine.ts';

/** The groups that start runs of this workflow; those that release its waiting tasks are left out. */
export const ownGroups = (view: View, workflowCode: bigint) =>
  view.db
    .selectFrom('t_ds_asset_dependency_group')
    .where('workflow_definition_code', '=', workflowCode)
    .where('task_definition_code', '=', 0n);

export const groupIdsOf = async (view: View, workflowCode: bigint): Promise<readonly bigint[]> =>
  (await ownGroups(view, workflowCode).select('id').orderBy('id').execute()).map(({ id }) => id);

/** Those that are neither paused themselves nor disabled: what arrives is kept for the others whatever becomes of their workflow. */
export const freeGroupIdsOf = async (view: View, workflowCode: bigint): Promise<readonly bigint[]> => {
  const free = ownGroups(view, workflowCode).where('paused', '=', 0n).where('enabled', '=', 1n);
  return (await free.select('id').orderBy('id').execute()).map(({ id }) => id);
};
