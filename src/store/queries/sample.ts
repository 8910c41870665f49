import type { AssetKey } from '../../core/asset/key.ts';
import { num } from '../codecs.ts';
import type { View } from '../engine.ts';
import type { Sample } from '../store.ts';
import { HANDED_OUT, taskState } from './run-rows.ts';

/** What there is of everything that waits, and how old the newest versions are: for whoever watches the server. */
export const sample = async (view: View): Promise<Sample> => {
  const { db } = view;
  const assets = await db
    .selectFrom('t_ds_asset_state as state')
    .leftJoin('t_ds_asset_version as version', (join) =>
      join.onRef('version.asset_id', '=', 'state.asset_id').onRef('version.ordinal', '=', 'state.latest_ordinal'),
    )
    .select(['state.asset_key', 'state.latest_watermark', 'version.commit_time'])
    .execute();
  const evaluations = db
    .selectFrom('t_ds_asset_evaluation_queue')
    .select((e) => e.fn.countAll<bigint>().as('rows'))
    .where('due_time', '<=', view.now);
  const commands = db.selectFrom('t_ds_command').select((e) => e.fn.countAll<bigint>().as('rows'));
  const attempts = db.selectFrom('t_ds_task_instance').select((e) => e.fn.countAll<bigint>().as('rows'));
  return {
    now: view.now,
    assets: assets.map((row) => ({
      key: row.asset_key as AssetKey,
      commitTime: row.commit_time,
      watermark: row.latest_watermark,
    })),
    evaluations: rowsOf(await evaluations.executeTakeFirstOrThrow()),
    commands: rowsOf(await commands.executeTakeFirstOrThrow()),
    running: rowsOf(await attempts.where('state', 'in', HANDED_OUT).executeTakeFirstOrThrow()),
    submitted: rowsOf(
      await attempts
        .where('state', '=', taskState('SUBMITTED_SUCCESS'))
        .where('waiting', '=', 0n)
        .executeTakeFirstOrThrow(),
    ),
  };
};

const rowsOf = ({ rows }: { readonly rows: bigint }): number => num(rows);
