import { NOTHING_STATED, type RecordedEvent, type StatedEvent } from '../../../src/core/asset/event.ts';
import type { Condition, Leaf } from '../../../src/core/asset/condition.ts';
import { consumedAfter, evaluateGroup } from '../../../src/core/asset/evaluate/evaluate.ts';
import type {
  DependencyGroup,
  Evaluation,
  GroupFacts,
  MemberFacts,
  VersionFacts,
} from '../../../src/core/asset/group.ts';
import type { Effects } from '../../../src/core/asset/ingest/effects.ts';
import { ingestPoll } from '../../../src/core/asset/ingest/poll.ts';
import { ingestStated } from '../../../src/core/asset/ingest/stated.ts';
import { type AssetKey, assetName, parseAssetKey } from '../../../src/core/asset/key.ts';
import type { Poll } from '../../../src/core/asset/poll.ts';
import type { TableSchema } from '../../../src/core/asset/schema/schema.ts';
import type {
  Asset,
  AssetHistory,
  AssetState,
  SchemaRecord,
  TagRecord,
  Verdict,
} from '../../../src/core/asset/state.ts';
import type { Commit, Version, VersionRef } from '../../../src/core/asset/version.ts';

export const keyOf = (text: string): AssetKey => {
  const key = parseAssetKey(text);
  if (!key.ok) throw new Error(key.problem.detail);
  return key.value;
};

export const ORDERS = keyOf('paimon://ods_db/ods_order_latest');

export const assetOf = (patch: Partial<Asset> = {}): Asset => ({
  key: ORDERS,
  location: '/t',
  description: '',
  pushMode: 'VERIFY',
  onGap: 'CONTINUE',
  onRollback: 'IGNORE',
  onRecreate: 'CONTINUE',
  schemaPolicy: 'AUTO',
  requiredChecks: [],
  pollIntervalMs: null,
  ...patch,
});

const stateOf = (assetKey: AssetKey): AssetState => ({
  assetKey,
  epoch: 1,
  lastOrdinal: 0,
  latest: null,
  latestData: null,
  watermark: null,
  latestTag: null,
  qualityStatus: 'UNKNOWN',
  schemaStatus: 'UNKNOWN',
  schemaId: null,
  acceptedSchemaId: null,
  backfillStatus: 'NONE',
  backfillSince: null,
  backfillUntil: null,
  cdcStatus: 'UNKNOWN',
  health: 'NEVER_READ',
  healthReason: null,
  healthSince: 0n,
  tableId: null,
  version: 0,
});

/** A commit by id and time; APPEND of one row unless said otherwise. */
export const commitOf = (snapshotId: string, commitTime: bigint, patch: Partial<Commit> = {}): Commit => ({
  snapshotId,
  operation: 'APPEND',
  dataChange: true,
  commitTime,
  watermark: null,
  schemaId: '0',
  addedRecords: 1n,
  totalRecords: 1n,
  ...patch,
});

export const schemaOf = (schemaId: string, columns: Record<string, string>): TableSchema => ({
  schemaId,
  fields: Object.entries(columns).map(([name, type], index) => ({ id: `${index}`, name, type, nullable: true })),
  partitionKeys: [],
  primaryKeys: [],
});

const pollOf = (patch: Partial<Poll> = {}): Poll => ({
  outcome: (patch.commits ?? []).length > 0 ? { kind: 'NEW' } : { kind: 'NONE' },
  commits: [],
  cursor: { v: 1 },
  head: null,
  dataHead: null,
  tags: {},
  tagChanges: [],
  schema: null,
  newSchemas: [],
  tableId: null,
  problems: [],
  ...patch,
});

export const statedOf = (eventType: StatedEvent['eventType'], patch: Partial<StatedEvent> = {}): StatedEvent => ({
  assetKey: ORDERS,
  eventType,
  sourceType: 'PUSH',
  ...NOTHING_STATED,
  ...patch,
});

const text = (...parts: readonly unknown[]): string => JSON.stringify(parts);

/** One asset kept in memory as the store keeps it: loads what the fold may see, writes what it answers. */
export class AssetMemory {
  readonly asset: Asset;
  state: AssetState;
  versions: Version[] = [];
  readonly verdicts = new Map<string, Verdict>();
  waiting: Verdict[] = [];
  readonly schemas = new Map<string, SchemaRecord>();
  readonly tags = new Map<string, TagRecord>();
  readonly events = new Map<string, RecordedEvent>();
  private nonces = 0;

  constructor(patch: Partial<Asset> = {}) {
    this.asset = assetOf(patch);
    this.state = stateOf(this.asset.key);
  }

  history(): AssetHistory {
    return {
      asset: this.asset,
      state: this.state,
      versions: this.versions.filter((version) => version.status === 'LIVE'),
      verdicts: [...this.verdicts.values(), ...this.waiting],
      schemas: [...this.schemas.values()].filter((record) => record.epoch >= this.state.epoch - 1),
      tags: [...this.tags.values()],
    };
  }

  poll(patch: Partial<Poll>, at = 1_000_000n): Effects {
    const effects = ingestPoll(this.history(), pollOf(patch), { startedAt: at, recordedAt: at });
    this.write(effects);
    return effects;
  }

  /** Throws when refused. `duplicate` also where the store's unique key would say so. */
  push(event: StatedEvent, at = 1_000_000n): Effects & { readonly duplicate: boolean } {
    const taken = ingestStated(this.history(), { ...event, assetKey: this.asset.key }, at, `n${this.nonces++}`);
    if (!taken.ok) throw new Error(taken.problem.detail);
    const told = taken.value.events.find((one) => one.eventType === event.eventType) ?? taken.value.events[0];
    const duplicate = taken.value.duplicate || (told !== undefined && this.events.has(told.dedupKey));
    if (!duplicate) this.write(taken.value);
    return { ...taken.value, duplicate };
  }

  private write(effects: Effects): void {
    const after = effects.withdrawnAfter;
    this.versions = this.versions.map((version) => {
      const undone = after !== null && version.ordinal > after;
      const data = effects.nowDataChange.includes(version.ordinal);
      return { ...version, ...(undone ? { status: 'WITHDRAWN' as const } : {}), ...(data ? { dataChange: true } : {}) };
    });
    this.versions.push(...effects.newVersions);
    for (const event of effects.events) if (!this.events.has(event.dedupKey)) this.events.set(event.dedupKey, event);
    this.writeVerdicts(effects);
    for (const record of effects.schemas) this.schemas.set(text(record.epoch, record.schemaId), record);
    for (const tag of effects.tags) this.tags.set(tag.tag, tag);
    this.state = effects.state;
  }

  private writeVerdicts(effects: Effects): void {
    this.waiting = this.waiting.filter((verdict) => !effects.boundVerdicts.includes(verdict));
    for (const verdict of effects.verdicts) {
      if (verdict.snapshotId === null) this.waiting.push(verdict);
      else this.verdicts.set(text(verdict.epoch, verdict.snapshotId, verdict.checkName), verdict);
    }
  }

  facts(version: Version): VersionFacts {
    const isIts = (other: { epoch: number; snapshotId: string | null }) =>
      other.epoch === version.epoch && other.snapshotId === version.snapshotId;
    const schema = this.schemas.get(text(version.epoch, version.schemaId));
    return {
      ...version,
      tags: [...this.tags.values()].filter((tag) => !tag.deleted && isIts(tag)).map((tag) => tag.tag),
      verdicts: [...this.verdicts.values()].filter(isIts),
      schemaStatus: schema?.status ?? 'UNKNOWN',
    };
  }

  member(consumed: VersionRef | null, patch: Partial<MemberFacts> = {}): MemberFacts {
    const before = this.versions.find((version) => version.ordinal === consumed?.ordinal);
    return {
      asset: this.asset,
      state: this.state,
      consumed,
      consumedSchemaId: before?.schemaId ?? null,
      baselineKnown: true,
      versions: this.versions.filter((version) => version.status !== 'WITHDRAWN').map((version) => this.facts(version)),
      truncated: false,
      ...patch,
    };
  }
}

export const conditionOf = (assetKey: AssetKey = ORDERS, patch: Partial<Condition> = {}): Condition => ({
  assetKey,
  alias: 'a',
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
  ...patch,
});

export const groupOf = (conditions: readonly Condition[], patch: Partial<DependencyGroup> = {}): DependencyGroup => ({
  name: 'g',
  renamedFrom: null,
  advance: 'ALL',
  consume: 'LATEST',
  whileRunning: 'WAIT',
  startFrom: 'NEXT',
  minIntervalSeconds: null,
  quietSeconds: null,
  maxWaitSeconds: null,
  enabled: true,
  conditions,
  ...patch,
});

/** A group over assets in memory: evaluates, remembers leaves, consumes when it fires. */
export class GroupMemory {
  readonly group: DependencyGroup;
  readonly assets: ReadonlyMap<AssetKey, AssetMemory>;
  consumed = new Map<AssetKey, VersionRef>();
  leaves: readonly Leaf[] = [];
  now = 1_000_000n;
  gates: Partial<GroupFacts> = {};

  constructor(group: DependencyGroup, assets: readonly AssetMemory[]) {
    this.group = group;
    this.assets = new Map(assets.map((asset) => [asset.asset.key, asset]));
  }

  facts(): GroupFacts {
    const members = [...this.assets].map(
      ([key, memory]) => [key, memory.member(this.consumed.get(key) ?? null)] as const,
    );
    const open = { hasActiveRun: false, paused: false, gate: null, lastFireAt: null };
    return {
      group: this.group,
      members: new Map(members),
      ...open,
      previous: this.leaves,
      now: this.now,
      ...this.gates,
    };
  }

  evaluate(): Evaluation {
    const evaluation = evaluateGroup(this.facts());
    this.leaves = evaluation.leaves;
    return evaluation;
  }

  /** Evaluates and, when ready, consumes. What it pinned, by table name; null: it waits. */
  fire(): Record<string, string> | null {
    const evaluation = this.evaluate();
    if (!evaluation.ready) return null;
    this.consumed = new Map([...this.consumed, ...consumedAfter(evaluation.pins, this.facts().members)]);
    return Object.fromEntries([...evaluation.pins].map(([key, pin]) => [assetName(key).table, pin.snapshotId]));
  }

  /** The codes of leaves that are not met, with what was compared. */
  blocked(): readonly string[] {
    return this.evaluate()
      .leaves.filter((leaf) => !leaf.met)
      .map((leaf) => `${leaf.code} | ${leaf.needed} | ${leaf.actual}`);
  }
}
