import * as graphs from '../../src/core/workflow/graph.ts';
import type { Graph, GraphDraft } from '../../src/core/workflow/graph.ts';
import { mergeUpstream, readOutput } from '../../src/core/workflow/output.ts';
import {
  businessTimes,
  globalParametersOf,
  resolveParameters,
  resolveText,
} from '../../src/core/workflow/parameters/parameters.ts';
import type { ParameterSources } from '../../src/core/workflow/parameters/parameters.ts';
import { planRun } from '../../src/core/workflow/plan.ts';
import type { RunFacts } from '../../src/core/workflow/plan.ts';
import type { TaskDependType } from '../../src/core/workflow/run.ts';
import type { TypedParameter } from '../../src/core/workflow/parameters/sql-parameters.ts';
import { bindSql } from '../../src/core/workflow/parameters/sql-parameters.ts';
import { replaceTimes } from '../../src/core/workflow/parameters/time-expression.ts';
import { toInstant, utc } from '../../src/core/workflow/parameters/zone.ts';
import type { Problem, Result } from '../../src/core/result.ts';
import { attempt, run, setState, task, workflow, write } from '../core/workflow/simulate.ts';

/** What one line asks; each family's input has the shape that its README says. */
export interface CaseLine {
  readonly family: string;
  readonly input: CaseInput;
}

type Edge = readonly [string, string];

interface Property {
  readonly name: string;
  readonly direction: 'IN' | 'OUT';
  readonly type: string;
  readonly value: string | null;
}

interface Setting {
  readonly type?: string;
  readonly forbidden?: boolean;
  readonly fails?: boolean;
}

/** All families' fields in one: which are there depends on the family and on `call`. */
export interface CaseInput {
  readonly call: string;
  readonly nodes: readonly string[];
  readonly tasks: readonly string[];
  readonly edges: readonly Edge[];
  readonly startTasks: readonly string[];
  readonly recoveryTasks: readonly string[];
  readonly range: TaskDependType;
  readonly settings: Readonly<Record<string, Setting>>;
  readonly failureStrategy: 'CONTINUE' | 'END';
  readonly forbidden: readonly string[];
  readonly after: string | null;
  readonly branch: object | null;
  readonly complete: readonly string[];
  readonly text: string;
  readonly values: Readonly<Record<string, string | null>>;
  readonly zone: string;
  readonly instant: string;
  readonly scheduleTime: string | null;
  readonly project?: readonly Property[];
  readonly global?: readonly Property[];
  readonly local?: readonly Property[];
  readonly start?: readonly Property[];
  readonly upstream?: readonly Property[];
  readonly list: readonly Property[];
  readonly map: Readonly<Record<string, string>>;
  readonly sql: string;
  readonly parameters: readonly Property[];
  readonly log: readonly string[];
  readonly pools: readonly (readonly Property[])[];
}

export type CaseAnswer = { readonly output: object } | { readonly error: string };

const NOT_YET: CaseAnswer = { error: 'not answered yet' };

const CALLS: Readonly<Record<string, (input: CaseInput) => CaseAnswer>> = {
  dag: answerDag,
  'subdag.select': answerSelect,
  'subdag.run': answerRun,
  'subdag.selectOld': answerSelectOld,
  'subdag.nextOld': answerNextOld,
  'time-expressions.timeExpression': ({ text, zone, instant }) =>
    fromResult(replaceTimes(text, { at: msOf(instant), timezone: zone }), (value) => ({ text: value })),
  'time-expressions.businessTime': answerBusinessTime,
  'parameters.replace': answerReplace,
  'parameters.prepare': answerPrepare,
  'parameters.global': ({ list, map }) => ({
    output: { list: globalParametersOf(list.map(declared), map).map(asProperty) },
  }),
  'parameters.expandList': answerExpandList,
  'parameters.readOutput': ({ log }) => ({ output: { values: Object.fromEntries(readOutput(log)) } }),
  'parameters.mergeUpstream': answerMerge,
};

export function answerCase({ family, input }: CaseLine): CaseAnswer {
  const answer = CALLS[family] ?? CALLS[`${family}.${input.call}`];
  return answer === undefined ? NOT_YET : answer(input);
}

const refused = (problem: Problem): CaseAnswer => ({ error: problem.detail });

const fromResult = <T>(result: Result<T>, output: (value: T) => object): CaseAnswer =>
  result.ok ? { output: output(result.value) } : refused(result.problem);

const msOf = (iso: string): bigint => BigInt(Date.parse(iso));

// --- dag, subdag ---

function answerDag({ nodes, edges }: CaseInput): CaseAnswer {
  const draft: GraphDraft = new Map();
  for (const name of nodes) graphs.addNode(draft, name);
  const addEdge = edges.map(([from, to]) => graphs.addEdge(draft, from, to).ok);
  const neighbours = (of: (graph: Graph, name: string) => ReadonlySet<string>): object =>
    Object.fromEntries(
      nodes.map((name) => [name, [...of(draft, name)]] as const).filter(([, names]) => names.length > 0),
    );
  const degrees = nodes.map((name) => [name, graphs.inDegree(draft, name)] as const);
  return {
    output: {
      addEdge,
      nodeCount: draft.size,
      edgeCount: graphs.edgeCount(draft),
      begin: graphs.beginNodes(draft),
      end: graphs.endNodes(draft),
      previous: neighbours(graphs.predecessors),
      subsequent: neighbours(graphs.successors),
      inDegree: Object.fromEntries(degrees.filter(([, degree]) => degree > 0)),
      hasCycle: graphs.hasCycle(draft),
      topologicalSort: graphs.topologicalOrder(draft),
    },
  };
}

const graphOf = ({ tasks, edges }: CaseInput): Result<Graph> =>
  graphs.buildGraph(
    tasks.map((name) => ({ name, dependsOn: edges.flatMap(([from, to]) => (to === name ? [from] : [])) })),
  );

function answerSelect(input: CaseInput): CaseAnswer {
  const graph = graphOf(input);
  if (!graph.ok) return refused(graph.problem);
  return fromResult(graphs.selectSubgraph(graph.value, input.startTasks, input.range), (part) => ({
    visited: graphs.topologicalOrder(part).map((name) => [name, [...graphs.successors(graph.value, name)]]),
    graphStart: graphs.beginNodes(graph.value),
  }));
}

/** The old engine's rule with a list of recovery tasks has no counterpart here: recovery looks at attempts. */
function answerSelectOld(input: CaseInput): CaseAnswer {
  const graph = graphOf(input);
  if (!graph.ok) return refused(graph.problem);
  if (input.recoveryTasks.length > 0) return NOT_YET;
  return fromResult(graphs.selectSubgraph(graph.value, input.startTasks, input.range), (part) => ({
    selected: [...part.keys()],
    edges: [...part].flatMap(([name, { successors }]) => [...successors].map((to) => [name, to])),
    begin: graphs.beginNodes(part),
  }));
}

function factsOf({ tasks, edges, failureStrategy }: CaseInput, isForbidden: (name: string) => boolean): RunFacts {
  const definitions = tasks.map((name, index) =>
    task(index + 1, name, {
      dependsOn: edges.flatMap(([from, to]) => (to === name ? [from] : [])),
      flag: isForbidden(name) ? 'NO' : 'YES',
    }),
  );
  return {
    run: run({ failureStrategy: failureStrategy ?? 'CONTINUE' }),
    workflow: workflow(definitions),
    tasks: [],
    now: 0n,
  };
}

/** Plays the whole run: every submitted task ends at once, as the case says. */
function answerRun(input: CaseInput): CaseAnswer {
  if (Object.values(input.settings).some(({ type }) => type !== undefined)) return NOT_YET; // SWITCH and CONDITIONS tasks
  let facts = factsOf(input, (name) => input.settings[name]?.forbidden === true);
  const startOrder: string[] = [];
  let nextId = 1;
  for (let steps = planRun(facts); steps.length > 0; steps = planRun(facts)) {
    ({ facts, nextId } = write(facts, steps, nextId));
    const first = facts.tasks.find(({ state }) => state === 'SUBMITTED_SUCCESS');
    if (first === undefined) continue;
    for (const each of facts.tasks.filter(({ state }) => state === 'SUBMITTED_SUCCESS')) {
      startOrder.push(each.name);
      facts = setState(facts, each.id, input.settings[each.name]?.fails === true ? 'FAILURE' : 'SUCCESS');
    }
  }
  const forbidden = passedWithoutRunning(input, facts);
  const word = (name: string): string => {
    const state = facts.tasks.find((each) => each.name === name)?.state;
    if (state === undefined) return forbidden.has(name) ? 'forbidden' : 'not reached';
    return state === 'SUCCESS' ? 'success' : 'failed';
  };
  return {
    output: {
      tasks: Object.fromEntries(input.tasks.map((name) => [name, word(name)])),
      workflow: facts.run.state,
      startOrder,
    },
  };
}

/** Forbidden tasks with nothing unfinished before them. */
function passedWithoutRunning(input: CaseInput, { workflow: of, tasks }: RunFacts): ReadonlySet<string> {
  const graph = graphs.buildGraph(of.tasks);
  if (!graph.ok) return new Set();
  const passed = new Set(tasks.filter(({ state }) => state === 'SUCCESS').map(({ name }) => name));
  const forbidden = new Set<string>();
  for (const name of graphs.topologicalOrder(graph.value)) {
    if (input.settings[name]?.forbidden !== true) continue;
    if (![...graphs.predecessors(graph.value, name)].every((before) => passed.has(before))) continue;
    passed.add(name);
    forbidden.add(name);
  }
  return forbidden;
}

/** Which of the tasks that our plan submits come after the given one, over tasks that are done or forbidden. */
function answerNextOld(input: CaseInput): CaseAnswer {
  if (input.branch !== null) return NOT_YET; // SWITCH and CONDITIONS tasks
  const bare = factsOf(input, (name) => input.forbidden.includes(name));
  const done = bare.workflow.tasks.filter(({ name }) => input.complete.includes(name));
  const steps = planRun({ ...bare, tasks: done.map((one, index) => attempt(index + 1, one, 'SUCCESS')) });
  const submitted = new Set(steps.flatMap((step) => (step.kind === 'SUBMIT' ? [step.taskCode] : [])));
  const graph = graphs.buildGraph(bare.workflow.tasks);
  if (!graph.ok) return refused(graph.problem);
  const behind = input.after === null ? new Set(input.tasks) : graphs.descendants(graph.value, [input.after]);
  const next = bare.workflow.tasks.filter(({ code, name }) => submitted.has(code) && behind.has(name));
  return { output: { next: next.map(({ name }) => name), skipped: [] } };
}

// --- parameters, time-expressions ---

/** Without a schedule time theirs puts nothing in; ours counts from now, which these cases do not give. */
function answerBusinessTime({ scheduleTime, zone }: CaseInput): CaseAnswer {
  return {
    output: { parameters: scheduleTime === null ? {} : businessTimes({ at: msOf(scheduleTime), timezone: zone }) },
  };
}

function answerReplace({ text, values, zone }: CaseInput): CaseAnswer {
  const [, y, mo, d, h, mi, s] = /^(....)(..)(..)(..)(..)(..)$/.exec(values['system.datetime'] ?? '') ?? [];
  const local = utc(Number(y), Number(mo), Number(d), Number(h), Number(mi), Number(s));
  const named = Object.entries(values).map(
    ([name, value]) => [name, { text: value, literal: false, unsafe: null }] as const,
  );
  const result = resolveText(text, new Map(named), { at: toInstant(zone, local), timezone: zone });
  return fromResult(result, (value) => ({ text: value.text }));
}

function answerPrepare(input: CaseInput): CaseAnswer {
  const { scheduleTime, zone, project = [], global = [], local = [], start = [], upstream = [] } = input;
  const at = scheduleTime === null ? null : msOf(scheduleTime);
  const definition = { ...task(1001, 'task'), localParams: local.map(declared) };
  const sources: ParameterSources = {
    run: run({ scheduleTime: at, params: Object.fromEntries(start.map(({ name, value }) => [name, value ?? ''])) }),
    workflow: { ...workflow([], { timezone: zone }), globalParams: global.map(declared) },
    task: definition,
    taskRun: attempt(7, task(1001, 'task'), 'SUBMITTED_SUCCESS'),
    projectParams: project.map(declared),
    upstream: upstream.map(valued),
    pins: [],
    builtIns: {},
    now: at ?? 0n,
  };
  return fromResult(resolveParameters(sources), ({ values }) => ({
    // What Sluice adds to theirs: the trigger.
    values: Object.fromEntries(
      [...values].filter(([name]) => !name.startsWith('trigger.')).map(([name, { text }]) => [name, text]),
    ),
  }));
}

function answerExpandList({ sql, parameters }: CaseInput): CaseAnswer {
  const bound = bindSql(sql, parameters.map(valued));
  return { output: { sql: bound.sql, parameters: bound.parameters.map(asProperty) } };
}

/** No upstream task at all is null in theirs. */
function answerMerge({ pools }: CaseInput): CaseAnswer {
  return {
    output: {
      merged: pools.length === 0 ? null : mergeUpstream(pools.map((pool) => pool.map(valued))).map(asProperty),
    },
  };
}

interface Declared {
  readonly prop: string;
  readonly direct: 'IN' | 'OUT';
  readonly type: string;
  readonly value: string | null;
}

const declared = ({ name, direction, type, value }: Property): Declared => ({
  prop: name,
  direct: direction,
  type,
  value,
});

const valued = (one: Property): TypedParameter => ({ ...declared(one), value: one.value ?? '' });

const asProperty = ({ prop, direct, type, value }: Declared): Property => ({
  name: prop,
  direction: direct,
  type,
  value,
});
