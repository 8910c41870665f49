import type { AvroRecord } from '../avro.ts';
import { isPlainName, type Layout } from './layout.ts';
import type { HiddenRows } from './schema.ts';

/** What a commit did to data files, as its delta manifests list it. */
export interface Delta {
  /** Files added or deleted. */
  readonly entries: number;
  /** Those of them whose rows a batch read sees; null where the manifests are ORC, of which only the number of entries is read. */
  readonly visible: number | null;
  /** Files added whose rows it does not see yet. */
  readonly promised: number | null;
  /** Files that were hidden and are so no longer, or are gone: a compaction that has some shows new rows. */
  readonly lifted: number | null;
}

const NO_ENTRIES: Delta = { entries: 0, visible: 0, promised: 0, lifted: 0 };

/** A manifest that cannot be read: it is gone, damaged, or written in a way that Sluice does not know. */
export class ManifestError extends Error {}

/** Bytes of a metadata file, or null. */
export type ReadFile = (path: string) => Promise<Uint8Array | null>;

/** Reads manifests and their lists. Throws ManifestError. */
export type ReadManifest = (name: string) => Promise<Records>;

/** For the manifests of one commit: none is read or taken apart twice. */
export function manifestReader(read: ReadFile, layout: Layout): ReadManifest {
  const known = new Map<string, Promise<Records>>();
  return (name) => {
    const reading = known.get(name) ?? readRecords(read, layout, name);
    known.set(name, reading);
    return reading;
  };
}

/**
 * Reads a delta manifest list and, where it lists any, its manifests. Returns null when they cannot be read: the caller then decides
 * without them. Costs one request for a commit that wrote nothing, and one more for each manifest otherwise.
 */
export async function readDelta(read: ReadManifest, list: string, hidden: HiddenRows): Promise<Delta | null> {
  try {
    const manifests = await read(list);
    if (manifests.length === 0) return NO_ENTRIES;
    if (manifests.names === null) return { entries: manifests.length, visible: null, promised: null, lifted: null };
    const deltas = await Promise.all(manifests.names.map(async (name) => countEntries(await read(name), hidden)));
    return deltas.reduce(sum);
  } catch (error) {
    if (error instanceof ManifestError) return null;
    throw error;
  }
}

const add = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

const sum = (a: Delta, b: Delta): Delta => ({
  entries: a.entries + b.entries,
  visible: add(a.visible, b.visible),
  promised: add(a.promised, b.promised),
  lifted: add(a.lifted, b.lifted),
});

export interface Records {
  readonly length: number;
  /** Avro: the records, and the files that they name (`_FILE_NAME`). ORC: null. */
  readonly records: readonly AvroRecord[] | null;
  readonly names: readonly string[] | null;
}

async function readRecords(read: ReadFile, layout: Layout, name: string): Promise<Records> {
  const bytes = isPlainName(name) ? await read(layout.manifest(name)) : null;
  if (bytes === null) throw new ManifestError(`manifest ${name} is missing`);
  try {
    return await parseRecords(bytes);
  } catch (error) {
    throw new ManifestError(`manifest ${name} cannot be read`, { cause: error });
  }
}

/** The readers are loaded when a table first needs them: most polls need none. */
async function parseRecords(bytes: Uint8Array): Promise<Records> {
  if (bytes[0] === 0x4f && bytes[1] === 0x52 && bytes[2] === 0x43) {
    const { orcRowCount } = await import('./orc.ts');
    return { length: Number(orcRowCount(bytes)), records: null, names: null };
  }
  const { readAvro } = await import('../avro.ts');
  const records = readAvro(bytes);
  return { length: records.length, records, names: records.map((record) => String(record['_FILE_NAME'])) };
}

const DELETE = 1; // FileKind: 0 ADD, 1 DELETE

const isHidden = (entry: AvroRecord, hidden: HiddenRows): boolean =>
  (hidden.postponed && Number(entry['_BUCKET']) < 0) || (hidden.levelZero && levelOf(entry) === 0);

/** The file's rows were hidden from batch reads, and are so no longer. */
export const isLifted = (entry: AvroRecord, hidden: HiddenRows): boolean =>
  entry['_KIND'] === DELETE && isHidden(entry, hidden);

function countEntries({ length, records }: Records, hidden: HiddenRows): Delta {
  if (records === null) return { entries: length, visible: null, promised: null, lifted: null };
  return {
    entries: length,
    visible: records.filter((entry) => !isHidden(entry, hidden)).length,
    promised: records.filter((entry) => entry['_KIND'] !== DELETE && isHidden(entry, hidden)).length,
    lifted: records.filter((entry) => isLifted(entry, hidden)).length,
  };
}

function levelOf(entry: AvroRecord): number {
  const file = entry['_FILE'];
  return typeof file === 'object' && file !== null && '_LEVEL' in file ? Number(file._LEVEL) : 0;
}

/**
 * The deletion-vector files that an index manifest names, as one comparable text; '' for none. Null when it cannot be read (ORC
 * included: the kind of an index is not in the tail).
 */
export async function readDeletionVectors(read: ReadManifest, indexManifest: string | null): Promise<string | null> {
  if (indexManifest === null) return '';
  try {
    const { records } = await read(indexManifest);
    const vectors = records?.filter((entry) => entry['_INDEX_TYPE'] === 'DELETION_VECTORS');
    return (
      vectors
        ?.map((entry) => String(entry['_FILE_NAME']))
        .sort()
        .join('\n') ?? null
    );
  } catch (error) {
    if (error instanceof ManifestError) return null;
    throw error;
  }
}
