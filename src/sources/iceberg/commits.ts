import type { Commit } from '../../core/asset/version.ts';
import { nextTurn } from '../turns.ts';
import { judge } from './judge.ts';
import { readChange } from './manifest.ts';
import type { SnapshotEntry, TableMetadata } from './metadata.ts';
import { countOf, isBackfill, partitionsOf, snapshotAt, watermarkOf, type Snapshot } from './snapshot.ts';

/** A commit, and how sure it is. */
export interface ReadCommit {
  readonly commit: Commit;
  /** Neither summary nor manifests say whether it holds new data. */
  readonly guessed: boolean;
}

/** Where commits are read from. */
export interface History {
  readonly metadata: TableMetadata;
  /** Reads a file that the metadata names; null: it is not there. */
  readonly named: (path: string) => Promise<Uint8Array | null>;
}

/** Judged together; between two such groups others get their turn. */
const GROUP = 32;

/** The commits at these entries, in their order. Throws BrokenFile. */
export async function readCommits(history: History, entries: readonly SnapshotEntry[]): Promise<readonly ReadCommit[]> {
  const commits: ReadCommit[] = [];
  for (let at = 0; at < entries.length; at += GROUP) {
    commits.push(...(await Promise.all(entries.slice(at, at + GROUP).map((entry) => readCommit(history, entry)))));
    await nextTurn();
  }
  return commits;
}

export async function readCommit(history: History, entry: SnapshotEntry): Promise<ReadCommit> {
  const snapshot = snapshotAt(history.metadata, entry);
  const { dataChange, guessed } = await judge(snapshot, {
    parent: () => parentOf(history.metadata, entry),
    change: () => readChange(snapshot, history.named),
  });
  return { commit: commitOf(snapshot, dataChange), guessed };
}

function parentOf(metadata: TableMetadata, entry: SnapshotEntry): Snapshot | null {
  const parent = entry.parent === null ? undefined : metadata.snapshots.get(entry.parent);
  return parent === undefined ? null : snapshotAt(metadata, parent);
}

function commitOf(snapshot: Snapshot, dataChange: boolean): Commit {
  const { id, time, sequence } = snapshot.entry;
  const partitions = partitionsOf(snapshot);
  return {
    snapshotId: id,
    operation: snapshot.operation,
    dataChange,
    commitTime: time,
    watermark: watermarkOf(snapshot),
    schemaId: snapshot.schemaId,
    addedRecords: countOf(snapshot, 'added-records'),
    totalRecords: countOf(snapshot, 'total-records'),
    ...(partitions === undefined ? {} : { partitions }),
    ...(isBackfill(snapshot) ? { backfill: true } : {}),
    ...(sequence === null ? {} : { sequenceNumber: sequence }),
  };
}

/** The newest commit with new data from `head` back; null if none that is listed has any. */
export async function newestWithData(history: History, head: string): Promise<string | null> {
  const { snapshots } = history.metadata;
  let entry = snapshots.get(head);
  for (let steps = 1; entry !== undefined && steps <= snapshots.size; steps++) {
    if ((await readCommit(history, entry)).commit.dataChange) return entry.id;
    entry = entry.parent === null ? undefined : snapshots.get(entry.parent);
    if (steps % GROUP === 0) await nextTurn();
  }
  return null;
}
