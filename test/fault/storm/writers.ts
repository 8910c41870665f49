import { type Chronicle, commitsOf, noteCommit } from './chronicle.ts';
import type { Chance } from './chance.ts';
import type { Client } from './client.ts';
import type { Line } from './lines.ts';
import { pause, repeat } from './pace.ts';
import {
  CHECK,
  CLICKS,
  ORDERS,
  PAYMENTS,
  REFUNDS,
  SENT,
  STATED,
  STEPS,
  TICKS,
  TURNS,
  type WrittenTable,
} from './plan.ts';
import type { Tables } from './tables.ts';

/** Those who commit: to tables that are polled, and by word alone. */

export interface Scene {
  readonly chronicle: Chronicle;
  readonly chance: Chance;
  readonly client: Client;
  readonly tables: Tables;
  /** What tasks have noted so far. */
  readonly lines: () => readonly Line[];
  /** Requests on their way: all must be answered before the storm is over. */
  readonly pending: Set<Promise<void>>;
  /** Accepted events, by what they were. */
  events: number;
}

interface Receipt {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly unknown[];
}

/** Sends until it is accepted. Nothing of it may be refused. */
async function send(scene: Scene, events: readonly object[]): Promise<void> {
  const { body } = await scene.client.post<Receipt>('/asset-events', events.length === 1 ? events[0] : events);
  const taken = body.accepted + body.duplicates;
  if (taken !== events.length || body.rejected.length > 0)
    scene.client.faults.push(`of ${JSON.stringify(events)} was said ${JSON.stringify(body)}`);
  scene.events += events.length;
}

function sendBeside(scene: Scene, event: object, accepted: () => void): void {
  const sending = send(scene, [event]).then(accepted);
  scene.pending.add(sending);
  const settled = (): void => void scene.pending.delete(sending);
  void sending.then(settled, settled);
}

/** Requests that wait for an answer at once: more would only tell how fast a dead server refuses them. */
const MOST_PENDING = 16;

/** Sluice reads these tables itself (VERIFY): what is told of them is a hint, or a verdict. */
function tellOf(scene: Scene, { key }: WrittenTable, snapshotId: string): void {
  const { chance, chronicle } = scene;
  if (scene.pending.size >= MOST_PENDING) return;
  const chances = { hint: chance.happens(0.5), verdict: chance.happens(0.7), passed: chance.happens(0.8) };
  if (chances.hint) {
    const event = { assetKey: key, eventType: 'SNAPSHOT_COMMITTED', snapshotId };
    sendBeside(scene, event, () => chronicle.hints.push({ assetKey: key, snapshotId }));
  }
  if (key !== PAYMENTS.key || !chances.verdict) return;
  const verdict = { eventId: `${CHECK}-${snapshotId}`, assetKey: key, snapshotId, passed: chances.passed };
  const eventType = verdict.passed ? 'QUALITY_CHECK_PASSED' : 'QUALITY_CHECK_FAILED';
  const event = { eventId: verdict.eventId, assetKey: key, eventType, snapshotId, checkName: CHECK };
  sendBeside(scene, event, () => chronicle.verdicts.push(verdict));
}

const BUSY = [ORDERS, ORDERS, PAYMENTS, PAYMENTS, CLICKS, REFUNDS] as const;

/** A commit of one table or another, sometimes of two at once. */
export const writeTables = (scene: Scene, signal: AbortSignal): Promise<void> =>
  repeat(
    signal,
    () => scene.chance.between(150, 450),
    () => {
      const { chance, tables } = scene;
      for (let left = chance.happens(0.2) ? 2 : 1; left > 0; left -= 1) {
        const table = chance.pick(BUSY);
        tellOf(scene, table, tables.commit(table));
        if (table === PAYMENTS && chance.happens(0.25)) tables.rearrange(table);
      }
    },
  );

/** Until the last task that waits for it has gone on, longer than the storm. */
export const writeTicks = ({ chance, tables }: Scene, signal: AbortSignal): Promise<void> =>
  repeat(
    signal,
    () => chance.between(1_000, 2_500),
    () => void tables.commit(TICKS),
  );

const stated = (assetKey: string, snapshotId: string, more: object = {}) => ({
  assetKey,
  eventType: 'SNAPSHOT_COMMITTED',
  snapshotId,
  commitKind: 'APPEND',
  ...more,
});

/** Noted before it is sent: it may be recorded although no answer comes. */
const noteStated = (scene: Scene, assetKey: string, snapshotId: string): void =>
  noteCommit(scene.chronicle, assetKey, { snapshotId, data: true });

const nextNumber = ({ chronicle }: Scene, assetKey: string): number => commitsOf(chronicle, assetKey).length + 1;

/** Ids count upwards; one event, or several in one request. */
export async function stateOne(scene: Scene, assetKey: string, many = 1): Promise<void> {
  const first = nextNumber(scene, assetKey);
  const ids = Array.from({ length: many }, (_, i) => String(first + i));
  for (const id of ids) noteStated(scene, assetKey, id);
  await send(
    scene,
    ids.map((id) => stated(assetKey, id)),
  );
}

/** Ids as Iceberg makes them, from 2^62 to 2^63; the sequence number tells the order. */
export async function sendOne(scene: Scene): Promise<void> {
  const sequenceNumber = nextNumber(scene, SENT);
  const id = (2n ** 62n + BigInt(scene.chance.between(0, 2 ** 31)) * 2n ** 30n + BigInt(sequenceNumber)).toString();
  noteStated(scene, SENT, id);
  await send(scene, [stated(SENT, id, { sequenceNumber })]);
}

export const stateTables = (scene: Scene, signal: AbortSignal): Promise<unknown> =>
  Promise.all([
    repeat(
      signal,
      () => scene.chance.between(200, 700),
      () => stateOne(scene, STATED, scene.chance.happens(0.3) ? scene.chance.between(2, 6) : 1),
    ),
    repeat(
      signal,
      () => scene.chance.between(300, 1_000),
      () => sendOne(scene),
    ),
  ]);

const LOOK_MS = 100;

/** Waits until a task has begun on this version; false: the storm is over before. */
async function untilRead(scene: Scene, assetKey: string, snapshotId: string, signal: AbortSignal): Promise<boolean> {
  const isRead = (): boolean => scene.lines().some(({ reads }) => reads[assetKey] === snapshotId);
  while (!signal.aborted) {
    if (isRead()) return true;
    await pause(LOOK_MS, signal);
  }
  return false;
}

/** One version at a time. */
export async function writeInStep(scene: Scene, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await untilRead(scene, STEPS.key, scene.tables.commit(STEPS), signal);
}

export async function stateInStep(scene: Scene, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await stateOne(scene, TURNS);
    await untilRead(scene, TURNS, commitsOf(scene.chronicle, TURNS).at(-1)?.snapshotId ?? '', signal);
  }
}
