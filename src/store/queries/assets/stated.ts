import type { StatedEvent } from '../../../core/asset/event.ts';
import { ingestStated, newestSuffice } from '../../../core/asset/ingest/stated.ts';
import type { AssetHistory, Verdict } from '../../../core/asset/state.ts';
import type { Tx } from '../../engine.ts';
import type { AssetFacts } from '../../facts-cache.ts';
import type { StatedReceipt } from '../../store.ts';
import { Chain, type Given, isAwaited, type Taken } from './chain.ts';
import { type Change, countAgain, knownHashes, KnownVersion, writeChanges } from './effects.ts';
import { factsOf, holdsNewestCut, NEWEST } from './facts.ts';
import { loadHistory, lockAsset, type Named, unknownAsset } from './load.ts';

/** WHOLE: all that a statement may look at is read; NEWEST: where the newest versions surely suffice, only these. */
export type Reach = 'NEWEST' | 'WHOLE';

/**
 * Takes statements in order, all in one transaction. What is known of their assets is read together, and what they change is written together, as
 * far as one can be taken from what the one before it left behind, without a look at the database. Throws KnownVersion where NEWEST was not enough after all.
 */
export const recordStated = async (
  tx: Tx,
  events: readonly StatedEvent[],
  reach: Reach,
): Promise<readonly StatedReceipt[]> => {
  const memory: Memory = { facts: new Map(), receipts: [], recorded: new Set(), reach };
  let left: readonly Given[] = events.map((event, at) => ({ at, event, hash: tx.sha256(event.assetKey) }));
  const touched = new Set(left.map(({ hash }) => hash));
  while (left.length > 0) left = await recordPass(tx, left, memory);
  tx.afterCommit(() => {
    for (const hash of touched) {
      const now = memory.facts.get(hash);
      if (now === undefined) tx.facts.delete(hash);
      else tx.facts.set(hash, now);
    }
  });
  return memory.receipts;
};

interface Memory {
  /** Of the assets, as what is written so far left them; a missing one is read again. */
  readonly facts: Map<string, AssetFacts>;
  /** By place. */
  readonly receipts: StatedReceipt[];
  /** Hashes of events of which it has turned out that they are recorded. */
  readonly recorded: Set<string>;
  readonly reach: Reach;
}

/** Statements that are written together, by asset. */
interface Pass {
  readonly memory: Memory;
  readonly chains: ReadonlyMap<string, Chain>;
  /** By place. */
  readonly later: Map<number, Given>;
  /** Events that were told once more. */
  readonly repeated: Repeated[];
  /** Hashes of the events that it is to write. */
  readonly named: Set<string>;
  /** Event ids that statements for later bear: of those that bear the same one, whatever their assets, the first counts. */
  readonly waitingIds: Set<string>;
}

interface Repeated {
  readonly by: Given;
  readonly dedupHash: string;
}

/** Takes what can be written together, and writes it; returns what is left, in order. */
const recordPass = async (tx: Tx, given: readonly Given[], memory: Memory): Promise<readonly Given[]> => {
  const { facts, receipts } = memory;
  const missing = given.flatMap(({ hash }) => (facts.has(hash) ? [] : hash));
  for (const [hash, found] of await factsOf(tx, missing, { lock: true, reach: NEWEST })) facts.set(hash, found);
  const pass: Pass = {
    memory,
    chains: new Map([...new Set(given.map(({ hash }) => hash))].flatMap((hash) => chainFrom(facts, hash))),
    later: new Map(),
    repeated: [],
    named: new Set(),
    waitingIds: new Set(),
  };
  for (const one of given) {
    const chain = pass.chains.get(one.hash);
    if (chain === undefined) {
      receipts[one.at] = unregistered(one);
      continue;
    }
    if (pass.waitingIds.has(one.event.eventId ?? '')) chain.closed = true;
    const newest = chain.closed || memory.reach === 'WHOLE' ? null : newestHistory(chain.facts, one.event, tx.now);
    // What else it may look at is in the database, where what is in the chain is not yet.
    const waits = chain.closed || (newest === null && chain.taken.length > 0);
    const history = waits ? null : (newest ?? (await wholeHistory(tx, one.event)));
    const receipt = history === null ? forLater(pass, chain, one) : takeInto(tx, pass, chain, { given: one, history });
    if (receipt !== null) receipts[one.at] = receipt;
  }
  await leaveOutKnown(tx, pass, given);
  await writePass(tx, pass);
  return [...pass.later.values()].sort((a, b) => a.at - b.at);
};

const chainFrom = (facts: ReadonlyMap<string, AssetFacts>, hash: string): readonly (readonly [string, Chain])[] => {
  const found = facts.get(hash);
  return found === undefined ? [] : [[hash, new Chain(found)]];
};

const unregistered = ({ event }: Given): StatedReceipt => {
  const { code, message } = unknownAsset(event.assetKey);
  return { status: 'REJECTED', problem: { code, detail: message }, event: null };
};

interface Statement {
  readonly given: Given;
  /** What it may look at. */
  readonly history: AssetHistory;
}

/** Adds a statement to its asset's chain, or to those for later; returns its receipt where it is answered without being written. */
const takeInto = (tx: Tx, pass: Pass, chain: Chain, { given, history }: Statement): StatedReceipt | null => {
  const answer = take(tx, given, chain.facts, history);
  if ('repeats' in answer) {
    if (answer.repeats !== null) pass.repeated.push({ by: given, dedupHash: answer.repeats });
    return answer.receipt;
  }
  const { dedupHash } = answer;
  if (dedupHash !== null && pass.memory.recorded.has(dedupHash)) return toldAgain(pass, answer);
  if (dedupHash !== null && pass.named.has(dedupHash)) return forLater(pass, chain, given);
  if (!chain.add(answer)) return forLater(pass, chain, given);
  if (dedupHash !== null) pass.named.add(dedupHash);
  return null;
};

const forLater = (pass: Pass, chain: Chain, given: Given): null => {
  chain.closed = true;
  pass.later.set(given.at, given);
  if (given.event.eventId !== null) pass.waitingIds.add(given.event.eventId);
  return null;
};

/** A statement that is answered at once. `repeats`: the hash of the event that it told once more, where that is known. */
interface Answered {
  readonly receipt: StatedReceipt;
  readonly repeats: string | null;
}

const take = (tx: Tx, given: Given, facts: AssetFacts, history: AssetHistory): Answered | Taken => {
  const ingested = ingestStated(history, given.event, tx.now, tx.nonce());
  if (!ingested.ok) return { receipt: { status: 'REJECTED', problem: ingested.problem, event: null }, repeats: null };
  const effects = ingested.value;
  const named = effects.events.find((recorded) => recorded.eventType === given.event.eventType);
  const stated = named ?? effects.events[0] ?? null;
  if (effects.duplicate) {
    const repeats = effects.duplicateOf === null ? null : tx.sha256(effects.duplicateOf);
    return { receipt: { status: 'DUPLICATE', problem: null, event: stated }, repeats };
  }
  const { row, state, awaited } = facts;
  const change: Change = { row, state, effects, versions: history.versions, awaitsVersion: awaited.size > 0 };
  return { given, change, stated, dedupHash: stated === null ? null : tx.sha256(stated.dedupKey) };
};

/** The receipt of a statement whose event is recorded already. */
const toldAgain = ({ memory, repeated }: Pass, { given, change, stated, dedupHash }: Taken): StatedReceipt => {
  if (memory.reach === 'NEWEST' && change.effects.newVersions.length > 0)
    throw new KnownVersion('What is ahead of the newest versions is an older one, told again.');
  if (dedupHash !== null) repeated.push({ by: given, dedupHash });
  return { status: 'DUPLICATE', problem: null, event: stated };
};

/**
 * Events that are recorded already change nothing: each ends its asset's chain, and whatever the request says of that asset after it is taken
 * anew, as it was taken from what this one would have left behind.
 */
const leaveOutKnown = async (tx: Tx, pass: Pass, given: readonly Given[]): Promise<void> => {
  const known = await knownHashes(tx, [...pass.named]);
  for (const hash of known) {
    pass.memory.recorded.add(hash);
    pass.named.delete(hash);
  }
  const cuts = new Map<string, number>();
  for (const [hash, chain] of pass.chains) {
    const again = cutAtKnown(chain, known);
    if (again === null) continue;
    pass.memory.receipts[again.given.at] = toldAgain(pass, again);
    cuts.set(hash, again.given.at);
  }
  if (cuts.size === 0) return;
  const isAfter = ({ hash, at }: Given): boolean => at > (cuts.get(hash) ?? Number.POSITIVE_INFINITY);
  for (const one of given) if (isAfter(one)) pass.later.set(one.at, one);
  const counted = pass.repeated.filter(({ by }) => !isAfter(by));
  pass.repeated.splice(0, pass.repeated.length, ...counted);
};

/** Ends the chain before its first statement that is recorded already, and returns that; null: none is. */
const cutAtKnown = (chain: Chain, known: ReadonlySet<string>): Taken | null => {
  const index = chain.taken.findIndex(({ dedupHash }) => dedupHash !== null && known.has(dedupHash));
  return index < 0 ? null : (chain.cutAt(index) ?? null);
};

const writePass = async (tx: Tx, { memory, chains, named, repeated }: Pass): Promise<void> => {
  const { facts, receipts, recorded } = memory;
  const changes: Change[] = [];
  for (const [hash, chain] of chains) {
    const change = chain.change();
    if (change === null) continue;
    changes.push(change);
    const after = chain.factsAfter(change);
    if (after === null) facts.delete(hash);
    else facts.set(hash, after);
    for (const { given, stated, dedupHash } of chain.taken) {
      receipts[given.at] = { status: 'ACCEPTED', problem: null, event: stated };
      if (dedupHash !== null) recorded.add(dedupHash);
    }
  }
  await writeChanges(tx, changes, named);
  await countAgain(
    tx,
    repeated.map(({ dedupHash }) => dedupHash),
  );
  await askForScans(tx, changes);
};

/** The history as far as it is at hand; null: it may not be enough. */
const newestHistory = (facts: AssetFacts, event: StatedEvent, now: bigint): AssetHistory | null => {
  if (isAwaited(facts, event.snapshotId) || !holdsNewestCut(facts)) return null;
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

/** Pushes that only hint at their table, and verdicts that wait for a scan: the table is due at once. */
const askForScans = async (tx: Tx, changes: readonly Change[]): Promise<void> => {
  const ids = changes
    .filter(({ effects }) => effects.wantsScan || effects.verdicts.some(({ snapshotId }) => snapshotId === null))
    .map(({ row }) => row.id);
  if (ids.length === 0) return;
  await tx.db
    .updateTable('t_ds_asset_event_consumer_offset')
    .set((e) => ({ waiting: 1n, asks: e(e.fn.coalesce('asks', e.val(0n)), '+', 1n) }))
    .where(tx.dialect.among('asset_id', ids))
    .execute();
  tx.hint('SCANS');
};
