import type { Cursor } from '../source.ts';

/** What the Paimon source remembers of a table between two polls. */
export interface Memory {
  /** The newest snapshot seen; null: the table had none. */
  readonly head: SeenSnapshot | null;
  /** Newest snapshot with new data, if it could be read then. */
  readonly dataHead: bigint | null;
  /** Fingerprints of the newest snapshots seen (WINDOW at most), the head's among them: they tell how far a rewind went. */
  readonly known: ReadonlyMap<bigint, string>;
  /** Tag → snapshot id. */
  readonly tags: ReadonlyMap<string, bigint>;
  /** Where the store tells them in a listing: tag → stamp, so that an unchanged tag is not read again. */
  readonly tagStamps: ReadonlyMap<string, string>;
  /** The lowest schema file (a re-created table has another) and the newest; null: none was there. */
  readonly firstSchema: SeenSchema | null;
  readonly lastSchema: SeenSchema | null;
}

export interface SeenSnapshot {
  readonly id: bigint;
  readonly fingerprint: string;
  readonly timeMillis: bigint;
}

export interface SeenSchema {
  readonly id: bigint;
  readonly fingerprint: string;
}

/** How many snapshots back a rewind is found exactly; farther back it is judged by commit times. */
const WINDOW = 128;

const VERSION = 1;

export function toCursor(memory: Memory): Cursor {
  const known = [...memory.known].sort(([a], [b]) => (a < b ? -1 : 1)).slice(-WINDOW);
  const { head, firstSchema, lastSchema } = memory;
  return {
    v: VERSION,
    head: head && { id: `${head.id}`, fingerprint: head.fingerprint, timeMillis: `${head.timeMillis}` },
    dataHead: memory.dataHead?.toString() ?? null,
    known: Object.fromEntries(known.map(([id, mark]) => [id.toString(), mark])),
    tags: Object.fromEntries([...memory.tags].map(([tag, id]) => [tag, id.toString()])),
    ...(memory.tagStamps.size > 0 ? { tagStamps: Object.fromEntries(memory.tagStamps) } : {}),
    firstSchema: firstSchema && { id: `${firstSchema.id}`, fingerprint: firstSchema.fingerprint },
    lastSchema: lastSchema && { id: `${lastSchema.id}`, fingerprint: lastSchema.fingerprint },
  };
}

/** undefined: not a cursor of this source, or of a layout that this version does not know. */
export function fromCursor(cursor: Cursor): Memory | undefined {
  if (cursor.v !== VERSION) return undefined;
  try {
    return readMemory(cursor);
  } catch {
    return undefined; // BigInt refuses what is no number
  }
}

function readMemory(cursor: Cursor): Memory {
  const head = record(cursor['head']);
  return {
    head: head && { id: id(head['id']), fingerprint: text(head['fingerprint']), timeMillis: id(head['timeMillis']) },
    dataHead: cursor['dataHead'] === null ? null : id(cursor['dataHead']),
    known: new Map(texts(cursor['known']).map(([key, mark]) => [id(key), mark])),
    tags: new Map(texts(cursor['tags']).map(([tag, at]) => [tag, id(at)])),
    tagStamps: new Map(texts(cursor['tagStamps'] ?? {})),
    firstSchema: seenSchema(cursor['firstSchema']),
    lastSchema: seenSchema(cursor['lastSchema']),
  };
}

const seenSchema = (value: unknown): SeenSchema | null => {
  const schema = record(value);
  return schema && { id: id(schema['id']), fingerprint: text(schema['fingerprint']) };
};

const texts = (value: unknown): [string, string][] =>
  Object.entries(record(value) ?? {}).map(([key, member]) => [key, text(member)]);

function record(value: unknown): Readonly<Record<string, unknown>> | null {
  if (value === null) return null;
  if (typeof value !== 'object' || Array.isArray(value)) throw new TypeError('not an object');
  return value as Readonly<Record<string, unknown>>;
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('not a text');
  return value;
}

const id = (value: unknown): bigint => BigInt(text(value));
