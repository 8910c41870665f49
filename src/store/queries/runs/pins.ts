import type { Condition } from '../../../core/asset/condition.ts';
import { evaluateGroup } from '../../../core/asset/evaluate/evaluate.ts';
import type { DependencyGroup } from '../../../core/asset/group.ts';
import { type AssetKey, assetName } from '../../../core/asset/key.ts';
import type { Pin, Pins, VersionRef } from '../../../core/asset/version.ts';
import { SluiceError } from '../../../core/errors.ts';
import type { WorkflowDefinition } from '../../../core/workflow/definition.ts';
import { waitConditions } from '../../../core/workflow/task-wait.ts';
import { big, num } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { Tx, View } from '../../engine.ts';
import type { StartRequest } from '../../store.ts';
import { assetRow } from '../assets/load.ts';
import { NOTHING, setConsumed } from '../groups/baselines.ts';
import { memberFacts, membersOf } from '../groups/facts.ts';
import { enqueueWorkflow } from '../groups/queue.ts';
import { groupIdsOf } from '../groups/rows.ts';

/**
 * The pins of a run that no group started (semantics.md, 4): what was asked for, else the newest version that meets what the workflow's
 * groups ask of each version; an asset without such a version is not pinned. Throws BAD_PIN.
 */
export const choosePins = async (
  view: View,
  workflow: WorkflowDefinition,
  given: StartRequest['pins'],
): Promise<Pins> => {
  const conditions = namedConditions(workflow);
  const readable = new Set([...conditions.keys(), ...waitedFor(workflow)]);
  for (const key of given.keys()) if (!readable.has(key)) throw notRead(workflow, key, [...readable]);
  const pins = new Map<AssetKey, Pin>();
  for (const [key, asked] of given) if (!conditions.has(key)) pins.set(key, await askedPin(view, key, asked));
  for (const [key, condition] of conditions) {
    const asked = given.get(key);
    const pin = asked === undefined ? await newestFor(view, condition) : await askedPin(view, key, asked);
    if (pin !== null) pins.set(key, pin);
  }
  return pins;
};

/** Assets that only waiting tasks name: the run pins them where that is asked for, and their tasks take that pin. */
const waitedFor = ({ tasks }: WorkflowDefinition): readonly AssetKey[] =>
  tasks.flatMap(waitConditions).map(({ assetKey }) => assetKey);

/** Each asset that the workflow reads, with the condition of the first group that names it. */
const namedConditions = (workflow: WorkflowDefinition): ReadonlyMap<AssetKey, Condition> => {
  const inputs = [...workflow.inputs, ...workflow.tasks.flatMap((task) => task.inputs)];
  const all = [...workflow.groups.flatMap((group) => group.conditions), ...inputs.map(anyVersion)];
  return new Map(all.toReversed().map((condition) => [condition.assetKey, condition]));
};

const anyVersion = (assetKey: AssetKey): Condition => ({
  assetKey,
  alias: assetName(assetKey).table,
  snapshotRequired: true,
  minSnapshotId: null,
  operations: [],
  dataChangeOnly: true,
  qualityStatus: null,
  qualityChecks: [],
  schemaStatus: null,
  schemaChanged: false,
  watermarkGte: null,
  tag: null,
  minAddedRecords: null,
  maxAgeSeconds: null,
});

/** A group of its own over this one asset that has consumed nothing: what it would be pinned to. What compares with a consumed version is not asked. */
const newestFor = async (view: View, condition: Condition): Promise<Pin | null> => {
  const alone: Condition = { ...condition, snapshotRequired: true, schemaChanged: false, minAddedRecords: null };
  for (const reach of ['FEW', 'MOST'] as const) {
    const member = await memberFacts(view, alone, NOTHING, reach);
    const evaluation = evaluateGroup({
      group: { ...ALONE, conditions: [alone] },
      members: new Map([[alone.assetKey, member]]),
      hasActiveRun: false,
      paused: false,
      gate: null,
      lastFireAt: null,
      previous: [],
      now: view.now,
    });
    if (evaluation.ready) return evaluation.pins.get(alone.assetKey) ?? null;
    if (!member.truncated) return null;
  }
  return null;
};

const ALONE: DependencyGroup = {
  name: 'pins',
  renamedFrom: null,
  advance: 'ALL',
  consume: 'LATEST',
  whileRunning: 'PARALLEL',
  startFrom: 'CURRENT',
  minIntervalSeconds: null,
  quietSeconds: null,
  maxWaitSeconds: null,
  enabled: true,
  conditions: [],
};

type Asked = { readonly snapshotId: string } | { readonly tag: string };

const askedPin = async (view: View, key: AssetKey, asked: Asked): Promise<Pin> => {
  const asset = await assetRow(view, key);
  if ('snapshotId' in asked)
    return readable(key, await newestOf(view, asset.id, asked.snapshotId, null), `version ${asked.snapshotId}`);
  const tag = await view.db
    .selectFrom('t_ds_asset_tag')
    .selectAll()
    .where('asset_id', '=', asset.id)
    .where('tag', '=', asked.tag)
    .where('deleted', '=', 0n)
    .executeTakeFirst();
  if (tag === undefined)
    throw new SluiceError('BAD_PIN', `${key} has no tag ${asked.tag}: "sluice asset show ${key}" lists its tags.`);
  const version = await newestOf(view, asset.id, tag.snapshot_id, tag.epoch);
  return { ...readable(key, version, `version ${tag.snapshot_id}, which tag ${asked.tag} names,`), tag: asked.tag };
};

const newestOf = async (view: View, assetId: bigint, snapshotId: string, epoch: bigint | null) => {
  const query = view.db
    .selectFrom('t_ds_asset_version')
    .selectAll()
    .where('asset_id', '=', assetId)
    .where('snapshot_id', '=', snapshotId)
    .orderBy('ordinal', 'desc')
    .limit(1);
  return (epoch === null ? query : query.where('epoch', '=', epoch)).executeTakeFirst();
};

const readable = (key: AssetKey, version: Row<'t_ds_asset_version'> | undefined, what: string): Pin => {
  const advice = `"sluice asset versions ${key}" lists those that can be pinned.`;
  if (version === undefined) throw new SluiceError('BAD_PIN', `No ${what} of ${key} is recorded: ${advice}`);
  if (version.status === 'WITHDRAWN')
    throw new SluiceError('BAD_PIN', `The ${what} of ${key} was undone by a rewind of the table: ${advice}`);
  if (version.status === 'EXPIRED')
    throw new SluiceError('BAD_PIN', `The ${what} of ${key} has expired and can no longer be read: ${advice}`);
  return { snapshotId: version.snapshot_id, epoch: num(version.epoch), ordinal: num(version.ordinal) };
};

const notRead = (workflow: WorkflowDefinition, key: AssetKey, known: readonly AssetKey[]): SluiceError =>
  new SluiceError(
    'BAD_PIN',
    known.length === 0
      ? `Workflow ${workflow.name} reads no asset, so ${key} cannot be pinned: name it in a group or under inputs.`
      : `Workflow ${workflow.name} does not read ${key}: pin one of ${known.join(', ')}, or name it in a group or under inputs.`,
  );

/** The groups of the workflow have consumed these versions; none goes back. */
export const consumePins = async (tx: Tx, workflowCode: bigint, pins: Pins): Promise<void> => {
  for (const groupId of await groupIdsOf(tx, workflowCode)) {
    await tx.dialect.lockRow(tx.db, 't_ds_asset_dependency_group', 'id', groupId);
    for (const { dependencyId, condition, consumed } of await membersOf(tx, groupId)) {
      const pin = pins.get(condition.assetKey);
      if (pin === undefined || (consumed.ref !== null && consumed.ref.ordinal >= pin.ordinal)) continue;
      const schemaId = await schemaOfVersion(tx, condition.assetKey, pin);
      await setConsumed(tx, dependencyId, { ref: pin, schemaId, known: true });
    }
    await tx.db
      .updateTable('t_ds_asset_dependency_group')
      .set((e) => ({ revision: e('revision', '+', 1n) }))
      .where('id', '=', groupId)
      .execute();
  }
  await enqueueWorkflow(tx, workflowCode);
};

const schemaOfVersion = async (view: View, key: AssetKey, ref: VersionRef): Promise<string | null> => {
  const row = await view.db
    .selectFrom('t_ds_asset_version as version')
    .innerJoin('t_ds_asset as asset', 'asset.id', 'version.asset_id')
    .select('version.schema_id')
    .where('asset.asset_hash', '=', view.sha256(key))
    .where('version.ordinal', '=', big(ref.ordinal))
    .executeTakeFirst();
  return row?.schema_id ?? null;
};
