import type { SchemaField, TableSchema } from '../../core/asset/schema/schema.ts';
import type { Cursor } from '../source.ts';
import type { Remembered, SeenHead } from './decide.ts';

/** What the Iceberg source remembers of a branch between two polls. */
export interface Memory extends Remembered {
  /** Newest readable snapshot with new data. */
  readonly dataHead: string | null;
  /** Tag → snapshot id. */
  readonly tags: ReadonlyMap<string, string>;
  /** The current schema, so that a poll that finds the files unchanged need not read them; null: it is too large to be kept. */
  readonly schema: TableSchema | null;
  readonly schemaId: string;
  /** The highest schema id seen: later ones are higher. */
  readonly lastSchema: bigint;
  /** Fingerprint of the current schema: format version 1 may change it under the same id. */
  readonly schemaPrint: string;
  readonly files: SeenFiles;
  readonly problems: readonly string[];
}

/** Which files were looked at, and how to tell that nothing about them has changed. */
export interface SeenFiles {
  /** The table's own folder; null: the location is the metadata file itself. */
  readonly base: string | null;
  /** The metadata file that was read. */
  readonly current: string;
  /** Only `v<N>` files stand there, which all sort after the manifests. */
  readonly hadoop: boolean;
  /** Fingerprint of the names of all metadata files. */
  readonly print: string;
  /** What the hint file said; null: there was none. */
  readonly hint: string | null;
  readonly consulted: readonly SeenFile[];
}

export interface SeenFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: bigint;
}

/** How many ids of a branch's history are kept: what has expired farther back is judged by sequence numbers. */
export const WINDOW = 128;

/** Characters of JSON; a schema larger than this is read again rather than kept. */
const LARGEST_SCHEMA = 64 * 1024;

const VERSION = 1;

export function toCursor(memory: Memory): Cursor {
  const { head, files, schema } = memory;
  return {
    v: VERSION,
    tableId: memory.tableId,
    head: head && { ...head, sequence: textOrNull(head.sequence), time: `${head.time}`, rows: textOrNull(head.rows) },
    dataHead: memory.dataHead,
    known: memory.known.slice(-WINDOW),
    withdrawn: memory.withdrawn.slice(-WINDOW),
    tags: Object.fromEntries(memory.tags),
    schema: JSON.stringify(schema).length <= LARGEST_SCHEMA ? schema : null,
    schemaId: memory.schemaId,
    lastSchema: memory.lastSchema.toString(),
    schemaPrint: memory.schemaPrint,
    files: {
      ...files,
      consulted: files.consulted.map((file) => ({ ...file, modifiedAt: file.modifiedAt.toString() })),
    },
    problems: memory.problems,
  };
}

const textOrNull = (value: bigint | null): string | null => value?.toString() ?? null;

/** undefined: not a cursor of this source, or of a layout that this version does not know. */
export function fromCursor(cursor: Cursor): Memory | undefined {
  if (cursor.v !== VERSION) return undefined;
  try {
    return readMemory(cursor);
  } catch {
    return undefined; // a TypeError of the readers below, or BigInt's SyntaxError
  }
}

function readMemory(cursor: Cursor): Memory {
  return {
    tableId: maybe(cursor['tableId'], text),
    head: maybe(cursor['head'], seenHead),
    dataHead: maybe(cursor['dataHead'], text),
    known: list(cursor['known'], text),
    withdrawn: list(cursor['withdrawn'], text),
    tags: new Map(Object.entries(record(cursor['tags'])).map(([tag, id]) => [tag, text(id)])),
    schema: maybe(cursor['schema'], tableSchema),
    schemaId: text(cursor['schemaId']),
    lastSchema: BigInt(text(cursor['lastSchema'])),
    schemaPrint: text(cursor['schemaPrint']),
    files: seenFiles(cursor['files']),
    problems: list(cursor['problems'], text),
  };
}

function seenHead(value: unknown): SeenHead {
  const head = record(value);
  return {
    id: text(head['id']),
    sequence: maybe(head['sequence'], long),
    time: long(head['time']),
    rows: maybe(head['rows'], long),
  };
}

function seenFiles(value: unknown): SeenFiles {
  const files = record(value);
  return {
    base: maybe(files['base'], text),
    current: text(files['current']),
    hadoop: files['hadoop'] === true,
    print: text(files['print']),
    hint: maybe(files['hint'], text),
    consulted: list(files['consulted'], (item) => {
      const file = record(item);
      return { path: text(file['path']), size: Number(file['size']), modifiedAt: long(file['modifiedAt']) };
    }),
  };
}

function tableSchema(value: unknown): TableSchema {
  const schema = record(value);
  return {
    schemaId: text(schema['schemaId']),
    fields: list(schema['fields'], (field) => record(field) as unknown as SchemaField),
    partitionKeys: list(schema['partitionKeys'], text),
    primaryKeys: list(schema['primaryKeys'], text),
  };
}

const maybe = <T>(value: unknown, read: (value: unknown) => T): T | null => (value === null ? null : read(value));

function list<T>(value: unknown, read: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw new TypeError('not a list');
  return (value as readonly unknown[]).map(read);
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('not an object');
  return value as Readonly<Record<string, unknown>>;
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('not a text');
  return value;
}

const long = (value: unknown): bigint => BigInt(text(value));
