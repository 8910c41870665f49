import type { Condition } from '../../../core/asset/condition.ts';
import type { DependencyGroup, StartFrom } from '../../../core/asset/group.ts';
import type { AssetKey } from '../../../core/asset/key.ts';
import type { PlanLine } from '../../../core/declaration/declaration.ts';
import { SluiceError } from '../../../core/errors.ts';
import { conditionJson, flag, settingsJson } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { Tx } from '../../engine.ts';
import { lockIfKnown, wasRead } from '../assets/load.ts';
import {
  type Consumed,
  NOTHING,
  UNDECIDED,
  afterVersion,
  consumedOf,
  insertConsumed,
  newestRecorded,
  raiseRevisions,
} from './baselines.ts';
import { enqueue } from './queue.ts';

type GroupRow = Row<'t_ds_asset_dependency_group'>;
type MemberRow = Row<'t_ds_asset_dependency'>;

/** A workflow, whose groups these are. */
export interface Owner {
  readonly code: bigint;
  readonly name: string;
}

/** Makes the workflow's groups what is declared: by name (or renamedFrom) they keep what they consumed of each asset they still name. */
export const saveGroups = async (
  tx: Tx,
  owner: Owner,
  declared: readonly DependencyGroup[],
): Promise<readonly PlanLine[]> => {
  const rows = await tx.db
    .selectFrom('t_ds_asset_dependency_group')
    .selectAll()
    .where('workflow_definition_code', '=', owner.code)
    .where('task_definition_code', '=', 0n)
    .execute();
  const known = new Map(rows.map((row) => [row.dependency_group, row]));
  const names = new Set(declared.map((group) => group.name));
  const lines: PlanLine[] = [];
  const kept = new Set<bigint>();
  for (const [position, group] of declared.entries()) {
    const before = known.get(group.name) ?? renamed(known, names, group);
    if (before !== undefined) kept.add(before.id);
    lines.push(await saveGroup(tx, owner, group, position, before));
  }
  for (const row of rows) if (!kept.has(row.id)) lines.push(await dropGroup(tx, owner, row));
  return lines;
};

const renamed = (
  known: ReadonlyMap<string, GroupRow>,
  names: ReadonlySet<string>,
  group: DependencyGroup,
): GroupRow | undefined =>
  group.renamedFrom === null || names.has(group.renamedFrom) ? undefined : known.get(group.renamedFrom);

const dropGroup = async (tx: Tx, owner: Owner, row: GroupRow): Promise<PlanLine> => {
  await tx.db.deleteFrom('t_ds_asset_dependency_group').where('id', '=', row.id).execute();
  return {
    kind: 'GROUP',
    name: `${owner.name}/${row.dependency_group}`,
    action: 'REMOVE',
    details: ['forgets what it consumed'],
  };
};

const saveGroup = async (
  tx: Tx,
  owner: Owner,
  group: DependencyGroup,
  position: number,
  before: GroupRow | undefined,
): Promise<PlanLine> => {
  const id = before?.id ?? (await insertGroup(tx, owner, group, position));
  const settings = settingsJson(group);
  const groupChanged =
    before !== undefined && (before.settings_json !== settings || before.position !== BigInt(position));
  if (groupChanged) await updateGroup(tx, id, group, position);
  const members = await saveMembers(
    tx,
    owner,
    id,
    group,
    before !== undefined && before.dependency_group !== group.name,
  );
  if (before !== undefined && members.changed) await raiseRevisions(tx, [id]);
  const changed = before === undefined || groupChanged || members.changed;
  if (changed) await enqueue(tx, [id], tx.now);
  const action = before === undefined ? 'CREATE' : changed ? 'UPDATE' : 'UNCHANGED';
  const details = [
    ...(before !== undefined && before.dependency_group !== group.name
      ? [`renamed from ${before.dependency_group}`]
      : []),
    ...(before === undefined && group.renamedFrom !== null
      ? [`begins anew: there is no group ${group.renamedFrom} to take over from`]
      : []),
    ...(action === 'UNCHANGED' ? [] : members.details),
  ];
  return { kind: 'GROUP', name: `${owner.name}/${group.name}`, action, details };
};

const groupColumns = (group: DependencyGroup, position: number) => ({
  dependency_group: group.name,
  position: BigInt(position),
  settings_json: settingsJson(group),
  enabled: flag(group.enabled),
});

const insertGroup = (tx: Tx, owner: Owner, group: DependencyGroup, position: number): Promise<bigint> =>
  tx.dialect.insertForId(tx.db, 't_ds_asset_dependency_group', {
    workflow_definition_code: owner.code,
    task_definition_code: 0n,
    ...groupColumns(group, position),
    paused: 0n,
    revision: 0n,
    ready: 0n,
    leaves_json: '[]',
    create_time: tx.now,
    update_time: tx.now,
  });

const updateGroup = async (tx: Tx, id: bigint, group: DependencyGroup, position: number): Promise<void> => {
  await tx.db
    .updateTable('t_ds_asset_dependency_group')
    .set({ ...groupColumns(group, position), update_time: tx.now })
    .where('id', '=', id)
    .execute();
};

interface SavedMembers {
  readonly changed: boolean;
  readonly details: readonly string[];
}

const saveMembers = async (
  tx: Tx,
  owner: Owner,
  id: bigint,
  group: DependencyGroup,
  renaming: boolean,
): Promise<SavedMembers> => {
  const rows = await tx.db.selectFrom('t_ds_asset_dependency').selectAll().where('group_id', '=', id).execute();
  const known = new Map(rows.map((row) => [row.asset_key, row]));
  const details: string[] = [];
  let changed = renaming;
  for (const [position, condition] of group.conditions.entries()) {
    const before = known.get(condition.assetKey);
    known.delete(condition.assetKey);
    const columns = { ...memberColumns(condition, group, position), update_time: tx.now };
    if (before === undefined) {
      details.push(await addMember(tx, owner, id, columns, group.startFrom));
      changed = true;
      continue;
    }
    if (memberDiffers(before, columns)) {
      changed = true;
      await tx.db.updateTable('t_ds_asset_dependency').set(columns).where('id', '=', before.id).execute();
    }
    details.push(await keptDetail(tx, before));
  }
  for (const gone of known.values()) {
    changed = true;
    details.push(`no longer waits for ${gone.asset_key}`);
    await tx.db.deleteFrom('t_ds_asset_dependency').where('id', '=', gone.id).execute();
  }
  return { changed, details };
};

const memberColumns = (condition: Condition, group: DependencyGroup, position: number) => ({
  dependency_group: group.name,
  asset_key: condition.assetKey,
  position: BigInt(position),
  condition_json: conditionJson(condition),
  enabled: flag(group.enabled),
});

type MemberColumns = ReturnType<typeof memberColumns> & { readonly update_time: bigint };

const memberDiffers = (before: MemberRow, columns: MemberColumns): boolean =>
  before.condition_json !== columns.condition_json ||
  before.position !== columns.position ||
  before.enabled !== columns.enabled ||
  before.dependency_group !== columns.dependency_group;

const addMember = async (
  tx: Tx,
  owner: Owner,
  groupId: bigint,
  columns: MemberColumns,
  startFrom: StartFrom,
): Promise<string> => {
  const key = columns.asset_key;
  const begin = await beginOf(tx, key, startFrom);
  const dependencyId = await tx.dialect.insertForId(tx.db, 't_ds_asset_dependency', {
    group_id: groupId,
    workflow_definition_code: owner.code,
    asset_hash: tx.sha256(key),
    ...columns,
    create_time: tx.now,
  });
  await insertConsumed(tx, dependencyId, begin.consumed, begin.afterSnapshot);
  return `${key}: ${begin.detail}`;
};

interface Begin {
  readonly consumed: Consumed;
  /** Named by startFrom and not known yet. */
  readonly afterSnapshot: string | null;
  readonly detail: string;
}

/** Where a member begins (semantics.md, 3: "Where a group begins"). */
const beginOf = async (tx: Tx, key: AssetKey, startFrom: StartFrom): Promise<Begin> => {
  if (startFrom === 'CURRENT')
    return { consumed: NOTHING, afterSnapshot: null, detail: 'begins with what is there now' };
  const after = startFrom === 'NEXT' ? null : (startFrom[key] ?? null);
  const asset = await lockIfKnown(tx, key);
  if (asset === undefined || !(await wasRead(tx, asset)))
    return { consumed: UNDECIDED, afterSnapshot: after, detail: 'begins when the table has first been read' };
  if (after !== null) {
    const consumed = await afterVersion(tx, asset.id, after);
    if (consumed !== undefined) return { consumed, afterSnapshot: null, detail: `begins after snapshot ${after}` };
    throw new SluiceError(
      'BAD_FILE',
      `startFrom names snapshot ${after} of ${key}, which is not recorded: see "sluice asset versions ${key}".`,
    );
  }
  const consumed = await newestRecorded(tx, asset.id);
  const detail =
    consumed.ref === null ? 'begins with its first commit' : `begins after snapshot ${consumed.ref.snapshotId}`;
  return { consumed, afterSnapshot: null, detail };
};

const keptDetail = async (tx: Tx, member: MemberRow): Promise<string> => {
  const row = await tx.db
    .selectFrom('t_ds_asset_dependency_consumed')
    .selectAll()
    .where('dependency_id', '=', member.id)
    .executeTakeFirstOrThrow();
  const { ref, known } = consumedOf(row);
  const what =
    ref === null
      ? known
        ? 'has consumed nothing yet'
        : 'still waits to be read first'
      : `keeps snapshot ${ref.snapshotId} as consumed`;
  return `${member.asset_key}: ${what}`;
};
