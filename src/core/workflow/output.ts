import type { Parameter, TaskDefinition, WorkflowDefinition } from './definition.ts';
import { ancestors, buildGraph } from './graph.ts';
import type { TaskRun } from './run.ts';

/* What a task gives to those behind it: `${setValue(name=value)}` or `#{setValue(name=value)}` in its log. */

const OPENINGS = ['${setValue(', '#{setValue('] as const;
const CLOSING = ')}';
const MOST_LINES = 1024; // that one value may span
const MOST_CHARACTERS = 1_000_000;

/** Takes a log line by line; `values` are those found so far, of two with one name the later. */
export interface OutputReader {
  readonly values: ReadonlyMap<string, string>;
  line(text: string): void;
}

/**
 * Finds values in a log of any length, in time that grows with its length alone. A value that is not closed within 1,024 more lines, or a million
 * characters, is none, and the line that opened it holds no other.
 */
export function outputReader(): OutputReader {
  const values = new Map<string, string>();
  let open: readonly string[] = []; // the value that is not closed yet: none of these lines closes one
  const keep = (inside: string): void => {
    const equals = inside.indexOf('=');
    if (equals >= 0) values.set(inside.slice(0, equals), inside.slice(equals + 1));
  };
  const scan = (text: string): void => {
    let rest = text;
    for (let start = openingIn(rest); start !== null; start = openingIn(rest)) {
      const end = rest.indexOf(CLOSING, start);
      if (end < 0) {
        open = [rest.slice(start)];
        return;
      }
      keep(rest.slice(start, end));
      rest = rest.slice(end + CLOSING.length);
    }
  };
  const line = (text: string): void => {
    if (open.length === 0) return scan(text);
    const end = text.indexOf(CLOSING);
    if (end < 0) {
      open = whileShort([...open, text]);
      return;
    }
    keep([...open, text.slice(0, end)].join('\n'));
    open = [];
    scan(text.slice(end + CLOSING.length));
  };
  return { values, line };
}

/** All values in a log, by name. */
export function readOutput(lines: readonly string[]): ReadonlyMap<string, string> {
  const reader = outputReader();
  for (const line of lines) reader.line(line);
  return reader.values;
}

/** Where the inside of the first value begins; the first way of writing it goes before the second. */
function openingIn(line: string): number | null {
  const opening = OPENINGS.find((one) => line.includes(one));
  return opening === undefined ? null : line.indexOf(opening) + opening.length;
}

/** The lines, or where they are too many those from the next line on that opens a value. */
function whileShort(lines: readonly string[]): readonly string[] {
  const characters = lines.reduce((sum, { length }) => sum + length, 0);
  if (lines.length <= MOST_LINES && characters <= MOST_CHARACTERS) return lines;
  for (let at = 1; at < lines.length; at++) {
    const start = openingIn(lines[at] ?? '');
    if (start !== null) return whileShort([(lines[at] ?? '').slice(start), ...lines.slice(at + 1)]);
  }
  return [];
}

/** The outputs of the tasks before one, in the order in which those ended: of two with one name the later stands. */
export function mergeUpstream<P extends Parameter>(pools: readonly (readonly P[])[]): readonly P[] {
  return [...new Map(pools.flat().map((one) => [one.prop, one])).values()];
}

/** What the tasks before this one, near and far, gave out, `attempts` being those of its run that count: of two values of one name the later stands. */
export function upstreamOutputs(
  { tasks }: Pick<WorkflowDefinition, 'tasks'>,
  { name }: Pick<TaskDefinition, 'name'>,
  attempts: readonly Pick<TaskRun, 'id' | 'name' | 'endTime' | 'outputs'>[],
): readonly Parameter[] {
  const graph = buildGraph(tasks);
  const before = graph.ok ? ancestors(graph.value, [name]) : new Set<string>();
  const ended = (one: { readonly endTime: bigint | null }): bigint => one.endTime ?? 0n;
  const inOrder = attempts
    .filter((attempt) => before.has(attempt.name))
    .sort((a, b) => (ended(a) < ended(b) ? -1 : ended(a) > ended(b) ? 1 : a.id - b.id));
  return mergeUpstream(inOrder.map(({ outputs }) => outputs));
}
