import type { AssetKey } from '../../../core/asset/key.ts';
import { SluiceError } from '../../../core/errors.ts';
import { flag } from '../../codecs.ts';
import type { Tx, View } from '../../engine.ts';
import type { GroupExplanation, Resume } from '../../store.ts';
import { lockIfKnown, wasRead } from '../assets/load.ts';
import { type Consumed, newestRecorded, raiseRevisions, setAllConsumed } from './baselines.ts';
import { headerOf } from '../workflows/definitions.ts';
import { type GroupRow, headerWithProject, ownerGate } from './facts.ts';
import { explainGroup } from './lists.ts';
import { enqueue } from './queue.ts';
import { ownGroups } from './rows.ts';

/** The group does not fire until it is resumed; what its assets do goes on being recorded. Throws NOT_FOUND. */
export const pauseGroup = async (tx: Tx, code: bigint, name: string): Promise<GroupExplanation> => {
  const { id } = await namedGroup(tx, code, name);
  await setPaused(tx, id, true);
  return explainGroup(tx, await namedGroup(tx, code, name));
};

/** Throws NOT_FOUND, CONFLICT where it is not paused. */
export const resumeGroup = async (tx: Tx, code: bigint, name: string, how: Resume): Promise<GroupExplanation> => {
  const { id } = await namedGroup(tx, code, name);
  if (how === 'SKIP') await skipAhead(tx, [id]);
  if (!(await setPaused(tx, id, false))) throw new SluiceError('CONFLICT', await notPaused(tx, code, name));
  return explainGroup(tx, await namedGroup(tx, code, name));
};

/** Who wants it to go on may mean what holds all groups of its workflow back. */
const notPaused = async (view: View, code: bigint, name: string): Promise<string> => {
  const gate = ownerGate(await headerWithProject(view, code));
  const held = gate === null ? '' : ' itself; it starts no run as long as ';
  return `Leave group ${name} as it is: it is not paused${held}${gate ?? ''}.`;
};

/** Everything that is recorded of the groups' assets counts as consumed. Assets are locked before groups, in one order. */
export const skipAhead = async (tx: Tx, groupIds: readonly bigint[]): Promise<void> => {
  const members = await tx.db
    .selectFrom('t_ds_asset_dependency')
    .select(['id', 'asset_key'])
    .where(tx.dialect.among('group_id', groupIds))
    .orderBy('asset_hash')
    .execute();
  const newest: { readonly ids: readonly bigint[]; readonly consumed: Consumed }[] = [];
  for (const [key, its] of Map.groupBy(members, (member) => member.asset_key)) {
    const asset = await lockIfKnown(tx, key as AssetKey);
    if (asset === undefined || !(await wasRead(tx, asset))) continue;
    newest.push({ ids: its.map(({ id }) => id), consumed: await newestRecorded(tx, asset.id) });
  }
  const groups = tx.db.selectFrom('t_ds_asset_dependency_group').select('id').orderBy('id');
  await tx.dialect.locking(groups.where(tx.dialect.among('id', groupIds))).execute();
  for (const { ids, consumed } of newest) await setAllConsumed(tx, ids, consumed);
  await raiseRevisions(tx, groupIds);
};

const namedGroup = async (view: View, code: bigint, name: string): Promise<GroupRow> => {
  const workflow = await headerOf(view, code);
  const groups = await ownGroups(view, code).selectAll().orderBy('position').execute();
  const found = groups.find((group) => group.dependency_group === name);
  if (found !== undefined) return found;
  const known = groups.map((group) => group.dependency_group).join(', ') || 'none';
  throw new SluiceError(
    'NOT_FOUND',
    `Name a group of ${workflow.name}: there is no ${name}, its groups are: ${known}.`,
  );
};

/** False: it was so already. Whoever decided the group before sees by its revision that it must decide again. */
const setPaused = async (tx: Tx, id: bigint, paused: boolean): Promise<boolean> => {
  const result = await tx.db
    .updateTable('t_ds_asset_dependency_group')
    .set((e) => ({ paused: flag(paused), revision: e('revision', '+', 1n), update_time: tx.now }))
    .where('id', '=', id)
    .where('paused', '=', flag(!paused))
    .executeTakeFirst();
  if (result.numUpdatedRows !== 1n) return false;
  await enqueue(tx, [id], tx.now);
  tx.hint('CHANGED_GROUPS');
  return true;
};
