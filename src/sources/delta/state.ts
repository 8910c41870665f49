import type { TableSchema } from '../../core/asset/schema/schema.ts';
import type { MetaData } from './commit-file.ts';
import { partitionColumnsOf, schemaOf, type PartitionColumn } from './schema.ts';

/** What the table is at one version, by the newest `metaData` and `protocol` actions up to it. */
export interface TableState {
  readonly tableId: string | null;
  readonly schema: TableSchema | null;
  readonly partitions: readonly PartitionColumn[];
  /** The feature by which a catalog, not the log, decides what is committed; null: the log decides. */
  readonly managedBy: string | null;
  /** The same for the older way, which is a property of the table. */
  readonly coordinator: string | null;
}

const UNKNOWN: TableState = { tableId: null, schema: null, partitions: [], managedBy: null, coordinator: null };

/** A source of these actions: a commit, a checkpoint, a checksum file. */
export interface StateActions {
  readonly version: bigint;
  readonly metaData: MetaData | null;
  readonly features: ReadonlySet<string> | null;
}

/** The state after these actions. A schema with the same columns as the one before stays that one. */
export function advance(state: TableState | null, { version, metaData, features }: StateActions): TableState | null {
  if (metaData === null && features === null) return state;
  const before = state ?? UNKNOWN;
  const managedBy = features === null ? before.managedBy : managingFeature(features);
  if (metaData === null) return { ...before, managedBy };
  const schema = schemaOf(metaData, version.toString());
  return {
    tableId: metaData.id,
    schema: sameColumns(before.schema, schema) ? before.schema : schema,
    partitions: partitionColumnsOf(metaData),
    managedBy,
    coordinator: metaData.configuration.get('delta.coordinatedCommits.commitCoordinator-preview') || null,
  };
}

/** Delta 4 calls the feature catalogManaged, its previews catalogOwned; previews carry the word as a suffix. */
const managingFeature = (features: ReadonlySet<string>): string | null =>
  [...features].find((feature) => /^catalog(?:Managed|Owned)(?:-preview)?$/.test(feature)) ?? null;

/** Keeps the number of a schema that was known before, where a checkpoint or a gap hides which version brought it. */
export const keepingSchema = (known: TableSchema | null, state: TableState | null): TableState | null =>
  state !== null && sameColumns(known, state.schema) ? { ...state, schema: known } : state;

function sameColumns(a: TableSchema | null, b: TableSchema | null): boolean {
  const columns = ({ fields, partitionKeys }: TableSchema): string => JSON.stringify([fields, partitionKeys]);
  return a !== null && b !== null && columns(a) === columns(b);
}
