// Where a Delta table keeps its log, and what the names in it say (facts: the file naming of the Delta transaction log protocol).
import { setImmediate } from 'node:timers/promises';
import { rootOf } from '../location.ts';

/** The files of a table's log. */
export interface Layout {
  readonly table: string;
  readonly log: string;
  readonly commit: (version: bigint) => string;
  readonly checksum: (version: bigint) => string;
  readonly inLog: (name: string) => string;
}

export function layoutOf(location: string): Layout {
  const table = rootOf(location);
  const log = `${table}/_delta_log`;
  return {
    table,
    log,
    commit: (version) => `${log}/${commitName(version)}`,
    checksum: (version) => `${log}/${padded(version)}.crc`,
    inLog: (name) => `${log}/${name}`,
  };
}

const padded = (version: bigint): string => version.toString().padStart(DIGITS, '0');

export const commitName = (version: bigint): string => `${padded(version)}.json`;

/** A whole checkpoint: one file, or all parts of one. */
export interface Checkpoint {
  readonly version: bigint;
  readonly files: readonly string[];
}

/** What stands in a log. */
export interface LogFiles {
  /** Versions whose commit file is there, ascending. */
  readonly versions: readonly bigint[];
  /** Ascending; those that lack a part are left out, as all readers do. */
  readonly checkpoints: readonly Checkpoint[];
  /** Versions with a checksum file, which repeats the table's metadata. */
  readonly checksums: ReadonlySet<bigint>;
  /** Names of commits whose version no table can have (above 2^63 - 1). */
  readonly tooLarge: readonly string[];
}

const DIGITS = 20;
/** Names that are looked at before others get their turn: some 5 ms. */
const TURN = 10_000;
const NUMBERED = /^\d{20}\.(json|crc)$/;
const LONG_MAX = 2n ** 63n - 1n;
const CHECKPOINT = /^(\d{20})\.checkpoint\.(?:parquet|(\d{10})\.(\d{10})\.parquet|[0-9a-zA-Z-]+\.(?:json|parquet))$/;

/** What a name says; null: nothing of interest. Most are commits, so those are told first. */
function kindOf(name: string): 'COMMIT' | 'CHECKSUM' | RegExpExecArray | null {
  if (name.length > DIGITS + '.json'.length) return CHECKPOINT.exec(name);
  const [, ending] = NUMBERED.exec(name) ?? [];
  if (ending === undefined) return null;
  return ending === 'json' ? 'COMMIT' : 'CHECKSUM';
}

/** Is this one of the ascending versions? */
export function holds(versions: readonly bigint[], version: bigint): boolean {
  let [low, high] = [0, versions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((versions[middle] ?? 0n) < version) low = middle + 1;
    else high = middle;
  }
  return versions[low] === version;
}

/**
 * Sorts the names in `_delta_log` strictly: compacted logs (`<x>.<y>.compacted.json`), hidden checksums (`.<v>.json.crc`), temporary and
 * foreign files are nobody's commits, though they look like some.
 */
export async function logFiles(names: readonly string[]): Promise<LogFiles> {
  const versions: bigint[] = [];
  const checksums = new Set<bigint>();
  const tooLarge: string[] = [];
  const parts: RegExpExecArray[] = [];
  for (const [index, name] of names.entries()) {
    if (index % TURN === TURN - 1) await setImmediate();
    const kind = kindOf(name);
    if (kind === null) continue;
    const version = BigInt(name.slice(0, DIGITS));
    if (version > LONG_MAX) tooLarge.push(name);
    else if (kind === 'COMMIT') versions.push(version);
    else if (kind === 'CHECKSUM') checksums.add(version);
    else parts.push(kind);
  }
  // The native sort of whole numbers: 100,000 versions in 10 ms, a tenth of what comparing them one by one takes.
  const ascending = [...BigInt64Array.from(versions).sort()];
  return { versions: ascending, checkpoints: checkpointsOf(parts), checksums, tooLarge: tooLarge.sort() };
}

/** A checkpoint in parts counts when all its parts are there: parts of one number belong together. */
function checkpointsOf(parts: readonly RegExpExecArray[]): readonly Checkpoint[] {
  const groups = new Map<string, { readonly version: bigint; readonly of: number; readonly files: string[] }>();
  for (const [name, digits = '', part, of] of parts) {
    const key = part === undefined ? name : `${digits}/${of}`;
    const group = groups.get(key) ?? { version: BigInt(digits), of: Number(of ?? 1), files: [] };
    group.files.push(name);
    groups.set(key, group);
  }
  return [...groups.values()]
    .filter(({ of, files }) => files.length === of)
    .map(({ version, files }) => ({ version, files: files.sort() }))
    .sort((a, b) => (a.version < b.version ? -1 : Number(a.version > b.version)));
}
