import type { EpochMs } from '../../time.ts';
import { type Draft, inEpoch, verdictKey } from './draft.ts';
import { strongerVerdict } from '../quality.ts';
import type { Verdict } from '../state.ts';
import type { Version } from '../version.ts';

/** How far a writer's clock may be off (semantics.md, 2: Clocks). Milliseconds. */
export const CLOCK_TOLERANCE = 600_000n;

/** Keeps a verdict unless a stronger one of the same check on the same version is known. True: something changed. */
export const putVerdict = (draft: Draft, verdict: Verdict & { readonly snapshotId: string }): boolean => {
  const key = verdictKey(verdict.epoch, verdict.snapshotId, verdict.checkName);
  const known = draft.verdicts.get(key);
  if (known !== undefined && strongerVerdict(known, verdict) === known) return false;
  draft.verdicts.set(key, verdict);
  draft.changedVerdicts.add(key);
  return true;
};

/** The version that a verdict names: of the current epoch, else the newest live one of this id that a rewind kept. */
export const judgedVersion = (draft: Draft, snapshotId: string): Version | undefined =>
  inEpoch(draft, snapshotId) ?? draft.versions.findLast((version) => version.snapshotId === snapshotId);

/**
 * The versions that a verdict without a snapshotId speaks of, given when its check began to read. A commit within the clock tolerance of
 * that instant may or may not have been read: PASSED binds to the newest certainly older one, FAILED to it and to all in doubt.
 * Where no older one exists, the newest at that instant was read or nothing was.
 */
const versionsReadAt = (
  versions: readonly Version[],
  startedAt: EpochMs,
  status: Verdict['status'],
): readonly Version[] => {
  const older = versions.findLast((version) => version.commitTime < startedAt - CLOCK_TOLERANCE);
  const surely = older ?? versions.findLast((version) => version.commitTime <= startedAt);
  if (status === 'PASSED') return surely === undefined ? [] : [surely];
  const doubtful = versions.filter(
    (version) =>
      version.commitTime >= startedAt - CLOCK_TOLERANCE &&
      version.commitTime <= startedAt + CLOCK_TOLERANCE &&
      version.ordinal > (older?.ordinal ?? 0),
  );
  return older === undefined ? doubtful : [older, ...doubtful];
};

/**
 * Binds the verdicts that waited for a scan begun after their check began; `scanStartedAt` is when this one began. A check that read the
 * table before its first commit said nothing about any version, and its verdict goes away.
 */
export const bindWaiting = (draft: Draft, scanStartedAt: EpochMs): void => {
  const ready = draft.waiting.filter((verdict) => (verdict.startedAt ?? verdict.at) < scanStartedAt);
  const versions = draft.versions.filter((version) => version.epoch === draft.state.epoch);
  for (const verdict of ready) {
    for (const version of versionsReadAt(versions, verdict.startedAt ?? verdict.at, verdict.status)) {
      putVerdict(draft, { ...verdict, epoch: version.epoch, snapshotId: version.snapshotId });
    }
  }
  draft.waiting = draft.waiting.filter((verdict) => !ready.includes(verdict));
  draft.bound.push(...ready);
};

/**
 * After a rewind or a re-creation: a verdict stays with a version of the new epoch if its check ended after that version was committed
 * (so the restored head keeps its verdicts, and one pushed before we noticed the rewind is not lost), never otherwise: a check of what
 * was undone says nothing about what replaced it. `commitTimes`: commits of the new epoch; `since`: what a version not seen yet must
 * have come after.
 */
export const carryVerdicts = (
  draft: Draft,
  oldEpoch: number,
  commitTimes: ReadonlyMap<string, EpochMs>,
  since: EpochMs,
): void => {
  for (const verdict of [...draft.verdicts.values()]) {
    const { snapshotId } = verdict;
    if (snapshotId === null || verdict.epoch === draft.state.epoch) continue;
    const live = draft.versions.filter((version) => version.snapshotId === snapshotId);
    // The version was recorded once more: it has the same rows, so its verdicts hold, whatever the clocks of checks and commits say.
    const restored = commitTimes.has(snapshotId) && live.some((version) => version.epoch === verdict.epoch);
    const awaited = live.length === 0 && verdict.epoch === oldEpoch ? since : undefined;
    const committed = commitTimes.get(snapshotId) ?? awaited;
    const checkedIt = committed !== undefined && (verdict.startedAt ?? verdict.at) >= committed;
    if (restored || checkedIt) putVerdict(draft, { ...verdict, snapshotId, epoch: draft.state.epoch });
  }
};
