import type { ColumnKind, Table, TableChange } from '../table.ts';

type ColumnSql = (name: string, kind: ColumnKind, table: Table) => string;

/** How SQLite and PostgreSQL change a table that has rows. A new flag is 0 in these, everything else null. */
export const alterTable =
  (columnSql: ColumnSql) =>
  (name: string, { columns, index = [], drop = [], partial = [] }: TableChange, version: number): readonly string[] => [
    ...Object.entries(columns).map(([column, kind]) => {
      const defined = columnSql(column, kind, { columns: {} }).replace(' NOT NULL', ' NOT NULL DEFAULT 0');
      return `ALTER TABLE ${name} ADD COLUMN ${defined}`;
    }),
    ...drop.map((old) => `DROP INDEX ${old}`),
    ...index.map((on, i) => `CREATE INDEX ${name}_v${version}_${i + 1} ON ${name} (${on.join(', ')})`),
    ...partial.map(
      ({ on, where }, i) => `CREATE INDEX ${name}_v${version}_p${i + 1} ON ${name} (${on.join(', ')}) WHERE ${where}`,
    ),
  ];
