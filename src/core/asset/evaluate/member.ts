import type { EpochMs } from '../../time.ts';
import type { BlockCode, Condition } from '../condition.ts';
import { type Cut, carriesData, cutsOf } from '../cuts.ts';
import type { MemberFacts, VersionFacts } from '../group.ts';
import { type Candidate, type Predicate, predicatesOf, taggedIn } from './predicates.ts';
import type { Asset } from '../state.ts';
import type { Pin } from '../version.ts';
import { versionWords } from '../words.ts';

/** What became of one condition. */
export interface MemberResult {
  readonly code: BlockCode | null;
  readonly needed: string;
  readonly actual: string;
  /** Set exactly when met. */
  readonly pin: Pin | null;
  /** A version newer than the consumed one was chosen. */
  readonly moved: boolean;
  /** When a met result may stop being met by time alone. */
  readonly until: EpochMs | null;
}

type Known = MemberFacts & { readonly asset: Asset };

const live = (versions: readonly VersionFacts[]): readonly VersionFacts[] =>
  versions.filter((version) => version.status === 'LIVE');

/** What stands for the whole cut: its tagged version where a tag is asked for, else its data version, or the oldest that can still be read. */
const standsFor = (cut: Cut<VersionFacts>, condition: Condition): Candidate | null => {
  const readable = live(cut.versions);
  const tagged = condition.tag === null ? null : taggedIn(readable, condition.tag);
  const pin = tagged?.version ?? readable[0];
  return pin === undefined ? null : { pin, cut, tag: tagged?.tag ?? null };
};

/** Each version for itself, where commits without data count too. A restored head that is to be ignored is not a commit. */
const eachVersion = (cut: Cut<VersionFacts>, condition: Condition, asset: Asset): readonly Candidate[] => {
  const counting = live(cut.versions).filter((version) => version.origin !== 'RESTORED' || carriesData(version, asset));
  return counting.map((pin) => ({
    pin,
    cut,
    tag: condition.tag === null ? null : (taggedIn([pin], condition.tag)?.tag ?? null),
  }));
};

/**
 * What a condition may choose from, oldest first: cuts whose rows came after `after`. Where nothing limits the choice (reference data),
 * also versions whose data version is not among those given: their rows are what they are.
 */
const candidates = (member: Known, condition: Condition, after: number, anyCut: boolean): readonly Candidate[] => {
  const cuts = cutsOf(
    member.versions.filter((version) => version.status !== 'WITHDRAWN'),
    member.asset,
  );
  if (!condition.dataChangeOnly) {
    return cuts.flatMap((cut) => eachVersion(cut, condition, member.asset)).filter(({ pin }) => pin.ordinal > after);
  }
  return cuts
    .filter((cut) => (cut.data === null ? anyCut : cut.data.ordinal > after))
    .flatMap((cut) => standsFor(cut, condition) ?? []);
};

interface Choice {
  readonly chosen: Candidate | null;
  /** Why the newest candidate was not chosen, if none was. */
  readonly newest: { readonly candidate: Candidate; readonly predicate: Predicate; readonly words: string } | null;
}

const firstFailure = (predicates: readonly Predicate[], candidate: Candidate): Choice['newest'] => {
  for (const predicate of predicates) {
    const words = predicate.fails(candidate);
    if (words !== null) return { candidate, predicate, words };
  }
  return null;
};

const choose = (from: readonly Candidate[], predicates: readonly Predicate[]): Choice => {
  let newest: Choice['newest'] = null;
  for (const candidate of from.toReversed()) {
    const failure = firstFailure(predicates, candidate);
    if (failure === null) return { chosen: candidate, newest: null };
    newest ??= failure;
  }
  return { chosen: null, newest };
};

const baseWords = (condition: Condition, member: MemberFacts): string => {
  if (!condition.snapshotRequired) return 'any version';
  return member.consumed === null ? 'a version' : `a version newer than ${member.consumed.snapshotId}`;
};

const neededWords = (base: string, predicates: readonly Predicate[]): string => {
  const needs = predicates.map((predicate) => predicate.need).filter((need) => need !== '');
  return needs.length === 0 ? base : `${base} with ${needs.join(', ')}`;
};

const met = (choice: Candidate, needed: string, predicates: readonly Predicate[], moved: boolean): MemberResult => {
  const { pin, tag } = choice;
  const notes = predicates.flatMap((predicate) => predicate.note?.(choice) ?? []);
  const untils = predicates.flatMap((predicate) => predicate.until?.(choice) ?? []);
  const tagged = tag === null ? '' : `, tag ${tag}`;
  const { snapshotId, epoch, ordinal } = pin;
  return {
    code: null,
    needed,
    actual: [versionWords(pin) + tagged, ...notes].join('; '),
    pin: tag === null ? { snapshotId, epoch, ordinal } : { snapshotId, epoch, ordinal, tag },
    moved,
    until: untils.reduce<EpochMs | null>((least, at) => (least === null || at < least ? at : least), null),
  };
};

const unmet = (code: BlockCode, needed: string, actual: string): MemberResult => ({
  code,
  needed,
  actual,
  pin: null,
  moved: false,
  until: null,
});

/** Nothing to choose from: say why, by what the asset itself is going through. */
const nothingNew = (member: Known, needed: string): MemberResult => {
  const { state, asset } = member;
  const newest = member.versions.at(-1);
  // A table without a location is never read: its writers push.
  if (state === null || (state.health === 'NEVER_READ' && asset.location !== null))
    return unmet('BLOCKED_BY_SOURCE', needed, 'the table was not read yet');
  const why = state.healthReason ?? 'no reason given';
  if (state.health === 'UNREADABLE') return unmet('BLOCKED_BY_SOURCE', needed, `the table cannot be read: ${why}`);
  const behind = state.health === 'BEHIND' ? `; the table is behind its catalog: ${why}` : '';
  if (newest?.origin === 'RESTORED') {
    const words = `the table was rolled back to ${versionWords(newest)} and has no commit since${behind}`;
    return unmet('BLOCKED_BY_ROLLED_BACK', needed, words);
  }
  const { consumed } = member;
  if (newest !== undefined && newest.ordinal > (consumed?.ordinal ?? 0)) {
    const since = consumed === null ? '' : ` since ${consumed.snapshotId}${usedWords(member)}`;
    return unmet('BLOCKED_BY_SNAPSHOT', needed, `newest is ${versionWords(newest)}: no new data${since}${behind}`);
  }
  const used = state.latest !== null && state.latest.ordinal <= (consumed?.ordinal ?? 0) ? usedWords(member) : '';
  const latest = state.latest === null ? 'no version yet' : `newest is ${state.latest.snapshotId}${used}`;
  return unmet('BLOCKED_BY_SNAPSHOT', needed, `${latest}${behind}`);
};

/** What became of the consumed version, where it is known. */
const usedWords = ({ consumedBy }: MemberFacts): string => {
  if (consumedBy === undefined) return '';
  return consumedBy === null ? ', which was there when the group began' : `, which run ${consumedBy} has used`;
};

/** What keeps the condition from being looked at, whatever versions there are; null: nothing. */
const closed = (condition: Condition, member: MemberFacts): MemberResult | null => {
  const base = baseWords(condition, member);
  const { asset, state } = member;
  if (asset === null) return unmet('BLOCKED_BY_UNKNOWN_ASSET', base, 'no asset is registered under this key');
  if (state?.health === 'HELD') return unmet('BLOCKED_BY_HOLD', base, state.healthReason ?? 'the asset is held');
  if (condition.snapshotRequired && !member.baselineKnown) {
    const actual = state?.healthReason ?? 'the table was not read yet';
    return unmet('BLOCKED_BY_SOURCE', 'a first look at the table, which tells where the group begins', actual);
  }
  if (condition.cdcLag === 'RECOVERED' && state?.cdcStatus === 'LAGGING') {
    return unmet('BLOCKED_BY_CDC_LAG', 'a CDC feed that does not lag', 'the CDC feed lags');
  }
  return null;
};

const blocked = (choice: Choice, base: string): MemberResult | null => {
  if (choice.newest === null) return null;
  const { candidate, predicate, words } = choice.newest;
  const needed = predicate.need === '' ? base : `${predicate.need} for ${base}`;
  return unmet(predicate.code, needed, `newest is ${versionWords(candidate.pin)}: ${words}`);
};

const isKnown = (member: MemberFacts): member is Known => member.asset !== null;

/** The version that the run reads, with its cut; null: the table no longer has it. */
const pinnedCandidate = (member: Known, pinned: Pin, condition: Condition): Candidate | null => {
  const cuts = cutsOf(
    member.versions.filter((version) => version.status !== 'WITHDRAWN'),
    member.asset,
  );
  const cut = cuts.find(({ versions }) => versions.some((version) => version.ordinal === pinned.ordinal));
  const pin = cut?.versions.find((version) => version.ordinal === pinned.ordinal && version.status === 'LIVE');
  if (cut === undefined || pin === undefined) return null;
  return { pin, cut, tag: condition.tag === null ? null : (taggedIn(cut.versions, condition.tag)?.tag ?? null) };
};

/**
 * An asset that the run has pinned: its version is decided, and the task waits only for what may still become true of it (a verdict, a
 * tag, an approval). What compares with a consumed version is not asked.
 */
const testPinned = (condition: Condition, member: Known, pinned: Pin, now: EpochMs): MemberResult => {
  const predicates = predicatesOf({ condition, member, now }).filter(({ aboutChange }) => aboutChange !== true);
  const base = `version ${pinned.snapshotId}, which the run reads`;
  const needed = neededWords(base, predicates);
  const candidate = pinnedCandidate(member, pinned, condition);
  if (candidate === null) return unmet('BLOCKED_BY_SNAPSHOT', needed, 'the table no longer has this version');
  const failure = firstFailure(predicates, candidate);
  if (failure === null) return { ...met(candidate, needed, predicates, false), pin: pinned };
  return unmet(failure.predicate.code, needed, `${versionWords(candidate.pin)}: ${failure.words}`);
};

/** Tests one condition: the run's pin, or the newest version after the consumed one (reference data: of all) for whose cut every predicate holds. */
export const testMember = (condition: Condition, member: MemberFacts, now: EpochMs): MemberResult => {
  const shut = closed(condition, member);
  if (shut !== null || !isKnown(member)) return shut ?? unmet('BLOCKED_BY_UNKNOWN_ASSET', '', '');
  if (member.pinned !== undefined) return testPinned(condition, member, member.pinned, now);
  const predicates = predicatesOf({ condition, member, now });
  const after = condition.snapshotRequired ? (member.consumed?.ordinal ?? 0) : 0;
  const choice = choose(candidates(member, condition, after, !condition.snapshotRequired), predicates);
  const base = baseWords(condition, member);
  const needed = neededWords(base, predicates);
  if (choice.chosen !== null) return met(choice.chosen, needed, predicates, condition.snapshotRequired);
  return blocked(choice, base) ?? nothingNew(member, needed);
};

/**
 * advance ANY: a member that did not move keeps the version consumed last if its predicates still hold for it, else takes the newest that
 * meets them. null: not even that.
 */
export const keepMember = (condition: Condition, member: MemberFacts, now: EpochMs): MemberResult | null => {
  if (closed(condition, member) !== null || !isKnown(member)) return null;
  const predicates = predicatesOf({ condition, member, now }).filter(({ aboutChange }) => aboutChange !== true);
  const all = candidates(member, { ...condition, dataChangeOnly: false }, 0, true);
  const consumed = all.filter(({ pin }) => pin.ordinal === member.consumed?.ordinal);
  const kept = choose(consumed, predicates).chosen ?? choose(candidates(member, condition, 0, true), predicates).chosen;
  const needed = neededWords('the version consumed last, or any', predicates);
  return kept === null ? null : met(kept, needed, predicates, false);
};
