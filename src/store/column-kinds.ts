import { MIGRATIONS } from './migrations/list.ts';
import type { ColumnKind } from './table.ts';

const kindsByTable = (): ReadonlyMap<string, Readonly<Record<string, ColumnKind>>> => {
  const kinds = new Map<string, Readonly<Record<string, ColumnKind>>>();
  for (const { tables, changes } of MIGRATIONS)
    for (const [name, { columns }] of [...Object.entries(tables), ...Object.entries(changes ?? {})])
      kinds.set(name, { ...kinds.get(name), ...columns });
  return kinds;
};

const KINDS = kindsByTable();

/** What the columns of a table hold, as the newest migration leaves it. Throws for a column that it does not have. */
export const kindsOf = (table: string, columns: readonly string[]): readonly ColumnKind[] =>
  columns.map((column) => {
    const kind = KINDS.get(table)?.[column];
    if (kind === undefined) throw new Error(`${table} has no column ${column}.`);
    return kind;
  });
