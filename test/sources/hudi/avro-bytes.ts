import { deflateRawSync } from 'node:zlib';
import avro, { type Schema } from 'avsc';

const text = (name: string): object => ({ name, type: ['null', 'string'], default: null });
const long = (name: string): object => ({ name, type: ['null', 'long'], default: null });

const WRITE_STAT = {
  type: 'record',
  name: 'HoodieWriteStat',
  fields: [
    ...['fileId', 'path', 'prevCommit'].map(text),
    ...['numWrites', 'numDeletes', 'numUpdateWrites', 'totalWriteBytes', 'numInserts', 'maxEventTime'].map(long),
  ],
};

const commitRecord = (name: string): object => ({
  type: 'record',
  name,
  namespace: 'org.apache.hudi.avro.model',
  fields: [
    {
      name: 'partitionToWriteStats',
      type: [
        'null',
        {
          type: 'map',
          values: { type: 'array', items: name === 'HoodieCommitMetadata' ? WRITE_STAT : 'HoodieWriteStat' },
        },
      ],
      default: null,
    },
    { name: 'compacted', type: ['null', 'boolean'], default: null },
    { name: 'extraMetadata', type: ['null', { type: 'map', values: 'string' }], default: null },
    { name: 'version', type: ['null', 'int'], default: null },
    text('operationType'),
    {
      name: 'partitionToReplaceFileIds',
      type: ['null', { type: 'map', values: { type: 'array', items: 'string' } }],
      default: null,
    },
  ],
});

const COMMIT = commitRecord('HoodieCommitMetadata');

const ROLLBACK = {
  type: 'record',
  name: 'HoodieRollbackMetadata',
  fields: [
    { name: 'startRollbackTime', type: 'string' },
    { name: 'commitsRollback', type: { type: 'array', items: 'string' } },
  ],
};

const RESTORE = {
  type: 'record',
  name: 'HoodieRestoreMetadata',
  fields: [
    { name: 'startRestoreTime', type: 'string' },
    { name: 'instantsToRollback', type: { type: 'array', items: 'string' } },
  ],
};

const CLEAN = {
  type: 'record',
  name: 'HoodieCleanMetadata',
  fields: [
    { name: 'startCleanTime', type: 'string' },
    { name: 'earliestCommitToRetain', type: 'string' },
  ],
};

const ARCHIVED = {
  type: 'record',
  name: 'HoodieArchivedMetaEntry',
  fields: [
    { name: 'hoodieCommitMetadata', type: ['null', COMMIT], default: null },
    { name: 'commitTime', type: ['null', 'string'], default: null },
    { name: 'actionType', type: ['null', 'string'], default: null },
    { name: 'actionState', type: ['null', 'string'], default: null },
  ],
};

const encode = (schema: object, record: object): Buffer =>
  avro.Type.forSchema(schema as Schema, { noAnonymousTypes: false }).toBuffer(record);

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  for (let left = BigInt(value) * 2n; ; left >>= 7n) {
    const rest = left > 127n;
    bytes.push(Number(left & 127n) | (rest ? 128 : 0));
    if (!rest) return Buffer.from(bytes);
  }
};

const counted = (bytes: Buffer | string): Buffer => {
  const buffer = Buffer.from(bytes);
  return Buffer.concat([varint(buffer.length), buffer]);
};

/** An Avro object container file with one record, as Hudi writes its actions. */
function container(schema: object, record: object, codec: 'null' | 'deflate' = 'deflate'): Buffer {
  const body = encode(schema, record);
  const data = codec === 'null' ? body : deflateRawSync(body);
  const sync = Buffer.alloc(16, 7);
  const meta = [counted('avro.schema'), counted(JSON.stringify(schema)), counted('avro.codec'), counted(codec)];
  return Buffer.concat([Buffer.from('Obj\x01'), varint(2), ...meta, varint(0), sync, varint(1), counted(data), sync]);
}

export const avroCommit = (commit: object, codec?: 'null' | 'deflate'): Buffer => container(COMMIT, commit, codec);

export const avroRollback = (time: string, takenBack: readonly string[]): Buffer =>
  container(ROLLBACK, { startRollbackTime: time, commitsRollback: takenBack });

export const avroRestore = (time: string, takenBack: readonly string[]): Buffer =>
  container(RESTORE, { startRestoreTime: time, instantsToRollback: takenBack });

export const avroClean = (time: string, earliestCommitToRetain: string): Buffer =>
  container(CLEAN, { startCleanTime: time, earliestCommitToRetain });

export interface ArchivedEntry {
  readonly commitTime: string;
  readonly actionType: string;
  readonly actionState: string;
  readonly hoodieCommitMetadata: object | null;
}

const int = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const wide = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
};

/** A file of layout 1's archive: one Avro block of a Hudi log. */
export function archiveLog(entries: readonly ArchivedEntry[]): Buffer {
  const schema = Buffer.from(JSON.stringify(ARCHIVED));
  const records = entries.map((entry) => encode(ARCHIVED, entry)).flatMap((bytes) => [int(bytes.length), bytes]);
  const content = Buffer.concat([int(3), int(entries.length), ...records]);
  const head = [int(1), int(3), int(1), int(2), int(schema.length), schema, wide(content.length)];
  const body = Buffer.concat([...head, content, int(0)]);
  return Buffer.concat([Buffer.from('#HUDI#'), wide(body.length + 8), body, wide(body.length + 14)]);
}
