import type { TableSchema } from '../../core/asset/schema/schema.ts';
import type { Cursor } from '../source.ts';
import type { PartitionColumn } from './schema.ts';
import type { TableState } from './state.ts';

/** What the Delta source remembers of a table between two polls. */
export interface Memory {
  /** The newest commit seen. */
  readonly head: SeenCommit;
  /** The newest one with new data, if its file was there then. */
  readonly dataHead: bigint | null;
  /** Fingerprints of the newest commits seen (WINDOW at most) and of version 0: they tell how far a rewind went. */
  readonly known: ReadonlyMap<bigint, string>;
  /** When the log's folder had changed last when it was listed; LIST: it must be listed again; UNTOLD: the store has no such times. */
  readonly folder: bigint | 'LIST' | 'UNTOLD';
  /** null: no metadata could be found. */
  readonly state: TableState | null;
}

export interface SeenCommit {
  readonly id: bigint;
  readonly fingerprint: string;
  readonly size: number;
  /** Epoch ms, of the file; null: not asked for, as the file is small. */
  readonly modifiedAt: bigint | null;
  /** The commit's time, epoch ms. */
  readonly time: bigint;
}

/** How many commits back a rewind is found exactly; farther back it is judged by commit times. */
const WINDOW = 128;

const VERSION = 1;

export function toCursor({ head, dataHead, known, folder, state }: Memory): Cursor {
  const marks = [...known].sort(([a], [b]) => (a < b ? -1 : 1));
  const kept = marks.filter(([id], index) => id === 0n || index >= marks.length - WINDOW);
  return {
    v: VERSION,
    head: { ...head, id: `${head.id}`, modifiedAt: head.modifiedAt?.toString() ?? null, time: `${head.time}` },
    dataHead: dataHead?.toString() ?? null,
    known: Object.fromEntries(kept.map(([id, mark]) => [id.toString(), mark])),
    folder: folder.toString(),
    state,
  };
}

/** undefined: not a cursor of this source, or of a layout that this version does not know. */
export function fromCursor(cursor: Cursor): Memory | undefined {
  if (cursor.v !== VERSION) return undefined;
  try {
    return readMemory(cursor);
  } catch {
    return undefined; // something is missing, or BigInt refuses what is no number
  }
}

function readMemory(cursor: Cursor): Memory {
  const head = record(cursor['head']);
  const { size } = head;
  if (typeof size !== 'number') throw new TypeError('not a number');
  const known = Object.entries(record(cursor['known'])).map(([id, mark]) => [BigInt(id), text(mark)] as const);
  const folder = text(cursor['folder']);
  return {
    head: {
      id: long(head['id']),
      fingerprint: text(head['fingerprint']),
      size,
      modifiedAt: orNull(head['modifiedAt'], long),
      time: long(head['time']),
    },
    dataHead: orNull(cursor['dataHead'], long),
    known: new Map(known),
    folder: folder === 'LIST' || folder === 'UNTOLD' ? folder : BigInt(folder),
    state: orNull(cursor['state'], stateOf),
  };
}

function stateOf(value: unknown): TableState {
  const state = record(value);
  return {
    tableId: orNull(state['tableId'], text),
    schema: orNull(state['schema'], (schema) => record(schema) as unknown as TableSchema),
    partitions: list(state['partitions']) as readonly PartitionColumn[],
    managedBy: orNull(state['managedBy'], text),
    coordinator: orNull(state['coordinator'], text),
  };
}

const orNull = <T>(value: unknown, read: (value: unknown) => T): T | null => (value === null ? null : read(value));

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('not an object');
  return value as Readonly<Record<string, unknown>>;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError('not a list');
  return value;
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('not a text');
  return value;
}

const long = (value: unknown): bigint => BigInt(text(value));
