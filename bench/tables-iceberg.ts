import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { put, type TableWriter } from './table-writer.ts';

const fileOf = (folder: string, version: number): string => join(folder, 'metadata', `v${version}.metadata.json`);

/** What Kafka Connect's sink keeps in each snapshot: the offset of each partition, as JSON within JSON. */
const offsets = (id: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: 48 }, (_, partition) => [partition, id * 37 + partition])));

/** A snapshot as it stands in a metadata file; some 1,560 bytes long once ids have five digits. */
export const snapshotText = (folder: string, id: number): string =>
  JSON.stringify({
    'sequence-number': id,
    'snapshot-id': id,
    ...(id === 1 ? {} : { 'parent-snapshot-id': id - 1 }),
    'timestamp-ms': Date.now(),
    summary: {
      operation: 'append',
      'spark.app.id': 'local-1796029996912',
      'kafka.connect.commit-id': '6f1c7c2e-3f0b-4a44-9b57-0d6f4b7a2f11',
      'kafka.connect.offsets.control-iceberg.orders': offsets(id),
      'manifests-created': '1',
      'manifests-kept': String(id - 1),
      'manifests-replaced': '0',
      'added-data-files': '1',
      'added-records': '3',
      'added-files-size': '655',
      'changed-partition-count': '1',
      'total-records': String(3 * id),
      'total-files-size': String(655 * id),
      'total-data-files': String(id),
      'total-delete-files': '0',
      'total-position-deletes': '0',
      'total-equality-deletes': '0',
      'engine-version': '3.5.6',
      'engine-name': 'spark',
      'iceberg-version': 'Apache Iceberg 1.12.0 (commit 212aa894e919ff9fdf89160da4aadcbe6858ac01)',
    },
    'manifest-list': `${folder}/metadata/snap-${id}-1-a6d9aa3b-cc02-4813-bea2-c786e7bdf23f.avro`,
    'schema-id': 0,
  });

/** A whole metadata file with these snapshots, the last one current. */
export const metadataText = (folder: string, snapshots: readonly string[]): string => {
  const head = JSON.stringify({
    'format-version': 2,
    'table-uuid': '261b7196-3c5f-469f-9b5b-94fc579d346d',
    location: folder,
    'last-sequence-number': snapshots.length,
    'last-updated-ms': Date.now(),
    'last-column-id': 2,
    'current-schema-id': 0,
    schemas: [
      {
        type: 'struct',
        'schema-id': 0,
        fields: ['id', 'amount'].map((name, at) => ({ id: at + 1, name, required: false, type: 'long' })),
      },
    ],
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties: { owner: 'etl' },
    'current-snapshot-id': snapshots.length,
    refs: { main: { 'snapshot-id': snapshots.length, type: 'branch' } },
  });
  return `${head.slice(0, -1)},"snapshots":[${snapshots.join(',')}],"statistics":[],"snapshot-log":[],"metadata-log":[]}`;
};

/** A Hadoop table as Spark writes it: each commit is a metadata file with all snapshots, and the hint. */
export const icebergWriter = (): TableWriter => {
  const histories = new Map<string, string[]>();
  const commit = (folder: string, id: number): void => {
    const snapshots = histories.get(folder) ?? Array.from({ length: id - 1 }, (_, at) => snapshotText(folder, at + 1));
    snapshots.push(snapshotText(folder, id));
    if (id > 1) histories.set(folder, snapshots);
    put(fileOf(folder, id), metadataText(folder, snapshots));
    put(join(folder, 'metadata/version-hint.text'), String(id));
  };
  return {
    create(folder) {
      mkdirSync(join(folder, 'metadata'), { recursive: true });
      commit(folder, 1);
    },
    commit,
    nameOf: String,
    probe: (folder, id) => fileOf(folder, id + 1),
  };
};
