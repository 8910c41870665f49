import { isoTime } from '../../time.ts';
import { type Draft, deriveEvent, inEpoch, putVersion, setState } from './draft.ts';
import { dedupKeys } from './dedup.ts';
import type { StatedEvent } from '../event.ts';
import { seeSchema } from './schemas.ts';
import type { Commit, Version, VersionOrigin } from '../version.ts';
import { rowWords } from '../words.ts';

const sentenceOf = (version: Version): string => {
  const restored = version.origin === 'RESTORED' ? ' is the head again after the rewind' : ' was committed';
  return `Version ${version.snapshotId} (${version.operation})${restored} at ${isoTime(version.commitTime)}${broughtBy(version)}.`;
};

/** A count of rows says something of new data only: a compaction merges rows, and "3 rows fewer" would look like a loss. */
const broughtBy = (version: Version): string => {
  if (version.pendingData === true) return ', rows that no batch reader sees yet';
  if (!version.dataChange) return ', no new data';
  return version.addedRecords === null ? '' : `, ${rowWords(version.addedRecords)}`;
};

/** Raises the watermark of the epoch; a lower or equal one changes nothing. True: it rose. */
export const raiseWatermark = (draft: Draft, value: bigint | null, fields: Partial<StatedEvent>): boolean => {
  if (value === null || (draft.state.watermark !== null && value <= draft.state.watermark)) return false;
  setState(draft, { watermark: value });
  deriveEvent(
    draft,
    'WATERMARK_ADVANCED',
    { ...fields, watermark: value },
    {
      dedupKey: dedupKeys.watermark(draft.asset.key, draft.state.epoch, value),
      sentence: `The watermark reached ${isoTime(value)}.`,
    },
  );
  return true;
};

const noteCommit = (draft: Draft, version: Version, fields: Partial<StatedEvent>): void => {
  const facts = {
    snapshotId: version.snapshotId,
    commitKind: version.operation,
    commitTime: version.commitTime,
    schemaId: version.schemaId,
    watermark: version.watermark,
    deltaRecordCount: version.addedRecords,
    dataChange: version.dataChange,
  };
  deriveEvent(
    draft,
    'SNAPSHOT_COMMITTED',
    { ...fields, ...facts },
    {
      dedupKey: dedupKeys.commit(draft.asset.key, version.epoch, version.snapshotId),
      ordinal: version.ordinal,
      sentence: sentenceOf(version),
    },
  );
};

// By when it was committed, not recorded: a poll may see it after the window was closed. No clock tolerance: better one run too many.
const inBackfillWindow = ({ state }: Draft, { commitTime }: Commit): boolean =>
  state.backfillSince !== null &&
  state.backfillUntil !== null &&
  commitTime >= state.backfillSince &&
  commitTime <= state.backfillUntil;

/** Records one commit as the newest version of the current epoch, with the events that follow from it. */
export const recordCommit = (
  draft: Draft,
  commit: Commit,
  origin: VersionOrigin,
  fields: Partial<StatedEvent> = {},
): Version => {
  const ordinal = draft.state.lastOrdinal + 1;
  const given = { assetKey: draft.asset.key, epoch: draft.state.epoch, ordinal, origin };
  const version: Version = {
    ...commit,
    ...(inBackfillWindow(draft, commit) ? { backfill: true } : {}),
    ...given,
    status: 'LIVE',
    recordedAt: draft.now,
  };
  draft.versions.push(version);
  draft.newOrdinals.add(ordinal);
  setState(draft, { lastOrdinal: ordinal });
  noteCommit(draft, version, fields);
  raiseWatermark(draft, commit.watermark, fields);
  if (commit.schemaId !== null) seeSchema(draft, commit.schemaId, null);
  return version;
};

/** A version that turns out to show other rows than the one recorded before it. */
export const promote = (draft: Draft, version: Version): void => {
  putVersion(draft, { ...version, dataChange: true });
  draft.promoted.add(version.ordinal);
};

/** Commits of a poll that are not recorded yet: everything after the newest known one, if the list holds one (pushes may have told it first). */
export const unrecorded = (draft: Draft, commits: readonly Commit[]): readonly Commit[] =>
  commits.slice(commits.findLastIndex((commit) => inEpoch(draft, commit.snapshotId) !== undefined) + 1);
