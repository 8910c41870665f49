import type { Asset } from '../../../core/asset/state.ts';
import { big } from '../../codecs.ts';
import type { View } from '../../engine.ts';

type OnRollback = Pick<Asset, 'onRollback'>;

/** The versions of an asset with which a cut begins: core's carriesData in SQL. */
const dataVersions = (view: View, assetId: bigint, { onRollback }: OnRollback) =>
  view.db
    .selectFrom('t_ds_asset_version')
    .select('ordinal')
    .where('asset_id', '=', assetId)
    .where('status', '!=', 'WITHDRAWN')
    .where((e) =>
      e.or([
        e('origin', '=', 'AFTER_GAP'),
        e.and([e('origin', '=', 'COMMIT'), e('data_change', '=', 1n)]),
        ...(onRollback === 'IGNORE' ? [] : [e('origin', '=', 'RESTORED')]),
      ]),
    )
    .limit(1);

/** Ordinal of the version with which the cut of this one begins; the ordinal itself if no data version is recorded before it. */
export const cutBegin = async (view: View, assetId: bigint, asset: OnRollback, ordinal: number): Promise<number> => {
  const query = dataVersions(view, assetId, asset).where('ordinal', '<=', big(ordinal)).orderBy('ordinal', 'desc');
  return Number((await query.executeTakeFirst())?.ordinal ?? ordinal);
};

/** Ordinal of the version with which the next cut begins; null: the version's cut is the newest. */
export const nextCut = async (
  view: View,
  assetId: bigint,
  asset: OnRollback,
  ordinal: number,
): Promise<number | null> => {
  const query = dataVersions(view, assetId, asset).where('ordinal', '>', big(ordinal)).orderBy('ordinal');
  const next = await query.executeTakeFirst();
  return next === undefined ? null : Number(next.ordinal);
};
