import { type AssetKey, type AssetName, formatAssetKey, parseAssetKey } from './key.ts';

/** A table found in a folder tree. */
export interface Placed {
  readonly format: string;
  /** The names of the folders that lead to it, its own last. */
  readonly path: readonly string[];
}

/** What engines put behind a table's name to make its folder unique: Trino 32 hex digits, Nessie a UUID. */
const UNIQUE_ENDING = /[-_](?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** Where a folder has no parent that could name the database. */
const NO_DATABASE = 'default';

type Names = Pick<AssetName, 'catalog' | 'database' | 'table'>;

/** From the shortest name to the longest: the next is taken where the one before would fit several tables. */
const WAYS: readonly ((path: readonly string[]) => Names)[] = [
  (path) => ({ catalog: 'default', database: withoutDb(parentOf(path)), table: withoutEnding(tableOf(path)) }),
  (path) => ({ catalog: 'default', database: withoutDb(parentOf(path)), table: tableOf(path) }),
  (path) => ({ catalog: path.at(-3) ?? 'default', database: withoutDb(parentOf(path)), table: tableOf(path) }),
  (path) => ({ catalog: path.slice(0, -2).join('/') || 'default', database: parentOf(path), table: tableOf(path) }),
];

const tableOf = (path: readonly string[]): string => path.at(-1) ?? '';
const parentOf = (path: readonly string[]): string => path.at(-2) ?? NO_DATABASE;
const withoutDb = (folder: string): string => folder.replace(/(?<=.)\.db$/i, '');
const withoutEnding = (folder: string): string => folder.replace(UNIQUE_ENDING, '') || folder;

const keyBy = (way: (path: readonly string[]) => Names, { format, path }: Placed): AssetKey | null => {
  const parsed = parseAssetKey(formatAssetKey({ format, ...way(path), branch: null }));
  return parsed.ok ? parsed.value : null;
};

/**
 * A key for each table, in their order, no two the same: the database is the folder around the table (`ods` of `ods.db`). Where several tables
 * would get one key, all of them get longer ones that tell them apart. null: the names of the folders cannot stand in a key.
 */
export const proposeKeys = (tables: readonly Placed[]): readonly (AssetKey | null)[] => {
  const keys = new Map<Placed, AssetKey>();
  const taken = new Set<AssetKey>();
  for (const way of WAYS) {
    const wishes = tables.filter((table) => !keys.has(table)).map((table) => ({ table, key: keyBy(way, table) }));
    const wished = countOf(wishes.map(({ key }) => key));
    const granted = wishes.flatMap(({ table, key }) =>
      key !== null && wished.get(key) === 1 && !taken.has(key) ? [{ table, key }] : [],
    );
    for (const { table, key } of granted) {
      keys.set(table, key);
      taken.add(key);
    }
  }
  return tables.map((table) => keys.get(table) ?? null);
};

const countOf = <T>(values: readonly T[]): ReadonlyMap<T, number> => {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};
