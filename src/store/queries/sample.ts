import type { AssetKey } from '../../core/asset/key.ts';
import { leavesOf, num } from '../codecs.ts';
import { SHARD, type View } from '../engine.ts';
import type { Sample } from '../store.ts';
import { HANDED_OUT, taskState } from './runs/rows.ts';

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
    .select((e) => [e.fn.countAll<bigint>().as('rows'), e.fn.min('due_time').as('oldest')])
    .where('due_time', '<=', view.now);
  const commands = db.selectFrom('t_ds_command').select((e) => e.fn.countAll<bigint>().as('rows'));
  const attempts = db.selectFrom('t_ds_task_instance').select((e) => e.fn.countAll<bigint>().as('rows'));
  const due = await evaluations.executeTakeFirstOrThrow();
  const changes = await db
    .selectFrom('t_ds_asset_change')
    .select((e) => [e.fn.countAll<bigint>().as('rows'), e.fn.min('change_time').as('oldest')])
    .executeTakeFirstOrThrow();
  const submitted = attempts.where('state', '=', taskState('SUBMITTED_SUCCESS')).where('flag', '=', 1n);
  const owner = db.selectFrom('t_ds_master').select('claim_time').where('shard_id', '=', BigInt(SHARD));
  return {
    now: view.now,
    assets: assets.map((row) => ({
      key: row.asset_key as AssetKey,
      commitTime: row.commit_time,
      watermark: row.latest_watermark,
    })),
    evaluations: rowsOf(due) + rowsOf(changes),
    evaluationDueAt: earliest(due.oldest, changes.oldest),
    commands: rowsOf(await commands.executeTakeFirstOrThrow()),
    running: rowsOf(await attempts.where('state', 'in', HANDED_OUT).executeTakeFirstOrThrow()),
    submitted: rowsOf(await submitted.where('waiting', '=', 0n).executeTakeFirstOrThrow()),
    waiting: rowsOf(await submitted.where('waiting', '=', 1n).executeTakeFirstOrThrow()),
    claimedAt: (await owner.executeTakeFirst())?.claim_time ?? null,
    blocked: await blockedLeaves(view),
  };
};

/** Their trees are read for each scrape; nobody draws more lines than these. */
const MOST_GROUPS = 10_000;

/** As it was decided last, by whichever server; groups that are gone hold nothing up. */
const blockedLeaves = async ({ db }: View): Promise<Sample['blocked']> => {
  const rows = await db
    .selectFrom('t_ds_asset_dependency_group')
    .select(['workflow_definition_code', 'leaves_json'])
    .where('task_definition_code', '=', 0n)
    .where('ready', '=', 0n)
    .orderBy('id')
    .limit(MOST_GROUPS)
    .execute();
  return rows.flatMap(({ workflow_definition_code: code, leaves_json: leaves }) =>
    leavesOf(leaves).flatMap((leaf) =>
      leaf.met || leaf.code === null ? [] : [{ workflowCode: num(code), assetKey: leaf.assetKey, code: leaf.code }],
    ),
  );
};

const rowsOf = ({ rows }: { readonly rows: bigint }): number => num(rows);

const earliest = (one: bigint | null, other: bigint | null): bigint | null =>
  one === null || (other !== null && other < one) ? other : one;
