import { join } from 'node:path';
import { expect } from 'vitest';
import { RUN_STATE_CODES } from '../../src/core/workflow/run-state.ts';
import { TASK_STATE_CODES } from '../../src/core/workflow/task-state.ts';
import { laySteps, type Place, until } from '../support/server.ts';
import type { TestClient } from '../support/server-client.ts';
import { notingScript, readEffects, readLedger } from './ledger.ts';
import type { Story } from './story.ts';

/**
 * From a commit to a finished run: a workflow of two tasks is applied, a commit of each of its two tables arrives, and a verdict on one of
 * them; one run comes of it. The auditor then lays one commit more, and a second run must come of that.
 */

export const ORDERS = 'paimon://ods_db/ods_order_latest';
export const PAYMENTS = 'paimon://ods_db/ods_payment_latest';

const declarationOf = ({ folder, warehouse }: Place) => ({
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

export const triggerStory: Story = {
  project: 'crash',
  omits: [],
  prepare: (place) => laySteps(place, 1),
  steps: [
    (place, client) => client.apply(declarationOf(place)),
    (place) => laySteps(place, 2, 4),
    (_, client) => client.emit(passed('1')),
    (_, client) => client.untilRuns(1, 'SUCCESS'),
  ],
  audit: async (place, client) => {
    await audit(place, [{ [ORDERS]: '1', [PAYMENTS]: '1' }]);
    await oneCommitMore(place, client);
    await audit(place, [
      { [ORDERS]: '1', [PAYMENTS]: '1' },
      { [ORDERS]: '2', [PAYMENTS]: '1' },
    ]);
  },
  tables: [
    'schema', // the migration
    't_ds_master', // a server claims the data
    't_ds_asset', // what was applied
    't_ds_asset_dependency_group',
    't_ds_asset_version', // a poll is recorded
    't_ds_asset_quality', // the verdict
    't_ds_asset_evaluation_queue', // a decision
    't_ds_asset_trigger_history', // the trigger
    't_ds_command', // the launch
    't_ds_task_instance', // dispatch, start and end of each task
    't_ds_workflow_instance', // the end of the run
  ],
};

async function oneCommitMore(place: Place, client: TestClient): Promise<void> {
  laySteps(place, 3);
  await client.emit(passed('2'));
  await client.untilRuns(2, 'SUCCESS');
}

/** What must hold once the story's runs have ended, whoever died on the way. */
async function audit(place: Place, versionSets: readonly Readonly<Record<string, string>>[]): Promise<void> {
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
  expect(tasks.map(({ run, task, attempt }) => ({ run, task, attempt }))).toEqual(expected);
  expect(tasks.every(({ state }) => state === TASK_STATE_CODES.SUCCESS)).toBe(true);
  // The death of a server ends no task: each script ran once, in order, on its run's pins.
  expect(readEffects(place)).toEqual(expected.map((one, i) => ({ ...one, snapshot: snapshots[Math.floor(i / 2)] })));
}
