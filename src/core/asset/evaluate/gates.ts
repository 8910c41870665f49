import { type EpochMs, isoTime } from '../../time.ts';
import type { BlockCode, Condition } from '../condition.ts';
import { carriesData } from '../cuts.ts';
import type { DependencyGroup, GroupFacts } from '../group.ts';
import { durationWords } from '../words.ts';

/** A closed gate of the whole group. `opensAt`: when time alone opens it; null: only an event does. */
export interface ClosedGate {
  readonly code: BlockCode;
  readonly needed: string;
  readonly actual: string;
  readonly opensAt: EpochMs | null;
}

const ms = (seconds: number): bigint => BigInt(Math.round(seconds * 1000));

const shut = (code: BlockCode, needed: string, actual: string, opensAt: EpochMs | null = null): ClosedGate => ({
  code,
  needed,
  actual,
  opensAt,
});

const disabled = ({ group }: GroupFacts) =>
  group.enabled ? null : shut('BLOCKED_BY_DISABLED', 'an enabled group', 'the group is disabled');

const paused = ({ paused: isPaused }: GroupFacts) =>
  isPaused ? shut('BLOCKED_BY_PAUSED', 'a group that is not paused', 'paused; versions go on being recorded') : null;

/** An owner that does not let its groups fire (a workflow that is offline, a project that is paused) is like a pause: what arrives is kept. */
const owner = ({ gate }: GroupFacts) =>
  gate === null ? null : shut('BLOCKED_BY_PAUSED', 'a workflow that may start runs', gate);

const activeRun = ({ group, hasActiveRun }: GroupFacts) =>
  group.whileRunning === 'WAIT' && hasActiveRun
    ? shut('BLOCKED_BY_ACTIVE_RUN', 'no unfinished run of this group', 'a run that this group started is unfinished')
    : null;

const minInterval = ({ group, lastFireAt, now }: GroupFacts) => {
  if (group.minIntervalSeconds === null || lastFireAt === null) return null;
  const opensAt = lastFireAt + ms(group.minIntervalSeconds);
  if (now >= opensAt) return null;
  const needed = `${durationWords(group.minIntervalSeconds)} since the last fire`;
  return shut('BLOCKED_BY_MIN_INTERVAL', needed, `it fired at ${isoTime(lastFireAt)}`, opensAt);
};

/** When versions that count for the condition were recorded, newer than what was consumed. */
const movements = (facts: GroupFacts, condition: Condition): readonly EpochMs[] => {
  const member = facts.members.get(condition.assetKey);
  const asset = member?.asset;
  if (member === undefined || asset === undefined || asset === null || !condition.snapshotRequired) return [];
  const after = member.consumed?.ordinal ?? 0;
  return member.versions
    .filter((version) => version.status === 'LIVE' && version.ordinal > after)
    .filter((version) => !condition.dataChangeOnly || carriesData(version, asset))
    .map((version) => version.recordedAt);
};

const longestWait = (group: DependencyGroup, quietSeconds: number): bigint =>
  ms(group.maxWaitSeconds ?? 4 * quietSeconds);

const quiet = (facts: GroupFacts) => {
  const { group, now } = facts;
  if (group.quietSeconds === null) return null;
  const moved = group.conditions.flatMap((condition) => movements(facts, condition));
  const [first] = moved;
  if (first === undefined) return null;
  const newest = moved.reduce((high, at) => (at > high ? at : high), first);
  const oldest = moved.reduce((low, at) => (at < low ? at : low), first);
  const still = newest + ms(group.quietSeconds);
  const latest = oldest + longestWait(group, group.quietSeconds);
  const opensAt = still < latest ? still : latest;
  if (now >= opensAt) return null;
  const needed = `${durationWords(group.quietSeconds)} without a new version`;
  return shut('BLOCKED_BY_QUIET_PERIOD', needed, `the newest was recorded at ${isoTime(newest)}`, opensAt);
};

const GATES = [disabled, paused, owner, activeRun, minInterval, quiet];

/** The gates of the group that are closed now, in the order in which they are shown. */
export const closedGates = (facts: GroupFacts): readonly ClosedGate[] => GATES.flatMap((gate) => gate(facts) ?? []);
