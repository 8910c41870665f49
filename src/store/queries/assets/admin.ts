import { releaseHold } from '../../../core/asset/ingest/stated.ts';
import type { AssetKey } from '../../../core/asset/key.ts';
import type { AssetState } from '../../../core/asset/state.ts';
import { SluiceError } from '../../../core/errors.ts';
import type { Tx } from '../../engine.ts';
import { writeChanges } from './effects.ts';
import { loadHistory, lockAsset } from './load.ts';

/** What is the matter with an asset that is not held. */
const HEALTH_WORDS: Readonly<Record<Exclude<AssetState['health'], 'HELD'>, string>> = {
  OK: 'its table is read as it should be',
  NEVER_READ: 'its table has not been read yet',
  BEHIND: 'its table is behind what its catalog knows',
  UNREADABLE: 'its table cannot be read',
};

/** A person lets a held asset go on; the state that it has then. Throws UNKNOWN_ASSET, CONFLICT if it is not held. */
export const releaseAsset = async (tx: Tx, key: AssetKey): Promise<AssetState> => {
  const record = await lockAsset(tx, key);
  const { row, state } = record;
  if (state.health !== 'HELD')
    throw new SluiceError('CONFLICT', `Leave ${key} as it is: it is not held (${HEALTH_WORDS[state.health]}).`);
  const history = await loadHistory(tx, record, { snapshotIds: [], rollbackTo: null, looksBack: false });
  const effects = releaseHold(history, tx.now);
  await writeChanges(tx, [{ row, state, effects, versions: [], awaitsVersion: false }]);
  return effects.state;
};

/** Forgets an asset and all that is known of it. Throws UNKNOWN_ASSET, CONFLICT while a group waits for it. */
export const removeAsset = async (tx: Tx, key: AssetKey): Promise<void> => {
  const { row } = await lockAsset(tx, key);
  const group = await tx.db
    .selectFrom('t_ds_asset_dependency as dependency')
    .innerJoin('t_ds_workflow_definition as workflow', 'workflow.code', 'dependency.workflow_definition_code')
    .select(['workflow.name', 'dependency.dependency_group'])
    .where('dependency.asset_hash', '=', row.asset_hash)
    .orderBy('dependency.id')
    .limit(1)
    .executeTakeFirst();
  if (group !== undefined)
    throw new SluiceError(
      'CONFLICT',
      `Take ${key} out of group ${group.dependency_group} of workflow ${group.name} first: it waits for this asset.`,
    );
  // The database does not look for these when their asset goes (migration 7). The state's lock keeps others from adding to them.
  await tx.db.deleteFrom('t_ds_asset_event').where('asset_id', '=', row.id).execute();
  await tx.db.deleteFrom('t_ds_asset_version').where('asset_id', '=', row.id).execute();
  await tx.db.deleteFrom('t_ds_asset').where('id', '=', row.id).execute();
  tx.facts.delete(row.asset_hash);
  tx.hint('ASSETS');
  tx.hint('CHANGED');
};
