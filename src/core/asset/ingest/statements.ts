import { isoTime } from '../../time.ts';
import { addEvent, type Draft, inEpoch, setState } from './draft.ts';
import { dedupKeys } from './dedup.ts';
import type { StatedEvent } from '../event.ts';
import { decideSchema } from './schemas.ts';
import type { Verdict } from '../state.ts';
import { judgedVersion, putVerdict } from './verdicts.ts';
import type { Version } from '../version.ts';

/** How long a backfill window stays open that nobody closes: a writer that died must not keep its table from triggering for ever. */
const BACKFILL_LIMIT = 86_400_000n;

const note = (draft: Draft, event: StatedEvent, nonce: string, sentence: string, version?: Version): 'DONE' => {
  const dedupKey = dedupKeys.stated(event, nonce);
  const epoch = version?.epoch ?? draft.state.epoch;
  addEvent(draft, event, { dedupKey, sentence, epoch, ordinal: version?.ordinal ?? null });
  return 'DONE';
};

const verdictOf = (draft: Draft, event: StatedEvent): Verdict => ({
  epoch: draft.state.epoch,
  snapshotId: null,
  checkName: event.checkName ?? 'default',
  status: event.eventType === 'QUALITY_CHECK_FAILED' ? 'FAILED' : 'PASSED',
  at: event.commitTime ?? draft.now,
  startedAt: event.startedAt,
  checkRunId: event.checkRunId,
});

const verdictWords = (verdict: Verdict): string =>
  `Quality check ${verdict.checkName} ${verdict.status === 'PASSED' ? 'passed' : 'failed'}`;

const takeNamedVerdict = (draft: Draft, event: StatedEvent, verdict: Verdict, id: string, nonce: string): 'DONE' => {
  const version = judgedVersion(draft, id);
  putVerdict(draft, { ...verdict, snapshotId: id, epoch: version?.epoch ?? verdict.epoch });
  const waits = version === undefined ? ', which is not known yet' : '';
  return note(draft, event, nonce, `${verdictWords(verdict)} for version ${id}${waits}.`, version);
};

/**
 * A quality verdict (semantics.md, 2): for the version it names; without a name it waits for a scan begun after its check began; with
 * neither it is for the newest version now. Its time is `commitTime` where stated, else when it was received.
 */
export const takeVerdict = (draft: Draft, event: StatedEvent, nonce: string): 'DONE' => {
  const verdict = verdictOf(draft, event);
  if (event.snapshotId !== null) return takeNamedVerdict(draft, event, verdict, event.snapshotId, nonce);
  if (event.startedAt !== null) {
    draft.waiting = [...draft.waiting, verdict];
    draft.newlyWaiting.push(verdict);
    const when = isoTime(event.startedAt);
    return note(
      draft,
      event,
      nonce,
      `${verdictWords(verdict)} for what was newest at ${when}; the next scan tells which that is.`,
    );
  }
  const newest = draft.versions.at(-1);
  if (newest !== undefined) return takeNamedVerdict(draft, event, verdict, newest.snapshotId, nonce);
  return note(draft, event, nonce, `${verdictWords(verdict)}, but there is no version yet that it could be for.`);
};

/** A person's word about a schema, by its id, also ahead of its first commit. */
export const takeDecision = (draft: Draft, event: StatedEvent, nonce: string): 'DONE' => {
  const status = event.eventType === 'SCHEMA_CHANGE_REJECTED' ? 'REJECTED' : 'COMPATIBLE';
  return note(draft, event, nonce, decideSchema(draft, event.schemaId ?? '', status));
};

const startBackfill = (draft: Draft, at: bigint): void => {
  const { backfillStatus, backfillUntil } = draft.state;
  // The statement that the backfill ended arrived before the one that it began.
  const endedAlready = backfillStatus === 'COMPLETED' && backfillUntil !== null && at <= backfillUntil;
  if (endedAlready) setState(draft, { backfillSince: at });
  else setState(draft, { backfillStatus: 'RUNNING', backfillSince: at, backfillUntil: at + BACKFILL_LIMIT });
};

const endBackfill = (draft: Draft, at: bigint): void => {
  const { backfillSince } = draft.state;
  if (backfillSince !== null && at < backfillSince) return;
  setState(draft, { backfillStatus: 'COMPLETED', backfillUntil: at });
};

/** Opens or closes a backfill window, at `commitTime` where stated, else when it was received. */
export const takeBackfill = (draft: Draft, event: StatedEvent, nonce: string): 'DONE' => {
  const at = event.commitTime ?? draft.now;
  const starts = event.eventType === 'BACKFILL_STARTED';
  if (starts) startBackfill(draft, at);
  else endBackfill(draft, at);
  return note(draft, event, nonce, `A backfill ${starts ? 'began' : 'ended'} at ${isoTime(at)}.`);
};

/** What was said last about CDC lag, in order of arrival: these statements carry no order of their own. */
export const takeCdc = (draft: Draft, event: StatedEvent, nonce: string): 'DONE' => {
  const lagging = event.eventType === 'CDC_LAG_DETECTED';
  setState(draft, { cdcStatus: lagging ? 'LAGGING' : 'RECOVERED' });
  return note(draft, event, nonce, lagging ? 'The CDC feed lags behind its source.' : 'The CDC feed has caught up.');
};

/** A partition was marked done. Kept as evidence: no condition of this version reads it. */
export const takePartitionDone = (draft: Draft, event: StatedEvent): 'DONE' => {
  const partition = event.partitionKey ?? '';
  const version = event.snapshotId === null ? undefined : inEpoch(draft, event.snapshotId);
  addEvent(draft, event, {
    dedupKey: dedupKeys.partitionDone(draft.asset.key, draft.state.epoch, partition, event.snapshotId),
    ordinal: version?.ordinal ?? null,
    sentence: `Partition ${partition} is done.`,
  });
  return 'DONE';
};
