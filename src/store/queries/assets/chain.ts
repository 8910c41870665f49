import type { RecordedEvent, StatedEvent } from '../../../core/asset/event.ts';
import type { Effects } from '../../../core/asset/ingest/effects.ts';
import type { Verdict } from '../../../core/asset/state.ts';
import type { AssetFacts } from '../../facts-cache.ts';
import { type Change, verdictsAhead, versionAfter } from './effects.ts';
import { grown } from './facts.ts';

/** One statement of a request, with its place in it and the hash of its asset's key. */
export interface Given {
  readonly at: number;
  readonly hash: string;
  readonly event: StatedEvent;
}

/** A statement as core took it, not yet written. */
export interface Taken {
  readonly given: Given;
  readonly change: Change;
  /** The event that it is kept as, and the hash of its dedup key. */
  readonly stated: RecordedEvent | null;
  readonly dedupHash: string | null;
}

/** Statements of one asset, each taken from what the one before left behind, to be written together. */
export class Chain {
  readonly taken: Taken[] = [];
  /** What stood before each of them, and what stands after the last. */
  readonly #facts: AssetFacts[];
  /** No more of this asset until these are written. */
  closed = false;

  constructor(facts: AssetFacts) {
    this.#facts = [facts];
  }

  get facts(): AssetFacts {
    const last = this.#facts.at(-1);
    if (last === undefined) throw new Error('A chain begins with what is known of its asset.');
    return last;
  }

  /** False: it must wait until what was taken before it is written. What more than versions and verdicts changes is written alone. */
  add(taken: Taken): boolean {
    const plain = isPlain(taken.change, this.facts);
    this.closed ||= !plain;
    if (!plain && this.taken.length > 0) return false;
    this.taken.push(taken);
    if (plain) this.#facts.push(after(this.facts, taken.change));
    return true;
  }

  /** The statements from this one on are not part of it after all; returns this one. */
  cutAt(index: number): Taken | undefined {
    this.#facts.splice(index + 1);
    const [first] = this.taken.splice(index);
    return first;
  }

  /** Of all its statements, as if it were one; null: there are none. */
  change(): Change | null {
    const [first] = this.taken;
    const last = this.taken.at(-1);
    if (first === undefined || last === undefined) return null;
    if (first === last) return first.change;
    const all = this.taken.map(({ change }) => change);
    const changed = all.some((change) => versionAfter(change) !== change.state.version);
    const { state } = first.change;
    const effects: Effects = {
      ...last.change.effects,
      state: { ...last.change.effects.state, version: changed ? state.version + 1 : state.version },
      events: all.flatMap((change) => change.effects.events),
      newVersions: all.flatMap((change) => change.effects.newVersions),
      verdicts: lastOfEach(all.flatMap((change) => change.effects.verdicts)),
      touchesGroups: all.some((change) => change.effects.touchesGroups),
      wantsScan: all.some((change) => change.effects.wantsScan),
    };
    return { ...first.change, effects };
  }

  /** What is known once `change` is written, without reading it again; null: more changed than versions and their verdicts. */
  factsAfter(change: Change): AssetFacts | null {
    if (this.#facts.length <= this.taken.length) return null; // one that was not plain left none
    return { ...this.facts, state: { ...this.facts.state, version: versionAfter(change) } };
  }
}

const after = (facts: AssetFacts, change: Change): AssetFacts => {
  const { newVersions, verdicts } = change.effects;
  const state = { ...change.effects.state, version: versionAfter(change) };
  const ahead = verdictsAhead(change).map(({ snapshotId }) => snapshotId);
  const awaited = ahead.length === 0 ? facts.awaited : new Set([...facts.awaited, ...ahead]);
  return { ...grown(facts, { state, newVersions, verdicts }), awaited };
};

/** Is this version one that a verdict may wait for? */
export const isAwaited = ({ awaited }: AssetFacts, snapshotId: string | null): boolean =>
  awaited.has(null) || (snapshotId !== null && awaited.has(snapshotId));

/** Does what is known of the asset follow from what was known before? Not where a version comes that a verdict may wait for. */
const isPlain = ({ effects }: Change, facts: AssetFacts): boolean =>
  effects.withdrawnAfter === null &&
  [effects.nowDataChange, effects.boundVerdicts, effects.schemas, effects.tags].every((list) => list.length === 0) &&
  effects.versionStatus.size === 0 &&
  effects.verdicts.every((verdict) => verdict.snapshotId !== null) &&
  !effects.newVersions.some(({ snapshotId }) => isAwaited(facts, snapshotId));

/** A check's later verdict on a version replaces its earlier one. */
const lastOfEach = (verdicts: readonly Verdict[]): readonly Verdict[] => [
  ...new Map(
    verdicts.map((verdict) => [JSON.stringify([verdict.epoch, verdict.snapshotId, verdict.checkName]), verdict]),
  ).values(),
];
