import type { ManyRows } from '../dialect.ts';

/** Rows in one statement: a few sizes only, so that few texts are kept. SQLite takes more parameters than 250 rows of any table of ours have. */
const SIZES = [250, 64, 16, 4, 1];

/** Rows as a list of values, each of them a parameter. */
export const listOfValues: ManyRows = {
  sizes: SIZES,
  load: null,
  sameText: false,
  text: (kinds, rows) => {
    const row = `(${kinds.map(() => '?').join(', ')})`;
    return `values ${Array.from({ length: rows }, () => row).join(', ')}`;
  },
  values: (rows, columns) => {
    const values: unknown[] = [];
    for (const row of rows) for (const column of columns) values.push(row[column] ?? null);
    return values;
  },
};
