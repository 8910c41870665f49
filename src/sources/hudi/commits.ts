import type { Commit } from '../../core/asset/version.ts';
import type { EpochMs } from '../../core/time.ts';
import type { Memory } from './cursor.ts';
import type { Instant } from './instants.ts';
import { ordersByCompletion, type TableConfig } from './properties.ts';
import { pathIn, type TableReader } from './reader.ts';
import type { ReadVersion } from './versions.ts';
import { findZone, laterTime, readHeader, resolveTime, UTC, type Bounds, type ZoneFinding } from './zone.ts';

/** Tells when actions happened. */
export interface Clock {
  readonly finding: ZoneFinding;
  /** Nothing tells the zone of the table's times. */
  readonly guessed: boolean;
  readonly at: (instant: Instant) => EpochMs;
}

/** The time that orders the version in the engine: completion where names tell it, else request. */
const timeOf = (instant: Instant, byCompletion: boolean): string =>
  byCompletion ? (instant.completion ?? instant.time) : instant.time;

/** Finds out in which zone the fresh versions were written. Costs one request where there are some and their zone is not certain. */
export async function readClock(
  reader: TableReader,
  config: TableConfig,
  memory: Memory | null,
  fresh: readonly Instant[],
): Promise<Clock> {
  const byCompletion = ordersByCompletion(config);
  const header = readHeader(config);
  const times = fresh.map((instant) => timeOf(instant, byCompletion));
  const finding = findZone({ config, header, before: memory?.zone ?? null, times });
  const zones = config.utc ? [UTC] : [...new Set([finding.zone, header?.zone ?? UTC, memory?.zone.zone ?? UTC, UTC])];
  const bounds: Bounds = {
    notBefore: byCompletion ? (memory?.newest ?? null) : null,
    notAfter: config.utc ? null : await newestModified(reader, fresh, byCompletion),
  };
  return {
    finding,
    guessed: header === null && !config.utc,
    at: (instant) =>
      resolveTime(timeOf(instant, byCompletion), zones, bounds) ?? bounds.notAfter ?? header?.savedAt ?? 0n,
  };
}

/** When the file whose name tells the latest time was written: no action is completed after its file. */
async function newestModified(
  reader: TableReader,
  fresh: readonly Instant[],
  byCompletion: boolean,
): Promise<EpochMs | null> {
  const [first, ...others] = fresh;
  if (first === undefined) return null;
  const newest = others.reduce((latest, instant) => {
    const [a, b] = [timeOf(latest, byCompletion), timeOf(instant, byCompletion)];
    return laterTime(a, b) === a ? latest : instant;
  }, first);
  return reader.modifiedAt(pathIn(newest.folder, newest.file));
}

/** A version as Sluice records it. `readAs` null: its own id. */
export function commitOf(
  { instant, facts, judgement }: ReadVersion,
  clock: Clock,
  schemaId: string | null,
  readAs: string | null,
): Commit {
  const partitions = [...facts.partitions].filter((partition) => partition !== '').sort();
  return {
    snapshotId: instant.time,
    operation: judgement.operation,
    dataChange: judgement.dataChange,
    commitTime: clock.at(instant),
    watermark: facts.watermark,
    schemaId,
    addedRecords: facts.inserts,
    totalRecords: null,
    ...(partitions.length > 0 ? { partitions } : {}),
    ...(readAs === null ? {} : { readAs }),
    action: instant.action,
    ...(facts.backfill ? { backfill: true } : {}),
  };
}
