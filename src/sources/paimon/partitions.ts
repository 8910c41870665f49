import type { AvroRecord } from '../avro.ts';
import { isLifted, ManifestError, type ReadManifest, type Records } from './manifest.ts';
import { partitionName, type PartitionNaming } from './partition.ts';
import type { HiddenRows } from './schema.ts';

/** What is asked about the partitions of a commit. */
export interface PartitionQuestion {
  readonly deltaManifestList: string;
  readonly naming: PartitionNaming;
  /** A compaction that shows hidden rows: only the partitions of those count. null: any other commit, whose every file counts. */
  readonly lifted: HiddenRows | null;
}

/** More manifests or files than these in one commit are not gone through: decoding 5,000 entries takes some 50 ms. */
const MOST_MANIFESTS = 64;
const MOST_FILES = 5_000n;
const MOST_PARTITIONS = 1_000;

/**
 * The partitions whose files a commit added or deleted, sorted; null: they cannot be told (ORC manifests, manifests that have expired or are
 * too many, columns of types that partitionName does not know). Costs the delta manifest list, and each manifest in it that tells of more than
 * one partition.
 */
export async function readPartitions(
  read: ReadManifest,
  question: PartitionQuestion,
): Promise<readonly string[] | null> {
  try {
    const { records } = await read(question.deltaManifestList);
    if (records === null || records.length > MOST_MANIFESTS || filesIn(records) > MOST_FILES) return null;
    const rows = new Map<string, Uint8Array>();
    for (const manifest of records)
      for (const row of await partitionRows(read, manifest, question))
        rows.set(Buffer.from(row).toString('latin1'), row);
    return rows.size > MOST_PARTITIONS ? null : namesOf([...rows.values()], question.naming);
  } catch (error) {
    if (error instanceof ManifestError) return null;
    throw error;
  }
}

function filesIn(manifests: readonly AvroRecord[]): bigint {
  const counts = manifests.flatMap((manifest) => [manifest['_NUM_ADDED_FILES'], manifest['_NUM_DELETED_FILES']]);
  return counts.reduce<bigint>((sum, count) => sum + (typeof count === 'bigint' ? count : MOST_FILES + 1n), 0n);
}

/** Throws ManifestError for what is no manifest. */
async function partitionRows(
  read: ReadManifest,
  manifest: AvroRecord,
  { lifted }: PartitionQuestion,
): Promise<readonly Uint8Array[]> {
  const only = lifted === null ? onlyPartition(manifest) : null;
  if (only !== null) return [only];
  const entries = entriesOf(await read(String(manifest['_FILE_NAME'])));
  return (lifted === null ? entries : entries.filter((entry) => isLifted(entry, lifted))).map(({ _PARTITION: row }) => {
    if (row instanceof Uint8Array) return row;
    throw new ManifestError('an entry names no partition');
  });
}

function entriesOf({ records }: Records): readonly AvroRecord[] {
  if (records === null) throw new ManifestError('it is an ORC file');
  return records;
}

/** Where the smallest and the largest partition are the same and none is null, the list has told all. */
function onlyPartition(manifest: AvroRecord): Uint8Array | null {
  const stats = manifest['_PARTITION_STATS'] as AvroRecord | null | undefined;
  const [least, most, nulls] = [stats?.['_MIN_VALUES'], stats?.['_MAX_VALUES'], stats?.['_NULL_COUNTS']];
  if (!(least instanceof Uint8Array) || !(most instanceof Uint8Array) || !Array.isArray(nulls)) return null;
  const same = Buffer.compare(least, most) === 0 && (nulls as readonly unknown[]).every((count) => count === 0n);
  return same ? least : null;
}

function namesOf(rows: readonly Uint8Array[], naming: PartitionNaming): readonly string[] | null {
  const names = rows.map((row) => partitionName(row, naming));
  return names.length === 0 || names.includes(null) ? null : (names as readonly string[]).toSorted();
}
