import type { Dialect } from '../dialect.ts';
import type { ColumnKind, Table, TableChange } from '../table.ts';

/** What SQLite and PostgreSQL write in words of their own when they make a table; all else they write alike. */
export interface TableWords {
  /** What follows the name of an `id` column. */
  readonly id: string;
  /** The types of the kinds that hold numbers; all other kinds are texts. */
  readonly numbers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The n-th unique key of a table, from 1 on. */
  readonly unique: (table: string, n: number, columns: string) => string;
  /** Statements after which a column's parent is no longer looked for when a row is inserted. */
  readonly unlink: (table: string, column: string) => readonly string[];
  /** What follows the closing parenthesis. */
  readonly ending: string;
}

export const tableStatements = (words: TableWords): Pick<Dialect, 'createTable' | 'alterTable'> => ({
  createTable: (name, table) => [createSql(words, name, table), ...indexSql(name, table)],
  alterTable: (name, change, version) => alterSql(words, name, change, version),
});

const columnSql = (words: TableWords, name: string, kind: ColumnKind, parent: string | undefined): string => {
  if (kind === 'id') return `${name} ${words.id}`;
  const base = kind.replace('?', '');
  return [
    `${name} ${words.numbers[base] ?? words.text}`,
    kind.endsWith('?') ? '' : ' NOT NULL',
    base === 'flag' ? ` CHECK (${name} IN (0, 1))` : '',
    parent === undefined ? '' : ` REFERENCES ${parent} (id) ON DELETE CASCADE`,
  ].join('');
};

const createSql = (words: TableWords, name: string, table: Table): string => {
  const { columns, primaryKey, unique = [], parents = {} } = table;
  const lines = [
    ...Object.entries(columns).map(([column, kind]) => columnSql(words, column, kind, parents[column])),
    ...(primaryKey === undefined ? [] : [`PRIMARY KEY (${primaryKey.join(', ')})`]),
    ...unique.map((key, i) => words.unique(name, i + 1, key.join(', '))),
  ];
  return `CREATE TABLE ${name} (\n  ${lines.join(',\n  ')}\n)${words.ending}`;
};

const indexSql = (name: string, { index = [] }: Table): readonly string[] =>
  index.map((columns, i) => `CREATE INDEX ${name}_${i + 1} ON ${name} (${columns.join(', ')})`);

/** For tables that have rows: in these a new flag is 0, every other new column null. */
const alterSql = (
  words: TableWords,
  name: string,
  { columns, index = [], drop = [], partial = [], unlink = [] }: TableChange,
  version: number,
): readonly string[] => [
  ...Object.entries(columns).map(([column, kind]) => {
    const defined = columnSql(words, column, kind, undefined).replace(' NOT NULL', ' NOT NULL DEFAULT 0');
    return `ALTER TABLE ${name} ADD COLUMN ${defined}`;
  }),
  ...drop.map((old) => `DROP INDEX ${old}`),
  ...unlink.flatMap((column) => words.unlink(name, column)),
  ...index.map((on, i) => `CREATE INDEX ${name}_v${version}_${i + 1} ON ${name} (${on.join(', ')})`),
  ...partial.map(
    ({ on, where }, i) => `CREATE INDEX ${name}_v${version}_p${i + 1} ON ${name} (${on.join(', ')}) WHERE ${where}`,
  ),
];
