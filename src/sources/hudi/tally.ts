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
  /** Throws SyntaxError for a count that is none. */
  readonly stat: (partition: string, stat: Stat) => void;
  readonly replaced: (partition: string, files: number) => void;
  readonly extra: (key: string, value: unknown) => void;
  readonly operation: (value: unknown) => void;
  readonly compacted: (value: unknown) => void;
  readonly facts: () => CommitFacts;
}

/** The members of a write stat that are added up. */
export const STAT_FIELDS = ['numInserts', 'numUpdateWrites', 'numDeletes', 'numWrites', 'maxEventTime'] as const;

/** A time; anything that is none counts as none. */
const amount = (value: unknown): bigint => {
  if (typeof value === 'bigint') return value > 0n ? value : 0n;
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? BigInt(value) : 0n;
};

type Stat = Readonly<Record<string, unknown>>;

/** A count that is there but no number is damage: taken for nothing it would make a commit with rows one without. */
function countOf(stat: Stat, field: (typeof STAT_FIELDS)[number]): bigint {
  const value = stat[field] ?? 0;
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) throw new SyntaxError(`its ${field} is no number`);
  return amount(value);
}

export function createTally(): Tally {
  const sums = { inserts: 0n, updates: 0n, deletes: 0n, writes: 0n, watermark: 0n };
  const replaced = { partitions: 0, files: 0 };
  const partitions = new Set<string>();
  const said = { operation: null as string | null, compacted: false, schema: null as string | null, backfill: false };
  return {
    stat: (partition, stat) => {
      partitions.add(partition);
      sums.inserts += countOf(stat, 'numInserts');
      sums.updates += countOf(stat, 'numUpdateWrites');
      sums.deletes += countOf(stat, 'numDeletes');
      sums.writes += countOf(stat, 'numWrites');
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
