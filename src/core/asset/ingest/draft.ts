import type { EpochMs } from '../../time.ts';
import {
  type AssetEventType,
  type EventSource,
  type EventStatus,
  NOTHING_STATED,
  type RecordedEvent,
  type StatedEvent,
} from '../event.ts';
import type { Effects } from './effects.ts';
import { schemaKey } from '../schema-records.ts';
import { foldState } from './state-fold.ts';
import type { Asset, AssetHistory, AssetState, SchemaRecord, TagRecord, Verdict } from '../state.ts';
import type { Version } from '../version.ts';

/**
 * One answer or statement being folded in: what is known of the asset, and what has changed so far. Lives inside one call of ingestPoll
 * or ingestStated and is never shared; its records are replaced, never changed in place.
 */
export interface Draft {
  readonly asset: Asset;
  readonly before: AssetState;
  /** When the change is recorded (the database's clock). */
  readonly now: EpochMs;
  readonly source: EventSource;
  state: AssetState;
  /** Live versions, oldest first, new ones included. */
  versions: Version[];
  /** All schemas known, in the order in which they were first seen, by (epoch, schemaId). */
  readonly schemas: Map<string, SchemaRecord>;
  readonly tags: Map<string, TagRecord>;
  /** By (epoch, snapshotId, check); never the waiting ones. */
  readonly verdicts: Map<string, Verdict>;
  /** Verdicts that name no version: they wait for the scan that tells which one was read. */
  waiting: Verdict[];
  /** As in Effects. */
  withdrawnAfter: number | null;
  readonly events: RecordedEvent[];
  /** Ordinals of the versions that were recorded, withdrawn, and found to carry data after all. */
  readonly newOrdinals: Set<number>;
  readonly withdrawn: Set<number>;
  readonly promoted: Set<number>;
  /** Keys of what is to be written anew. */
  readonly changedSchemas: Set<string>;
  readonly changedTags: Set<string>;
  readonly changedVerdicts: Set<string>;
  /** Of `waiting`: those that came with this change, and those that wait no longer. */
  readonly newlyWaiting: Verdict[];
  readonly bound: Verdict[];
}

export const verdictKey = (epoch: number, snapshotId: string, checkName: string): string =>
  JSON.stringify([epoch, snapshotId, checkName]);

const byOrdinal = (a: Version, b: Version): number => a.ordinal - b.ordinal;

const namedVerdicts = (verdicts: readonly Verdict[]): Map<string, Verdict> =>
  new Map(
    verdicts.flatMap((verdict) =>
      verdict.snapshotId === null
        ? []
        : [[verdictKey(verdict.epoch, verdict.snapshotId, verdict.checkName), verdict] as const],
    ),
  );

export const beginDraft = (history: AssetHistory, now: EpochMs, source: EventSource): Draft => ({
  asset: history.asset,
  before: history.state,
  now,
  source,
  state: history.state,
  versions: history.versions.filter((version) => version.status === 'LIVE').sort(byOrdinal),
  schemas: new Map(history.schemas.map((record) => [schemaKey(record.epoch, record.schemaId), record])),
  tags: new Map(history.tags.map((record) => [record.tag, record])),
  verdicts: namedVerdicts(history.verdicts),
  waiting: history.verdicts.filter((verdict) => verdict.snapshotId === null),
  withdrawnAfter: null,
  events: [],
  newOrdinals: new Set(),
  withdrawn: new Set(),
  promoted: new Set(),
  changedSchemas: new Set(),
  changedTags: new Set(),
  changedVerdicts: new Set(),
  newlyWaiting: [],
  bound: [],
});

export const setState = (draft: Draft, patch: Partial<AssetState>): void => {
  draft.state = { ...draft.state, ...patch };
};

export const putSchema = (draft: Draft, record: SchemaRecord): void => {
  const key = schemaKey(record.epoch, record.schemaId);
  draft.schemas.set(key, record);
  draft.changedSchemas.add(key);
};

export const putTag = (draft: Draft, record: TagRecord): void => {
  draft.tags.set(record.tag, record);
  draft.changedTags.add(record.tag);
};

/** Replaces one version by a corrected one of the same ordinal. */
export const putVersion = (draft: Draft, version: Version): void => {
  draft.versions = draft.versions.map((other) => (other.ordinal === version.ordinal ? version : other));
};

/** Live versions, oldest first. */
export interface Recorded {
  readonly versions: readonly Version[];
}

/** The newest live version with this id in the current epoch. */
export const inEpoch = (draft: Pick<Draft, 'state'> & Recorded, snapshotId: string): Version | undefined =>
  draft.versions.findLast((version) => version.epoch === draft.state.epoch && version.snapshotId === snapshotId);

export interface EventNote {
  readonly dedupKey: string;
  readonly sentence: string;
  readonly epoch?: number;
  readonly ordinal?: number | null;
  readonly status?: EventStatus;
}

export const addEvent = (draft: Draft, statement: StatedEvent, note: EventNote): void => {
  draft.events.push({
    ...statement,
    dedupKey: note.dedupKey,
    epoch: note.epoch ?? draft.state.epoch,
    ordinal: note.ordinal ?? null,
    status: note.status ?? 'RECORDED',
    sentence: note.sentence,
    receivedAt: draft.now,
  });
};

/** An event that Sluice itself derives, with the fields that it fills. */
export const deriveEvent = (
  draft: Draft,
  eventType: AssetEventType,
  fields: Partial<StatedEvent>,
  note: EventNote,
): void => {
  // What is derived from a statement keeps what the sender said, but is an event of its own type.
  const own = { assetKey: draft.asset.key, eventType, sourceType: draft.source };
  addEvent(draft, Object.assign({ ...NOTHING_STATED }, fields, own), note);
};

const pick = <T>(keys: ReadonlySet<string>, from: ReadonlyMap<string, T>): T[] =>
  [...keys].flatMap((key) => from.get(key) ?? []);

const sameState = (a: AssetState, b: AssetState): boolean => {
  const names = Object.keys(a) as (keyof AssetState)[];
  return names.every((name) => a[name] === b[name] || sameObject(a[name], b[name]));
};

const sameObject = (a: AssetState[keyof AssetState], b: AssetState[keyof AssetState]): boolean => {
  const text = (of: unknown) =>
    JSON.stringify(of, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
  return typeof a === 'object' && typeof b === 'object' && text(a) === text(b);
};

const nextState = (draft: Draft): AssetState => {
  const folded = foldState(draft);
  return sameState(draft.before, folded) ? draft.before : { ...folded, version: draft.before.version + 1 };
};

/** Folds the state and closes the draft. */
export const finishDraft = (draft: Draft): Effects => {
  const state = nextState(draft);
  const newVersions = draft.versions.filter((version) => draft.newOrdinals.has(version.ordinal));
  const waiting = draft.newlyWaiting.filter((verdict) => !draft.bound.includes(verdict));
  const verdicts = [...pick(draft.changedVerdicts, draft.verdicts), ...waiting];
  const bound = draft.bound.filter((verdict) => !draft.newlyWaiting.includes(verdict));
  const schemas = pick(draft.changedSchemas, draft.schemas);
  const tags = pick(draft.changedTags, draft.tags);
  const changes = [newVersions, verdicts, schemas, tags, bound, [...draft.promoted], [...draft.withdrawn]];
  return {
    state,
    events: draft.events,
    newVersions,
    versionStatus: new Map([...draft.withdrawn].map((ordinal) => [ordinal, 'WITHDRAWN'] as const)),
    withdrawnAfter: draft.withdrawnAfter,
    // A version that is new in this very change is written as corrected; only older ones need the correction.
    nowDataChange: [...draft.promoted].filter((ordinal) => !draft.newOrdinals.has(ordinal)),
    verdicts,
    boundVerdicts: bound,
    schemas,
    tags,
    touchesGroups: state !== draft.before || changes.some((list) => list.length > 0),
    wantsScan: false,
  };
};
