import type { AssetKey } from '../../asset/key.ts';
import { isoTime } from '../../time.ts';
import type { EpochMs } from '../../time.ts';

/** What a task is told of one pinned asset (semantics.md, 6). Ids are the format's own, as strings. */
export interface PinValues {
  readonly alias: string;
  readonly assetKey: AssetKey;
  /** `paimon`, `iceberg`, `delta`, `hudi`, or a push-only format. */
  readonly format: string;
  readonly snapshotId: string;
  /** What a time-travel clause must name where that is not snapshotId. */
  readonly readAs?: string;
  readonly previousSnapshotId: string | null;
  readonly incremental: boolean;
  /** Why not incremental; null if it is. */
  readonly incrementalReason: string | null;
  readonly watermark: EpochMs | null;
  readonly schemaId: string | null;
  readonly tag: string | null;
  readonly commitTime: EpochMs | null;
  readonly location: string | null;
}

/** What is put after a table's name to read it at its pin; empty: the engine cannot travel in time in this format. */
export type ReadOptions = Readonly<Record<'spark' | 'flink' | 'trino', string>>;

const hint = (option: string, id: string): string => `/*+ OPTIONS('${option}'='${id}') */`;

const byVersion = (flinkOption: string, id: string): ReadOptions => ({
  spark: `VERSION AS OF ${id}`,
  flink: hint(flinkOption, id),
  trino: `FOR VERSION AS OF ${id}`,
});

/**
 * Sources: the formats' and engines' user guides. Spark: Paimon, Iceberg and Delta `VERSION AS OF`, Hudi `TIMESTAMP AS OF` an instant. Flink: table
 * options as a hint (Hudi: an end commit without a start commit is a read as of that instant). Trino: `FOR VERSION AS OF`; its Hudi
 * connector reads only the newest version.
 */
export function readOptions(pin: PinValues): ReadOptions {
  const id = pin.readAs ?? pin.snapshotId;
  switch (pin.format) {
    case 'paimon':
      return byVersion('scan.snapshot-id', id);
    case 'iceberg':
      return byVersion('snapshot-id', id);
    case 'delta':
      return byVersion('versionAsOf', id);
    case 'hudi':
      return { spark: `TIMESTAMP AS OF '${id}'`, flink: hint('read.end-commit', id), trino: '' };
    default:
      return { spark: '', flink: '', trino: '' };
  }
}

/** Characters that mean nothing to a shell or to SQL: all that a value from outside may hold when it is put into a script. */
const SAFE = /^[A-Za-z0-9._:/=@+ -]*$/;

export const isSafeInScript = (text: string): boolean => SAFE.test(text);

/** The parameters of one pin by their names after `asset.<alias>.`; what is unknown is empty. `safe`: fit for a script. */
export function pinParameters(
  pin: PinValues,
): readonly { readonly name: string; readonly text: string; readonly safe: boolean }[] {
  const plain = Object.entries(pinTexts(pin)).map(([name, text]) => ({ name, text, safe: isSafeInScript(text) }));
  // The clause is ours, quotes and all; only the id in it is not.
  const safe = isSafeInScript(pin.readAs ?? pin.snapshotId);
  const clauses = Object.entries(readOptions(pin)).map(([engine, text]) => ({
    name: `read_options.${engine}`,
    text,
    safe,
  }));
  return [...plain, ...clauses];
}

const pinTexts = (pin: PinValues): Readonly<Record<string, string>> => ({
  snapshot_id: pin.snapshotId,
  previous_snapshot_id: pin.previousSnapshotId ?? '',
  incremental: String(pin.incremental),
  incremental_reason: pin.incrementalReason ?? '',
  watermark: pin.watermark === null ? '' : isoTime(pin.watermark),
  schema_id: pin.schemaId ?? '',
  tag: pin.tag ?? '',
  commit_time: pin.commitTime === null ? '' : isoTime(pin.commitTime),
  location: pin.location ?? '',
});
