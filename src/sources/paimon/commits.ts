import type { Commit } from '../../core/asset/version.ts';
import { BrokenFile, MovedOn } from '../trouble.ts';
import { inTurns } from '../turns.ts';
import { judge, partitionsOf } from './judge.ts';
import type { TableReader } from './reader.ts';
import type { Snapshot } from './snapshot.ts';

/** A snapshot that was read, and what it means. */
export interface ReadCommit {
  readonly snapshot: Snapshot;
  readonly commit: Commit;
  /** Its manifests could not be read: whether it holds new data is a guess. */
  readonly guessed: boolean;
  /** The schema that it names is missing. */
  readonly schemaless: boolean;
}

export interface ReadCommits {
  /** Ascending; ends before the first one that cannot be used yet, so that nothing is ever skipped. */
  readonly commits: readonly ReadCommit[];
  /** Why it ends there; null: all were read. */
  readonly stoppedBy: string | null;
}

/** Below this many, snapshots are read one after the other from the newest down (see readCommits). */
const FEW = 8;

/**
 * Reads and judges the snapshots with these ids (ascending). The newest is read first: should the table be rewound meanwhile and its ids
 * be used again, an older one of the new history cannot come with a newer one of the old without the next poll seeing it.
 */
export async function readCommits(reader: TableReader, ids: readonly bigint[]): Promise<ReadCommits> {
  const down = ids.toReversed();
  if (ids.length <= FEW) for (const id of down) await attemptSnapshot(reader, id);
  else await inTurns(down, (id) => attemptSnapshot(reader, id));
  const commits: ReadCommit[] = [];
  for (const attempt of await inTurns(ids, (id) => attemptCommit(reader, id))) {
    if (attempt instanceof BrokenFile) return { commits, stoppedBy: attempt.message };
    commits.push(attempt);
  }
  return { commits, stoppedBy: null };
}

const orBroken = (error: unknown): BrokenFile => {
  if (error instanceof BrokenFile) return error;
  throw error;
};

const attemptSnapshot = (reader: TableReader, id: bigint): Promise<Snapshot | BrokenFile | null> =>
  reader.snapshot(id).catch(orBroken);

const attemptCommit = (reader: TableReader, id: bigint): Promise<ReadCommit | BrokenFile> =>
  readCommit(reader, id).catch(orBroken);

/** One commit of the table. Throws MovedOn if the snapshot is gone, BrokenFile if it or its schema is not whole. */
export async function readCommit(reader: TableReader, id: bigint): Promise<ReadCommit> {
  const snapshot = await reader.snapshot(id);
  if (snapshot === null) throw new MovedOn(`snapshot-${id}`);
  const evidence = reader.evidence();
  const judgement = await judge(snapshot, evidence);
  const { dataChange, pendingData, guessed } = judgement;
  const partitions = await partitionsOf(snapshot, judgement, evidence);
  const commit: Commit = {
    snapshotId: snapshot.id.toString(),
    operation: snapshot.commitKind,
    dataChange,
    ...(pendingData ? { pendingData } : {}),
    commitTime: snapshot.timeMillis,
    watermark: snapshot.watermark,
    schemaId: snapshot.schemaId.toString(),
    addedRecords: snapshot.deltaRecords,
    totalRecords: snapshot.totalRecords,
    ...(partitions === null ? {} : { partitions }),
    ...(snapshot.backfill ? { backfill: true } : {}),
  };
  return { snapshot, commit, guessed, schemaless: (await reader.schema(snapshot.schemaId)) === null };
}

/** The newest of these ids (ascending) whose commit shows new data; null if none does or an older one cannot be read any more. */
export async function newestWithData(reader: TableReader, ids: readonly bigint[]): Promise<bigint | null> {
  for (const id of ids.toReversed()) {
    const read = await attemptCommit(reader, id);
    if (read instanceof BrokenFile) return null;
    if (read.commit.dataChange) return id;
  }
  return null;
}
