import { BrokenFile, MovedOn } from '../trouble.ts';
import { inTurns } from '../turns.ts';
import type { Memory, SeenSchema } from './cursor.ts';
import type { TableReader } from './reader.ts';
import type { PaimonSchema } from './schema.ts';

/** The schema files of a table, against what was remembered of them. */
export interface SchemaView {
  readonly first: SeenSchema | null;
  readonly last: SeenSchema | null;
  /** The newest schema that can be used. */
  readonly current: PaimonSchema | null;
  /** New or changed since the cursor, ascending. */
  readonly fresh: readonly PaimonSchema[];
  /** The lowest schema is another than the one remembered: another table stands here. */
  readonly anotherTable: boolean;
  readonly problems: readonly string[];
}

const seen = (schema: PaimonSchema): SeenSchema => ({ id: schema.id, fingerprint: schema.fingerprint });

/** Looks at the schemas with these ids (ascending); of those not seen before, at most the newest `limit`. */
export async function viewSchemas(
  reader: TableReader,
  ids: readonly bigint[],
  memory: Memory | null,
  limit: number,
): Promise<SchemaView> {
  const anotherTable = await isAnotherTable(reader, ids, memory);
  const before = anotherTable ? null : (memory?.lastSchema ?? null);
  const { whole, problems } = await readWhole(reader, await freshIds(reader, ids, before, limit));
  const current = whole.at(-1) ?? (await remembered(reader, ids, before));
  const first = await lowest(reader, ids);
  return {
    first: first ?? (anotherTable ? null : (memory?.firstSchema ?? null)),
    last: current === null ? before : seen(current),
    current,
    fresh: whole,
    anotherTable,
    problems,
  };
}

/** Whether the table was re-created: its first schema says when it was made. A half-written one leaves the question open (BrokenFile). */
async function isAnotherTable(reader: TableReader, ids: readonly bigint[], memory: Memory | null): Promise<boolean> {
  const first = memory?.firstSchema;
  if (!first || !ids.includes(first.id)) return false;
  return (await present(reader, first.id)).fingerprint !== first.fingerprint;
}

async function present(reader: TableReader, id: bigint): Promise<PaimonSchema> {
  const schema = await reader.schema(id);
  if (schema === null) throw new MovedOn(`schema-${id}`);
  return schema;
}

/** Ids beyond the one seen last, and that one too if another stands under its id now (a rollback of schemas gives ids again). */
async function freshIds(
  reader: TableReader,
  ids: readonly bigint[],
  before: SeenSchema | null,
  limit: number,
): Promise<readonly bigint[]> {
  if (before === null) return ids.slice(-limit);
  const beyond = ids.filter((id) => id > before.id);
  const changed = ids.includes(before.id) && (await changedSince(reader, before));
  return changed ? [before.id, ...beyond] : beyond;
}

async function changedSince(reader: TableReader, before: SeenSchema): Promise<boolean> {
  try {
    return (await present(reader, before.id)).fingerprint !== before.fingerprint;
  } catch (error) {
    if (error instanceof BrokenFile) return true; // it is being written anew; readWhole says so
    throw error;
  }
}

/** Those before the first that is not whole: it and what follows wait, so that no schema is skipped. */
async function readWhole(
  reader: TableReader,
  ids: readonly bigint[],
): Promise<{ readonly whole: readonly PaimonSchema[]; readonly problems: readonly string[] }> {
  const attempts = await inTurns(ids, (id) => present(reader, id).catch(orBroken));
  const stop = attempts.find((attempt) => attempt instanceof BrokenFile);
  if (stop === undefined) return { whole: attempts as readonly PaimonSchema[], problems: [] };
  const whole = attempts.slice(0, attempts.indexOf(stop)) as readonly PaimonSchema[];
  return { whole, problems: [`${stop.message}; it is read again at the next poll.`] };
}

const orBroken = (error: unknown): BrokenFile => {
  if (error instanceof BrokenFile) return error;
  throw error;
};

/** Without a new schema the current one is the newest that stands there (schemas can go back too). */
async function remembered(
  reader: TableReader,
  ids: readonly bigint[],
  before: SeenSchema | null,
): Promise<PaimonSchema | null> {
  const newest = ids.findLast((id) => before === null || id <= before.id);
  if (newest === undefined) return null;
  const schema = await present(reader, newest).catch(orBroken);
  return schema instanceof BrokenFile ? null : schema;
}

async function lowest(reader: TableReader, ids: readonly bigint[]): Promise<SeenSchema | null> {
  const [id] = ids;
  if (id === undefined) return null;
  const schema = await present(reader, id).catch(orBroken);
  return schema instanceof BrokenFile ? null : seen(schema);
}
