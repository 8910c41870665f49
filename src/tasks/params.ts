import { nearest } from '../core/nearest.ts';
import { ok, type Result, refuse } from '../core/result.ts';

/** Refuses a parameter that the task type does not have, with the one that was probably meant. */
export function checkNames(
  type: string,
  params: Readonly<Record<string, unknown>>,
  known: readonly string[],
): Result<void> {
  const unknown = Object.keys(params).find((name) => !known.includes(name));
  if (unknown === undefined) return ok(undefined);
  const meant = nearest(unknown, known);
  const has = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`;
  const hint = meant === undefined ? has : `did you mean ${meant}?`;
  return refuse('BAD_FILE', `A ${type} task has no parameter ${unknown}: ${hint}${hint.endsWith('?') ? '' : '.'}`);
}
