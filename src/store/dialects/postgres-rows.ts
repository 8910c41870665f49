import type { ManyRows } from '../dialect.ts';
import type { ColumnKind } from '../table.ts';

/** Beyond this, what one statement sends is large enough. */
const MOST = 5_000;

const TYPES: Readonly<Record<string, string>> = { id: 'bigint', int: 'bigint', flag: 'smallint' };
const typeOf = (kind: ColumnKind): string => TYPES[kind.replace('?', '')] ?? 'text';

/**
 * Rows as one array a column: one statement and one parameter a column, however many rows there are. A parameter for each value costs
 * the driver more than the values do: a thousand rows of thirty columns took 15 ms of processor time to send, as arrays 6 ms.
 */
export const arraysOfColumns: ManyRows = {
  sizes: [MOST],
  sameText: true,
  text: (kinds) => `select * from unnest(${kinds.map((kind, i) => `$${i + 1}::${typeOf(kind)}[]`).join(', ')})`,
  values: (rows, columns) => columns.map((column) => arrayOf(rows, column)),
};

/** Nulls at the end are left out: unnest makes the arrays equally long with them, and many columns of an event hold nothing else. */
const arrayOf = (rows: readonly Readonly<Record<string, unknown>>[], column: string): string => {
  let text = '';
  let nulls = '';
  for (const row of rows) {
    const value = row[column];
    if (value === null || value === undefined) {
      nulls += 'NULL,';
      continue;
    }
    text += `${nulls}${element(value)},`;
    nulls = '';
  }
  return `{${text.slice(0, -1)}}`;
};

/** A value in the notation of arrays. */
const element = (value: unknown): string => {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return `"${/["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value.toString();
  throw new TypeError(`A ${typeof value} (${String(value)}) cannot be stored exactly; use bigint or text.`);
};
