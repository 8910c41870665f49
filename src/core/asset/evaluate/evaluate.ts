import type { EpochMs } from '../../time.ts';
import type { Condition, Leaf } from '../condition.ts';
import { type ClosedGate, closedGates } from './gates.ts';
import type { Evaluation, GroupFacts, MemberFacts } from '../group.ts';
import type { AssetKey } from '../key.ts';
import { keepMember, type MemberResult, testMember } from './member.ts';
import type { Pin, Pins, VersionRef } from '../version.ts';

/** A member that the store knows nothing of: nobody has registered the asset. */
const unregistered: MemberFacts = {
  asset: null,
  state: null,
  consumed: null,
  consumedSchemaId: null,
  baselineKnown: false,
  versions: [],
  truncated: false,
};

interface Tested {
  readonly condition: Condition;
  readonly result: MemberResult;
}

const testAll = (facts: GroupFacts): readonly Tested[] =>
  facts.group.conditions.map((condition) => {
    const member = facts.members.get(condition.assetKey) ?? unregistered;
    return { condition, result: testMember(condition, member, facts.now) };
  });

/** advance ANY: as soon as one member moved, those that did not keep what they have. */
const keepUnmoved = (facts: GroupFacts, tested: readonly Tested[]): readonly Tested[] => {
  if (facts.group.advance === 'ALL' || !tested.some(({ result }) => result.moved)) return tested;
  return tested.map(({ condition, result }) => {
    if (result.pin !== null) return { condition, result };
    const member = facts.members.get(condition.assetKey) ?? unregistered;
    return { condition, result: keepMember(condition, member, facts.now) ?? result };
  });
};

type Unstamped = Omit<Leaf, 'since'>;

const memberLeaf = ({ condition, result }: Tested): Unstamped => ({
  assetKey: condition.assetKey,
  alias: condition.alias,
  met: result.pin !== null,
  code: result.code,
  needed: result.needed,
  actual: result.actual,
});

const gateLeaf = ({ code, needed, actual }: ClosedGate): Unstamped => ({
  assetKey: null,
  alias: null,
  met: false,
  code,
  needed,
  actual,
});

/** `since` stays while met and code stay what they were. */
const stamp = (leaf: Unstamped, { previous, now }: GroupFacts): Leaf => {
  const before = previous.find(
    (other) => other.assetKey === leaf.assetKey && other.met === leaf.met && other.code === leaf.code,
  );
  return { ...leaf, since: before?.since ?? now };
};

const pinsOf = (tested: readonly Tested[]): Pins =>
  new Map(
    tested.flatMap(({ condition, result }): (readonly [AssetKey, Pin])[] =>
      result.pin === null ? [] : [[condition.assetKey, result.pin]],
    ),
  );

const nextInstant = (gates: readonly ClosedGate[], tested: readonly Tested[], now: EpochMs): EpochMs | null => {
  const instants = [...gates.map((gate) => gate.opensAt), ...tested.map(({ result }) => result.until)];
  return instants.reduce((least, at) => (at !== null && at > now && (least === null || at < least) ? at : least), null);
};

/**
 * Decides about one group (semantics.md, 3): READY with a pin for every member, or WAITING; the tree is the same in both: one leaf for each
 * condition and one for each closed gate. Pure: the same facts give the same answer. A group without a member that moved never starts a
 * run, so that no combination fires twice; a task is released only once anyway, so reference data and the run's own pins may release it.
 */
export const evaluateGroup = (facts: GroupFacts): Evaluation => {
  const tested = keepUnmoved(facts, testAll(facts));
  const gates = closedGates(facts);
  const leaves = [...tested.map(memberLeaf), ...gates.map(gateLeaf)].map((leaf) => stamp(leaf, facts));
  const moved = facts.releasesTask === true || tested.some(({ result }) => result.moved);
  if (moved && gates.length === 0 && tested.every(({ result }) => result.pin !== null)) {
    return { ready: true, pins: pinsOf(tested), leaves };
  }
  return { ready: false, leaves, nextAt: nextInstant(gates, tested, facts.now) };
};

const same = (a: readonly Leaf[], b: readonly Leaf[], names: readonly (keyof Leaf)[]): boolean =>
  a.length === b.length &&
  a.every((leaf, index) => {
    const other = b[index];
    return other !== undefined && names.every((name) => leaf[name] === other[name]);
  });

/** Do two trees say the same in the same words? `since` follows from the rest. */
export const sameLeaves = (a: readonly Leaf[], b: readonly Leaf[]): boolean =>
  same(a, b, ['assetKey', 'alias', 'met', 'code', 'needed', 'actual']);

/** Do two trees give the same answers, whatever the values compared? Leaves are stored only where this is false: each `since` is kept by it. */
export const sameAnswers = (a: readonly Leaf[], b: readonly Leaf[]): boolean =>
  same(a, b, ['assetKey', 'alias', 'met', 'code', 'needed']);

const newer = (a: VersionRef | null, b: VersionRef): VersionRef => (a !== null && a.ordinal > b.ordinal ? a : b);

/** What the group has consumed once a run with these pins was started: it never goes back. */
export const consumedAfter = (
  pins: Pins,
  members: ReadonlyMap<AssetKey, Pick<MemberFacts, 'consumed'>>,
): ReadonlyMap<AssetKey, VersionRef> =>
  new Map(
    [...pins].map(([key, { snapshotId, epoch, ordinal }]) => {
      const before = members.get(key)?.consumed ?? null;
      return [key, newer(before, { snapshotId, epoch, ordinal })] as const;
    }),
  );
