import { ok, refuse } from '../result.ts';
import type { Result } from '../result.ts';
import type { EpochMs } from '../time.ts';
import type { TaskDefinition, WorkflowDefinition } from './definition.ts';
import type { Graph } from './graph.ts';
import { buildGraph, descendants, predecessors, selectSubgraph, topologicalOrder } from './graph.ts';
import type { CommandType, TaskRun, WorkflowRun } from './run.ts';
import { isRunActive, moveRun } from './run-state.ts';
import type { RunOperation, RunState } from './run-state.ts';
import { cannotOperate } from './run-words.ts';
import { isTaskActive, isTaskHandedOut, isTaskSuccess, isTaskSubmitted } from './task-state.ts';
import type { TaskState } from './task-state.ts';

/** Everything the plan of a run looks at. */
export interface RunFacts {
  readonly run: WorkflowRun;
  readonly workflow: WorkflowDefinition;
  /** The valid attempts, at most one a task. */
  readonly tasks: readonly TaskRun[];
  readonly now: EpochMs;
}

/** One thing to do next; the store writes all steps of a plan in one transaction. */
export type PlanStep =
  /** Make a new attempt; `replaces` (a task run id) stops being valid. */
  | {
      readonly kind: 'SUBMIT';
      readonly taskCode: number;
      readonly retryTimes: number;
      readonly notBefore: EpochMs | null;
      readonly replaces: number | null;
    }
  | { readonly kind: 'MOVE_TASK'; readonly taskRunId: number; readonly to: TaskState; readonly reason: string | null }
  /** The attempt stays what it is until its executor says that it ended. */
  | { readonly kind: 'KILL'; readonly taskRunId: number; readonly reason: string }
  | { readonly kind: 'INVALIDATE'; readonly taskRunId: number }
  | { readonly kind: 'MOVE_RUN'; readonly to: RunState; readonly reason: string | null };

export type { RunOperation };

/** What an operation does: the steps to write, and the command that makes the launcher go on (null: none; one that waits is void). */
export interface Operated {
  readonly steps: readonly PlanStep[];
  readonly commandType: CommandType | null;
}

/**
 * How a task stands in the run.
 * PASSED: its successors may go. OPEN: all before it passed and it has no attempt yet. BLOCKED: something before it has not passed.
 * ACTIVE: an attempt waits or runs. RETRY: failed with retries left. FAILED: failed for good. LOST: nobody knows how it ended.
 */
type Standing = 'PASSED' | 'OPEN' | 'BLOCKED' | 'ACTIVE' | 'RETRY' | 'FAILED' | 'KILLED' | 'PAUSED' | 'LOST';

interface TaskView {
  readonly task: TaskDefinition;
  readonly attempt: TaskRun | null;
  readonly standing: Standing;
}

/** The tasks that the run covers, in topological order. */
type RunView = readonly TaskView[];

/**
 * What is to be done next in a run, all at once: submit every task whose turn has come, retry, wind down, end. Pure and convergent: after its
 * steps are written it has nothing to add until an attempt changes, except that KILL is said again for as long as the attempt lives. It
 * has nothing to say about a run that is not RUNNING_EXECUTION, READY_PAUSE or READY_STOP.
 */
export function planRun(facts: RunFacts): readonly PlanStep[] {
  if (!isRunActive(facts.run.state)) return [];
  const part = partOf(facts);
  // The graph was checked when the workflow was saved; a run that cannot be understood must still end.
  if (!part.ok) return [{ kind: 'MOVE_RUN', to: 'FAILURE', reason: part.problem.detail }];
  const view = viewOf(facts, part.value);
  if (facts.run.state === 'READY_STOP') return planStopping(view);
  const broken = view.filter(isBroken);
  if (broken.length > 0 && facts.run.failureStrategy === 'END') return planFailing(view, broken);
  return facts.run.state === 'READY_PAUSE' ? planPausing(view, broken) : planRunning(view, broken, facts.now);
}

/** The launcher has taken the run's command: it runs, and its first steps. Nothing if the run no longer waits for one (paused, stopped). */
export function planLaunch(facts: RunFacts): readonly PlanStep[] {
  return facts.run.state === 'SUBMITTED_SUCCESS' ? moveAndPlan(facts, 'RUNNING_EXECUTION') : [];
}

const moveAndPlan = (facts: RunFacts, to: RunState): readonly PlanStep[] => [
  ...(facts.run.state === to ? [] : [{ kind: 'MOVE_RUN', to, reason: null } as const]),
  ...planRun({ ...facts, run: { ...facts.run, state: to } }),
];

/**
 * What a person asked for. Where the run's state does not allow it: CONFLICT, saying what can be done instead. RESUME, RECOVER and RERUN put
 * the run back to SUBMITTED_SUCCESS with a command for the launcher: RESUME and RECOVER keep what succeeded and drop every other attempt with
 * all that followed it, RERUN drops every attempt. PAUSE and STOP of a run that waits for its launcher end it at once.
 */
export function operateRun(facts: RunFacts, operation: RunOperation): Result<Operated> {
  const { id, state } = facts.run;
  const next = moveRun(state, operation);
  if (next === undefined) return refuse('CONFLICT', cannotOperate(id, state, operation));
  switch (operation) {
    case 'PAUSE':
      return ok({ steps: moveAndPlan(facts, next), commandType: null });
    case 'STOP':
      return ok({ steps: [...killPaused(facts), ...moveAndPlan(facts, next)], commandType: null });
    case 'RESUME':
      return again(facts, unfinishedAttempts(facts), next, 'RECOVER_SUSPENDED_PROCESS');
    case 'RECOVER':
      return again(facts, unfinishedAttempts(facts), next, 'START_FAILURE_TASK_PROCESS');
    case 'RERUN':
      return again(facts, facts.tasks, next, 'REPEAT_RUNNING');
  }
}

const again = (facts: RunFacts, drop: readonly TaskRun[], to: RunState, commandType: CommandType): Result<Operated> =>
  ok({
    steps: [...drop.map(({ id }) => ({ kind: 'INVALIDATE', taskRunId: id }) as const), ...moveAndPlan(facts, to)],
    commandType,
  });

/** A paused run that is stopped has nothing left to resume as it was. */
const killPaused = ({ run, tasks }: RunFacts): readonly PlanStep[] =>
  run.state === 'PAUSE'
    ? tasks.filter(({ state }) => state === 'PAUSE').map((attempt) => endKilled(attempt, STOPPED))
    : [];

/** Attempts that did not succeed, and attempts of all tasks behind those: what they read is going to change. */
function unfinishedAttempts(facts: RunFacts): readonly TaskRun[] {
  const part = partOf(facts);
  const failed = facts.tasks.filter(({ state }) => !isTaskSuccess(state));
  if (!part.ok) return failed;
  const nameOf = new Map(facts.workflow.tasks.map(({ code, name }) => [code, name]));
  const behind = descendants(
    part.value,
    failed.map(({ taskCode }) => nameOf.get(taskCode) ?? ''),
  );
  return facts.tasks.filter(({ state, taskCode }) => !isTaskSuccess(state) || behind.has(nameOf.get(taskCode) ?? ''));
}

const GRAPHS = new WeakMap<WorkflowDefinition, Result<Graph>>(); // a definition never changes, and a run plans after every task

function partOf({ run, workflow }: RunFacts): Result<Graph> {
  const graph = GRAPHS.get(workflow) ?? buildGraph(workflow.tasks);
  GRAPHS.set(workflow, graph);
  if (!graph.ok || (run.startTasks.length === 0 && run.taskDependType === 'TASK_POST')) return graph;
  const nameOf = new Map(workflow.tasks.map(({ code, name }) => [code, name]));
  const start = run.startTasks.map((code) => nameOf.get(code) ?? `with code ${code}`);
  return selectSubgraph(graph.value, start, run.taskDependType);
}

function viewOf({ workflow, tasks }: RunFacts, part: Graph): RunView {
  const taskOf = new Map(workflow.tasks.map((task) => [task.name, task]));
  const attemptOf = new Map(tasks.map((attempt) => [attempt.taskCode, attempt]));
  const passed = new Set<string>();
  const view: TaskView[] = [];
  for (const name of topologicalOrder(part)) {
    const task = taskOf.get(name);
    if (task === undefined) continue;
    const attempt = attemptOf.get(task.code) ?? null;
    const free = [...predecessors(part, name)].every((before) => passed.has(before));
    const standing = standingOf(task, attempt, free);
    if (standing === 'PASSED') passed.add(name);
    view.push({ task, attempt, standing });
  }
  return view;
}

function standingOf(task: TaskDefinition, attempt: TaskRun | null, free: boolean): Standing {
  if (attempt === null) return !free ? 'BLOCKED' : task.flag === 'NO' ? 'PASSED' : 'OPEN';
  switch (attempt.state) {
    case 'SUCCESS':
    case 'FORCED_SUCCESS':
      return 'PASSED';
    case 'FAILURE':
      return attempt.retryTimes < task.failRetryTimes ? 'RETRY' : 'FAILED';
    case 'KILL':
      return 'KILLED';
    case 'PAUSE':
      return 'PAUSED';
    case 'NEED_FAULT_TOLERANCE':
      return 'LOST';
    case 'SUBMITTED_SUCCESS':
    case 'DELAY_EXECUTION':
    case 'DISPATCH':
    case 'RUNNING_EXECUTION':
      return 'ACTIVE';
  }
}

/** Nothing behind it can run any more. Killed counts, unless the run is being stopped: then that is what was asked for. */
const isBroken = ({ standing }: TaskView): boolean => standing === 'FAILED' || standing === 'KILLED';

function planRunning(view: RunView, broken: RunView, now: EpochMs): readonly PlanStep[] {
  const steps = view.flatMap((one) => submissionOf(one, now));
  if (steps.length > 0 || view.some(isActive)) return steps;
  return [broken.length > 0 ? failed(broken) : SUCCEEDED];
}

function submissionOf({ task, attempt, standing }: TaskView, now: EpochMs): readonly PlanStep[] {
  if (standing === 'OPEN') return [submission(task, 0, null, null)];
  if (attempt === null) return [];
  if (standing === 'RETRY') {
    const pause = BigInt(Math.round(task.failRetryIntervalSeconds * 1000));
    const notBefore = pause > 0n ? (attempt.endTime ?? now) + pause : null;
    return [submission(task, attempt.retryTimes + 1, notBefore, attempt.id)];
  }
  // Neither a lost worker nor a pause is the task's fault: no retry is used up.
  const once = standing === 'LOST' || standing === 'PAUSED';
  return once ? [submission(task, attempt.retryTimes, null, attempt.id)] : [];
}

const submission = (
  task: TaskDefinition,
  retryTimes: number,
  notBefore: EpochMs | null,
  replaces: number | null,
): PlanStep => ({
  kind: 'SUBMIT',
  taskCode: task.code,
  retryTimes,
  notBefore,
  replaces,
});

/** READY_PAUSE: what runs may finish, nothing begins; a task that would be retried is simply left. */
function planPausing(view: RunView, broken: RunView): readonly PlanStep[] {
  const steps = attemptsIn(view, isTaskSubmitted).map((attempt): PlanStep => {
    return { kind: 'MOVE_TASK', taskRunId: attempt.id, to: 'PAUSE', reason: 'The run was paused.' };
  });
  if (attemptsIn(view, isTaskHandedOut).length > 0) return steps;
  const end =
    broken.length > 0
      ? failed(broken)
      : isComplete(view)
        ? SUCCEEDED
        : ({ kind: 'MOVE_RUN', to: 'PAUSE', reason: null } as const);
  return [...steps, end];
}

const STOPPED = 'The run was stopped.';

/** READY_STOP: everything ends. STOP if that cost an attempt or left work undone, but FAILURE if a task had failed and nothing was killed. */
function planStopping(view: RunView): readonly PlanStep[] {
  const { steps, settled } = windDown(view, STOPPED);
  if (!settled) return steps;
  const cutShort = steps.length > 0 || view.some(({ standing }) => CUT_SHORT.has(standing));
  const broken = view.filter(({ standing }) => standing === 'FAILED');
  if (!cutShort && broken.length > 0) return [...steps, failed(broken)];
  return [...steps, !cutShort && isComplete(view) ? SUCCEEDED : { kind: 'MOVE_RUN', to: 'STOP', reason: null }];
}

const CUT_SHORT: ReadonlySet<Standing> = new Set(['KILLED', 'PAUSED', 'RETRY', 'LOST']);

/** Failure strategy END: nothing more begins, what is active is killed, then the run has failed. */
function planFailing(view: RunView, broken: RunView): readonly PlanStep[] {
  const { steps, settled } = windDown(view, `${sentenceOf(broken)} The failure strategy is END.`);
  return settled ? [...steps, failed(broken)] : steps;
}

/** Ends every active attempt: at once if nobody has it yet, by its executor otherwise; settled: none of the latter. */
function windDown(view: RunView, reason: string): { readonly steps: readonly PlanStep[]; readonly settled: boolean } {
  const waiting = attemptsIn(view, isTaskSubmitted).map((attempt) => endKilled(attempt, reason));
  const kills = attemptsIn(view, isTaskHandedOut).map(({ id }): PlanStep => ({ kind: 'KILL', taskRunId: id, reason }));
  return { steps: [...waiting, ...kills], settled: kills.length === 0 };
}

const endKilled = ({ id }: TaskRun, reason: string): PlanStep => ({
  kind: 'MOVE_TASK',
  taskRunId: id,
  to: 'KILL',
  reason,
});

const attemptsIn = (view: RunView, test: (state: TaskState) => boolean): readonly TaskRun[] =>
  view.flatMap(({ attempt }) => (attempt !== null && test(attempt.state) ? [attempt] : []));

const isActive = ({ attempt }: TaskView): boolean => attempt !== null && isTaskActive(attempt.state);

const isComplete = (view: RunView): boolean => view.every(({ standing }) => standing === 'PASSED');

const SUCCEEDED: PlanStep = { kind: 'MOVE_RUN', to: 'SUCCESS', reason: null };

const failed = (broken: RunView): PlanStep => ({ kind: 'MOVE_RUN', to: 'FAILURE', reason: sentenceOf(broken) });

const NAMED = 3; // tasks that a reason names; the others are counted

/** `Task a failed.`, `Tasks a, b, c and 4 more failed.` */
function sentenceOf(broken: RunView): string {
  const names = broken.slice(0, NAMED).map(({ task }) => task.name);
  const more = broken.length > NAMED ? ` and ${broken.length - NAMED} more` : '';
  return `${broken.length === 1 ? 'Task' : 'Tasks'} ${names.join(', ')}${more} failed.`;
}
