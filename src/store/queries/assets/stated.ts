import type { RecordedEvent, StatedEvent } from '../../../core/asset/event.ts';
import type { Effects } from '../../../core/asset/ingest/effects.ts';
import { ingestStated, newestSuffice } from '../../../core/asset/ingest/stated.ts';
import type { AssetHistory, Verdict } from '../../../core/asset/state.ts';
import type { Tx } from '../../engine.ts';
import type { AssetFacts } from '../../facts-cache.ts';
import type { StatedReceipt } from '../../store.ts';
import { type Change, countKnown, KnownVersion, versionAfter, writeChanges } from './effects.ts';
import { factsOf, grown, holdsNewestCut, NEWEST } from './facts.ts';
import { loadHistory, lockAsset, type Named, unknownAsset } from './load.ts';

/** One statement of a request, with its place in it. */
interface Given {
  readonly at: number;
  readonly hash: string;
  readonly event: StatedEvent;
}

/** WHOLE: all that a statement may look at is read; NEWEST: where the newest versions surely suffice, only these. */
export type Reach = 'NEWEST' | 'WHOLE';

/**
 * Takes statements in order, all in one transaction. What is known of their assets is read together and what they change is written
 * together: one statement of each asset, then the second of each, and so on. Throws KnownVersion where NEWEST was not enough after all.
 */
export const recordStated = async (
  tx: Tx,
  events: readonly StatedEvent[],
  reach: Reach,
): Promise<readonly StatedReceipt[]> => {
  const receipts: StatedReceipt[] = [];
  let left = events.map((event, at): Given => ({ at, event, hash: tx.sha256(event.assetKey) }));
  const touched = new Set(left.map(({ hash }) => hash));
  const facts = new Map(
    await factsOf(
      tx,
      left.map(({ hash }) => hash),
      { lock: true, reach: NEWEST },
    ),
  );
  while (left.length > 0) {
    const round = new Map<string, Given>();
    const later: Given[] = [];
    for (const given of left)
      if (round.has(given.hash)) later.push(given);
      else round.set(given.hash, given);
    await recordRound(tx, [...round.values()], { facts, receipts, repeated: [], reach });
    left = later;
  }
  tx.afterCommit(() => {
    for (const hash of touched) {
      const now = facts.get(hash);
      if (now === undefined) tx.facts.delete(hash);
      else tx.facts.set(hash, now);
    }
  });
  return receipts;
};

interface Memory {
  /** Of the assets, as the rounds before left them; a missing one is read again. */
  readonly facts: Map<string, AssetFacts>;
  /** By place. */
  readonly receipts: StatedReceipt[];
  /** Hashes of events that were told once more in this round. */
  readonly repeated: string[];
  readonly reach: Reach;
}

/** A statement as core took it, not yet written. */
interface Taken {
  readonly given: Given;
  readonly facts: AssetFacts;
  readonly change: Change;
  /** The event that it is kept as, and the hash of its dedup key. */
  readonly stated: RecordedEvent | null;
  readonly dedupHash: string | null;
}

const recordRound = async (tx: Tx, round: readonly Given[], memory: Memory): Promise<void> => {
  const { facts, receipts } = memory;
  for (const [hash, found] of await factsOf(tx, missing(round, facts), { lock: true, reach: NEWEST }))
    facts.set(hash, found);
  const taken: Taken[] = [];
  for (const given of round) {
    const answer = await take(tx, given, memory);
    if ('status' in answer) receipts[given.at] = answer;
    else taken.push(answer);
  }
  const named = taken.flatMap(({ dedupHash }) => dedupHash ?? []);
  const known = await countKnown(tx, [...named, ...memory.repeated.splice(0)]);
  const isKnown = ({ dedupHash }: Taken): boolean => dedupHash !== null && known.has(dedupHash);
  if (memory.reach === 'NEWEST' && taken.some((one) => isKnown(one) && one.change.effects.newVersions.length > 0))
    throw new KnownVersion('What is ahead of the newest versions is an older one, told again.');
  const fresh = taken.filter((one) => !isKnown(one));
  await writeChanges(
    tx,
    fresh.map(({ change }) => change),
    new Set(named.filter((hash) => !known.has(hash))),
  );
  await askForScans(tx, fresh);
  for (const { given, stated } of taken) receipts[given.at] = { status: 'DUPLICATE', problem: null, event: stated };
  for (const { given, stated } of fresh) receipts[given.at] = { status: 'ACCEPTED', problem: null, event: stated };
  for (const { given, facts: before, change } of fresh) remember(facts, given.hash, before, change);
};

const missing = (round: readonly Given[], facts: ReadonlyMap<string, AssetFacts>): readonly string[] =>
  round.flatMap(({ hash }) => (facts.has(hash) ? [] : hash));

const take = async (tx: Tx, { at, hash, event }: Given, memory: Memory): Promise<StatedReceipt | Taken> => {
  const facts = memory.facts.get(hash);
  if (facts === undefined) {
    const { code, message } = unknownAsset(event.assetKey);
    return { status: 'REJECTED', problem: { code, detail: message }, event: null };
  }
  const newest = memory.reach === 'NEWEST' ? newestHistory(facts, event, tx.now) : null;
  const history = newest ?? (await wholeHistory(tx, event));
  const ingested = ingestStated(history, event, tx.now, tx.nonce());
  if (!ingested.ok) return { status: 'REJECTED', problem: ingested.problem, event: null };
  const effects = ingested.value;
  const stated = effects.events.find((recorded) => recorded.eventType === event.eventType) ?? effects.events[0] ?? null;
  if (effects.duplicate) {
    if (effects.duplicateOf !== null) memory.repeated.push(tx.sha256(effects.duplicateOf));
    return { status: 'DUPLICATE', problem: null, event: stated };
  }
  const { row, state, awaitsVersion } = facts;
  const change: Change = { row, state, effects, versions: history.versions, awaitsVersion };
  const dedupHash = stated === null ? null : tx.sha256(stated.dedupKey);
  return { given: { at, hash, event }, facts, change, stated, dedupHash };
};

/** The history as far as it is at hand; null: it may not be enough. */
const newestHistory = (facts: AssetFacts, event: StatedEvent, now: bigint): AssetHistory | null => {
  if (facts.awaitsVersion || !holdsNewestCut(facts)) return null;
  const { asset, state, versions, tags, schemas } = facts;
  const verdicts: Verdict[] = [];
  for (const version of versions) verdicts.push(...version.verdicts);
  const ofTheseEpochs = schemas.filter((record) => record.epoch >= state.epoch - 1);
  const history: AssetHistory = { asset, state, versions, verdicts, tags, schemas: ofTheseEpochs };
  return newestSuffice(history, event, now) ? history : null;
};

const wholeHistory = async (tx: Tx, event: StatedEvent): Promise<AssetHistory> =>
  loadHistory(tx, await lockAsset(tx, event.assetKey), namedByStatement(event));

/** A statement that names a version is about that one; others, and commits that must be put in order, about some of the newest. */
const namedByStatement = (event: StatedEvent): Named => ({
  snapshotIds: event.snapshotId === null ? [] : [event.snapshotId],
  rollbackTo: null,
  looksBack: event.snapshotId === null || event.eventType === 'SNAPSHOT_COMMITTED',
});

/** What is known from here on without reading it again; where more changed than versions and their verdicts, nothing is. */
const remember = (facts: Map<string, AssetFacts>, hash: string, before: AssetFacts, change: Change): void => {
  const { effects } = change;
  if (!isPlain(effects)) {
    facts.delete(hash);
    return;
  }
  const state = { ...effects.state, version: versionAfter(change) };
  facts.set(hash, grown(before, { state, newVersions: effects.newVersions, verdicts: effects.verdicts }));
};

const isPlain = (effects: Effects): boolean =>
  effects.withdrawnAfter === null &&
  [effects.nowDataChange, effects.boundVerdicts, effects.schemas, effects.tags].every((list) => list.length === 0) &&
  effects.versionStatus.size === 0 &&
  effects.verdicts.every((verdict) => verdict.snapshotId !== null);

/** Pushes that only hint at their table, and verdicts that wait for a scan: the table is due at once. */
const askForScans = async (tx: Tx, taken: readonly Taken[]): Promise<void> => {
  const ids = taken
    .filter(
      ({ change: { effects } }) => effects.wantsScan || effects.verdicts.some(({ snapshotId }) => snapshotId === null),
    )
    .map(({ facts }) => facts.row.id);
  if (ids.length === 0) return;
  await tx.db
    .updateTable('t_ds_asset_event_consumer_offset')
    .set((e) => ({ waiting: 1n, asks: e(e.fn.coalesce('asks', e.val(0n)), '+', 1n) }))
    .where(tx.dialect.among('asset_id', ids))
    .execute();
  tx.hint('SCANS');
};
