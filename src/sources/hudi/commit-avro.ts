import { AvroTap } from './avro-tap.ts';
import { isValueRecord, textsOf, ValueReader, type AvroSchema, type Shape, type Value } from './avro-value.ts';
import { openContainer } from './container.ts';
import { paced } from './paced.ts';
import { createTally, STAT_FIELDS, type CommitFacts, type Tally } from './tally.ts';

/** The fields of a commit's record that are read, those of its write stats included. */
export const COMMIT_FIELDS: readonly string[] = [
  ...STAT_FIELDS,
  'partitionToWriteStats',
  'partitionToReplaceFileIds',
  'extraMetadata',
  'operationType',
  'compacted',
];

/** Write stats that are read between two pauses: about a millisecond. */
const AT_ONCE = 256;

type Steps = Generator<undefined, void, undefined>;

/** Reads the record of a commit into the tally; its write stats, which may be many, one by one. Throws RangeError for damage. */
export function* readCommitRecord(reader: ValueReader, { type }: Shape, tap: AvroTap, tally: Tally): Steps {
  for (const { name, type: fieldType, wanted } of reader.fields(type)) {
    if (name === 'partitionToWriteStats') yield* readStats(reader, reader.shape(fieldType, tap), tap, tally);
    else take(name, reader.read(fieldType, tap, !wanted), tally);
  }
}

/** `{partition: [stat, …], …}`, or nothing. */
function* readStats(reader: ValueReader, { word, type }: Shape, tap: AvroTap, tally: Tally): Steps {
  if (word !== 'map') return void reader.readShape({ word, type }, tap, true);
  let left = AT_ONCE;
  for (let partitions = tap.block(); partitions > 0; partitions = tap.block())
    for (; partitions > 0; partitions--) {
      const partition = tap.text();
      const list = reader.shape(type['values'], tap);
      if (list.word !== 'array') throw new RangeError('its write stats are no lists');
      for (let stats = tap.block(); stats > 0; stats = tap.block())
        for (; stats > 0; stats--) {
          const stat = reader.read(list.type['items'], tap);
          if (isValueRecord(stat)) tally.stat(partition, stat);
          if (--left > 0) continue;
          left = AT_ONCE;
          yield;
        }
    }
}

function take(name: string, value: Value, tally: Tally): void {
  if (name === 'operationType') tally.operation(value);
  else if (name === 'compacted') tally.compacted(value);
  else if (isValueRecord(value))
    for (const [key, member] of Object.entries(value)) {
      if (name === 'extraMetadata') tally.extra(key, member);
      else if (name === 'partitionToReplaceFileIds') tally.replaced(key, textsOf(member).length);
    }
}

const COMMIT = new Set(COMMIT_FIELDS);

/** The facts of a completed commit of Hudi 1.x. Throws Error for a file that is cut short or damaged. */
export async function readAvroCommit(bytes: Uint8Array): Promise<CommitFacts> {
  const { schema, blocks } = await openContainer(bytes);
  const [block] = blocks;
  if (block === undefined || block.count < 1) throw new Error('it holds no record');
  const tap = new AvroTap(block.data);
  const reader = new ValueReader(schema, COMMIT);
  const tally = createTally();
  await paced(readCommitRecord(reader, recordShape(reader, schema, tap), tap, tally));
  return tally.facts();
}

function recordShape(reader: ValueReader, schema: AvroSchema, tap: AvroTap): Shape {
  const shape = reader.shape(schema.type, tap);
  if (shape.word !== 'record') throw new Error('it holds no record');
  return shape;
}
