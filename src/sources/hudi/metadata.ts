import { AvroTap } from './avro-tap.ts';
import { isValueRecord, textsOf, ValueReader, type Value, type ValueRecord } from './avro-value.ts';
import { readAvroCommit } from './commit-avro.ts';
import { readJsonCommit } from './commit-json.ts';
import { isContainer, openContainer } from './container.ts';
import type { CommitFacts } from './tally.ts';

/** The facts of a completed commit: JSON in Hudi 0.x, Avro in 1.x. Throws Error for a file that is not whole or damaged. */
export async function readCommitFacts(bytes: Uint8Array): Promise<CommitFacts> {
  if (bytes.length === 0) throw new Error('it is empty');
  return isContainer(bytes) ? readAvroCommit(bytes) : readJsonCommit(bytes);
}

const TAKEBACK = new Set([
  'commitsRollback',
  'instantsToRollback',
  'instantsRollback',
  'restoreInstantInfo',
  'commitTime',
]);

/** Requested times of what a completed rollback or restore took back. Throws Error for a file that is not whole or damaged. */
export async function readTakenBack(bytes: Uint8Array): Promise<readonly string[]> {
  const record = await firstRecord(bytes, TAKEBACK);
  const infos = [record['instantsRollback'], record['restoreInstantInfo']].flatMap((list) =>
    Array.isArray(list)
      ? (list as readonly Value[]).map((info) => (isValueRecord(info) ? (info['commitTime'] ?? null) : null))
      : [],
  );
  const named = [...textsOf(record['commitsRollback']), ...textsOf(record['instantsToRollback']), ...textsOf(infos)];
  return [...new Set(named)];
}

/** The oldest version whose files a completed clean kept; null if it does not say. Throws Error as readTakenBack. */
export async function readEarliestKept(bytes: Uint8Array): Promise<string | null> {
  const record = await firstRecord(bytes, new Set(['earliestCommitToRetain']));
  const earliest = record['earliestCommitToRetain'];
  return typeof earliest === 'string' && earliest !== '' ? earliest : null;
}

async function firstRecord(bytes: Uint8Array, wanted: ReadonlySet<string>): Promise<ValueRecord> {
  const { schema, blocks } = await openContainer(bytes);
  const [block] = blocks;
  if (block === undefined || block.count < 1) throw new Error('it holds no record');
  const record = new ValueReader(schema, wanted).read(schema.type, new AvroTap(block.data));
  if (!isValueRecord(record)) throw new Error('it holds no record');
  return record;
}
