import { type CommitOrder, compareCommits } from '../commit-order.ts';
import { promote, raiseWatermark, recordCommit } from './commits.ts';
import { addEvent, type Draft, inEpoch, type Recorded, setState } from './draft.ts';
import { dedupKeys } from './dedup.ts';
import { beginEpoch } from './epochs.ts';
import type { StatedEvent } from '../event.ts';
import { advanceSchema, carrySchemas, seeSchema } from './schemas.ts';
import { carryVerdicts } from './verdicts.ts';
import type { Commit, Version } from '../version.ts';

/** A pushed commit with its id: what TRUST records. */
export type StatedCommit = StatedEvent & { readonly snapshotId: string };

// A statement that names no dataChange leaves only the label to go by. These words never carry data where they mean what they say.
const NO_DATA = new Set([
  'COMPACT',
  'COMPACTION',
  'LOGCOMPACT',
  'ANALYZE',
  'CLUSTER',
  'CLUSTERING',
  'REPLACE',
  'OPTIMIZE',
  'INDEX',
  'VACUUM START',
  'VACUUM END',
]);

const saysData = (event: StatedEvent): boolean =>
  event.dataChange ?? !NO_DATA.has((event.commitKind ?? '').toUpperCase());

/** What the order of commits is told from. */
type Known = Pick<Draft, 'asset' | 'state' | 'now'> & Recorded;

const commitOf = (draft: Known, event: StatedCommit): Commit => ({
  snapshotId: event.snapshotId,
  operation: event.commitKind ?? 'COMMIT',
  dataChange: saysData(event),
  commitTime: event.commitTime ?? draft.now,
  watermark: event.watermark,
  // A push without a schema was written under the table's current one.
  schemaId: event.schemaId ?? draft.state.schemaId,
  addedRecords: event.deltaRecordCount,
  totalRecords: null,
  ...(event.partitionKey === null ? {} : { partitions: [event.partitionKey] }),
  ...(event.sequenceNumber === null ? {} : { sequenceNumber: event.sequenceNumber }),
  ...(event.backfill === true ? { backfill: true } : {}),
});

const inThisEpoch = (draft: Known): readonly Version[] =>
  draft.versions.filter((version) => version.epoch === draft.state.epoch);

/**
 * NEW: newer than all known. KNOWN: recorded already. OLDER: overtaken on its way by a newer one of the same incarnation. FOREIGN: a late
 * word from an incarnation that is over. REWIND, RECREATED: it begins a new one.
 */
type Relation = 'NEW' | 'KNOWN' | 'OLDER' | 'FOREIGN' | 'REWIND' | 'RECREATED';

const otherTable = (draft: Known, event: StatedEvent): boolean =>
  event.tableId !== null && draft.state.tableId !== null && event.tableId !== draft.state.tableId;

/**
 * Was the commit made before this epoch began? That can be asked only after a rewind or a re-creation: in a first epoch an early commit time
 * means no more than that a writer's clock is off.
 */
const beforeThisEpoch = (draft: Known, commit: Commit, versions: readonly Version[]): boolean =>
  draft.state.epoch > 1 && commit.commitTime < (versions[0]?.commitTime ?? commit.commitTime);

const relationOf = (draft: Known, event: StatedCommit, commit: Commit): Relation => {
  const versions = inThisEpoch(draft);
  const head = versions.at(-1);
  const later = head === undefined || commit.commitTime > head.commitTime;
  if (otherTable(draft, event)) return later ? 'RECREATED' : 'FOREIGN';
  if (head === undefined) return 'NEW';
  const known = inEpoch(draft, commit.snapshotId);
  if (beforeThisEpoch(draft, commit, versions)) return 'FOREIGN';
  const order = compareCommits(draft.asset.key, commit, head);
  const rewound = event.commitTime !== null && later;
  if (known !== undefined) return rewound ? 'REWIND' : 'KNOWN';
  return order.by === 'TIME' ? byTime(order) : byNumber(order, rewound);
};

// Of two commits of one instant nothing says which is older: to take both for new loses nothing.
const byTime = ({ order }: CommitOrder): Relation => (order < 0 ? 'OLDER' : 'NEW');

const byNumber = ({ order }: CommitOrder, rewound: boolean): Relation => {
  if (order > 0) return 'NEW';
  return rewound ? 'REWIND' : 'OLDER';
};

/** Is the commit newer than every version in `known`, in the same incarnation of the table? Then it can be taken without a look at older ones. */
export const isAhead = (known: Known, event: StatedCommit): boolean =>
  relationOf(known, event, commitOf(known, event)) === 'NEW';

const noteStated = (
  draft: Draft,
  event: StatedCommit,
  status: 'RECORDED' | 'IGNORED_STALE',
  epoch: number,
  why: string,
) =>
  addEvent(draft, event, {
    dedupKey: dedupKeys.commit(event.assetKey, epoch, event.snapshotId),
    epoch,
    status,
    sentence: `Version ${event.snapshotId} was told after a newer one${why}.`,
  });

/**
 * An older commit makes no version: ordinals are given once. What it says that would otherwise be lost still counts: its watermark, its
 * schema, and that it brought rows, which are then first seen at the next recorded version, so that one carries data.
 */
const takeOlder = (draft: Draft, event: StatedCommit, commit: Commit): void => {
  const raised = raiseWatermark(draft, commit.watermark, event);
  const schemas = draft.changedSchemas.size;
  if (event.schemaId !== null) seeSchema(draft, event.schemaId, null);
  const next = inThisEpoch(draft).find((version) => compareCommits(event.assetKey, version, commit).order > 0);
  const brings = commit.dataChange && next !== undefined && !next.dataChange;
  if (brings) promote(draft, next);
  const counts = raised || brings || draft.changedSchemas.size > schemas;
  const why = brings ? `; its rows are counted as new at version ${next.snapshotId}` : '';
  noteStated(draft, event, counts ? 'RECORDED' : 'IGNORED_STALE', draft.state.epoch, why);
};

const takeKnown = (draft: Draft, event: StatedCommit): 'DUPLICATE' | 'DONE' => {
  const known = inEpoch(draft, event.snapshotId);
  if (known === undefined || known.dataChange || event.dataChange !== true) return 'DUPLICATE';
  promote(draft, known);
  addEvent(draft, event, {
    dedupKey: dedupKeys.dataCorrection(event.assetKey, known.epoch, known.snapshotId),
    ordinal: known.ordinal,
    sentence: `Version ${known.snapshotId} carries data after all, says a correction.`,
  });
  return 'DONE';
};

/** Versions older than the commit that rewinds stand: those before its id was first used, or with a lower id or sequence number. */
const keptBy = (draft: Draft, commit: Commit): number => {
  const same = draft.versions.find((version) => version.snapshotId === commit.snapshotId);
  if (same !== undefined) return same.ordinal - 1;
  const older = draft.versions.findLast((version) => {
    const { by, order } = compareCommits(draft.asset.key, version, commit);
    return by !== 'TIME' && order < 0;
  });
  return older?.ordinal ?? 0;
};

const takeRewind = (draft: Draft, event: StatedCommit, commit: Commit, type: 'ROLLED_BACK' | 'RECREATED'): void => {
  const oldEpoch = draft.state.epoch;
  const recreated = type === 'RECREATED';
  const what = recreated ? 'of another table' : 'again, later than what is known';
  const sentence = `Version ${commit.snapshotId} ${what}: ${recreated ? 'the table was created again' : 'the table was rewound'}.`;
  beginEpoch(draft, {
    type,
    keepUpTo: recreated ? 0 : keptBy(draft, commit),
    sentence,
    fields: { snapshotId: commit.snapshotId, tableId: event.tableId },
  });
  if (!recreated) carrySchemas(draft, oldEpoch, []);
  setState(draft, { schemaId: null, tableId: null });
  carryVerdicts(draft, oldEpoch, new Map([[commit.snapshotId, commit.commitTime]]), commit.commitTime);
  takeNew(draft, event, commit);
};

const takeNew = (draft: Draft, event: StatedCommit, commit: Commit): void => {
  setState(draft, { tableId: event.tableId ?? draft.state.tableId });
  recordCommit(draft, commit, 'COMMIT', event);
  if (commit.schemaId !== null) advanceSchema(draft, commit.schemaId);
};

/** Records a commit as it was stated, for an asset that nobody but its writers can read (semantics.md, 2: TRUST). */
export const takeStatedCommit = (draft: Draft, event: StatedCommit): 'DUPLICATE' | 'DONE' => {
  const commit = commitOf(draft, event);
  const relation = relationOf(draft, event, commit);
  switch (relation) {
    case 'KNOWN':
      return takeKnown(draft, event);
    case 'NEW':
      takeNew(draft, event, commit);
      return 'DONE';
    case 'OLDER':
      takeOlder(draft, event, commit);
      return 'DONE';
    case 'FOREIGN':
      noteStated(draft, event, 'IGNORED_STALE', draft.state.epoch - 1, ' and belongs to a history that is over');
      return 'DONE';
    case 'REWIND':
      takeRewind(draft, event, commit, 'ROLLED_BACK');
      return 'DONE';
    case 'RECREATED':
      takeRewind(draft, event, commit, 'RECREATED');
      return 'DONE';
  }
};
