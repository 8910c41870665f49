import { NOTHING_STATED, type StatedEvent } from '../src/core/asset/event.ts';
import type { AssetKey } from '../src/core/asset/key.ts';

/** How many there are of what. Each asset is named by `conditions / assets` conditions. */
export interface Shape {
  readonly assets: number;
  readonly conditions: number;
}

const MEMBERS = 5;
const GROUPS = 5;
/** One asset in five is slow: no event of it comes, but for a few. Each group waits for one of these, as most groups wait for somebody. */
const SLOW = 5;

export const keyAt = (number: number): AssetKey => `custom://bench/t${number}` as AssetKey;

/** Numbers that look like chance and are the same in every run. */
const chance = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

/** Workflows of five groups of five conditions: four fast assets and a slow one, each asset equally often; every third condition asks for a check. */
export const workflowsOf = ({ assets, conditions }: Shape): readonly object[] => {
  const slow = Math.floor(assets / SLOW);
  const groups = Array.from({ length: Math.ceil(conditions / MEMBERS) }, (_, g) => {
    const fast = Array.from({ length: MEMBERS - 1 }, (_, m) => slow + ((g * (MEMBERS - 1) + m * 37) % (assets - slow)));
    const members = [...new Set([...fast, g % slow])];
    return {
      group: `g${g}`,
      all: members.map((number, m) => ({ assetKey: keyAt(number), ...(m === 1 ? { qualityStatus: 'PASSED' } : {}) })),
    };
  });
  return Array.from({ length: Math.ceil(groups.length / GROUPS) }, (_, w) => ({
    name: `w${w}`,
    triggers: groups.slice(w * GROUPS, (w + 1) * GROUPS),
    tasks: [{ name: 'a', type: 'NOOP' }],
  }));
};

/**
 * Endless events of fast assets: commits, and for every fifth a verdict on the newest commit; one slow asset in a hundred has one commit. Each
 * writer tells of assets of its own.
 */
export function* eventsOf({ assets }: Shape, writer: number, writers: number): Generator<StatedEvent> {
  const next = chance(7 + writer);
  const pick = (first: number, count: number): number => {
    const number = first + Math.floor(next() * count);
    return number - (number % writers) + writer;
  };
  const slow = Math.floor(assets / SLOW);
  const committed = new Map<number, number>();
  for (let at = 0; ; at += 1) {
    const late = at % 5_000 === 4_999 ? pick(0, slow - writers) : null;
    const number = late ?? pick(slow, assets - slow - writers);
    const head = committed.get(number) ?? 0;
    if (at % 5 === 4 && late === null && head > 0) yield { ...BLANK, ...verdict(number, head, at) };
    else {
      committed.set(number, head + 1);
      yield { ...BLANK, ...commit(number, head + 1) };
    }
  }
}

const commit = (number: number, id: number) => ({
  assetKey: keyAt(number),
  eventType: 'SNAPSHOT_COMMITTED' as const,
  snapshotId: String(id),
  commitKind: 'APPEND',
  commitTime: BigInt(Date.now()),
  sequenceNumber: BigInt(id),
  deltaRecordCount: 1_000n,
  dataChange: true,
});

const verdict = (number: number, id: number, at: number) => ({
  assetKey: keyAt(number),
  eventType: 'QUALITY_CHECK_PASSED' as const,
  snapshotId: String(id),
  checkName: 'rows',
  eventId: `check-${number}-${at}`,
});

const BLANK = {
  sourceType: 'PUSH' as const,
  ...NOTHING_STATED,
};
