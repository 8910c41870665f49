import type { Delta } from './manifest.ts';
import { partitionNaming } from './partition.ts';
import type { PartitionQuestion } from './partitions.ts';
import { hiddenRows, NOTHING_HIDDEN, type HiddenRows, type PaimonSchema } from './schema.ts';
import type { Snapshot } from './snapshot.ts';

/** What a commit means to a batch reader with default options. */
export interface Judgement {
  /** Such a reader sees other rows than at the commit before. */
  readonly dataChange: boolean;
  /** Rows were written that it does not see yet. */
  readonly pendingData: boolean;
  /** The manifests that would tell could not be read, so that the answer errs towards new data. */
  readonly guessed: boolean;
}

/** What judging a commit may need beside the snapshot file itself; asked for only when needed. */
export interface Evidence {
  /** null: the schema file is missing. */
  readonly schema: (id: bigint) => Promise<PaimonSchema | null>;
  /** null: the manifests cannot be read. */
  readonly delta: (list: string, hidden: HiddenRows) => Promise<Delta | null>;
  /** Comparable text of the deletion vectors that an index manifest names; null: it cannot be read. */
  readonly deletionVectors: (indexManifest: string | null) => Promise<string | null>;
  /** The partitions touched; null: they cannot be told. */
  readonly partitions: (question: PartitionQuestion) => Promise<readonly string[] | null>;
  /** The snapshot before; null: it has expired. */
  readonly before: (id: bigint) => Promise<Snapshot | null>;
}

const sure = (dataChange: boolean, pendingData = false): Judgement => ({ dataChange, pendingData, guessed: false });
const GUESSED: Judgement = { dataChange: true, pendingData: false, guessed: true };

/**
 * Does the commit show new rows? The label alone never decides (facts/formats.md, 1.4): an APPEND may be empty or, where batch reads
 * skip level 0, invisible; an OVERWRITE may replace nothing by nothing; a COMPACT shows rows exactly where it lifts hidden ones.
 */
export async function judge(snapshot: Snapshot, evidence: Evidence): Promise<Judgement> {
  if (snapshot.commitKind === 'ANALYZE') return sure(false);
  const schema = await evidence.schema(snapshot.schemaId);
  const hidden = schema === null ? NOTHING_HIDDEN : hiddenRows(schema);
  const hides = hidden.levelZero || hidden.postponed;
  if (snapshot.commitKind === 'COMPACT') return hides ? judgeLift(snapshot, hidden, evidence) : sure(false);
  return hides ? judgeHidingWrite(snapshot, hidden, evidence) : judgeWrite(snapshot, evidence);
}

const readDelta = async (snapshot: Snapshot, hidden: HiddenRows, evidence: Evidence): Promise<Delta | null> =>
  snapshot.deltaManifestList === null ? null : evidence.delta(snapshot.deltaManifestList, hidden);

/** APPEND or OVERWRITE of an ordinary table: new data unless it touched no file and no deletion vector. */
async function judgeWrite(snapshot: Snapshot, evidence: Evidence): Promise<Judgement> {
  // A count that is not 0 proves a change; 0 is a net number and proves nothing (an UPDATE rewrites as many rows as it takes away).
  if (snapshot.deltaRecords !== null && snapshot.deltaRecords !== 0n) return sure(true);
  const delta = await readDelta(snapshot, NOTHING_HIDDEN, evidence);
  if (delta === null) return GUESSED;
  return delta.entries > 0 ? sure(true) : judgeIndex(snapshot, evidence);
}

/** No data file was touched: an append table deletes rows by deletion vectors alone, all other indexes change no row. */
async function judgeIndex(snapshot: Snapshot, evidence: Evidence): Promise<Judgement> {
  const schema = await evidence.schema(snapshot.schemaId);
  const hasVectors = schema?.options.get('deletion-vectors.enabled')?.toLowerCase() === 'true';
  if (!hasVectors) return sure(false);
  const before = await evidence.before(snapshot.id);
  if (before !== null && before.indexManifest === snapshot.indexManifest) return sure(false);
  const now = await evidence.deletionVectors(snapshot.indexManifest);
  const then = before === null ? null : await evidence.deletionVectors(before.indexManifest);
  if (now === '' && then === null) return sure(false);
  return now === null || then === null ? GUESSED : sure(now !== then);
}

/** APPEND or OVERWRITE where new files are hidden: an APPEND only promises rows, an OVERWRITE may take visible ones away. */
async function judgeHidingWrite(snapshot: Snapshot, hidden: HiddenRows, evidence: Evidence): Promise<Judgement> {
  const delta = await readDelta(snapshot, hidden, evidence);
  if (delta !== null && delta.visible !== null)
    return sure(delta.visible > 0, delta.visible === 0 && delta.promised !== 0);
  const wrote = delta === null ? snapshot.deltaRecords !== 0n : delta.entries > 0;
  if (!wrote) return delta === null ? GUESSED : sure(false);
  return snapshot.commitKind === 'APPEND' ? sure(false, true) : GUESSED;
}

/** A COMPACT where new files are hidden. */
async function judgeLift(snapshot: Snapshot, hidden: HiddenRows, evidence: Evidence): Promise<Judgement> {
  const delta = await readDelta(snapshot, hidden, evidence);
  if (delta?.lifted !== null && delta?.lifted !== undefined) return sure(delta.lifted > 0);
  return delta?.entries === 0 ? sure(false) : judgeByPredecessors(snapshot, evidence);
}

/** The partitions in which a commit changed rows, or will once they show; null: the table has none, or they cannot be told. */
export async function partitionsOf(
  { commitKind, deltaManifestList, schemaId }: Snapshot,
  { dataChange, pendingData }: Judgement,
  evidence: Evidence,
): Promise<readonly string[] | null> {
  const schema = await evidence.schema(schemaId);
  const naming = schema === null ? null : partitionNaming(schema);
  if (schema === null || naming === null || deltaManifestList === null || !(dataChange || pendingData)) return null;
  const lifted = commitKind === 'COMPACT' ? hiddenRows(schema) : null;
  return evidence.partitions({ deltaManifestList, naming, lifted });
}

/** Without readable manifests: a COMPACT lifts what was written since the COMPACT before it. */
async function judgeByPredecessors(snapshot: Snapshot, evidence: Evidence): Promise<Judgement> {
  for (let at = await evidence.before(snapshot.id); at !== null; at = await evidence.before(at.id)) {
    if (at.commitKind === 'COMPACT') return sure(false);
    if (at.commitKind !== 'ANALYZE' && at.deltaRecords !== 0n) return sure(true);
    if (at.id === 1n) return sure(false);
  }
  return GUESSED;
}
