import { readAvro, type AvroRecord } from '../avro.ts';
import type { Change } from './judge.ts';
import type { Snapshot } from './snapshot.ts';

/** Reads a file that the metadata names; null: it is not there. */
export type ReadNamed = (path: string) => Promise<Uint8Array | null>;

const NOTHING: Change = { added: 0n, deleted: 0n, rows: 0n };

const sum = (a: Change, b: Change): Change => ({
  added: a.added + b.added,
  deleted: a.deleted + b.deleted,
  rows: a.rows === null || b.rows === null ? null : a.rows + b.rows,
});

/** What the snapshot's own manifests say that it did; null if they cannot be read. */
export async function readChange(snapshot: Snapshot, read: ReadNamed): Promise<Change | null> {
  try {
    if (snapshot.manifestList !== null) return await changeOfList(snapshot, snapshot.manifestList, read);
    if (snapshot.manifests === null) return null;
    const changes: Change[] = [];
    for (const path of snapshot.manifests) changes.push(await changeOfManifest(snapshot.entry.id, path, read, false));
    return changes.reduce(sum, NOTHING);
  } catch {
    return null; // missing, cut short, or in a form that nobody knows: there is no evidence then
  }
}

async function changeOfList(snapshot: Snapshot, path: string, read: ReadNamed): Promise<Change> {
  const changes: Change[] = [];
  for (const record of await recordsOf(path, read)) {
    const added = record['added_snapshot_id'];
    if (typeof added === 'bigint' && !isSame(added, snapshot.entry.id)) continue;
    changes.push(
      counted(record) ?? (await changeOfManifest(snapshot.entry.id, String(record['manifest_path']), read, true)),
    );
  }
  return changes.reduce(sum, NOTHING);
}

async function recordsOf(path: string, read: ReadNamed): Promise<readonly AvroRecord[]> {
  const bytes = await read(path);
  if (bytes === null) throw new Error(`${path} is missing`);
  return readAvro(bytes);
}

/** Avro holds ids signed; a tool that goes through doubles has rounded those of the metadata file (seen in public tables). */
const isSame = (added: bigint, id: string): boolean =>
  added === BigInt.asIntN(64, BigInt(id)) || Number(added) === Number(id);

/** By the counts of the list, whose names changed once; null where format version 1 left them out. */
function counted(record: AvroRecord): Change | null {
  const added = countIn(record, 'added_files_count', 'added_data_files_count');
  const deleted = countIn(record, 'deleted_files_count', 'deleted_data_files_count');
  if (added === null || deleted === null) return null;
  if (countIn(record, 'content', 'content') === 1n) return { added, deleted, rows: 0n };
  const [rowsIn, rowsOut] = [countIn(record, 'added_rows_count'), countIn(record, 'deleted_rows_count')];
  return { added, deleted, rows: rowsIn === null || rowsOut === null ? null : rowsIn - rowsOut };
}

function countIn(record: AvroRecord, ...names: readonly string[]): bigint | null {
  for (const name of names) {
    const value = record[name];
    if (typeof value === 'bigint') return value;
    if (typeof value === 'number') return BigInt(value);
  }
  return null;
}

/** By a manifest's entries: status 1 is added, 2 deleted. `own`: all of it is of this snapshot, so that an entry without an id is too. */
async function changeOfManifest(id: string, path: string, read: ReadNamed, own: boolean): Promise<Change> {
  let [added, deleted] = [0n, 0n];
  for (const entry of await recordsOf(path, read)) {
    const snapshotId = entry['snapshot_id'];
    if (typeof snapshotId === 'bigint' ? !isSame(snapshotId, id) : !own) continue;
    if (entry['status'] === 1) added++;
    if (entry['status'] === 2) deleted++;
  }
  return { added, deleted, rows: null };
}
