import type { Parameter } from './definition.ts';

/* What a task gives to those behind it: `${setValue(name=value)}` or `#{setValue(name=value)}` in its log. */

const OPENINGS = ['${setValue(', '#{setValue('] as const;
const CLOSING = ')}';
const MOST_LINES = 1024; // that one value may span

/** All values in a log, by name; of two with one name the later stands. A value that is never closed is none. */
export function readOutput(lines: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (let at = 0; at < lines.length; at++) {
    let rest = lines[at] ?? '';
    for (let start = openingIn(rest); start !== null; start = openingIn(rest)) {
      const closed = untilClosed(rest.slice(start), lines, at);
      if (closed === null) break;
      const equals = closed.inside.indexOf('=');
      if (equals >= 0) values.set(closed.inside.slice(0, equals), closed.inside.slice(equals + 1));
      at = closed.line;
      rest = closed.rest;
    }
  }
  return values;
}

/** Where the inside of the first value begins; the first way of writing it goes before the second. */
function openingIn(line: string): number | null {
  const opening = OPENINGS.find((one) => line.includes(one));
  return opening === undefined ? null : line.indexOf(opening) + opening.length;
}

function untilClosed(
  begin: string,
  lines: readonly string[],
  line: number,
): { readonly inside: string; readonly rest: string; readonly line: number } | null {
  let text = begin;
  for (let at = line; ; at++) {
    const end = text.indexOf(CLOSING);
    if (end >= 0) return { inside: text.slice(0, end), rest: text.slice(end + CLOSING.length), line: at };
    const next = lines[at + 1];
    if (next === undefined || at - line >= MOST_LINES) return null;
    text += `\n${next}`;
  }
}

/** The outputs of the tasks before one, in the order in which those ended: of two with one name the later stands. */
export function mergeUpstream<P extends Parameter>(pools: readonly (readonly P[])[]): readonly P[] {
  return [...new Map(pools.flat().map((one) => [one.prop, one])).values()];
}
