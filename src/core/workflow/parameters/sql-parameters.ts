import type { Parameter } from '../definition.ts';

/** A parameter as DolphinScheduler types it: VARCHAR, INTEGER …, and LIST, which holds a JSON array. */
export interface TypedParameter extends Parameter {
  readonly type: string;
}

export interface BoundSql {
  readonly sql: string;
  /** One for each `?` that was put in, in order. */
  readonly parameters: readonly TypedParameter[];
}

/** `${name}`, with the quotes around it if it stands alone in quotes: a bound value needs none. */
const PLACEHOLDER = /(['"]?)\$\{([^}]+)\}\1/g;

/** A statement with `?` for every `${name}` that a parameter has: one for a value, one for each element of a LIST. Other names stay. */
export function bindSql(sql: string, parameters: readonly TypedParameter[]): BoundSql {
  const known = new Map(parameters.map((one) => [one.prop, one]));
  const bound: TypedParameter[] = [];
  const text = sql.replace(PLACEHOLDER, (whole, _quote: string, name: string) => {
    const one = known.get(name);
    if (one === undefined) return whole;
    const values = one.type === 'LIST' ? elementsOf(one) : [one];
    bound.push(...values);
    return values.map(() => '?').join(',');
  });
  return { sql: text, parameters: bound };
}

function elementsOf(list: TypedParameter): readonly TypedParameter[] {
  return arrayIn(list.value).map((element) => ({
    ...list,
    type: typeOf(element),
    value: typeof element === 'string' ? element : JSON.stringify(element),
  }));
}

/** A LIST that is no JSON array is one value. */
function arrayIn(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [text];
  } catch {
    return [text];
  }
}

function typeOf(element: unknown): string {
  if (typeof element === 'number') return Number.isInteger(element) ? 'INTEGER' : 'DOUBLE';
  return typeof element === 'boolean' ? 'BOOLEAN' : 'VARCHAR';
}
