import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildGraph, predecessors, selectSubgraph } from '../../../src/core/workflow/graph.ts';
import type { Graph } from '../../../src/core/workflow/graph.ts';
import { operateRun, planLaunch, planRun } from '../../../src/core/workflow/plan.ts';
import type { PlanStep, RunFacts, RunOperation } from '../../../src/core/workflow/plan.ts';
import { isRunFinished, RUN_TRANSITIONS } from '../../../src/core/workflow/run-state.ts';
import { isTaskHandedOut, isTaskSuccess, TASK_TRANSITIONS } from '../../../src/core/workflow/task-state.ts';
import type { TaskState } from '../../../src/core/workflow/task-state.ts';
import { run, setState, task, workflow, write } from './simulate.ts';

/** A run of up to eight tasks, each after some of those declared before it. */
const anyRun = fc
  .record({
    shape: fc.array(fc.record({ after: fc.array(fc.nat(7), { maxLength: 3 }), off: fc.nat(5), retries: fc.nat(2) }), {
      maxLength: 8,
    }),
    failureStrategy: fc.constantFrom('CONTINUE' as const, 'END' as const),
    taskDependType: fc.constantFrom('TASK_POST' as const, 'TASK_PRE' as const, 'TASK_ONLY' as const),
    startTasks: fc.array(fc.nat(7), { maxLength: 2 }),
  })
  .map(({ shape, failureStrategy, taskDependType, startTasks }): RunFacts => {
    const tasks = shape.map(({ after, off, retries }, index) =>
      task(index + 1, `t${index}`, {
        dependsOn: [...new Set(after)].filter((before) => before < index).map((before) => `t${before}`),
        flag: off === 0 ? 'NO' : 'YES',
        failRetryTimes: retries,
      }),
    );
    const start = [...new Set(startTasks)].filter((one) => one < shape.length).map((one) => one + 1);
    const one = run({ state: 'SUBMITTED_SUCCESS', failureStrategy, taskDependType, startTasks: start });
    return { run: one, workflow: workflow(tasks), tasks: [], now: 1_000n };
  });

const partOf = ({ run: one, workflow: of }: RunFacts): Graph => {
  const graph = buildGraph(of.tasks);
  if (!graph.ok) throw new Error(graph.problem.detail);
  const part = selectSubgraph(
    graph.value,
    one.startTasks.map((code) => `t${code - 1}`),
    one.taskDependType,
  );
  if (!part.ok) throw new Error(part.problem.detail);
  return part.value;
};

const passed = (facts: RunFacts, name: string): boolean => {
  const definition = facts.workflow.tasks.find((one) => one.name === name);
  if (definition?.flag === 'NO') return [...predecessors(partOf(facts), name)].every((before) => passed(facts, before));
  return facts.tasks.some((one) => one.name === name && isTaskSuccess(one.state));
};

/** Every step must be a row of a state table, and what is submitted must be free. */
function checkSteps(facts: RunFacts, steps: readonly PlanStep[]): void {
  let state = facts.run.state;
  for (const step of steps) {
    if (step.kind === 'MOVE_RUN') {
      expect(Object.values(RUN_TRANSITIONS[state]), `${state} -> ${step.to}`).toContain(step.to);
      state = step.to;
    } else if (step.kind === 'MOVE_TASK') {
      const from = facts.tasks.find(({ id }) => id === step.taskRunId)?.state ?? 'SUCCESS';
      expect(Object.values(TASK_TRANSITIONS[from]), `${from} -> ${step.to}`).toContain(step.to);
    } else if (step.kind === 'SUBMIT') {
      const part = partOf(facts);
      for (const before of predecessors(part, `t${step.taskCode - 1}`)) expect(passed(facts, before)).toBe(true);
      expect(part.has(`t${step.taskCode - 1}`)).toBe(true);
    }
  }
}

/** Writes the steps and sees that planning again has nothing to add but kills that were already asked for. */
function apply(facts: RunFacts, steps: readonly PlanStep[], nextId: number): { facts: RunFacts; nextId: number } {
  checkSteps(facts, steps);
  const done = write(facts, steps, nextId);
  const again = planRun(done.facts);
  expect(again.every(({ kind }) => kind === 'KILL')).toBe(true);
  for (const step of again)
    expect(step.kind === 'KILL' && done.killed).toContain(step.kind === 'KILL' ? step.taskRunId : -1);
  return done;
}

/** What an executor does next: hand out or end one active attempt, as `pick` and `luck` have it. Killed attempts end as KILL or, too late, as anything. */
function move(facts: RunFacts, pick: number, luck: number): RunFacts {
  const active = facts.tasks.filter(({ state }) => state === 'SUBMITTED_SUCCESS' || isTaskHandedOut(state));
  const one = active[pick % active.length];
  if (one === undefined) return facts;
  if (one.state === 'SUBMITTED_SUCCESS') return setState(facts, one.id, 'DISPATCH');
  if (one.state === 'DISPATCH' && luck % 3 === 0) return setState(facts, one.id, 'RUNNING_EXECUTION');
  const ends: TaskState[] = ['SUCCESS', 'SUCCESS', 'SUCCESS', 'FAILURE', 'KILL', 'NEED_FAULT_TOLERANCE'];
  return setState(facts, one.id, ends[luck % ends.length] ?? 'SUCCESS');
}

const OPERATIONS: readonly RunOperation[] = ['PAUSE', 'STOP', 'RESUME', 'RECOVER', 'RERUN'];
const script = fc.array(
  fc.record({ pick: fc.nat(20), luck: fc.nat(20), operation: fc.option(fc.constantFrom(...OPERATIONS), { freq: 8 }) }),
  {
    maxLength: 60,
  },
);

/** Plays the script, then lets every attempt end well until the run has ended. */
function play(
  start: RunFacts,
  moves: readonly { pick: number; luck: number; operation: RunOperation | null }[],
): RunFacts {
  let now = apply(start, planLaunch(start), 1 + Math.max(0, ...start.tasks.map(({ id }) => id)));
  const goOn = (facts: RunFacts): void => {
    now = apply(facts, planRun(facts), now.nextId);
  };
  for (const { pick, luck, operation } of moves) {
    const done = operation === null ? null : operateRun(now.facts, operation);
    if (done?.ok === true) now = apply(now.facts, done.value.steps, now.nextId);
    else if (now.facts.run.state === 'SUBMITTED_SUCCESS') now = apply(now.facts, planLaunch(now.facts), now.nextId);
    else goOn(move(now.facts, pick, luck));
  }
  for (let left = 200; !isRunFinished(now.facts.run.state); left--) {
    expect(left).toBeGreaterThan(0);
    if (now.facts.run.state === 'SUBMITTED_SUCCESS') now = apply(now.facts, planLaunch(now.facts), now.nextId);
    else goOn(move(now.facts, 0, 1));
  }
  return now.facts;
}

describe('any run, whatever its tasks do and people ask', () => {
  test('ends, every step is legal, nothing runs before its turn or twice, and planning again adds nothing', () => {
    fc.assert(
      fc.property(anyRun, script, (start, moves) => {
        const end = play(start, moves);
        expect(end.tasks.some(({ state }) => state === 'SUBMITTED_SUCCESS' || isTaskHandedOut(state))).toBe(false);
        const complete = [...partOf(end).keys()].every((name) => passed(end, name));
        if (end.run.state === 'SUCCESS') expect(complete).toBe(true);
        if (end.run.state === 'FAILURE') expect(complete).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test('left alone and lucky, it succeeds with one attempt of each task that is on', () => {
    fc.assert(
      fc.property(anyRun, fc.array(fc.nat(20), { maxLength: 40 }), (start, picks) => {
        const end = play(
          start,
          picks.map((pick) => ({ pick, luck: 1, operation: null })),
        );
        const on = end.workflow.tasks.filter(({ name, flag }) => flag === 'YES' && partOf(end).has(name));
        expect(end.run.state).toBe('SUCCESS');
        expect(end.tasks.map(({ name }) => name).sort()).toEqual(on.map(({ name }) => name).sort());
        expect(end.tasks.every(({ id }) => id <= on.length)).toBe(true);
      }),
    );
  });

  test('stopped, paused or failed, it can be brought to success without running again what succeeded', () => {
    fc.assert(
      fc.property(anyRun, script, (start, moves) => {
        let facts = play(start, moves);
        if (facts.run.state === 'SUCCESS') return;
        const kept = new Set(facts.tasks.filter(({ state }) => isTaskSuccess(state)).map(({ id }) => id));
        const done = operateRun(facts, facts.run.state === 'FAILURE' ? 'RECOVER' : 'RESUME');
        if (!done.ok) throw new Error(done.problem.detail);
        facts = write(facts, done.value.steps, 10_000).facts;
        facts = play(facts, []);
        expect(facts.run.state).toBe('SUCCESS');
        for (const id of kept) expect(facts.tasks.map((one) => one.id)).toContain(id);
      }),
    );
  });
});
