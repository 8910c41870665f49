import { SluiceError } from '../../../core/errors.ts';
import { flag, isSet, num, releaseStates } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { Tx, View } from '../../engine.ts';
import type { Project, Resume } from '../../store.ts';
import { skipAhead } from '../groups/admin.ts';
import { enqueue } from '../groups/queue.ts';
import { findProject } from './projects.ts';

const projectOf = ({ code, name, paused }: Row<'t_ds_project'>): Project => ({
  code: num(code),
  name,
  paused: isSet(paused),
});

/** By name. */
export const listProjects = async (view: View): Promise<readonly Project[]> =>
  (await view.db.selectFrom('t_ds_project').selectAll().orderBy('name').execute()).map(projectOf);

/** No group of its workflows fires until it is resumed; what their assets do goes on being recorded. Throws NOT_FOUND. */
export const pauseProject = async (tx: Tx, nameOrCode: string): Promise<Project> => {
  const { code } = await lockProject(tx, nameOrCode);
  await setPaused(tx, code, true);
  return projectOf(await findProject(tx, nameOrCode));
};

/**
 * Its groups go on, but for those that something else holds back: these keep what arrived, whatever `how` says. Throws NOT_FOUND, CONFLICT where
 * it is not paused.
 */
export const resumeProject = async (tx: Tx, nameOrCode: string, how: Resume): Promise<Project> => {
  const { code, name } = await lockProject(tx, nameOrCode);
  if (how === 'SKIP') await skipAhead(tx, await goingOn(tx, code));
  if (!(await setPaused(tx, code, false)))
    throw new SluiceError('CONFLICT', `Leave project ${name} as it is: it is not paused.`);
  return projectOf(await findProject(tx, nameOrCode));
};

const lockProject = async (tx: Tx, nameOrCode: string): Promise<Row<'t_ds_project'>> => {
  const { code } = await findProject(tx, nameOrCode);
  await tx.dialect.lockRow(tx.db, 't_ds_project', 'code', code);
  return findProject(tx, nameOrCode);
};

/** False: it was so already. All its groups are queued: whoever decides one of them right now is waited for, whoever does so next sees this. */
const setPaused = async (tx: Tx, code: bigint, paused: boolean): Promise<boolean> => {
  const result = await tx.db
    .updateTable('t_ds_project')
    .set({ paused: flag(paused), update_time: tx.now })
    .where('code', '=', code)
    .where('paused', '=', flag(!paused))
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  const groups = await groupsOfProject(tx, code).select('own.id').execute();
  await enqueue(
    tx,
    groups.map(({ id }) => id),
    tx.now,
  );
  tx.hint('CHANGED');
  return true;
};

/** The groups that start runs of the project's workflows. */
const groupsOfProject = (view: View, code: bigint) =>
  view.db
    .selectFrom('t_ds_asset_dependency_group as own')
    .innerJoin('t_ds_workflow_definition as workflow', 'workflow.code', 'own.workflow_definition_code')
    .where('workflow.project_code', '=', code)
    .where('own.task_definition_code', '=', 0n);

/** Those that nothing but the pause of their project holds back by what a person decided. */
const goingOn = async (view: View, code: bigint): Promise<readonly bigint[]> => {
  const rows = await groupsOfProject(view, code)
    .select('own.id')
    .where('own.paused', '=', 0n)
    .where('own.enabled', '=', 1n)
    .where('workflow.release_state', '=', releaseStates.code('ONLINE'))
    .orderBy('own.id')
    .execute();
  return rows.map(({ id }) => id);
};
