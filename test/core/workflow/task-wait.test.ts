import { describe, expect, test } from 'vitest';
import type { Leaf } from '../../../src/core/asset/condition.ts';
import type { TaskWait } from '../../../src/core/workflow/definition.ts';
import {
  baselineOf,
  groupsInForce,
  runStartAssets,
  timeoutSentence,
  waitingWords,
  waitProblems,
} from '../../../src/core/workflow/task-wait.ts';
import { conditionOf, groupOf, keyOf, ORDERS } from '../asset/memory.ts';
import { task, workflow } from './simulate.ts';

const FX = keyOf('iceberg://ref/fx_rates');

const wait = (more: Partial<TaskWait> = {}): TaskWait => ({
  groups: [groupOf([conditionOf(FX, { alias: 'fx' })], { name: 'fx' })],
  baseline: 'LAST_SUCCESS',
  timeoutSeconds: null,
  onTimeout: 'FAIL',
  checkIntervalSeconds: null,
  ...more,
});

describe('what a task waits for', () => {
  test('groups that are disabled are out of force, and a task whose groups all are does not wait', () => {
    const [group] = wait().groups;
    const off = { ...groupOf([conditionOf(FX)]), name: 'off', enabled: false };
    expect(groupsInForce(wait({ groups: [...wait().groups, off] }))).toEqual([group]);
    expect(groupsInForce(wait({ groups: [off] }))).toEqual([]);
    expect(groupsInForce(null)).toEqual([]);
  });

  test('minSnapshotId takes the place of the baseline, and reference data has none', () => {
    const started = wait({ baseline: 'RUN_START' });
    expect(baselineOf(started, conditionOf(FX))).toBe('RUN_START');
    expect(baselineOf(started, conditionOf(FX, { minSnapshotId: '5' }))).toBe('NONE');
    expect(baselineOf(started, conditionOf(FX, { snapshotRequired: false }))).toBe('NONE');
  });

  test('a run remembers only the assets of tasks with RUN_START', () => {
    const tasks = [
      task(1, 'a', { wait: wait({ baseline: 'RUN_START' }) }),
      task(2, 'b', { wait: wait({ groups: [groupOf([conditionOf(ORDERS)])] }) }),
      task(3, 'c', { wait: wait({ baseline: 'RUN_START' }) }),
    ];
    expect(runStartAssets(workflow(tasks))).toEqual([FX]);
    expect(runStartAssets(workflow([task(1, 'a')]))).toEqual([]);
  });
});

describe('what the pins of the run make impossible', () => {
  const problems = (one: TaskWait, more: Parameters<typeof workflow>[1]) =>
    waitProblems(workflow([task(1, 'a', { wait: one })], more));
  const started = wait({ baseline: 'RUN_START' });

  test('RUN_START on an asset of the workflow’s groups or inputs', () => {
    expect(problems(started, {})).toEqual([]);
    for (const more of [{ inputs: [FX] }, { groups: [groupOf([conditionOf(FX)])] }])
      expect(problems(started, more)).toMatchObject([
        { task: 'a', group: 'fx', detail: expect.stringContaining('leave baseline RUN_START out') },
      ]);
    expect(waitProblems(workflow([task(1, 'a', { wait: started, inputs: [FX] })]))).toHaveLength(1);
    expect(problems(wait(), { inputs: [FX] })).toEqual([]);
  });

  test('conditions that compare with another version', () => {
    const changed = wait({ groups: [groupOf([conditionOf(FX, { schemaChanged: true })])] });
    expect(problems(changed, {})).toEqual([]);
    expect(problems(changed, { inputs: [FX] })).toMatchObject([{ detail: expect.stringContaining('schemaChanged') }]);
  });
});

describe('what people are told', () => {
  const leaf = (more: Partial<Leaf> = {}): Leaf => ({
    assetKey: FX,
    alias: 'fx',
    met: false,
    code: 'BLOCKED_BY_SNAPSHOT',
    needed: 'a version newer than 4',
    actual: 'newest is 4',
    since: 0n,
    ...more,
  });

  test('what is missing in each group, and nothing of what is there', () => {
    const met = leaf({ met: true, alias: 'orders', code: null });
    expect(waitingWords([{ group: 'g', leaves: [met, leaf()] }])).toBe('fx: a version newer than 4 (newest is 4)');
    expect(
      waitingWords([
        { group: 'g', leaves: [leaf()] },
        { group: 'h', leaves: [] },
      ]),
    ).toBe('fx: a version newer than 4 (newest is 4), or h to be looked at');
  });

  test('how long it waited, for what, and what became of it', () => {
    const groups = [{ group: 'g', leaves: [leaf()] }];
    const said = (onTimeout: TaskWait['onTimeout']) =>
      timeoutSentence(wait({ timeoutSeconds: 3_600, onTimeout }), groups);
    const waited = 'Waited 1 hour in vain for fx: a version newer than 4 (newest is 4).';
    expect(said('FAIL')).toBe(waited);
    expect(said('SUCCEED')).toBe(`${waited} It went on without.`);
    expect(said('WARN')).toBe(`${waited} It goes on waiting.`);
  });
});
