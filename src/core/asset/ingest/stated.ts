import { ok, type Result, refuse } from '../../result.ts';
import type { EpochMs } from '../../time.ts';
import { raiseWatermark } from './commits.ts';
import { addEvent, beginDraft, type Draft, finishDraft, inEpoch, setState } from './draft.ts';
import { dedupKeys } from './dedup.ts';
import { beginEpoch, putHealth } from './epochs.ts';
import type { AssetEventType, StatedEvent } from '../event.ts';
import type { Effects } from './effects.ts';
import { advanceSchema, carrySchemas, seeSchema } from './schemas.ts';
import { isAhead, type StatedCommit, takeStatedCommit } from './stated-commit.ts';
import { takeBackfill, takeCdc, takeDecision, takePartitionDone, takeVerdict } from './statements.ts';
import type { Asset, AssetHistory } from '../state.ts';
import { type TagStatement, takeTag } from './tags.ts';
import { recordCommit } from './commits.ts';
import { bindWaiting, carryVerdicts } from './verdicts.ts';

/** What a statement did: DUPLICATE changed nothing because it was known. HINT asks for a look at the table. */
type Taken = 'DONE' | 'DUPLICATE' | 'HINT';

/** Nobody but its writers can tell about this table: what they say is recorded as they say it. */
const isTrusted = (asset: Pick<Asset, 'pushMode' | 'location'>): boolean =>
  asset.pushMode === 'TRUST' || asset.location === null;

/** What the table's own metadata shows: where Sluice can read it, a push of these is only a hint. */
const OBSERVABLE: ReadonlySet<AssetEventType> = new Set([
  'SNAPSHOT_COMMITTED',
  'WATERMARK_ADVANCED',
  'TAG_CREATED',
  'TAG_MOVED',
  'TAG_DELETED',
  'SCHEMA_CHANGED',
  'ROLLED_BACK',
  'RECREATED',
]);

const NEEDS: Partial<Record<AssetEventType, readonly (keyof StatedEvent)[]>> = {
  SNAPSHOT_COMMITTED: ['snapshotId'],
  WATERMARK_ADVANCED: ['watermark'],
  TAG_CREATED: ['tag', 'snapshotId'],
  TAG_MOVED: ['tag', 'snapshotId'],
  TAG_DELETED: ['tag'],
  SCHEMA_CHANGED: ['schemaId'],
  SCHEMA_CHANGE_APPROVED: ['schemaId'],
  SCHEMA_CHANGE_REJECTED: ['schemaId'],
  ROLLED_BACK: ['snapshotId'],
  PARTITION_DONE: ['partitionKey'],
};

/** Sluice derives these from what it reads: nobody can state them. */
const DERIVED: ReadonlySet<AssetEventType> = new Set(['HISTORY_GAP', 'SOURCE_UNREADABLE', 'SOURCE_RECOVERED']);

/** Why the statement cannot be taken as it stands; undefined: it can. A hint needs no more than its type. */
const whyBad = (event: StatedEvent, asHint: boolean): string | undefined => {
  if (DERIVED.has(event.eventType)) return `${event.eventType} is recorded by Sluice itself: do not send it.`;
  if (asHint) return undefined;
  const missing = (NEEDS[event.eventType] ?? []).filter((name) => event[name] === null || event[name] === '');
  return missing.length === 0 ? undefined : `${event.eventType} needs ${missing.join(' and ')}: add it to the event.`;
};

const takeHint = (draft: Draft, event: StatedEvent, nonce: string): Taken => {
  const known = event.snapshotId === null ? undefined : inEpoch(draft, event.snapshotId);
  const newer = known !== undefined && (event.commitTime ?? 0n) > known.commitTime;
  if (event.eventType === 'SNAPSHOT_COMMITTED' && known !== undefined && !newer) return 'DUPLICATE';
  addEvent(draft, event, {
    dedupKey: dedupKeys.hint(event, draft.state.epoch, nonce),
    ordinal: known?.ordinal ?? null,
    status: 'HINT',
    sentence: `${event.eventType} was told; the table itself is looked at.`,
  });
  return 'HINT';
};

const takeWatermark = (draft: Draft, event: StatedEvent): Taken =>
  raiseWatermark(draft, event.watermark, event) ? 'DONE' : 'DUPLICATE';

const takeStatedTag = (draft: Draft, event: StatedEvent): Taken => {
  const at = event.commitTime ?? draft.now;
  const snapshotId = event.eventType === 'TAG_DELETED' ? null : event.snapshotId;
  const statement: TagStatement = { tag: event.tag ?? '', snapshotId, at, fields: event };
  return takeTag(draft, statement) === 'DONE' ? 'DONE' : 'DUPLICATE';
};

const takeStatedSchema = (draft: Draft, event: StatedEvent): Taken => {
  const before = draft.changedSchemas.size;
  seeSchema(draft, event.schemaId ?? '', null);
  if (draft.changedSchemas.size === before) return 'DUPLICATE';
  advanceSchema(draft, event.schemaId ?? '');
  if (draft.events.length === 0) {
    const dedupKey = dedupKeys.schema(draft.asset.key, draft.state.epoch, event.schemaId ?? '', null);
    addEvent(draft, event, { dedupKey, sentence: `Schema ${event.schemaId} is the first one known.` });
  }
  return 'DONE';
};

const takeStatedRollback = (draft: Draft, event: StatedCommit): Taken => {
  const target = draft.versions.findLast((version) => version.snapshotId === event.snapshotId);
  if (target === undefined || target === draft.versions.at(-1)) return 'DUPLICATE';
  const oldEpoch = draft.state.epoch;
  const sentence = `The table was rolled back to version ${event.snapshotId}; what came after it is withdrawn.`;
  beginEpoch(draft, { type: 'ROLLED_BACK', keepUpTo: target.ordinal, sentence, fields: event });
  carrySchemas(draft, oldEpoch, []);
  setState(draft, { watermark: target.watermark });
  recordCommit(draft, target, 'RESTORED');
  const since = event.commitTime ?? draft.now;
  carryVerdicts(draft, oldEpoch, new Map([[target.snapshotId, target.commitTime]]), since);
  return 'DONE';
};

const takeStatedRecreation = (draft: Draft, event: StatedEvent): Taken => {
  const known = event.tableId !== null && event.tableId === draft.state.tableId;
  if (known || !draft.versions.some((version) => version.epoch === draft.state.epoch)) return 'DUPLICATE';
  const sentence = 'The table was dropped and created again; its former versions are withdrawn.';
  beginEpoch(draft, { type: 'RECREATED', keepUpTo: 0, sentence, fields: event });
  setState(draft, { tableId: event.tableId, schemaId: null });
  return 'DONE';
};

const take = (draft: Draft, event: StatedEvent, nonce: string): Taken => {
  switch (event.eventType) {
    case 'SNAPSHOT_COMMITTED':
      return takeStatedCommit(draft, { ...event, snapshotId: event.snapshotId ?? '' });
    case 'WATERMARK_ADVANCED':
      return takeWatermark(draft, event);
    case 'TAG_CREATED':
    case 'TAG_MOVED':
    case 'TAG_DELETED':
      return takeStatedTag(draft, event);
    case 'SCHEMA_CHANGED':
      return takeStatedSchema(draft, event);
    case 'ROLLED_BACK':
      return takeStatedRollback(draft, { ...event, snapshotId: event.snapshotId ?? '' });
    case 'RECREATED':
      return takeStatedRecreation(draft, event);
    case 'QUALITY_CHECK_PASSED':
    case 'QUALITY_CHECK_FAILED':
      return takeVerdict(draft, event, nonce);
    case 'SCHEMA_CHANGE_APPROVED':
    case 'SCHEMA_CHANGE_REJECTED':
      return takeDecision(draft, event, nonce);
    case 'BACKFILL_STARTED':
    case 'BACKFILL_COMPLETED':
      return takeBackfill(draft, event, nonce);
    case 'CDC_LAG_DETECTED':
    case 'CDC_LAG_RECOVERED':
      return takeCdc(draft, event, nonce);
    case 'PARTITION_DONE':
      return takePartitionDone(draft, event);
    case 'HISTORY_GAP':
    case 'SOURCE_UNREADABLE':
    case 'SOURCE_RECOVERED':
      return 'DUPLICATE';
  }
};

/** What a statement did to the asset. */
export interface StatedEffects extends Effects {
  /** It said nothing new. */
  readonly duplicate: boolean;
  /** Dedup key of the event that it told once more, where that is known. */
  readonly duplicateOf: string | null;
}

const keyOfRepeated = ({ asset, state }: Draft, event: StatedEvent): string | null => {
  const { snapshotId, schemaId, watermark } = event;
  if (event.eventType === 'SNAPSHOT_COMMITTED' && snapshotId !== null)
    return dedupKeys.commit(asset.key, state.epoch, snapshotId);
  if (event.eventType === 'SCHEMA_CHANGED' && schemaId !== null)
    return dedupKeys.schema(asset.key, state.epoch, schemaId, null);
  if (event.eventType === 'WATERMARK_ADVANCED' && watermark !== null)
    return dedupKeys.watermark(asset.key, state.epoch, watermark);
  return null;
};

const settle = (draft: Draft, event: StatedEvent, taken: Taken): StatedEffects => {
  const trusted = isTrusted(draft.asset);
  if (trusted && draft.versions.length > 0) {
    // Nobody scans this table, so verdicts that wait for a scan are bound by what has been stated so far; and a stated version is as good as a first read.
    bindWaiting(draft, draft.now);
    if (draft.state.health === 'NEVER_READ') putHealth(draft, 'OK', null);
  }
  const duplicate = taken === 'DUPLICATE';
  const duplicateOf = duplicate ? keyOfRepeated(draft, event) : null;
  return { ...finishDraft(draft), wantsScan: taken === 'HINT', duplicate, duplicateOf };
};

/**
 * Folds one statement (push, person) into the asset (semantics.md, 2). `receivedAt`: the database's clock; `nonce`: unique to this call,
 * makes a statement without an eventId always new. `duplicate`: it said nothing new and is answered as a success; that an eventId came
 * before is the store's to notice, by the unique dedup key. Refused with BAD_EVENT when a field that its type needs is missing.
 */
export const ingestStated = (
  history: AssetHistory,
  event: StatedEvent,
  receivedAt: EpochMs,
  nonce: string,
): Result<StatedEffects> => {
  const asHint = OBSERVABLE.has(event.eventType) && !isTrusted(history.asset);
  const why = whyBad(event, asHint);
  if (why !== undefined) return refuse('BAD_EVENT', why);
  const draft = beginDraft(history, receivedAt, event.sourceType);
  return ok(settle(draft, event, asHint ? takeHint(draft, event, nonce) : take(draft, event, nonce)));
};

/**
 * Is what `history` holds enough to take the statement, although versions older than the newest cut may have been left out of it, and the
 * columns of its schemas? Only where the answer is surely the same: a commit ahead of all, or a word about one of the newest versions.
 */
export const newestSuffice = (history: AssetHistory, event: StatedEvent, now: EpochMs): boolean => {
  const { asset, state, versions, tags, schemas } = history;
  // The newest tag is that of the newest tagged version, and a waiting verdict is for any version.
  if (tags.some((tag) => !tag.deleted)) return false;
  if (history.verdicts.some((verdict) => verdict.snapshotId === null)) return false;
  const { snapshotId, schemaId } = event;
  switch (event.eventType) {
    case 'SNAPSHOT_COMMITTED': {
      const schemaKnown = schemas.some((one) => one.epoch === state.epoch && one.schemaId === schemaId);
      if (!isTrusted(asset) || snapshotId === null || !(schemaId === null || schemaKnown)) return false;
      return isAhead({ asset, state, versions, now }, { ...event, snapshotId });
    }
    case 'QUALITY_CHECK_PASSED':
    case 'QUALITY_CHECK_FAILED':
      return event.startedAt === null && snapshotId !== null && inEpoch({ versions, state }, snapshotId) !== undefined;
    case 'BACKFILL_STARTED':
    case 'BACKFILL_COMPLETED':
    case 'CDC_LAG_DETECTED':
    case 'CDC_LAG_RECOVERED':
      return true;
    case 'WATERMARK_ADVANCED':
    case 'TAG_CREATED':
    case 'TAG_MOVED':
    case 'TAG_DELETED':
    case 'SCHEMA_CHANGED':
    case 'SCHEMA_CHANGE_APPROVED':
    case 'SCHEMA_CHANGE_REJECTED':
    case 'PARTITION_DONE':
    case 'HISTORY_GAP':
    case 'ROLLED_BACK':
    case 'RECREATED':
    case 'SOURCE_UNREADABLE':
    case 'SOURCE_RECOVERED':
      return false;
  }
};

/** A person lets a held asset go on (onGap, onRollback, onRecreate: HOLD). Changes nothing if it is not held. */
export const releaseHold = (history: AssetHistory, at: EpochMs): Effects => {
  const draft = beginDraft(history, at, 'USER');
  if (draft.state.health === 'HELD') putHealth(draft, 'OK', null);
  return finishDraft(draft);
};
