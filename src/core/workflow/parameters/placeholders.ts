import { ok, refuse } from '../../result.ts';
import type { Result } from '../../result.ts';

/** What a name stands for. */
export interface Named {
  /** null: declared without a value; it hides weaker declarations and its placeholder stays as it is. */
  readonly text: string | null;
  /** Not looked into: what reads as a placeholder in it is just text. */
  readonly literal: boolean;
  /** The parameter from outside whose characters make this unfit for a script; null: fit. */
  readonly unsafe: string | null;
}

export interface Expanded {
  readonly text: string;
  readonly unsafe: string | null;
}

export type Lookup = (name: string) => Named | undefined;

const DEEPEST = 50; // a parameter in a parameter in a parameter …
const LONGEST = 1_000_000; // characters; a few parameters that double each other reach any length

/**
 * The text with every `${name}` replaced that `lookup` knows, names in values and names made of names (`${${kind}_dir}`) included; any other
 * stays as it is, as it may be a shell's variable. BAD_PARAMETER for parameters that stand for each other in a circle.
 */
export function expand(text: string, lookup: Lookup): Result<Expanded> {
  return expandIn(text, lookup, []);
}

/** `path`: the parameters that we are in, outermost first; nested placeholders count with the empty name. */
function expandIn(text: string, lookup: Lookup, path: readonly string[]): Result<Expanded> {
  if (path.length > DEEPEST)
    return refuse(
      'BAD_PARAMETER',
      `Parameters are nested more than ${DEEPEST} deep: ${path[0]} and what it stands for.`,
    );
  let out = '';
  let unsafe: string | null = null;
  let from = 0;
  for (let start = text.indexOf('${'); start >= 0; start = text.indexOf('${', from)) {
    const end = closingBrace(text, start + 2);
    if (end < 0) break;
    const part = placeholder(text.slice(start + 2, end), lookup, path);
    if (!part.ok) return part;
    out += text.slice(from, start) + part.value.text;
    unsafe ??= part.value.unsafe;
    from = end + 1;
    if (out.length > LONGEST)
      return refuse('BAD_PARAMETER', `The parameters make a text of more than ${LONGEST} characters: shorten them.`);
  }
  return ok({ text: out + text.slice(from), unsafe });
}

/** Where the brace that was opened before `from` is closed; braces in between must match. -1: nowhere. */
function closingBrace(text: string, from: number): number {
  let open = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '{') open++;
    else if (text[at] === '}' && --open === 0) return at;
  }
  return -1;
}

function placeholder(inside: string, lookup: Lookup, path: readonly string[]): Result<Expanded> {
  if (!inside.includes('${')) return valueOf(inside, lookup, path);
  const name = expandIn(inside, lookup, [...path, '']);
  if (!name.ok) return name;
  const value = valueOf(name.value.text, lookup, path);
  return value.ok ? ok({ ...value.value, unsafe: name.value.unsafe ?? value.value.unsafe }) : value;
}

/** The value of the parameter of that name, expanded; its own placeholder if there is none. */
export const expandParameter = (name: string, lookup: Lookup): Result<Expanded> => valueOf(name, lookup, []);

function valueOf(name: string, lookup: Lookup, path: readonly string[]): Result<Expanded> {
  const named = lookup(name);
  if (named === undefined || named.text === null) return ok({ text: `\${${name}}`, unsafe: null });
  if (named.literal) return ok({ text: named.text, unsafe: named.unsafe });
  if (path.includes(name)) return circular([...path.slice(path.indexOf(name)), name]);
  const value = expandIn(named.text, lookup, [...path, name]);
  return value.ok ? ok({ text: value.value.text, unsafe: named.unsafe ?? value.value.unsafe }) : value;
}

const circular = (circle: readonly string[]): Result<never> =>
  refuse(
    'BAD_PARAMETER',
    `Parameters stand for each other in a circle: ${circle.filter(Boolean).join(' -> ')}. Give one of them a plain value.`,
  );
