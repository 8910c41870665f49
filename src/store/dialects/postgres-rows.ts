import type { LoadRows, ManyRows } from '../dialect.ts';
import type { ColumnKind } from '../table.ts';

/** How a statement begins whose only parameter is what it copies from. */
export const COPY_VERB = 'copy ';

/** Beyond this, what one statement sends is large enough. */
const MOST = 5_000;

const TYPES: Readonly<Record<string, string>> = { id: 'bigint', int: 'bigint', flag: 'smallint' };
const typeOf = (kind: ColumnKind): string => TYPES[kind.replace('?', '')] ?? 'text';

/**
 * COPY: PostgreSQL's own text format spares it from taking apart an array for each column. Notation: https://www.postgresql.org/docs/15/sql-copy.html, Text Format.
 */
const COPY: LoadRows = {
  text: (table, columns) => `${COPY_VERB}${table} (${columns.join(', ')}) from stdin`,
  data: (rows, columns) => `${rows.map((row) => columns.map((column) => field(row[column])).join('\t')).join('\n')}\n`,
};

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

const field = (value: unknown): string => {
  if (value === null || value === undefined) return '\\N';
  const text = plain(value);
  return /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (each) => ESCAPES[each] ?? each) : text;
};

/**
 * Rows as one array a column: one statement and one parameter a column, however many rows there are. A parameter for each value costs
 * the driver more than the values do: a thousand rows of thirty columns took 15 ms of processor time to send, as arrays 6 ms.
 */
export const arraysOfColumns: ManyRows = {
  sizes: [MOST],
  sameText: true,
  text: (kinds) => `select * from unnest(${kinds.map((kind, i) => `$${i + 1}::${typeOf(kind)}[]`).join(', ')})`,
  values: (rows, columns) => columns.map((column) => arrayOf(rows, column)),
  load: COPY,
};

/** Nulls at the end are left out: unnest makes the arrays equally long with them, and many columns of an event hold nothing else. */
const arrayOf = (rows: readonly Readonly<Record<string, unknown>>[], column: string): string => {
  const last = rows.findLastIndex((row) => row[column] !== null && row[column] !== undefined);
  const elements: string[] = [];
  for (let at = 0; at <= last; at += 1) elements.push(element(rows[at]?.[column] ?? null));
  return `{${elements.join(',')}}`;
};

/** Values as an array in PostgreSQL's own notation. */
export const arrayLiteral = (values: readonly (bigint | string)[]): string => `{${values.map(element).join(',')}}`;

/** A value in the notation of arrays. */
const element = (value: unknown): string => {
  if (value === null) return 'NULL';
  return typeof value === 'string'
    ? `"${/["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`
    : plain(value);
};

const plain = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value.toString();
  throw new TypeError(`A ${typeof value} (${String(value)}) cannot be stored exactly; use bigint or text.`);
};
