import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { RUN_STATE_CODES } from '../../src/core/workflow/run-state.ts';
import { TASK_STATE_CODES } from '../../src/core/workflow/task-state.ts';
import {
  type Place,
  type ServerProcess,
  laySteps,
  makePlace,
  removePlace,
  startProcess,
  startServer,
  until,
} from '../support/server.ts';
import { ServerDied } from '../support/server.ts';
import { type TestClient, clientOf } from '../support/server-client.ts';
import { notingScript, readEffects, readLedger } from './ledger.ts';

/**
 * The story that the victim dies in: a workflow of two tasks is applied, a commit of each of its two tables arrives, and a verdict on one of
 * them; one run comes of it. Then, on a server that nobody kills, one commit more and its verdict, and a second run.
 */

export type Moment = 'BEFORE' | 'AFTER';

export const ORDERS = 'paimon://ods_db/ods_order_latest';
export const PAYMENTS = 'paimon://ods_db/ods_payment_latest';

export const declarationOf = ({ folder, warehouse }: Place) => ({
  apiVersion: 'sluice/v1',
  project: 'crash',
  assets: [
    { key: ORDERS, location: join(warehouse, 'ods_db.db/ods_order_latest') },
    { key: PAYMENTS, location: join(warehouse, 'ods_db.db/ods_payment_latest') },
  ],
  workflows: [
    {
      name: 'chain',
      triggers: [
        {
          group: 'both',
          advance: 'ANY',
          all: [{ assetKey: ORDERS, alias: 'orders', qualityStatus: 'PASSED' }, { assetKey: PAYMENTS }],
        },
      ],
      tasks: [
        { name: 'first', params: { rawScript: notingScript(folder) } },
        { name: 'second', dependsOn: ['first'], params: { rawScript: notingScript(folder) } },
      ],
    },
  ],
});

const passed = (snapshotId: string) => ({
  assetKey: ORDERS,
  eventType: 'QUALITY_CHECK_PASSED',
  checkName: 'rows',
  eventId: `check-${snapshotId}`, // so that a statement whose answer got lost can be made again
  snapshotId,
});

/** Each step may be cut off by the server's death; then the whole step is done again with the next server, as a person or a writer would. */
type Step = (place: Place, client: TestClient) => Promise<unknown> | void;

const FIRST_ROUND: readonly Step[] = [
  (place, client) => client.apply(declarationOf(place)),
  (place) => laySteps(place, 2, 4),
  (_, client) => client.emit(passed('1')),
  (_, client) => client.untilRuns(1, 'SUCCESS'),
];

const SECOND_ROUND: readonly Step[] = [
  (place) => laySteps(place, 3),
  (_, client) => client.emit(passed('2')),
  (_, client) => client.untilRuns(2, 'SUCCESS'),
];

/** What one round of the enumeration saw. */
export interface Round {
  /** False: the story ended before the victim reached its commit, so all commits have been tried. */
  readonly died: boolean;
  /** The tables that the transaction wrote at which the victim died. */
  readonly tables: readonly string[];
}

/** Plays the story once with a victim that dies at its N-th commit, and audits what is left. Throws what is not as it must be. */
export async function playRound(number: number, moment: Moment): Promise<Round> {
  const place = makePlace();
  const trace = join(place.folder, 'trace');
  laySteps(place, 1);
  const args = [join(import.meta.dirname, 'victim.ts'), place.data, String(number), moment, trace];
  const victim = await startProcess(args, place).catch(onlyDeath);
  const left = victim === null ? FIRST_ROUND : await play(place, victim, FIRST_ROUND);
  const died = left.length > 0;
  const tables = died ? lastLine(trace).split(' ').slice(1) : [];
  try {
    await victim?.kill('SIGKILL');
    if (died) expect(victim?.end()?.signal ?? 'SIGKILL').toBe('SIGKILL');
    await recover(place, left);
  } catch (error) {
    throw new Error(`${moment} commit ${number} (${tables.join(' ')}): ${String(error)}`, { cause: error });
  }
  removePlace(place);
  return { died, tables };
}

/** A normal server takes over, goes through the rest of the story, then through one commit more. */
async function recover(place: Place, left: readonly Step[]): Promise<void> {
  const server = await startServer(place);
  const rest = await play(place, server, left);
  if (rest.length > 0) throw new Error(`The second server died: ${server.errors()}`);
  await audit(place, [{ [ORDERS]: '1', [PAYMENTS]: '1' }]);
  await play(place, server, SECOND_ROUND);
  await audit(place, [
    { [ORDERS]: '1', [PAYMENTS]: '1' },
    { [ORDERS]: '2', [PAYMENTS]: '1' },
  ]);
  await server.kill('SIGTERM');
  expect(server.end()).toEqual({ code: 0, signal: null });
}

/** Does the steps in order; returns those that the server's death left undone. A step that fails while the server lives fails the test. */
async function play(place: Place, server: ServerProcess, steps: readonly Step[]): Promise<readonly Step[]> {
  for (const [at, step] of steps.entries()) {
    try {
      await step(place, clientOf(place, server, 'crash'));
    } catch (error) {
      // fetch notices the death a moment before the process is reaped.
      const isNetwork = error instanceof TypeError;
      if (isNetwork) await until('the dead server to be reaped', () => server.end() !== null);
      if (!isNetwork && server.end() === null) throw error;
      return steps.slice(at);
    }
  }
  return [];
}

function onlyDeath(error: unknown): null {
  if (error instanceof ServerDied) return null;
  throw error;
}

const lastLine = (file: string): string =>
  existsSync(file) ? (readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '') : '';

/** What must hold once the story's runs have ended, whoever died on the way. */
export async function audit(place: Place, versionSets: readonly Readonly<Record<string, string>>[]): Promise<void> {
  const ledger = await until('the queues to be empty', () => {
    const now = readLedger(place);
    return now.commands === 0 && now.queued === 0 ? now : undefined;
  });
  expect(ledger.triggers.map(({ pins }) => pins)).toEqual(versionSets);
  expect(new Set(ledger.triggerKeys).size).toBe(versionSets.length);
  expect(ledger.triggers.map(({ run }) => run)).toEqual(ledger.runs.map(({ id }) => id));
  expect(ledger.runs.map(({ state }) => state)).toEqual(versionSets.map(() => RUN_STATE_CODES.SUCCESS));
  expect(ledger.consumed).toEqual(versionSets.at(-1));
  expect(new Set(ledger.events).size).toBe(ledger.events.length);
  auditTasks(
    place,
    versionSets.map((pins) => pins[ORDERS] ?? ''),
  );
}

function auditTasks(place: Place, snapshots: readonly string[]): void {
  const { tasks, runs } = readLedger(place);
  const expected = runs.flatMap(({ id }) => ['first', 'second'].map((task) => ({ run: id, task, attempt: 1 })));
  const done = tasks.filter(({ state }) => state === TASK_STATE_CODES.SUCCESS);
  expect(done.map(({ run, task, attempt }) => ({ run, task, attempt }))).toEqual(expected);
  expect(tasks.length).toBe(done.length);
  // The death of a server ends no task: each script ran once, in order, on its run's pins.
  expect(readEffects(place)).toEqual(expected.map((one, i) => ({ ...one, snapshot: snapshots[Math.floor(i / 2)] })));
}
