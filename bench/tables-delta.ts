import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { put, type TableWriter } from './table-writer.ts';

const fileOf = (folder: string, version: number): string =>
  join(folder, '_delta_log', `${String(version).padStart(20, '0')}.json`);

const lines = (...actions: readonly object[]): string =>
  actions.map((action) => `${JSON.stringify(action)}\n`).join('');

const commitInfo = (version: number, operation: string) => ({
  commitInfo: {
    timestamp: Date.now(),
    operation,
    operationParameters: { mode: 'Append', partitionBy: '[]' },
    ...(version === 0 ? {} : { readVersion: version - 1 }),
    isolationLevel: 'Serializable',
    isBlindAppend: true,
    operationMetrics: { numFiles: '1', numOutputRows: '3', numOutputBytes: '698' },
    engineInfo: 'Apache-Spark/3.5.6 Delta-Lake/3.3.3',
    txnId: crypto.randomUUID(),
  },
});

const fields = ['id', 'amount'].map((name) => ({ name, type: 'long', nullable: true, metadata: {} }));

const creation = (): string =>
  lines(
    commitInfo(0, 'CREATE TABLE'),
    { protocol: { minReaderVersion: 1, minWriterVersion: 2 } },
    {
      metaData: {
        id: crypto.randomUUID(),
        format: { provider: 'parquet', options: {} },
        schemaString: JSON.stringify({ type: 'struct', fields }),
        partitionColumns: [],
        configuration: {},
        createdTime: Date.now(),
      },
    },
  );

const append = (version: number): string =>
  lines(commitInfo(version, 'WRITE'), {
    add: {
      path: `part-00000-${crypto.randomUUID()}-c000.snappy.parquet`,
      partitionValues: {},
      size: 698,
      modificationTime: Date.now(),
      dataChange: true,
      stats: JSON.stringify({ numRecords: 3, minValues: { id: 1 }, maxValues: { id: 3 }, nullCount: { id: 0 } }),
    },
  });

/** Commits as Spark writes them: version 0 makes the table, each one after it appends a file of three rows. */
export const deltaWriter = (): TableWriter => {
  const commit = (folder: string, id: number): void => put(fileOf(folder, id), append(id));
  return {
    create(folder) {
      mkdirSync(join(folder, '_delta_log'), { recursive: true });
      put(fileOf(folder, 0), creation());
      commit(folder, 1);
    },
    commit,
    nameOf: String,
    probe: (folder, id) => fileOf(folder, id + 1),
  };
};
