import { compareIds, hasNumericIds } from '../commit-order.ts';
import { recordCommit, unrecorded } from './commits.ts';
import { beginDraft, type Draft, deriveEvent, finishDraft, setState } from './draft.ts';
import { dedupKeys } from './dedup.ts';
import { beginEpoch, putHealth } from './epochs.ts';
import type { Effects, PollTimes } from './effects.ts';
import type { Outcome, Poll } from '../poll.ts';
import { carrySchemas, takeSchemas } from './schemas.ts';
import type { AssetHistory } from '../state.ts';
import { carryTags, takeTags } from './tags.ts';
import { bindWaiting, carryVerdicts } from './verdicts.ts';
import type { Commit, VersionOrigin } from '../version.ts';

type OutcomeOf<K extends Outcome['kind']> = Extract<Outcome, { kind: K }>;

/** When the table stopped being readable, which names the outage that goes on; null: it can be read. */
const openOutage = (draft: Draft): bigint | null =>
  draft.state.health === 'UNREADABLE' ? draft.state.healthSince : null;

const takeUnreadable = (draft: Draft, outcome: OutcomeOf<'UNREADABLE'>): void => {
  // A hold is a person's to lift: it must not be lost under a network error.
  if (draft.state.health === 'HELD') return;
  const begins = openOutage(draft) === null;
  putHealth(draft, 'UNREADABLE', outcome.reason);
  if (!begins) return;
  const retry = outcome.retryable ? 'It is tried again with growing pauses.' : 'Somebody must look at it.';
  deriveEvent(
    draft,
    'SOURCE_UNREADABLE',
    {},
    {
      dedupKey: dedupKeys.outage('SOURCE_UNREADABLE', draft.asset.key, draft.state.healthSince),
      sentence: `The table cannot be read: ${outcome.reason.replace(/\.$/, '')}. ${retry}`,
    },
  );
};

const takeReadable = (draft: Draft, outcome: Outcome): void => {
  const outage = openOutage(draft);
  if (outage !== null) {
    const dedupKey = dedupKeys.outage('SOURCE_RECOVERED', draft.asset.key, outage);
    deriveEvent(draft, 'SOURCE_RECOVERED', {}, { dedupKey, sentence: 'The table can be read again.' });
  }
  if (draft.state.health === 'HELD') return;
  if (outcome.kind === 'BEHIND') putHealth(draft, 'BEHIND', outcome.reason);
  else putHealth(draft, 'OK', null);
};

const takeGap = (draft: Draft, outcome: OutcomeOf<'GAP'>, poll: Poll): void => {
  const from = outcome.from ?? draft.state.latest?.snapshotId ?? null;
  const to = outcome.to ?? poll.commits[0]?.snapshotId ?? null;
  const counted = outcome.from !== null && outcome.to !== null;
  const missing = counted
    ? `Versions ${from} to ${to} expired before they were read`
    : `Versions between ${from ?? 'the first'} and ${to ?? 'the newest'} expired before they were read`;
  const dedupKey = dedupKeys.gap(draft.asset.key, draft.state.epoch, from, to);
  deriveEvent(draft, 'HISTORY_GAP', {}, { dedupKey, sentence: `${missing}; what they held is not known.` });
  if (draft.asset.onGap === 'HOLD')
    putHealth(draft, 'HELD', `${missing}. Nothing triggers until a person lets it go on.`);
};

/**
 * Up to which ordinal versions stand after a rewind to `to`. Where `to` was never recorded, ids that count tell which versions are older
 * than it; elsewhere nothing that was recorded is known to stand.
 */
const standsUpTo = (draft: Draft, to: string | null): number => {
  if (to === null) return 0;
  const target = draft.versions.findLast((version) => version.snapshotId === to);
  if (target !== undefined) return target.ordinal;
  if (!hasNumericIds(draft.asset.key, to)) return 0;
  return draft.versions.findLast((version) => compareIds(version.snapshotId, to) < 0)?.ordinal ?? 0;
};

const commitTimes = (commits: readonly Commit[]): ReadonlyMap<string, bigint> =>
  new Map(commits.map((commit) => [commit.snapshotId, commit.commitTime]));

const takeRollback = (draft: Draft, outcome: OutcomeOf<'ROLLBACK'>, poll: Poll, times: PollTimes): void => {
  const oldEpoch = draft.state.epoch;
  const where = outcome.to === null ? 'to before its first version' : `to version ${outcome.to}`;
  const sentence = `The table was rolled back ${where}; what came after it is withdrawn.`;
  const keepUpTo = standsUpTo(draft, outcome.to);
  beginEpoch(draft, { type: 'ROLLED_BACK', keepUpTo, sentence, fields: { snapshotId: outcome.to } });
  carrySchemas(draft, oldEpoch, poll.schema === null ? poll.newSchemas : [...poll.newSchemas, poll.schema]);
  if (outcome.restored !== null) restore(draft, outcome.restored);
  const restored = outcome.restored === null ? [] : [outcome.restored];
  carryVerdicts(draft, oldEpoch, commitTimes([...restored, ...poll.commits]), times.startedAt);
};

/** The restored head once more, as a version of the new epoch; its watermark is where the epoch begins, not an advance. */
const restore = (draft: Draft, commit: Commit): void => {
  setState(draft, { watermark: commit.watermark });
  recordCommit(draft, commit, 'RESTORED');
};

const takeRecreated = (draft: Draft, poll: Poll, times: PollTimes): void => {
  const oldEpoch = draft.state.epoch;
  const sentence = 'The table was dropped and created again, or replaced; its former versions are withdrawn.';
  beginEpoch(draft, { type: 'RECREATED', keepUpTo: 0, sentence, fields: { tableId: poll.tableId } });
  setState(draft, { tableId: null, schemaId: null });
  carryVerdicts(draft, oldEpoch, commitTimes(poll.commits), times.startedAt);
};

const takeOutcome = (draft: Draft, poll: Poll, times: PollTimes): void => {
  const { outcome } = poll;
  switch (outcome.kind) {
    case 'GAP':
      return takeGap(draft, outcome, poll);
    case 'ROLLBACK':
      return takeRollback(draft, outcome, poll, times);
    case 'RECREATED':
      return takeRecreated(draft, poll, times);
    case 'NEW':
    case 'NONE':
    case 'BEHIND':
    case 'UNREADABLE':
      return;
  }
};

/**
 * The index of the commit that counts as data although the table does not say so; -1: none. After a gap: the newest, unless a readable
 * commit carries data itself, which then brings what was missed along. The first version ever recorded, if rows were there before it.
 */
const indexCountedAsData = (outcome: Outcome, commits: readonly Commit[], isFirst: boolean): number => {
  if (commits.some((commit) => commit.dataChange)) return isFirst ? firstWithRows(commits) : -1;
  if (outcome.kind === 'GAP') return commits.length - 1;
  return isFirst ? firstWithRows(commits) : -1;
};

const firstWithRows = (commits: readonly Commit[]): number => {
  const first = commits[0];
  return first !== undefined && !first.dataChange && (first.totalRecords ?? 0n) > 0n ? 0 : -1;
};

const takeCommits = (draft: Draft, poll: Poll): void => {
  const commits = unrecorded(draft, poll.commits);
  const counts = indexCountedAsData(poll.outcome, commits, draft.state.lastOrdinal === 0);
  commits.forEach((commit, index) => {
    const origin: VersionOrigin = index === counts ? 'AFTER_GAP' : 'COMMIT';
    recordCommit(draft, commit, origin);
  });
};

/**
 * Folds one answer of a source into the asset (semantics.md, 1 and 2). Pure: the store writes what it answers in one transaction.
 * An UNREADABLE answer changes nothing but health and, when an outage begins, the event that says so.
 */
export const ingestPoll = (history: AssetHistory, poll: Poll, times: PollTimes): Effects => {
  const draft = beginDraft(history, times.recordedAt, 'POLL');
  if (poll.outcome.kind === 'UNREADABLE') {
    takeUnreadable(draft, poll.outcome);
    return finishDraft(draft);
  }
  const firstRead = history.state.lastOrdinal === 0 && history.schemas.every((record) => record.schema === null);
  takeReadable(draft, poll.outcome);
  takeOutcome(draft, poll, times);
  takeSchemas(draft, poll, firstRead);
  takeCommits(draft, poll);
  if (poll.outcome.kind === 'ROLLBACK' || poll.outcome.kind === 'RECREATED') carryTags(draft, poll.tags);
  takeTags(draft, poll);
  setState(draft, { tableId: poll.tableId ?? draft.state.tableId });
  // While the table is behind its catalog, a check may have read what this scan could not see.
  if (poll.outcome.kind !== 'BEHIND') bindWaiting(draft, times.startedAt);
  return finishDraft(draft);
};
