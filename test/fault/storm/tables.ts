import { join } from 'node:path';
import { put, type TableWriter } from '../../../bench/table-writer.ts';
import { tableWriter } from '../../../bench/tables.ts';
import { type Chronicle, commitsOf, noteCommit } from './chronicle.ts';
import { tableFolder, type WrittenTable } from './plan.ts';

/** The storm's tables on disk, written as engines write them. */
export interface Tables {
  create(table: WrittenTable): void;
  /** The next commit, with new rows; returns what the format calls it. */
  commit(table: WrittenTable): string;
  /** A commit after which readers see the same rows (Delta). */
  rearrange(table: WrittenTable): void;
}

/** Delta's OPTIMIZE: one file takes the place of another. */
function optimize(folder: string, version: number): void {
  const path = `part-00000-${crypto.randomUUID()}-c000.snappy.parquet`;
  const file = { partitionValues: {}, size: 698, dataChange: false };
  const actions = [
    {
      commitInfo: { timestamp: Date.now(), operation: 'OPTIMIZE', operationParameters: {}, txnId: crypto.randomUUID() },
    },
    { remove: { path: `before-${path}`, deletionTimestamp: Date.now(), ...file } },
    { add: { path, modificationTime: Date.now(), stats: JSON.stringify({ numRecords: 3 }), ...file } },
  ];
  const text = actions.map((action) => `${JSON.stringify(action)}\n`).join('');
  put(join(folder, '_delta_log', `${String(version).padStart(20, '0')}.json`), text);
}

/** Commits are noted before they are made: nobody can have seen one that is not in the chronicle. */
export function openTables(warehouse: string, chronicle: Chronicle): Tables {
  const writers = new Map<string, TableWriter>();
  const writerOf = ({ format }: WrittenTable): TableWriter => {
    const writer = writers.get(format) ?? tableWriter(format);
    writers.set(format, writer);
    return writer;
  };
  /** Delta counts from 0, where the table is made. */
  const nextId = ({ key, format }: WrittenTable): number =>
    commitsOf(chronicle, key).length + (format === 'delta' ? 0 : 1);
  return {
    create(table) {
      const writer = writerOf(table);
      if (table.format === 'delta') noteCommit(chronicle, table.key, { snapshotId: '0', data: false });
      noteCommit(chronicle, table.key, { snapshotId: writer.nameOf(1), data: true });
      writer.create(tableFolder(warehouse, table));
    },
    commit(table) {
      const id = nextId(table);
      const snapshotId = writerOf(table).nameOf(id);
      noteCommit(chronicle, table.key, { snapshotId, data: true });
      writerOf(table).commit(tableFolder(warehouse, table), id);
      return snapshotId;
    },
    rearrange(table) {
      if (table.format !== 'delta') throw new Error(`${table.key} has no commit that only rearranges its rows.`);
      const id = nextId(table);
      noteCommit(chronicle, table.key, { snapshotId: String(id), data: false });
      optimize(tableFolder(warehouse, table), id);
    },
  };
}
