import { sql, type SqlBool } from 'kysely';
import { type AssetKey, defaultAlias } from '../../../core/asset/key.ts';
import type { Pin, Version, VersionRef } from '../../../core/asset/version.ts';
import type { TaskDefinition, WorkflowDefinition } from '../../../core/workflow/definition.ts';
import type { TaskRun } from '../../../core/workflow/run.ts';
import { waitConditions } from '../../../core/workflow/task-wait.ts';
import { big, pinsOf } from '../../codecs.ts';
import type { View } from '../../engine.ts';
import type { PinFacts } from '../../store.ts';
import { RARE_EVENTS } from '../../rare-events.ts';
import { findAssetRow } from '../assets/load.ts';
import { versionOf } from '../assets/rows.ts';
import { type RunRow, runState } from './rows.ts';
import { consumedByTask } from '../waits/baselines.ts';

/** What is known of each pin of a run (semantics.md, 6). */
export const pinFacts = async (view: View, run: RunRow, workflow: WorkflowDefinition): Promise<readonly PinFacts[]> => {
  const pins = pinsOf(run.pins_json);
  if (pins.size === 0) return [];
  const earlier = await earlierPins(view, run);
  const facts: PinFacts[] = [];
  for (const [assetKey, pin] of pins)
    facts.push(await factsOf(view, assetKey, aliasOf(workflow, run.trigger_group, assetKey), pin, earlier));
  return facts;
};

/** What is known of the pins that released a waiting task; what the run's pins say under the same alias already is left out. */
export const taskPinFacts = async (
  view: View,
  taskRun: TaskRun,
  task: TaskDefinition,
  ofRun: readonly PinFacts[],
): Promise<readonly PinFacts[]> => {
  const conditions = waitConditions(task);
  const earlier = await consumedByTask(view, taskRun.taskCode, [...taskRun.pins.keys()]);
  const facts: PinFacts[] = [];
  for (const [key, pin] of taskRun.pins) {
    const aliases = new Set(conditions.flatMap(({ assetKey, alias }) => (assetKey === key ? [alias] : [])));
    for (const alias of aliases)
      if (!ofRun.some((each) => each.alias === alias)) facts.push(await factsOf(view, key, alias, pin, earlier));
  }
  return facts;
};

const factsOf = async (
  view: View,
  assetKey: AssetKey,
  alias: string,
  pin: Pin,
  earlier: ReadonlyMap<AssetKey, VersionRef> | string,
): Promise<PinFacts> => {
  const asset = await findAssetRow(view, assetKey);
  const version = asset === undefined ? null : await versionAt(view, asset.id, assetKey, pin.ordinal);
  const since =
    asset === undefined
      ? NO_PREVIOUS('the asset is not registered')
      : await sinceEarlier(view, asset.id, assetKey, pin, version, earlier);
  return { assetKey, alias, pin, version, location: asset?.location ?? null, ...since };
};

type Since = Pick<PinFacts, 'previousSnapshotId' | 'incremental' | 'incrementalReason'>;

const NO_PREVIOUS = (incrementalReason: string): Since => ({
  previousSnapshotId: null,
  incremental: false,
  incrementalReason,
});

/** The pins of the newest earlier run of the group that ended well; a string: why there are none. */
const earlierPins = async (view: View, run: RunRow): Promise<ReadonlyMap<AssetKey, Pin> | string> => {
  if (run.trigger_group_id === null) return 'the run was not started by a group';
  const earlier = await view.db
    .selectFrom('t_ds_workflow_instance')
    .select('pins_json')
    .where('trigger_group_id', '=', run.trigger_group_id)
    .where('state', '=', runState('SUCCESS'))
    .where('id', '<', run.id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return earlier === undefined ? 'no earlier run of the group has succeeded' : pinsOf(earlier.pins_json);
};

const sinceEarlier = async (
  view: View,
  assetId: bigint,
  key: AssetKey,
  pin: Pin,
  version: Version | null,
  earlier: ReadonlyMap<AssetKey, VersionRef> | string,
): Promise<Since> => {
  if (typeof earlier === 'string') return NO_PREVIOUS(earlier);
  const before = earlier.get(key);
  if (before === undefined) return NO_PREVIOUS('the last successful run of the group did not read this table');
  if (before.epoch !== pin.epoch)
    return NO_PREVIOUS('the table was rewound or created again since the last successful run');
  if (before.ordinal > pin.ordinal)
    return NO_PREVIOUS(`the last successful run read the later version ${before.snapshotId}`);
  const previous = await versionAt(view, assetId, key, before.ordinal);
  if (previous === null || version === null || previous.status !== 'LIVE')
    return NO_PREVIOUS(`version ${before.snapshotId}, which the last successful run read, can no longer be read`);
  const gap = await gapBetween(view, assetId, previous, version);
  return {
    previousSnapshotId: before.snapshotId,
    incremental: !gap,
    incrementalReason: gap ? `versions after ${before.snapshotId} expired before they were read` : null,
  };
};

/** A gap lies before the versions that were recorded with it. */
const gapBetween = async (view: View, assetId: bigint, previous: Version, version: Version): Promise<boolean> => {
  const gap = await view.db
    .selectFrom('t_ds_asset_event')
    .select('id')
    .where('asset_id', '=', assetId)
    .where(sql<SqlBool>`${sql.raw(RARE_EVENTS.gaps)}`)
    .where('epoch', '=', big(version.epoch))
    .where('receive_time', '>', previous.recordedAt)
    .where('receive_time', '<=', version.recordedAt)
    .limit(1)
    .executeTakeFirst();
  return gap !== undefined;
};

const versionAt = async (view: View, assetId: bigint, key: AssetKey, ordinal: number): Promise<Version | null> => {
  const query = view.db.selectFrom('t_ds_asset_version').selectAll().where('asset_id', '=', assetId);
  const row = await query.where('ordinal', '=', big(ordinal)).executeTakeFirst();
  return row === undefined ? null : versionOf(row, key);
};

/** The alias in the group that fired, else in any group, else the default one. */
const aliasOf = (workflow: WorkflowDefinition, group: string | null, key: AssetKey): string => {
  const groups = [...workflow.groups].sort((a, b) => Number(b.name === group) - Number(a.name === group));
  const condition = groups.flatMap((each) => each.conditions).find((each) => each.assetKey === key);
  return condition?.alias ?? defaultAlias(key);
};
