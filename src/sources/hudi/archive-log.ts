import { AvroTap } from './avro-tap.ts';
import { parseSchema, ValueReader, type Field, type Shape, type Value } from './avro-value.ts';
import { COMMIT_FIELDS, readCommitRecord } from './commit-avro.ts';
import { paced } from './paced.ts';
import { createTally, type CommitFacts } from './tally.ts';

/** A completed action in the archive of layout 1. */
export interface ArchivedAction {
  readonly time: string;
  readonly action: string;
  /** null: it is no write. */
  readonly facts: CommitFacts | null;
}

const MAGIC = '#HUDI#';
/** Header entry that holds the Avro schema of a data block, and the number of that kind of block. */
const SCHEMA_ENTRY = 2;
const AVRO_BLOCK = 3;
const WANTED = new Set([...COMMIT_FIELDS, 'commitTime', 'actionType', 'actionState']);
/** The members of an entry that hold what a completed write said; a write has one of them. */
const WRITES = new Set(['hoodieCommitMetadata', 'hoodieReplaceCommitMetadata']);

/** A block of the log: the schema of its records, and their bytes one by one. */
interface Block {
  readonly schema: string;
  readonly records: readonly Buffer[];
}

/**
 * Reads a file of the archive of layout 1: a Hudi log of Avro blocks, each with its schema (seen in files of Hudi 0.15; sizes and counts are
 * big-endian). Throws Error for one that is cut short or damaged.
 */
export async function readArchiveLog(bytes: Uint8Array): Promise<readonly ArchivedAction[]> {
  const actions: ArchivedAction[] = [];
  const readers = new Map<string, ValueReader>();
  for (const { schema, records } of blocksOf(bytes)) {
    const parsed = parseSchema(schema);
    const reader = readers.get(schema) ?? new ValueReader(parsed, WANTED);
    readers.set(schema, reader);
    for (const record of records) {
      const tap = new AvroTap(record);
      const action = await paced(readEntry(reader, reader.shape(parsed.type, tap), tap));
      if (action !== null) actions.push(action);
    }
  }
  return actions;
}

function blocksOf(bytes: Uint8Array): readonly Block[] {
  const file = new Bytes(bytes);
  const blocks: Block[] = [];
  while (file.left > 0) {
    if (file.take(MAGIC.length).toString('latin1') !== MAGIC) throw new Error('a block of it is damaged');
    const body = new Bytes(file.take(file.long()));
    body.int(); // version of the log format
    const kind = body.int();
    const schema = headerOf(body).get(SCHEMA_ENTRY);
    const content = new Bytes(body.take(body.long()));
    if (kind === AVRO_BLOCK && schema !== undefined) blocks.push({ schema, records: recordsOf(content) });
  }
  return blocks;
}

function headerOf(body: Bytes): ReadonlyMap<number, string> {
  const header = new Map<number, string>();
  for (let left = body.int(); left > 0; left--) {
    const entry = body.int();
    header.set(entry, body.take(body.int()).toString('utf8'));
  }
  return header;
}

function recordsOf(content: Bytes): readonly Buffer[] {
  content.int(); // version of the block format
  const records: Buffer[] = [];
  for (let left = content.int(); left > 0; left--) records.push(content.take(content.int()));
  return records;
}

/** A completed action; null for one that had only begun. */
function* readEntry(
  reader: ValueReader,
  { word, type }: Shape,
  tap: AvroTap,
): Generator<undefined, ArchivedAction | null, undefined> {
  if (word !== 'record') throw new Error('it holds no records');
  const members = new Map<string, Value>();
  let facts: CommitFacts | null = null;
  for (const field of reader.fields(type)) {
    if (WRITES.has(field.name)) facts = (yield* readFacts(reader, field, tap)) ?? facts;
    else members.set(field.name, reader.read(field.type, tap, !field.wanted));
  }
  const [time, action, state] = ['commitTime', 'actionType', 'actionState'].map((name) => members.get(name));
  if (typeof time !== 'string' || typeof action !== 'string') return null;
  return state === 'REQUESTED' || state === 'INFLIGHT' ? null : { time, action, facts };
}

function* readFacts(
  reader: ValueReader,
  { type }: Field,
  tap: AvroTap,
): Generator<undefined, CommitFacts | null, undefined> {
  const shape = reader.shape(type, tap);
  if (shape.word !== 'record') {
    reader.readShape(shape, tap, true);
    return null;
  }
  const tally = createTally();
  yield* readCommitRecord(reader, shape, tap, tally);
  return tally.facts();
}

/** Big-endian integers and runs of bytes. Throws RangeError where the bytes end too soon. */
class Bytes {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(size: number): Buffer {
    if (!(size >= 0) || size > this.left) throw new RangeError('it is cut short');
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  int(): number {
    return this.take(4).readInt32BE();
  }

  long(): number {
    return Number(this.take(8).readBigInt64BE());
  }
}
