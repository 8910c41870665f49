import type { Condition } from '../../../core/asset/condition.ts';
import type { DependencyGroup, GroupFacts, MemberFacts, VersionFacts } from '../../../core/asset/group.ts';
import type { AssetKey } from '../../../core/asset/key.ts';
import type { Pin, Version } from '../../../core/asset/version.ts';
import { withBindings } from '../../../core/asset/version-facts.ts';
import { big, conditionOf, isSet, leavesOf, num, pinsOf, releaseStates, settingsOf } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { View } from '../../engine.ts';
import { findAssetRow, schemasOf, tagsOf, verdictsOf } from '../assets/load.ts';
import { assetOf, stateOf, versionOf } from '../assets/rows.ts';
import { type Consumed, consumedOf } from './baselines.ts';
import { cutBegin } from '../assets/cut-rows.ts';
import { UNFINISHED_RUNS } from '../runs/rows.ts';
import { pinnedVersions, type TaskOwner, taskOwner } from '../waits/owner.ts';

export type GroupRow = Row<'t_ds_asset_dependency_group'>;

/** The most that evaluation looks back over (semantics.md, 3), and what nearly always suffices. */
const MOST_VERSIONS = 1_000;
const FEW_VERSIONS = 100;

export interface LoadedGroup {
  readonly row: GroupRow;
  readonly workflow: Row<'t_ds_workflow_definition'>;
  readonly facts: GroupFacts;
  /** Set: the group is that of a waiting attempt, which it releases. */
  readonly owner: TaskOwner | null;
  /** The row that holds what each member consumed. */
  readonly dependencies: ReadonlyMap<AssetKey, bigint>;
}

export interface Member {
  readonly dependencyId: bigint;
  readonly condition: Condition;
  readonly consumed: Consumed;
}

/** How many versions of each member are looked at. */
export type Reach = 'FEW' | 'MOST';

export const loadGroup = async (view: View, row: GroupRow, reach: Reach): Promise<LoadedGroup> => {
  const workflow = await headerWithProject(view, row.workflow_definition_code);
  const owner = row.task_instance_id === null ? null : await taskOwner(view, row.task_instance_id);
  const members = await membersOf(view, row.id);
  const facts = new Map<AssetKey, MemberFacts>();
  for (const { condition, consumed } of members)
    facts.set(condition.assetKey, {
      ...(await memberFacts(view, condition, consumed, reach, owner?.pins.get(condition.assetKey))),
      ...(owner === null ? consumedBy(row, condition.assetKey, consumed) : {}),
    });
  return {
    row,
    workflow,
    owner,
    dependencies: new Map(members.map((member) => [member.condition.assetKey, member.dependencyId])),
    facts: {
      group: groupOf(row, members),
      members: facts,
      hasActiveRun: owner === null && (await hasActiveRun(view, row.id)),
      releasesTask: owner !== null,
      paused: isSet(row.paused),
      // A run that is under way goes on whatever becomes of its workflow and project.
      gate: owner === null ? ownerGate(workflow) : null,
      lastFireAt: row.last_fire_time,
      previous: leavesOf(row.leaves_json),
      now: view.now,
    },
  };
};

/** A workflow, and whether its project is paused. */
export const headerWithProject = (view: View, code: bigint) =>
  view.db
    .selectFrom('t_ds_workflow_definition as workflow')
    .innerJoin('t_ds_project as project', 'project.code', 'workflow.project_code')
    .selectAll('workflow')
    .select('project.paused as project_paused')
    .where('workflow.code', '=', code)
    .executeTakeFirstOrThrow();

/** Why a workflow lets none of its groups fire; null: it does. */
export const ownerGate = (workflow: {
  readonly release_state: bigint;
  readonly project_paused: bigint;
}): string | null => {
  const offline = releaseStates.name(workflow.release_state) === 'OFFLINE';
  if (isSet(workflow.project_paused))
    return offline ? 'the workflow is offline, its project is paused' : 'the project is paused';
  return offline ? 'the workflow is offline' : null;
};

/** Which run used the version consumed last, as far as the group's last fire tells. */
export const consumedBy = (
  { last_instance_id: run, last_pins_json: pins }: Pick<GroupRow, 'last_instance_id' | 'last_pins_json'>,
  key: AssetKey,
  { ref }: Consumed,
): Pick<MemberFacts, 'consumedBy'> => {
  if (ref === null) return {};
  if (run === null || pins === null) return { consumedBy: null };
  return pinsOf(pins).get(key)?.ordinal === ref.ordinal ? { consumedBy: num(run) } : {};
};

const groupOf = (row: GroupRow, members: readonly Member[]): DependencyGroup => ({
  ...settingsOf(row.settings_json),
  name: groupName(row),
  enabled: isSet(row.enabled),
  conditions: members.map((member) => member.condition),
});

/** The group's name as it was declared: rows of waiting attempts have the attempt's id before it. */
export const groupName = ({ dependency_group: name, task_instance_id: task }: GroupRow): string =>
  task === null ? name : name.slice(name.indexOf(':') + 1);

export const membersOf = async (view: View, groupId: bigint): Promise<readonly Member[]> => {
  const rows = await view.db
    .selectFrom('t_ds_asset_dependency as dependency')
    .innerJoin('t_ds_asset_dependency_consumed as consumed', 'consumed.dependency_id', 'dependency.id')
    .selectAll('consumed')
    .select('dependency.condition_json')
    .where('dependency.group_id', '=', groupId)
    .orderBy('dependency.position')
    .execute();
  return rows.map((row) => ({
    dependencyId: row.dependency_id,
    condition: conditionOf(row.condition_json),
    consumed: consumedOf(row),
  }));
};

const hasActiveRun = async (view: View, groupId: bigint): Promise<boolean> => {
  const query = view.db.selectFrom('t_ds_workflow_instance').select('id').where('trigger_group_id', '=', groupId);
  return (await query.where('state', 'in', UNFINISHED_RUNS).limit(1).executeTakeFirst()) !== undefined;
};

/**
 * What evaluation sees of one asset. What a condition does not ask for (tags, verdicts, schemas) is not read. `pinned`: the only version
 * that may be chosen.
 */
export const memberFacts = async (
  view: View,
  condition: Condition,
  consumed: Consumed,
  reach: Reach,
  pinned?: Pin,
): Promise<MemberFacts> => {
  const asset = await findAssetRow(view, condition.assetKey);
  const known = { consumed: consumed.ref, consumedSchemaId: consumed.schemaId, baselineKnown: consumed.known };
  if (asset === undefined) return { asset: null, state: null, ...known, versions: [], truncated: false };
  const state = await view.db
    .selectFrom('t_ds_asset_state')
    .selectAll()
    .where('asset_id', '=', asset.id)
    .executeTakeFirstOrThrow();
  const { versions, truncated } =
    pinned === undefined
      ? await candidateVersions(view, asset, condition, consumed, reach)
      : { versions: await pinnedVersions(view, asset, pinned), truncated: false };
  return {
    asset: assetOf(asset),
    state: stateOf(state),
    ...known,
    versions: await withFacts(view, asset.id, condition, versions),
    truncated,
    ...(pinned === undefined ? {} : { pinned }),
    ...(condition.minSnapshotId === null
      ? {}
      : { minOrdinal: await newestNamed(view, asset.id, condition.minSnapshotId) }),
  };
};

interface Candidates {
  readonly versions: readonly Version[];
  readonly truncated: boolean;
}

/** Oldest first; never beginning in the middle of a cut. */
const candidateVersions = async (
  view: View,
  asset: Row<'t_ds_asset'>,
  condition: Condition,
  consumed: Consumed,
  reach: Reach,
): Promise<Candidates> => {
  const policy = assetOf(asset);
  const after = condition.snapshotRequired ? (consumed.ref?.ordinal ?? 0) : 0;
  const from = after === 0 ? 0 : await cutBegin(view, asset.id, policy, after);
  const limit = reach === 'MOST' || condition.minAddedRecords !== null ? MOST_VERSIONS : FEW_VERSIONS;
  const above = (ordinal: number) =>
    view.db
      .selectFrom('t_ds_asset_version')
      .selectAll()
      .where('asset_id', '=', asset.id)
      .where('status', '!=', 'WITHDRAWN')
      .where('ordinal', '>=', big(ordinal))
      .orderBy('ordinal', 'desc');
  const rows = await above(from)
    .limit(limit + 1)
    .execute();
  const truncated = rows.length > limit;
  const oldest = rows[limit - 1];
  const begin =
    truncated && oldest !== undefined ? await cutBegin(view, asset.id, policy, Number(oldest.ordinal)) : from;
  const whole = truncated && reach === 'FEW' ? await above(begin).limit(MOST_VERSIONS).execute() : rows.slice(0, limit);
  return { versions: whole.map((row) => versionOf(row, policy.key)).reverse(), truncated };
};

const withFacts = async (
  view: View,
  assetId: bigint,
  condition: Condition,
  versions: readonly Version[],
): Promise<readonly VersionFacts[]> => {
  if (versions.length === 0) return [];
  const asksQuality = condition.qualityStatus !== null || condition.qualityChecks.length > 0;
  const asksSchema = condition.schemaStatus !== null || condition.schemaChanged;
  const verdicts = asksQuality ? await verdictsOf(view, assetId, versions) : [];
  const tags = condition.tag === null ? [] : await tagsOf(view, assetId);
  const schemas = asksSchema
    ? await schemasOf(view, assetId, Math.min(...versions.map((version) => version.epoch)))
    : [];
  return withBindings(versions, { verdicts, tags, schemas });
};

const newestNamed = async (view: View, assetId: bigint, snapshotId: string): Promise<number | null> => {
  const row = await view.db
    .selectFrom('t_ds_asset_version')
    .select('ordinal')
    .where('asset_id', '=', assetId)
    .where('snapshot_id', '=', snapshotId)
    .orderBy('ordinal', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : Number(row.ordinal);
};
