import { isJsonObject, parseJson, type Json, type JsonObject } from '../../core/json.ts';
import { BrokenFile } from '../trouble.ts';
import { nextTurn } from '../turns.ts';
import { BrokenJson, Scanner, type Span } from './scan.ts';

/** What linking snapshots needs of one; the rest is parsed from `span` when it is asked for. */
export interface SnapshotEntry {
  readonly id: string;
  readonly parent: string | null;
  /** null: the table's format version 1 has none. */
  readonly sequence: bigint | null;
  readonly time: bigint;
  readonly span: Span;
}

export interface SchemaEntry {
  readonly id: string;
  readonly span: Span;
}

/** One metadata file. */
export interface TableMetadata {
  readonly bytes: Uint8Array;
  readonly formatVersion: number;
  /** null: an old writer gave it none. */
  readonly tableId: string | null;
  readonly location: string | null;
  readonly lastSequence: bigint;
  readonly lastUpdated: bigint;
  /** All that are listed, in their order: those of other branches, staged and abandoned ones too. */
  readonly snapshots: ReadonlyMap<string, SnapshotEntry>;
  /** Branch → its newest snapshot; without `main` if that has none. */
  readonly branches: ReadonlyMap<string, string>;
  readonly tags: ReadonlyMap<string, string>;
  readonly schemas: readonly SchemaEntry[];
  readonly currentSchema: SchemaEntry;
  /** Paths of earlier metadata files, oldest first. */
  readonly log: readonly string[];
}

/** Bytes that are looked through before others get their turn; some 2 ms. */
const SLICE = 256 * 1024;

/** Lists whose elements are wanted one by one. */
interface Found {
  readonly members: Map<string, Span>;
  readonly snapshots: Map<string, SnapshotEntry>;
  readonly schemas: SchemaEntry[];
}

/** Looks through a metadata file, in slices. Throws BrokenFile. */
export async function parseMetadata(bytes: Uint8Array): Promise<TableMetadata> {
  if (bytes.length === 0) throw new BrokenFile('it is empty');
  try {
    const found = await scan(bytes, { start: 0, end: bytes.length });
    const inner = found.members.get('metadata');
    // The answer of a REST catalog to "load table" holds the metadata as one member.
    const wrapped = !found.members.has('format-version') && inner !== undefined && bytes[inner.start] === 0x7b;
    return tableOf(bytes, wrapped ? await scan(bytes, inner) : found);
  } catch (error) {
    if (error instanceof BrokenJson) throw new BrokenFile(`it is not whole JSON: ${error.message}`, { cause: error });
    throw error;
  }
}

async function scan(bytes: Uint8Array, span: Span): Promise<Found> {
  const found: Found = { members: new Map(), snapshots: new Map(), schemas: [] };
  const scanner = new Scanner(bytes, span);
  let paused = span.start;
  const pause = async (): Promise<void> => {
    if (scanner.at - paused < SLICE) return;
    paused = scanner.at;
    await nextTurn();
  };
  scanner.enterObject();
  for (let key = scanner.key(); key !== null; key = scanner.key()) {
    const kind = scanner.peek();
    const start = scanner.at;
    if (kind === 'list') await scanList(scanner, key, found, pause);
    else if (kind === 'object') await scanObject(scanner, pause);
    else scanner.skip();
    found.members.set(key, { start, end: scanner.at });
  }
  scanner.finish();
  return found;
}

async function scanList(scanner: Scanner, key: string, found: Found, pause: () => Promise<void>): Promise<void> {
  scanner.enterList();
  while (scanner.element()) {
    if (key === 'snapshots') {
      const entry = snapshotEntry(scanner);
      found.snapshots.set(entry.id, entry);
    } else if (key === 'schemas') found.schemas.push(schemaEntry(scanner));
    else scanner.skip();
    await pause();
  }
}

async function scanObject(scanner: Scanner, pause: () => Promise<void>): Promise<void> {
  scanner.enterObject();
  while (scanner.key() !== null) {
    scanner.skip();
    await pause();
  }
}

const textAt = (bytes: Uint8Array, { start, end }: Span): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');

/** The value that stands there. Throws BrokenFile. */
function jsonAt(bytes: Uint8Array, span: Span): Json {
  try {
    return parseJson(textAt(bytes, span));
  } catch (error) {
    throw new BrokenFile(`what stands at byte ${span.start} is not JSON`, { cause: error });
  }
}

export function objectAt(bytes: Uint8Array, span: Span): JsonObject {
  const json = jsonAt(bytes, span);
  if (!isJsonObject(json)) throw new BrokenFile(`what stands at byte ${span.start} is not an object`);
  return json;
}

/** Goes past one snapshot. By hand and without a map in between: there may be a hundred thousand of them. */
function snapshotEntry(scanner: Scanner): SnapshotEntry {
  const start = startOfObject(scanner);
  let [id, parent, sequence, time]: (string | undefined)[] = [];
  for (let key = scanner.key(); key !== null; key = scanner.key()) {
    const value = scanner.skip();
    if (key === 'snapshot-id') id = scanner.text(value);
    else if (key === 'parent-snapshot-id') parent = scanner.text(value);
    else if (key === 'sequence-number') sequence = scanner.text(value);
    else if (key === 'timestamp-ms') time = scanner.text(value);
  }
  const [own, at, number] = [idOf(id), integerOf(time), integerOf(sequence)];
  if (own === null || at === null) throw new BrokenFile('it lists a snapshot without an id or a time');
  const span = { start, end: scanner.at };
  return { id: own, parent: idOf(parent), sequence: number === 0n ? null : number, time: at, span };
}

function schemaEntry(scanner: Scanner): SchemaEntry {
  const start = startOfObject(scanner);
  let id: string | undefined;
  for (let key = scanner.key(); key !== null; key = scanner.key()) {
    const value = scanner.skip();
    if (key === 'schema-id') id = scanner.text(value);
  }
  return { id: integerOf(id)?.toString() ?? '0', span: { start, end: scanner.at } };
}

function startOfObject(scanner: Scanner): number {
  if (scanner.peek() !== 'object') throw new BrokenFile('one of its lists holds something that is not an object');
  const start = scanner.at;
  scanner.enterObject();
  return start;
}

const UNSIGNED_END = 2n ** 64n;

/** The exact integer that a text writes; null for null and for nothing. Throws BrokenFile for anything else. */
function integerOf(text: string | undefined): bigint | null {
  if (text === undefined || text === 'null') return null;
  if (!/^-?\d{1,20}$/.test(text)) throw new BrokenFile(`${text.slice(0, 40)} is no integer that it may hold`);
  return BigInt(text);
}

/** Ids go up to 64 bits unsigned: beyond Java's long, as PyIceberg once made them. -1 means none. */
function idOf(text: string | undefined): string | null {
  if (text !== undefined && /^[1-9]\d{0,18}$/.test(text)) return text;
  const id = integerOf(text);
  if (id === null || id === -1n) return null;
  if (id >= UNSIGNED_END) throw new BrokenFile(`${id} is too large for a snapshot id`);
  return id.toString();
}

function tableOf(bytes: Uint8Array, found: Found): TableMetadata {
  const member = (key: string): Json | undefined => {
    const span = found.members.get(key);
    return span === undefined ? undefined : jsonAt(bytes, span);
  };
  const formatVersion = member('format-version');
  if (typeof formatVersion !== 'number' || !Number.isInteger(formatVersion) || formatVersion < 1)
    throw new BrokenFile('it is no table metadata: it has no format-version');
  if (formatVersion > 1) checkSpecs(member('partition-specs'), member('default-spec-id'));
  const refs = refsOf(member('refs'), member('current-snapshot-id'));
  const [tableId, location] = [member('table-uuid'), member('location')];
  return {
    bytes,
    formatVersion,
    tableId: typeof tableId === 'string' ? tableId : null,
    location: typeof location === 'string' ? location : null,
    lastSequence: longOf(member('last-sequence-number')),
    lastUpdated: longOf(member('last-updated-ms')),
    snapshots: found.snapshots,
    ...refs,
    ...schemasOf(found, formatVersion, member),
    log: logOf(member('metadata-log')),
  };
}

const longOf = (json: Json | undefined): bigint =>
  typeof json === 'bigint' ? json : typeof json === 'number' && Number.isSafeInteger(json) ? BigInt(json) : 0n;

/** Engines refuse a table without its partition spec, so what it holds is anybody's guess. */
function checkSpecs(specs: Json | undefined, current: Json | undefined): void {
  const list: readonly Json[] = Array.isArray(specs) ? specs : [];
  const ids = list.map((spec: Json) => (isJsonObject(spec) ? spec['spec-id'] : undefined));
  if (ids.length === 0 || (current !== undefined && !ids.includes(current)))
    throw new BrokenFile('it lacks its partition spec');
}

function schemasOf(
  found: Found,
  formatVersion: number,
  member: (key: string) => Json | undefined,
): Pick<TableMetadata, 'schemas' | 'currentSchema'> {
  const current = member('current-schema-id');
  const currentSchema = found.schemas.findLast((schema) => schema.id === String(current));
  if (currentSchema !== undefined) return { schemas: found.schemas, currentSchema };
  const span = found.members.get('schema');
  const only = member('schema');
  const listed = current !== undefined && found.schemas.length > 0;
  if (formatVersion > 1 || listed || span === undefined || !isJsonObject(only))
    throw new BrokenFile('it lacks its current schema');
  const entry = { id: longOf(only['schema-id']).toString(), span };
  return { schemas: [entry], currentSchema: entry };
}

type Refs = Pick<TableMetadata, 'branches' | 'tags'>;

function refsOf(refs: Json | undefined, current: Json | undefined): Refs {
  const branches = new Map<string, string>();
  const tags = new Map<string, string>();
  for (const [name, ref] of Object.entries(isJsonObject(refs) ? refs : {})) {
    const id = isJsonObject(ref) ? snapshotOf(ref['snapshot-id']) : null;
    if (id === null || !isJsonObject(ref)) throw new BrokenFile(`its ref ${name} names no snapshot`);
    (ref['type'] === 'tag' ? tags : branches).set(name, id);
  }
  // Old writers know no refs: the current snapshot is main.
  const main = branches.get('main') ?? snapshotOf(current);
  if (main !== null) branches.set('main', main);
  return { branches, tags };
}

const snapshotOf = (json: Json | undefined): string | null =>
  typeof json === 'number' || typeof json === 'bigint' ? idOf(json.toString()) : null;

const logOf = (json: Json | undefined): readonly string[] =>
  (Array.isArray(json) ? (json as readonly Json[]) : []).flatMap((item) =>
    isJsonObject(item) && typeof item['metadata-file'] === 'string' ? [item['metadata-file']] : [],
  );
