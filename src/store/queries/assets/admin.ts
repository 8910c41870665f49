import { releaseHold } from '../../../core/asset/ingest/stated.ts';
import type { AssetKey } from '../../../core/asset/key.ts';
import type { AssetState } from '../../../core/asset/state.ts';
import { SluiceError } from '../../../core/errors.ts';
import type { Tx } from '../../engine.ts';
import { writeChanges } from './effects.ts';
import { loadHistory, lockAsset } from './load.ts';

/** A person lets a held asset go on; the state that it has then. Throws UNKNOWN_ASSET, CONFLICT if it is not held. */
export const releaseAsset = async (tx: Tx, key: AssetKey): Promise<AssetState> => {
  const record = await lockAsset(tx, key);
  const { row, state } = record;
  if (state.health !== 'HELD')
    throw new SluiceError(
      'CONFLICT',
      `There is nothing to let go on: ${key} is not held, its table is ${state.health}.`,
    );
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
  await tx.db.deleteFrom('t_ds_asset').where('id', '=', row.id).execute();
  tx.facts.delete(row.asset_hash);
  tx.hint('ASSETS');
  tx.hint('CHANGED');
};
