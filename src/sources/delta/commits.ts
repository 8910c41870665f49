import type { TableSchema } from '../../core/asset/schema/schema.ts';
import type { Commit } from '../../core/asset/version.ts';
import { BrokenFile, MovedOn } from '../trouble.ts';
import { inTurns } from '../turns.ts';
import { stateAt } from './base.ts';
import type { CommitFile } from './commit-file.ts';
import type { PartitionValues } from './file-changes.ts';
import { commitName, type LogFiles } from './layout.ts';
import type { LogReader } from './reader.ts';
import type { PartitionColumn } from './schema.ts';
import { advance, keepingSchema, type TableState } from './state.ts';

export interface ReadFiles {
  /** Ascending; ends before the first that cannot be used yet, so that nothing is ever skipped. */
  readonly files: readonly CommitFile[];
  /** Why it ends there; null: all were read. */
  readonly stoppedBy: string | null;
}

/**
 * Reads the commits of these versions (ascending), the newest first: should the log be rewound meanwhile, an older commit of the new history
 * cannot come with a newer one of the old without the next poll seeing it. Throws MovedOn if one is gone.
 */
export async function readFiles(reader: LogReader, ids: readonly bigint[]): Promise<ReadFiles> {
  const attempts = (await inTurns(ids.toReversed(), (id) => attempt(reader, id))).reverse();
  const files: CommitFile[] = [];
  for (const file of attempts) {
    if (file instanceof BrokenFile) return { files, stoppedBy: file.message };
    files.push(file);
  }
  return { files, stoppedBy: null };
}

const attempt = (reader: LogReader, id: bigint): Promise<CommitFile | BrokenFile> =>
  present(reader, id).catch((error: unknown) => {
    if (error instanceof BrokenFile) return error;
    throw error;
  });

async function present(reader: LogReader, id: bigint): Promise<CommitFile> {
  const file = await reader.commit(id);
  if (file === null) throw new MovedOn(commitName(id));
  return file;
}

/** What commits say, in order. */
export interface Told {
  readonly commits: readonly Commit[];
  /** Schemas that came in with them. */
  readonly schemas: readonly TableSchema[];
  /** The table after the last of them. */
  readonly state: TableState | null;
}

/** Where the commits go on: after this version, in this state (null: unknown), with this schema the newest that was told. */
export interface Start {
  readonly version: bigint;
  readonly state: TableState | null;
  readonly schema: TableSchema | null;
}

/** Follows the table's state through the commits; behind a hole the log is asked for it. */
export async function tell(
  reader: LogReader,
  log: LogFiles,
  files: readonly CommitFile[],
  start: Start,
): Promise<Told> {
  const commits: Commit[] = [];
  const schemas: TableSchema[] = [];
  let { version: last, state, schema } = start;
  for (const file of files) {
    if (file.version !== last + 1n) state = keepingSchema(schema, await stateAt(reader, log, file.version)) ?? state;
    state = advance(state, file);
    last = file.version;
    const now = state?.schema ?? null;
    if (now !== null && now !== schema) schemas.push(now);
    schema = now ?? schema;
    commits.push(commitOf(file, state, await commitTime(reader, file)));
  }
  return { commits, schemas, state };
}

/** By the table's own clock, else the writer's, else the store's (only writers before 2019 say nothing). */
export async function commitTime(reader: LogReader, file: CommitFile): Promise<bigint> {
  const said = file.inCommitTimestamp ?? file.timestamp;
  if (said !== null) return said;
  const stat = await reader.stat(reader.layout.commit(file.version));
  if (stat === null) throw new MovedOn(commitName(file.version));
  return stat.modifiedAt;
}

function commitOf(file: CommitFile, state: TableState | null, time: bigint): Commit {
  const partitions = partitionsOf(file.files.partitions, state?.partitions ?? []);
  return {
    snapshotId: file.version.toString(),
    operation: file.operation ?? 'UNKNOWN',
    dataChange: file.files.dataChange,
    commitTime: time,
    watermark: null,
    schemaId: state?.schema?.schemaId ?? null,
    addedRecords: addedRecords(file),
    totalRecords: null,
    ...(partitions === null ? {} : { partitions }),
    ...(file.backfill ? { backfill: true } : {}),
  };
}

/** Names of counts in `operationMetrics`, Spark's and delta-rs's. */
const WRITTEN = ['numOutputRows', 'num_added_rows', 'num_output_rows'];
const DELETED = ['numDeletedRows', 'num_deleted_rows'];
const UPDATED = ['numUpdatedRows', 'num_updated_rows'];

/**
 * Net rows added. From the files' statistics where the commit only adds, else from the writer's counts where those are net: what an
 * overwrite or a merge writes is no net number.
 */
function addedRecords({ files, metrics }: CommitFile): bigint | null {
  const count = (names: readonly string[]): bigint | null =>
    names.map((name) => metrics.get(name)).find((value) => value !== undefined) ?? null;
  const written = count(WRITTEN);
  if (!files.dataChange) return files.moves > 0 && written !== null ? null : 0n;
  if (files.dataRemoves === 0) return files.addedRows ?? written;
  if (written !== null) return null;
  const deleted = count(DELETED);
  if (deleted !== null) return -deleted;
  return count(UPDATED) === null ? null : 0n;
}

/** `day=d1/hour=3` for each partition touched; null: the table has none, or the log does not say. */
function partitionsOf(
  touched: readonly PartitionValues[] | null,
  columns: readonly PartitionColumn[],
): readonly string[] | null {
  if (columns.length === 0 || touched === null) return null;
  if (!touched.every((values) => columns.every(({ key }) => values.has(key)))) return null;
  return touched.map((values) => columns.map(({ name, key }) => `${name}=${values.get(key) ?? NULL_VALUE}`).join('/'));
}

/** As Hive, and the folders of Delta tables, write a null. */
const NULL_VALUE = '__HIVE_DEFAULT_PARTITION__';

/** How many commits are read to find the newest data after a rewind. */
const FARTHEST = 1_000;

/** The newest of these versions (ascending) whose commit brings new data; null if none does or an older one cannot be read any more. */
export async function newestWithData(reader: LogReader, ids: readonly bigint[]): Promise<bigint | null> {
  for (const id of ids.slice(-FARTHEST).toReversed()) {
    const file = await attempt(reader, id);
    if (file instanceof BrokenFile) return null;
    if (file.files.dataChange) return id;
  }
  return null;
}
