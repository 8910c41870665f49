import type { TaskDefinition, WorkflowDefinition } from '../../../src/core/workflow/definition.ts';
import type { PlanStep, RunFacts } from '../../../src/core/workflow/plan.ts';
import type { TaskRun, WorkflowRun } from '../../../src/core/workflow/run.ts';
import type { TaskState } from '../../../src/core/workflow/task-state.ts';

/** Builders and a store in miniature: it writes plan steps as the real one does, so that a whole run can be played in memory. */

export const task = (code: number, name: string, more: Partial<TaskDefinition> = {}): TaskDefinition => ({
  code,
  name,
  description: '',
  type: 'NOOP',
  params: {},
  localParams: [],
  dependsOn: [],
  flag: 'YES',
  failRetryTimes: 0,
  failRetryIntervalSeconds: 0,
  timeoutSeconds: null,
  inputs: [],
  outputs: [],
  wait: null,
  ...more,
});

export const workflow = (
  tasks: readonly TaskDefinition[],
  more: Partial<WorkflowDefinition> = {},
): WorkflowDefinition => ({
  code: 900,
  version: 1,
  projectCode: 1,
  projectName: 'project',
  name: 'workflow',
  description: '',
  releaseState: 'ONLINE',
  timezone: 'UTC',
  globalParams: [],
  failureStrategy: 'CONTINUE',
  inputs: [],
  groups: [],
  tasks,
  ...more,
});

export const run = (more: Partial<WorkflowRun> = {}): WorkflowRun => ({
  id: 5,
  workflowCode: 900,
  workflowVersion: 1,
  state: 'RUNNING_EXECUTION',
  commandType: 'START_PROCESS',
  startTasks: [],
  taskDependType: 'TASK_POST',
  failureStrategy: 'CONTINUE',
  params: {},
  pins: new Map(),
  triggerGroup: null,
  triggerKey: null,
  scheduleTime: null,
  startTime: 0n,
  endTime: null,
  runTimes: 1,
  ...more,
});

export const attempt = (id: number, of: TaskDefinition, state: TaskState, more: Partial<TaskRun> = {}): TaskRun => ({
  id,
  runId: 5,
  taskCode: of.code,
  name: of.name,
  type: of.type,
  state,
  attempt: 1,
  retryTimes: 0,
  valid: true,
  waiting: false,
  pins: new Map(),
  fence: 0,
  notBefore: null,
  submitTime: 0n,
  startTime: null,
  endTime: null,
  deadline: null,
  exitCode: null,
  outputs: [],
  reason: null,
  ...more,
});

/** The facts after the steps are written; new attempts get the ids that follow. `killed` are the attempts that an executor is asked to end. */
export function write(
  facts: RunFacts,
  steps: readonly PlanStep[],
  nextId: number,
): { facts: RunFacts; killed: readonly number[]; nextId: number } {
  let { run: one, tasks } = facts;
  const killed: number[] = [];
  let id = nextId;
  for (const step of steps) {
    if (step.kind === 'MOVE_RUN') one = { ...one, state: step.to };
    else if (step.kind === 'KILL') killed.push(step.taskRunId);
    else if (step.kind === 'INVALIDATE') tasks = tasks.filter((each) => each.id !== step.taskRunId);
    else if (step.kind === 'MOVE_TASK')
      tasks = tasks.map((each) => (each.id === step.taskRunId ? { ...each, state: step.to } : each));
    else tasks = submit(facts.workflow, tasks, step, id++);
  }
  return { facts: { ...facts, run: one, tasks }, killed, nextId: id };
}

function submit(
  of: WorkflowDefinition,
  tasks: readonly TaskRun[],
  step: PlanStep & { kind: 'SUBMIT' },
  id: number,
): readonly TaskRun[] {
  const definition = of.tasks.find(({ code }) => code === step.taskCode);
  if (definition === undefined) throw new Error(`submitted ${step.taskCode}, which the workflow does not have`);
  if (tasks.some(({ taskCode, id: old }) => taskCode === step.taskCode && old !== step.replaces))
    throw new Error(`submitted ${definition.name} twice`);
  const kept = tasks.filter((each) => each.id !== step.replaces);
  const made = attempt(id, definition, 'SUBMITTED_SUCCESS', { retryTimes: step.retryTimes, notBefore: step.notBefore });
  return [...kept, made];
}

export const setState = (facts: RunFacts, id: number, state: TaskState): RunFacts => ({
  ...facts,
  tasks: facts.tasks.map((each) => (each.id === id ? { ...each, state, endTime: facts.now } : each)),
});
