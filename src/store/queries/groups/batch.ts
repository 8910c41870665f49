import type { Condition } from '../../../core/asset/condition.ts';
import { carriesData } from '../../../core/asset/cuts.ts';
import { evaluateGroup } from '../../../core/asset/evaluate/evaluate.ts';
import type { Evaluation, GroupFacts, MemberFacts } from '../../../core/asset/group.ts';
import type { AssetKey } from '../../../core/asset/key.ts';
import { conditionOf, isSet, leavesOf, settingsOf } from '../../codecs.ts';
import type { Row } from '../../database.ts';
import type { Tx, View } from '../../engine.ts';
import type { AssetFacts, GroupMember } from '../../facts-cache.ts';
import type { EvaluationReport } from '../../store.ts';
import { factsOf, MORE, NEWEST } from '../assets/facts.ts';
import { type Consumed, consumedOf } from './baselines.ts';
import { storeLeaves } from './evaluate.ts';
import { consumedBy, ownerGate } from './facts.ts';
import { enqueue, enqueueQuietly } from './queue.ts';
import { UNFINISHED_RUNS } from '../runs/rows.ts';

/** What one transaction made of many due groups. */
export interface Batch {
  readonly reports: readonly EvaluationReport[];
  /** Still queued: to be decided in a transaction of their own, as they may fire, or look further back. */
  readonly alone: readonly bigint[];
  /** Still queued: groups of waiting attempts, any of which may release its own. */
  readonly waiting: readonly bigint[];
}

/**
 * Takes due groups from the queue and decides together those that go on waiting: what they read is read once for all of them, and of assets
 * that did not change not at all.
 */
export const evaluateBatch = async (tx: Tx, ids: readonly bigint[]): Promise<Batch> => {
  if (ids.length === 0) return { reports: [], alone: [], waiting: [] };
  const rows = await lockedGroups(tx, ids);
  const ours = rows.filter((row) => row.task_instance_id === null);
  const queued = ours.map((row) => row.id);
  // Whoever queued them has committed by now, or queues them again after us: nothing is missed.
  await takeFromQueue(tx, queued);
  const decided = await decideAll(tx, ours);
  const waiting = rows.filter((row) => row.task_instance_id !== null).map((row) => row.id);
  const again = decided.filter(({ evaluation }) => evaluation === null || evaluation.ready).map(({ row }) => row.id);
  const undecided = decided.flatMap(({ evaluation, ...group }) =>
    evaluation === null || evaluation.ready ? [] : [{ ...group, evaluation }],
  );
  const changed = await storeLeaves(tx, undecided);
  for (const { row, evaluation } of undecided)
    if (evaluation.nextAt !== null) await enqueue(tx, [row.id], evaluation.nextAt);
  const reports = undecided.map(
    ({ row, workflow, evaluation }): EvaluationReport => ({
      workflow: workflow.name,
      workflowCode: Number(workflow.code),
      group: row.dependency_group,
      ready: false,
      leaves: evaluation.leaves,
      changed: changed.has(row.id),
      fired: null,
      task: null,
      released: null,
    }),
  );
  await enqueueQuietly(tx, again, tx.now);
  return { reports, alone: again, waiting };
};

/** In the order in which others queue them: a statement that deletes many takes them in any. */
const takeFromQueue = async (tx: Tx, ids: readonly bigint[]): Promise<void> => {
  if (ids.length === 0) return;
  const queued = tx.db
    .selectFrom('t_ds_asset_evaluation_queue')
    .select('group_id')
    .where(tx.dialect.among('group_id', ids))
    .orderBy('group_id');
  await tx.db.deleteFrom('t_ds_asset_evaluation_queue').where('group_id', 'in', tx.dialect.locking(queued)).execute();
};

const GROUP_COLUMNS = [
  'id',
  'workflow_definition_code',
  'dependency_group',
  'settings_json',
  'enabled',
  'paused',
  'ready',
  'leaves_json',
  'last_fire_time',
  'last_instance_id',
  'last_pins_json',
  'task_instance_id',
  'revision',
] as const;

type BatchRow = Pick<Row<'t_ds_asset_dependency_group'>, (typeof GROUP_COLUMNS)[number]>;

const lockedGroups = async ({ db, dialect }: View, ids: readonly bigint[]): Promise<readonly BatchRow[]> => {
  const all = db.selectFrom('t_ds_asset_dependency_group').select(GROUP_COLUMNS);
  return dialect.locking(all.where(dialect.among('id', ids)).orderBy('id')).execute();
};

interface Decided {
  readonly row: BatchRow;
  readonly workflow: Pick<WorkflowHead, 'code' | 'name'>;
  readonly facts: GroupFacts;
  /** null: the newest versions do not decide it. */
  readonly evaluation: Evaluation | null;
}

const decideAll = async (view: View, rows: readonly BatchRow[]): Promise<readonly Decided[]> => {
  if (rows.length === 0) return [];
  const around = await surroundings(view, rows);
  const few = await decideWith(view, around, rows, NEWEST);
  const open = few.filter(({ evaluation }) => evaluation === null).map(({ row }) => row);
  if (open.length === 0) return few;
  const more = new Map((await decideWith(view, around, open, MORE)).map((decided) => [decided.row.id, decided]));
  return few.map((decided) => more.get(decided.row.id) ?? decided);
};

/** What a group's decision looks at beside its assets. */
interface Surroundings {
  readonly members: ReadonlyMap<bigint, readonly GroupMember[]>;
  readonly workflows: ReadonlyMap<bigint, WorkflowHead>;
  /** Groups that a run is unfinished of. */
  readonly active: ReadonlySet<bigint | null>;
}

const surroundings = async (view: View, rows: readonly BatchRow[]): Promise<Surroundings> => {
  const ids = rows.map((row) => row.id);
  return {
    members: await membersOfAll(view, rows),
    workflows: await workflowsOf(view, rows),
    active: await withActiveRun(view, ids),
  };
};

const decideWith = async (
  view: View,
  { members, workflows, active }: Surroundings,
  rows: readonly BatchRow[],
  reach: number,
): Promise<readonly Decided[]> => {
  const hashes = rows.flatMap((row) => (members.get(row.id) ?? []).map(({ hash }) => hash));
  const assets = await factsOf(view, hashes, { lock: false, reach });
  return rows.flatMap((row): Decided[] => {
    const workflow = workflows.get(row.workflow_definition_code);
    if (workflow === undefined) return [];
    const facts = groupFacts(view, row, members.get(row.id) ?? [], {
      assets,
      gate: ownerGate(workflow),
      hasActiveRun: active.has(row.id),
    });
    return [{ row, workflow, facts, evaluation: decidedByNewest(facts) }];
  });
};

/** The members of the groups, read anew where the group's revision is another one than when they were read last. */
const membersOfAll = async (
  view: View,
  rows: readonly BatchRow[],
): Promise<ReadonlyMap<bigint, readonly GroupMember[]>> => {
  const members = new Map<bigint, readonly GroupMember[]>();
  const stale: BatchRow[] = [];
  for (const row of rows) {
    const known = view.members.get(row.id);
    if (known?.revision === row.revision) members.set(row.id, known.members);
    else stale.push(row);
  }
  const found = await readMembers(
    view,
    stale.map((row) => row.id),
  );
  for (const { id, revision } of stale) {
    const its = found.get(id) ?? [];
    members.set(id, its);
    view.members.set(id, { revision, members: its });
  }
  return members;
};

const readMembers = async (
  { db, dialect }: View,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, readonly GroupMember[]>> => {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('t_ds_asset_dependency as dependency')
    .innerJoin('t_ds_asset_dependency_consumed as consumed', 'consumed.dependency_id', 'dependency.id')
    .selectAll('consumed')
    .select(['dependency.group_id', 'dependency.condition_json', 'dependency.asset_hash'])
    .where(dialect.among('dependency.group_id', ids))
    .orderBy('dependency.group_id')
    .orderBy('dependency.position')
    .execute();
  const members = new Map<bigint, GroupMember[]>();
  for (const row of rows) {
    const member = { condition: conditionOf(row.condition_json), consumed: consumedOf(row), hash: row.asset_hash };
    const known = members.get(row.group_id);
    if (known === undefined) members.set(row.group_id, [member]);
    else known.push(member);
  }
  return members;
};

type WorkflowHead = Pick<Row<'t_ds_workflow_definition'>, 'code' | 'name' | 'release_state'> & {
  readonly project_paused: bigint;
};

const workflowsOf = async (
  { db, dialect }: View,
  rows: readonly BatchRow[],
): Promise<ReadonlyMap<bigint, WorkflowHead>> => {
  const codes = [...new Set(rows.map((row) => row.workflow_definition_code))];
  const found = await db
    .selectFrom('t_ds_workflow_definition as workflow')
    .innerJoin('t_ds_project as project', 'project.code', 'workflow.project_code')
    .select(['workflow.code', 'workflow.name', 'workflow.release_state', 'project.paused as project_paused'])
    .where(dialect.among('workflow.code', codes))
    .execute();
  return new Map(found.map((row) => [row.code, row]));
};

const withActiveRun = async ({ db, dialect }: View, ids: readonly bigint[]): Promise<ReadonlySet<bigint | null>> => {
  const query = db.selectFrom('t_ds_workflow_instance').select('trigger_group_id').distinct();
  const rows = await query
    .where(dialect.among('trigger_group_id', ids))
    .where(dialect.among('state', UNFINISHED_RUNS))
    .execute();
  return new Set(rows.map((row) => row.trigger_group_id));
};

const groupFacts = (
  view: View,
  row: BatchRow,
  members: readonly GroupMember[],
  around: {
    readonly assets: ReadonlyMap<string, AssetFacts>;
    readonly gate: string | null;
    readonly hasActiveRun: boolean;
  },
): GroupFacts => ({
  group: {
    ...settingsOf(row.settings_json),
    name: row.dependency_group,
    enabled: isSet(row.enabled),
    conditions: members.map(({ condition }) => condition),
  },
  members: new Map(
    members.map(({ condition, consumed, hash }): [AssetKey, MemberFacts] => [
      condition.assetKey,
      {
        ...memberFacts(around.assets.get(hash), condition, consumed),
        ...consumedBy(row, condition.assetKey, consumed),
      },
    ]),
  ),
  hasActiveRun: around.hasActiveRun,
  paused: isSet(row.paused),
  gate: around.gate,
  lastFireAt: row.last_fire_time,
  previous: leavesOf(row.leaves_json),
  now: view.now,
});

const memberFacts = (facts: AssetFacts | undefined, condition: Condition, consumed: Consumed): MemberFacts => {
  const known = { consumed: consumed.ref, consumedSchemaId: consumed.schemaId, baselineKnown: consumed.known };
  if (facts === undefined) return { asset: null, state: null, ...known, versions: [], truncated: false };
  const { asset, state } = facts;
  return { asset, state, ...known, ...candidateVersions(facts, condition.snapshotRequired ? consumed : null) };
};

/** The newest versions from the cut of the consumed one on; where that lies further back, those of the newest whole cuts. */
const candidateVersions = (
  { versions, whole, asset }: AssetFacts,
  consumed: Consumed | null,
): Pick<MemberFacts, 'versions' | 'truncated'> => {
  const after = consumed?.ref?.ordinal ?? 0;
  const begin = versions.findLastIndex((version) => version.ordinal <= after && carriesData(version, asset));
  if (begin >= 0) return { versions: versions.slice(begin), truncated: false };
  if (whole) return { versions: versions.filter((version) => version.ordinal >= after), truncated: false };
  const first = versions.findIndex((version) => carriesData(version, asset));
  return { versions: first < 0 ? [] : versions.slice(first), truncated: true };
};

/** The decision, where the newest versions suffice for it: what a condition asks of older ones, and what is not found among them, is looked up. */
const decidedByNewest = (facts: GroupFacts): Evaluation | null => {
  const members = [...facts.members];
  const truncated = new Set(members.filter(([, member]) => member.truncated).map(([key]) => key));
  if (facts.group.quietSeconds !== null && truncated.size > 0) return null;
  for (const condition of facts.group.conditions) {
    if (condition.minSnapshotId !== null) return null;
    if (condition.minAddedRecords !== null && truncated.has(condition.assetKey)) return null;
  }
  const evaluation = evaluateGroup(facts);
  const open = evaluation.leaves.some(({ assetKey, met }) => !met && assetKey !== null && truncated.has(assetKey));
  return open && !evaluation.ready ? null : evaluation;
};
