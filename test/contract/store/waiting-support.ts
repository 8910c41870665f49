import { expect } from 'vitest';
import type { TaskWait } from '../../../src/core/workflow/definition.ts';
import type { Store, TaskOffer } from '../../../src/store/store.ts';
import {
  ORDERS,
  PAYMENTS,
  apply,
  asset,
  clock,
  commits,
  condition,
  group,
  key,
  poll,
  project,
  record,
  runAll,
  settle,
  startRequest,
  task,
  workflow,
} from './support.ts';

export const FX = key('iceberg://ref/fx');

export const wait = (more: Partial<TaskWait> = {}): TaskWait => ({
  groups: [group('fx', [condition(FX)])],
  baseline: 'LAST_SUCCESS',
  timeoutSeconds: null,
  onTimeout: 'FAIL',
  checkIntervalSeconds: null,
  ...more,
});

export const sensor = (more: Partial<TaskWait> = {}) =>
  task('w', [], { type: 'ASSET_SENSOR', params: {}, wait: wait(more) });

/** A workflow of a sensor and a task behind it, over tables that were read and are empty; its code. */
export const given = async (
  store: Store,
  more: Partial<TaskWait> = {},
  declared: Parameters<typeof workflow>[1] = {},
): Promise<number> => {
  const workflows = [workflow('flow', { tasks: [sensor(more), task('after', ['w'])], ...declared })];
  const assets = [asset(FX), asset(ORDERS), asset(PAYMENTS)];
  await apply(store, project({ assets }));
  for (const { key: each } of assets) await record(store, each, poll([]));
  await apply(store, project({ assets, workflows }));
  return (await store.definitions.workflow('shop', 'flow')).code;
};

export const start = async (
  store: Store,
  code: number,
  more: Parameters<typeof startRequest>[1] = {},
): Promise<number> => {
  const { runId } = await store.runs.start(startRequest(code, more));
  await store.runs.launch(10);
  await settle(store);
  return runId;
};

/** `w SUBMITTED_SUCCESS waiting, after SUCCESS`. */
export const tasksOf = async (store: Store, runId: number): Promise<string> =>
  (await store.runs.get(runId)).tasks
    .map((each) => `${each.name} ${each.state}${each.waiting ? ' waiting' : ''}`)
    .join(', ');

export const WAITS = 'w SUBMITTED_SUCCESS waiting';

/** What released the newest attempt of the sensor, by table. */
export const pinned = async (store: Store, runId: number): Promise<Readonly<Record<string, string>>> => {
  const attempt = (await store.runs.get(runId)).tasks.find(({ name }) => name === 'w');
  return Object.fromEntries([...(attempt?.pins ?? [])].map(([each, pin]) => [each, pin.snapshotId]));
};

export const dispatched = async (store: Store): Promise<readonly TaskOffer[]> => store.runs.dispatch(10);

/** Evaluates what is due, hands out and ends everything. */
export const goOn = async (store: Store): Promise<void> => {
  await settle(store);
  await runAll(store);
};

/** Nothing of a wait is left: no group is queued or evaluated, whatever happens to the table. */
export const nothingLeft = async (store: Store, code: number): Promise<void> => {
  expect((await store.groups.explainTask(code, 'w')).waiting).toEqual([]);
  await commits(store, FX, 900 + Number(clock.time % 90n));
  expect(await settle(store)).toEqual([]);
  expect(await store.runs.nextWaitDeadlineAt()).toBeNull();
};
