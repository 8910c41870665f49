import { ok, refuse } from '../result.ts';
import type { Result } from '../result.ts';
import type { TaskDependType } from './run.ts';

/** A task's direct neighbours, by name. */
export interface GraphNode {
  readonly predecessors: ReadonlySet<string>;
  readonly successors: ReadonlySet<string>;
}

/** The tasks of a workflow and the edges between them, in the order in which the tasks were declared. Never holds a cycle. */
export type Graph = ReadonlyMap<string, GraphNode>;

/** A graph in the making; every function that takes a Graph also takes a draft. */
export type GraphDraft = Map<string, { readonly predecessors: Set<string>; readonly successors: Set<string> }>;

/** What a task must say to become part of a graph. */
export interface GraphTask {
  readonly name: string;
  readonly dependsOn: readonly string[];
}

/** Adds a task without edges; one that is there already stays as it is. */
export function addNode(draft: GraphDraft, name: string): void {
  if (!draft.has(name)) draft.set(name, { predecessors: new Set(), successors: new Set() });
}

/**
 * Adds the edge `from` → `to` (`to` waits for `from`); adding it again changes nothing. Linear in the size of the graph: each task is looked
 * at once, however many paths lead to it. Refused, without a change: an unknown end (BAD_REQUEST), and an edge that would close a
 * cycle, itself included (WORKFLOW_CYCLE, with the path).
 */
export function addEdge(draft: GraphDraft, from: string, to: string): Result<void> {
  const source = draft.get(from);
  const target = draft.get(to);
  if (source === undefined || target === undefined) {
    const missing = source === undefined ? from : to;
    return refuse('BAD_REQUEST', `There is no task ${missing}: add it before the edge ${from} -> ${to}.`);
  }
  const back = pathBetween(draft, to, from);
  if (back !== null) return refuseCycle(back);
  source.successors.add(to);
  target.predecessors.add(from);
  return ok(undefined);
}

/** The tasks on one path from `start` to `goal`, both included; null if there is none. */
function pathBetween(graph: Graph, start: string, goal: string): readonly string[] | null {
  const cameFrom = new Map<string, string | null>([[start, null]]);
  const open = [start];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === goal) return backTrack(cameFrom, goal);
    for (const next of successors(graph, name)) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, name);
      open.push(next);
    }
  }
  return null;
}

function backTrack(cameFrom: ReadonlyMap<string, string | null>, goal: string): readonly string[] {
  const path: string[] = [];
  for (let name: string | null = goal; name !== null; name = cameFrom.get(name) ?? null) path.push(name);
  return path.reverse();
}

/** `circle` holds each task of the cycle once, in the order of its edges. */
const refuseCycle = (circle: readonly string[]): ReturnType<typeof refuse> => {
  const path = [...circle, circle[0] ?? ''].join(' -> ');
  return refuse('WORKFLOW_CYCLE', `The tasks depend on each other in a circle: ${path}. Remove one of these edges.`);
};

/**
 * The graph of a workflow's tasks, in linear time. Refused: two tasks of one name, a name in dependsOn that no task has or that stands there
 * twice (BAD_FILE), and a cycle, a task that depends on itself included (WORKFLOW_CYCLE, with the path).
 */
export function buildGraph(tasks: readonly GraphTask[]): Result<Graph> {
  const draft: GraphDraft = new Map();
  for (const { name } of tasks) {
    if (draft.has(name)) return refuse('BAD_FILE', `Two tasks are called ${name}: give each task a name of its own.`);
    addNode(draft, name);
  }
  for (const { name, dependsOn } of tasks) {
    for (const before of dependsOn) {
      const source = draft.get(before);
      if (source === undefined)
        return refuse('BAD_FILE', `Task ${name} depends on ${before}, but no task of the workflow has that name.`);
      if (source.successors.has(name))
        return refuse('BAD_FILE', `Task ${name} names ${before} twice in dependsOn: once is enough.`);
      source.successors.add(name);
      draft.get(name)?.predecessors.add(before);
    }
  }
  const sorted = sort(draft);
  return sorted.circle === null ? ok(draft) : refuseCycle(sorted.circle);
}

/** Depth first over the predecessors, with a stack of our own: a chain of 10,000 tasks is deeper than the engine's. */
function sort(graph: Graph): { readonly order: readonly string[]; readonly circle: readonly string[] | null } {
  const order: string[] = [];
  const done = new Set<string>();
  for (const root of graph.keys()) {
    if (done.has(root)) continue;
    const trail = new Map([[root, predecessors(graph, root).values()]]);
    const path = [root];
    for (let name = path.at(-1); name !== undefined; name = path.at(-1)) {
      const step = trail.get(name)?.next();
      if (step === undefined || step.done === true) {
        order.push(name);
        done.add(name);
        trail.delete(name);
        path.pop();
      } else if (trail.has(step.value)) {
        return { order, circle: path.slice(path.indexOf(step.value)).reverse() };
      } else if (!done.has(step.value)) {
        trail.set(step.value, predecessors(graph, step.value).values());
        path.push(step.value);
      }
    }
  }
  return { order, circle: null };
}

const NONE: ReadonlySet<string> = new Set();

/** Direct predecessors; none for an unknown name. */
export const predecessors = (graph: Graph, name: string): ReadonlySet<string> => graph.get(name)?.predecessors ?? NONE;

/** Direct successors; none for an unknown name. */
export const successors = (graph: Graph, name: string): ReadonlySet<string> => graph.get(name)?.successors ?? NONE;

export const inDegree = (graph: Graph, name: string): number => predecessors(graph, name).size;

export const edgeCount = (graph: Graph): number =>
  [...graph.values()].reduce((sum, node) => sum + node.successors.size, 0);

/** Tasks that wait for no other, in the order of declaration. */
export const beginNodes = (graph: Graph): readonly string[] =>
  [...graph.keys()].filter((name) => inDegree(graph, name) === 0);

/** Tasks for which no other waits, in the order of declaration. */
export const endNodes = (graph: Graph): readonly string[] =>
  [...graph.keys()].filter((name) => successors(graph, name).size === 0);

/** All tasks, each after its predecessors; tasks declared in such an order keep it. */
export const topologicalOrder = (graph: Graph): readonly string[] => sort(graph).order;

/** False for every graph made by addEdge or buildGraph; true can only be a draft that was written to by other means. */
export const hasCycle = (graph: Graph): boolean => sort(graph).circle !== null;

/** Everything that leads to one of `names`, without `names` themselves unless one leads to another. */
export const ancestors = (graph: Graph, names: Iterable<string>): ReadonlySet<string> =>
  reach(names, (name) => predecessors(graph, name));

/** Everything that one of `names` leads to, without `names` themselves unless one leads to another. */
export const descendants = (graph: Graph, names: Iterable<string>): ReadonlySet<string> =>
  reach(names, (name) => successors(graph, name));

function reach(names: Iterable<string>, step: (name: string) => ReadonlySet<string>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const next of step(name)) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(next);
    }
  }
  return reached;
}

/**
 * The part of the graph that a run covers: the start tasks alone (TASK_ONLY), with all that leads to them (TASK_PRE), or with all that follows
 * (TASK_POST); no start tasks means all begin nodes. Edges that leave the part are cut, so a start task waits for nothing outside
 * of it. Refused: a start task that the workflow does not have (NOT_FOUND).
 */
export function selectSubgraph(graph: Graph, startTasks: readonly string[], type: TaskDependType): Result<Graph> {
  const unknown = startTasks.find((name) => !graph.has(name));
  if (unknown !== undefined)
    return refuse(
      'NOT_FOUND',
      `The workflow has no task ${unknown}: start from one of ${[...graph.keys()].join(', ')}.`,
    );
  const start = startTasks.length === 0 ? beginNodes(graph) : startTasks;
  const more = type === 'TASK_ONLY' ? NONE : type === 'TASK_PRE' ? ancestors(graph, start) : descendants(graph, start);
  const kept = new Set([...start, ...more]);
  const inside = (names: ReadonlySet<string>): ReadonlySet<string> =>
    new Set([...names].filter((name) => kept.has(name)));
  const part = [...graph].filter(([name]) => kept.has(name));
  return ok(
    new Map(
      part.map(([name, node]) => [
        name,
        { predecessors: inside(node.predecessors), successors: inside(node.successors) },
      ]),
    ),
  );
}
