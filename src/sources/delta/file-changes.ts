import { asLong, isJsonObject, parseJson, type Json, type JsonObject } from '../../core/json.ts';

/** Values of one partition, by the names that the log uses; a null value is a null. */
export type PartitionValues = ReadonlyMap<string, string | null>;

/** What a commit does to the table's files, summed up: a commit may touch millions. */
export class FileChanges {
  /** Files with rows that readers see from now on, and that they no longer see, by the writer's word `dataChange`. */
  dataAdds = 0;
  dataRemoves = 0;
  /** Files of either kind that only move rows about. */
  moves = 0;
  /** Rows in the files added with new data; null: not every one says. */
  addedRows: bigint | null = 0n;
  /** null: not every file says. */
  #partitions: Map<string, PartitionValues> | null = new Map();

  add(action: JsonObject): void {
    if (action['dataChange'] === false) {
      this.moves++;
      return;
    }
    const rows = rowsOf(action);
    if (rows === 0n) return; // an empty file shows nobody anything
    this.dataAdds++;
    this.addedRows = rows === null || this.addedRows === null ? null : this.addedRows + rows;
    this.#touch(action);
  }

  remove(action: JsonObject): void {
    if (action['dataChange'] === false) {
      this.moves++;
      return;
    }
    if (rowsOf(action) === 0n) return;
    this.dataRemoves++;
    this.#touch(action);
  }

  /** Change files come with adds and removes that say the same; alone they would still be somebody's new data. */
  cdc(action: JsonObject): void {
    if (action['dataChange'] === true) this.dataAdds++;
  }

  get dataChange(): boolean {
    return this.dataAdds > 0 || this.dataRemoves > 0;
  }

  /** Partitions with new or vanished rows; null: not every file says which it belongs to. */
  get partitions(): readonly PartitionValues[] | null {
    return this.#partitions === null ? null : [...this.#partitions.values()];
  }

  #touch(action: JsonObject): void {
    const values = partitionValues(action['partitionValues']) ?? partitionsOfPath(action['path']);
    if (values === null) this.#partitions = null;
    else this.#partitions?.set(JSON.stringify([...values].sort()), values);
  }
}

/** Rows in a file less those that its deletion vector hides; null: it does not say. */
function rowsOf(action: JsonObject): bigint | null {
  const { stats, deletionVector } = action;
  if (typeof stats !== 'string') return null;
  const rows = recordsOf(stats);
  if (rows === null || !isJsonObject(deletionVector)) return rows;
  const hidden = asLong(deletionVector['cardinality']);
  return hidden === undefined ? null : rows - hidden;
}

function recordsOf(stats: string): bigint | null {
  const first = /^\{"numRecords":(\d{1,18})[,}]/.exec(stats)?.[1]; // as all writers begin it: the rest need not be parsed
  if (first !== undefined) return BigInt(first);
  try {
    const json = parseJson(stats);
    return isJsonObject(json) ? (asLong(json['numRecords']) ?? null) : null;
  } catch {
    return null;
  }
}

const partitionValues = (json: Json | undefined): PartitionValues | null =>
  isJsonObject(json)
    ? new Map(Object.entries(json).map(([name, value]) => [name, typeof value === 'string' ? value : null]))
    : null;

const NULL_FOLDER = '__HIVE_DEFAULT_PARTITION__';

/** Old writers leave the values out of what they remove: the folders `name=value` still tell them (escaped as in Hive, then as in a URL). */
function partitionsOfPath(path: Json | undefined): PartitionValues | null {
  if (typeof path !== 'string') return null;
  try {
    const folders = decodeURIComponent(path).split('/').slice(0, -1);
    const pairs = folders.flatMap((folder) => {
      const [, name, value] = /^([^=]+)=(.*)$/.exec(folder) ?? [];
      return name === undefined || value === undefined ? [] : [[unescaped(name), unescaped(value)] as const];
    });
    return new Map(pairs.map(([name, value]) => [name, value === NULL_FOLDER ? null : value]));
  } catch {
    return null; // a lone % is no escape
  }
}

const unescaped = (text: string): string =>
  text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
