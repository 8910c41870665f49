import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as graphs from '../../../src/core/workflow/graph.ts';
import type { Graph, GraphDraft, GraphTask } from '../../../src/core/workflow/graph.ts';

function draftOf(edges: string): { draft: GraphDraft; refused: string[] } {
  const draft: GraphDraft = new Map();
  const refused: string[] = [];
  const pairs = edges
    .split(' ')
    .filter(Boolean)
    .map((edge) => edge.split('>'));
  for (const name of pairs.flat()) graphs.addNode(draft, name);
  for (const [from = '', to = ''] of pairs) {
    const added = graphs.addEdge(draft, from, to);
    if (!added.ok) refused.push(added.problem.detail);
  }
  return { draft, refused };
}

const built = (tasks: readonly GraphTask[]): Graph => {
  const graph = graphs.buildGraph(tasks);
  if (!graph.ok) throw new Error(graph.problem.detail);
  return graph.value;
};

/** k diamonds on top of each other: 2^k paths from top to bottom, over 3k+1 tasks. */
const diamonds = (k: number): GraphTask[] => [
  { name: 'j0', dependsOn: [] },
  ...Array.from({ length: k }, (_, i) => [
    { name: `a${i}`, dependsOn: [`j${i}`] },
    { name: `b${i}`, dependsOn: [`j${i}`] },
    { name: `j${i + 1}`, dependsOn: [`a${i}`, `b${i}`] },
  ]).flat(),
];

describe('addEdge', () => {
  test.each([
    ['A>B A>C B>C B>D D>E E>A', 'A -> B -> D -> E -> A'],
    ['A>B A>C B>D C>D D>E E>F F>A', /A -> [BC] -> D -> E -> F -> A/],
    ['D>B D>E B>E E>C C>A A>D', /D -> (B -> )?E -> C -> A -> D/],
    ['A>A', 'A -> A'],
  ])('refuses the edge that closes a cycle, naming it: %s', (edges, path) => {
    const { draft, refused } = draftOf(edges);
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatch(path);
    expect(graphs.hasCycle(draft)).toBe(false);
  });

  test('an unknown end is refused, a known edge again is nothing new', () => {
    const { draft } = draftOf('A>B');
    expect(graphs.addEdge(draft, 'A', 'Z')).toMatchObject({ ok: false, problem: { code: 'BAD_REQUEST' } });
    expect(graphs.addEdge(draft, 'Z', 'A')).toMatchObject({ ok: false, problem: { code: 'BAD_REQUEST' } });
    expect(graphs.addEdge(draft, 'A', 'B').ok).toBe(true);
    expect(graphs.edgeCount(draft)).toBe(1);
  });

  test('60 stacked diamonds: an edge from bottom to top is refused and one to the top taken, at once', () => {
    const draft: GraphDraft = new Map();
    const tasks = diamonds(60);
    for (const { name } of tasks) graphs.addNode(draft, name);
    for (const { name, dependsOn } of tasks)
      for (const before of dependsOn) expect(graphs.addEdge(draft, before, name).ok).toBe(true);
    expect(graphs.addEdge(draft, 'j60', 'j0')).toMatchObject({ ok: false, problem: { code: 'WORKFLOW_CYCLE' } });
    // nothing to find below j0, over 2^60 paths
    graphs.addNode(draft, 'x');
    expect(graphs.addEdge(draft, 'x', 'j0').ok).toBe(true);
    expect(graphs.topologicalOrder(draft)).toHaveLength(182);
  });
});

describe('buildGraph', () => {
  test.each<[string, GraphTask[], string, RegExp]>([
    [
      'a name twice',
      [
        { name: 'a', dependsOn: [] },
        { name: 'a', dependsOn: [] },
      ],
      'BAD_FILE',
      /Two tasks are called a/,
    ],
    ['an unknown name', [{ name: 'a', dependsOn: ['b'] }], 'BAD_FILE', /Task a depends on b/],
    [
      'an edge twice',
      [
        { name: 'a', dependsOn: [] },
        { name: 'b', dependsOn: ['a', 'a'] },
      ],
      'BAD_FILE',
      /twice/,
    ],
    ['itself', [{ name: 'a', dependsOn: ['a'] }], 'WORKFLOW_CYCLE', /a -> a/],
    [
      'a cycle behind an innocent task',
      [
        { name: 'x', dependsOn: ['c'] },
        { name: 'a', dependsOn: ['c'] },
        { name: 'b', dependsOn: ['a'] },
        { name: 'c', dependsOn: ['b'] },
      ],
      'WORKFLOW_CYCLE',
      /a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c/,
    ],
  ])('refuses %s', (_, tasks, code, detail) => {
    const graph = graphs.buildGraph(tasks);
    expect(graph).toMatchObject({ ok: false, problem: { code } });
    if (!graph.ok) expect(graph.problem.detail).toMatch(detail);
  });

  test('10,000 tasks in a chain declared backwards, and 10,000 diamonds, are linear and not deep', () => {
    const n = 10_000;
    const chain = Array.from({ length: n }, (_, i) => ({ name: `t${i}`, dependsOn: i + 1 < n ? [`t${i + 1}`] : [] }));
    const order = graphs.topologicalOrder(built(chain));
    expect(order[0]).toBe(`t${n - 1}`);
    expect(order.at(-1)).toBe('t0');
    const wide = built(diamonds(n));
    expect(graphs.ancestors(wide, [`j${n}`]).size).toBe(3 * n);
    const closed = [{ name: 't0', dependsOn: ['t1'] }, ...chain.slice(1, -1), { name: `t${n - 1}`, dependsOn: ['t0'] }];
    expect(graphs.buildGraph(closed)).toMatchObject({ ok: false, problem: { code: 'WORKFLOW_CYCLE' } });
  });
});

describe('neighbours', () => {
  const graph = built([
    { name: 'c', dependsOn: ['a', 'b'] },
    { name: 'a', dependsOn: [] },
    { name: 'b', dependsOn: ['a'] },
    { name: 'lone', dependsOn: [] },
  ]);

  test('begin, end, direct, all', () => {
    expect(graphs.beginNodes(graph)).toEqual(['a', 'lone']);
    expect(graphs.endNodes(graph)).toEqual(['c', 'lone']);
    expect([...graphs.predecessors(graph, 'c')]).toEqual(['a', 'b']);
    expect([...graphs.successors(graph, 'a')].sort()).toEqual(['b', 'c']);
    expect([...graphs.ancestors(graph, ['c'])].sort()).toEqual(['a', 'b']);
    expect([...graphs.descendants(graph, ['a'])].sort()).toEqual(['b', 'c']);
    expect(graphs.inDegree(graph, 'c')).toBe(2);
    expect(graphs.predecessors(graph, 'nobody').size).toBe(0);
  });

  test.each([
    ['TASK_ONLY', ['b'], ['b']],
    ['TASK_PRE', ['b'], ['a', 'b']],
    ['TASK_POST', ['b'], ['c', 'b']],
    ['TASK_POST', [], ['c', 'a', 'b', 'lone']],
    ['TASK_ONLY', [], ['a', 'lone']],
  ] as const)('selects %s of %j', (type, start, names) => {
    const part = graphs.selectSubgraph(graph, start, type);
    expect(part.ok && [...part.value.keys()]).toEqual(names);
  });

  test('edges out of the selection are cut; an unknown start is refused', () => {
    const part = graphs.selectSubgraph(graph, ['b'], 'TASK_POST');
    expect(part.ok && [...graphs.predecessors(part.value, 'c')]).toEqual(['b']);
    expect(part.ok && graphs.beginNodes(part.value)).toEqual(['b']);
    expect(graphs.selectSubgraph(graph, ['z'], 'TASK_ONLY')).toMatchObject({
      ok: false,
      problem: { code: 'NOT_FOUND' },
    });
  });
});

describe('any sequence of edges', () => {
  const node = fc.integer({ min: 0, max: 7 }).map((n) => `n${n}`);
  const edges = fc.array(fc.tuple(node, node), { maxLength: 40 });

  test('an edge is refused exactly when its end already leads to its start, and the order is topological', () => {
    fc.assert(
      fc.property(edges, (list) => {
        const draft: GraphDraft = new Map();
        for (const name of list.flat()) graphs.addNode(draft, name);
        for (const [from, to] of list) {
          const closes = from === to || graphs.descendants(draft, [to]).has(from);
          expect(graphs.addEdge(draft, from, to).ok).toBe(!closes);
        }
        const order = graphs.topologicalOrder(draft);
        expect([...order].sort()).toEqual([...draft.keys()].sort());
        for (const [name, { successors }] of draft)
          for (const next of successors) expect(order.indexOf(name)).toBeLessThan(order.indexOf(next));
      }),
    );
  });

  test('buildGraph refuses exactly what edge by edge is refused, and tasks declared in order keep it', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(node, node), { selector: String, maxLength: 40 }), (list) => {
        const names = [...new Set(list.flat())];
        const tasks = names.map((name) => ({
          name,
          dependsOn: list.filter(([, to]) => to === name).map(([from]) => from),
        }));
        const draft: GraphDraft = new Map();
        for (const name of names) graphs.addNode(draft, name);
        const allTaken = list.map(([from, to]) => graphs.addEdge(draft, from, to).ok).every(Boolean);
        const graph = graphs.buildGraph(tasks);
        expect(graph.ok).toBe(allTaken);
        if (!graph.ok) return;
        const order = graphs.topologicalOrder(graph.value);
        const again = order.map((name) => ({ name, dependsOn: [...graphs.predecessors(graph.value, name)] }));
        expect(graphs.topologicalOrder(built(again))).toEqual(order);
      }),
    );
  });

  test('the path that a refusal names is made of real edges', () => {
    fc.assert(
      fc.property(edges, (list) => {
        const draft: GraphDraft = new Map();
        for (const name of list.flat()) graphs.addNode(draft, name);
        for (const [from, to] of list) {
          const added = graphs.addEdge(draft, from, to);
          if (added.ok) continue;
          const path = /circle: (.*)\. Remove/.exec(added.problem.detail)?.[1]?.split(' -> ') ?? [];
          expect(path[0]).toBe(path.at(-1));
          const steps = path.slice(1).map((next, i) => [path[i] ?? '', next] as const);
          for (const [one, next] of steps)
            expect(graphs.successors(draft, one).has(next) || (one === from && next === to)).toBe(true);
          expect(steps.some(([one, next]) => one === from && next === to)).toBe(true);
        }
      }),
    );
  });
});
