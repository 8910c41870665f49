import { isJsonObject, type Json } from '../../core/json.ts';
import type { EpochMs } from '../../core/time.ts';
import { parseTime } from '../../core/time.ts';
import { objectAt, type SnapshotEntry, type TableMetadata } from './metadata.ts';

/** One snapshot, whole. */
export interface Snapshot {
  readonly entry: SnapshotEntry;
  /** The format's word; `unknown` where an old writer left it out. */
  readonly operation: string;
  /** All values are texts, counts too. */
  readonly summary: ReadonlyMap<string, string>;
  readonly schemaId: string | null;
  readonly manifestList: string | null;
  /** Format version 1 may name the manifests instead of a list of them. */
  readonly manifests: readonly string[] | null;
}

/** Parses what stands at the entry. Throws BrokenFile. */
export function snapshotAt(metadata: TableMetadata, entry: SnapshotEntry): Snapshot {
  const json = objectAt(metadata.bytes, entry.span);
  const written = json['summary'];
  const summary = new Map(
    Object.entries(isJsonObject(written) ? written : {}).map(([key, value]) => [key, textOf(value)]),
  );
  const { 'schema-id': schemaId, 'manifest-list': manifestList, manifests } = json;
  return {
    entry,
    operation: summary.get('operation') ?? 'unknown',
    summary,
    schemaId: typeof schemaId === 'number' ? schemaId.toString() : null,
    manifestList: typeof manifestList === 'string' ? manifestList : null,
    manifests: Array.isArray(manifests) ? (manifests as readonly Json[]).map(textOf) : null,
  };
}

const textOf = (json: Json): string => (typeof json === 'string' ? json : String(json));

/** A count of the summary; null if it is not there or is no count. */
export function countOf({ summary }: Snapshot, key: string): bigint | null {
  const text = summary.get(key);
  return text !== undefined && /^\d{1,38}$/.test(text) ? BigInt(text) : null;
}

/** Rows in the data files before this commit, by its own summary; null if that does not say. */
export function rowsBefore(snapshot: Snapshot): bigint | null {
  const total = countOf(snapshot, 'total-records');
  if (total === null) return null;
  return total - (countOf(snapshot, 'added-records') ?? 0n) + (countOf(snapshot, 'deleted-records') ?? 0n);
}

/**
 * Iceberg has no watermark; Kafka Connect's sink says up to which time all partitions have delivered (`kafka.connect.valid-through-ts`,
 * an ISO time with a zone, absent while any partition is silent).
 */
export function watermarkOf({ summary }: Snapshot): EpochMs | null {
  const text = summary.get('kafka.connect.valid-through-ts');
  return text === undefined ? null : (parseTime(text) ?? null);
}

const PARTITION = 'partitions.';

/** Partitions that the summary names; undefined if it names none or, by its limit, not all. */
export function partitionsOf({ summary }: Snapshot): readonly string[] | undefined {
  const names = [...summary.keys()]
    .filter((key) => key.startsWith(PARTITION))
    .map((key) => key.slice(PARTITION.length));
  const changed = summary.get('changed-partition-count');
  return names.length === 0 || (changed !== undefined && changed !== names.length.toString()) ? undefined : names;
}

export const isBackfill = ({ summary }: Snapshot): boolean => summary.get('sluice.backfill') === 'true';
