/** What a commit's metadata says, added up. Counts are of rows. */
export interface CommitFacts {
  /** `operationType`; null where it is missing (before Hudi 0.6) or UNKNOWN. */
  readonly operation: string | null;
  readonly compacted: boolean;
  readonly inserts: bigint;
  readonly updates: bigint;
  readonly deletes: bigint;
  /** Rows in the files that were written, rewritten ones included. */
  readonly writes: bigint;
  /** Partitions whose files the commit replaces, and how many files those are. */
  readonly replacedPartitions: number;
  readonly replacedFiles: number;
  /** All partitions that it touched; '' stands for a table without partitions. */
  readonly partitions: ReadonlySet<string>;
  /** The highest event time of its rows, epoch ms; null if the writer does not track it. */
  readonly watermark: bigint | null;
  /** Avro JSON of the writer's schema. */
  readonly schema: string | null;
  readonly backfill: boolean;
}

/** Adds up the facts of one commit while its metadata is being read. */
export interface Tally {
  readonly stat: (partition: string, stat: Readonly<Record<string, unknown>>) => void;
  readonly replaced: (partition: string, files: number) => void;
  readonly extra: (key: string, value: unknown) => void;
  readonly operation: (value: unknown) => void;
  readonly compacted: (value: unknown) => void;
  readonly facts: () => CommitFacts;
}

/** The members of a write stat that are added up. */
export const STAT_FIELDS = ['numInserts', 'numUpdateWrites', 'numDeletes', 'numWrites', 'maxEventTime'] as const;

/** A count or a time; anything that is none counts as nothing. */
const amount = (value: unknown): bigint => {
  if (typeof value === 'bigint') return value > 0n ? value : 0n;
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? BigInt(value) : 0n;
};

export function createTally(): Tally {
  const sums = { inserts: 0n, updates: 0n, deletes: 0n, writes: 0n, watermark: 0n };
  const replaced = { partitions: 0, files: 0 };
  const partitions = new Set<string>();
  const said = { operation: null as string | null, compacted: false, schema: null as string | null, backfill: false };
  return {
    stat: (partition, stat) => {
      partitions.add(partition);
      sums.inserts += amount(stat['numInserts']);
      sums.updates += amount(stat['numUpdateWrites']);
      sums.deletes += amount(stat['numDeletes']);
      sums.writes += amount(stat['numWrites']);
      const eventTime = amount(stat['maxEventTime']);
      if (eventTime > sums.watermark) sums.watermark = eventTime;
    },
    replaced: (partition, files) => {
      partitions.add(partition);
      replaced.partitions++;
      replaced.files += files;
    },
    extra: (key, value) => {
      if (key === 'schema' && typeof value === 'string' && value.trim() !== '') said.schema = value;
      if (key.endsWith('sluice.backfill')) said.backfill = value === 'true';
    },
    operation: (value) => {
      said.operation = typeof value === 'string' && value !== '' && value !== 'UNKNOWN' ? value : null;
    },
    compacted: (value) => {
      said.compacted = value === true;
    },
    facts: () => ({
      ...said,
      inserts: sums.inserts,
      updates: sums.updates,
      deletes: sums.deletes,
      writes: sums.writes,
      replacedPartitions: replaced.partitions,
      replacedFiles: replaced.files,
      partitions,
      watermark: sums.watermark === 0n ? null : sums.watermark,
    }),
  };
}
