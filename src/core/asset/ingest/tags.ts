import type { EpochMs } from '../../time.ts';
import { type Draft, deriveEvent, inEpoch, putTag } from './draft.ts';
import { dedupKeys } from './dedup.ts';
import type { StatedEvent } from '../event.ts';
import type { Poll } from '../poll.ts';
import type { TagRecord } from '../state.ts';
import type { Version } from '../version.ts';

/** A tag names a version of the current epoch, else (kept by a rewind) the newest live one of this id; one not recorded yet is awaited in this epoch. */
const taggedVersion = (draft: Draft, snapshotId: string): Version | undefined =>
  inEpoch(draft, snapshotId) ?? draft.versions.findLast((version) => version.snapshotId === snapshotId);

type TagEventType = 'TAG_CREATED' | 'TAG_MOVED' | 'TAG_DELETED';

const typeOf = (known: TagRecord | undefined, snapshotId: string | null): TagEventType => {
  if (snapshotId === null) return 'TAG_DELETED';
  return known === undefined || known.deleted ? 'TAG_CREATED' : 'TAG_MOVED';
};

const sentenceOf = (type: TagEventType, tag: string, snapshotId: string | null, before: string | null): string => {
  switch (type) {
    case 'TAG_DELETED':
      return `Tag ${tag} was deleted; ${before === null ? 'it was not known yet' : `it named version ${before}`}.`;
    case 'TAG_MOVED':
      return `Tag ${tag} was moved from version ${before} to ${snapshotId}.`;
    case 'TAG_CREATED':
      return `Tag ${tag} was made on version ${snapshotId}.`;
  }
};

export interface TagStatement {
  readonly tag: string;
  /** null: deleted. */
  readonly snapshotId: string | null;
  readonly at: EpochMs;
  /** What else the sender said, kept with the event. */
  readonly fields?: Partial<StatedEvent>;
}

/**
 * Makes, moves or deletes a tag. DUPLICATE: it is so already; STALE: older than what is known of this tag. Two statements of the same
 * instant are ordered by the version they name, so that their order of arrival does not matter; a deletion wins.
 */
export const takeTag = (draft: Draft, statement: TagStatement): 'DONE' | 'DUPLICATE' | 'STALE' => {
  const { tag, snapshotId, at } = statement;
  const known = draft.tags.get(tag);
  const now = known === undefined || known.deleted ? null : known.snapshotId;
  if (known !== undefined && snapshotId === now) return at > known.at ? confirm(draft, statement, known) : 'DUPLICATE';
  if (known !== undefined && (at < known.at || (at === known.at && losesTie(draft, snapshotId, now)))) return 'STALE';
  const version = snapshotId === null ? undefined : taggedVersion(draft, snapshotId);
  const occurrence = (known?.occurrence ?? 0) + 1;
  const names = snapshotId ?? known?.snapshotId ?? '';
  const epoch = version?.epoch ?? draft.state.epoch;
  putTag(draft, { tag, epoch, snapshotId: names, occurrence, at, deleted: snapshotId === null });
  const type = typeOf(known, snapshotId);
  deriveEvent(
    draft,
    type,
    { ...statement.fields, tag, snapshotId: snapshotId ?? now },
    {
      dedupKey: dedupKeys.tag(draft.asset.key, tag, snapshotId, now, occurrence),
      ordinal: version?.ordinal ?? null,
      sentence: sentenceOf(type, tag, snapshotId, now),
    },
  );
  return 'DONE';
};

/**
 * The tag is stated as it is known already, but for a later instant. That instant is kept: otherwise a move that was made before it, and
 * arrives after it, would win. A repetition that states no instant of its own tells nothing new.
 */
const confirm = (draft: Draft, { tag, at, fields }: TagStatement, known: TagRecord): 'DONE' | 'DUPLICATE' => {
  if (fields === undefined || fields.commitTime === undefined || fields.commitTime === null) return 'DUPLICATE';
  const occurrence = known.occurrence + 1;
  putTag(draft, { ...known, at, occurrence });
  const named = known.deleted ? null : known.snapshotId;
  deriveEvent(draft, known.deleted ? 'TAG_DELETED' : 'TAG_MOVED', fields, {
    dedupKey: dedupKeys.tag(draft.asset.key, tag, named, named, occurrence),
    sentence: known.deleted ? `Tag ${tag} is still deleted.` : `Tag ${tag} still names version ${known.snapshotId}.`,
  });
  return 'DONE';
};

const losesTie = (draft: Draft, snapshotId: string | null, now: string | null): boolean => {
  if (now === null || snapshotId === null) return now === null;
  const [mine, theirs] = [snapshotId, now].map((id) => taggedVersion(draft, id)?.ordinal ?? 0);
  return mine === theirs ? snapshotId < now : (mine ?? 0) < (theirs ?? 0);
};

/** Tag changes of a poll. What our own records say counts as the state before: a push may have told it first. */
export const takeTags = (draft: Draft, poll: Poll): void => {
  for (const change of poll.tagChanges) {
    if (change.snapshotId === null && !draft.tags.has(change.tag)) continue;
    takeTag(draft, { tag: change.tag, snapshotId: change.snapshotId, at: draft.now });
  }
};

/**
 * After a rewind or a re-creation: tags that the table still has follow their version into the new epoch where it was recorded again;
 * tags that it lost are deleted.
 */
export const carryTags = (draft: Draft, present: Readonly<Record<string, string>>): void => {
  for (const record of draft.tags.values()) {
    if (record.deleted) continue;
    if (!Object.hasOwn(present, record.tag)) takeTag(draft, { tag: record.tag, snapshotId: null, at: draft.now });
    else if (present[record.tag] === record.snapshotId) {
      const epoch = taggedVersion(draft, record.snapshotId)?.epoch ?? draft.state.epoch;
      if (epoch !== record.epoch) putTag(draft, { ...record, epoch });
    }
  }
};
