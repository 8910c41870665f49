import { isJsonObject, parseJson } from '../../core/json.ts';
import { readParquetTexts } from '../parquet-texts.ts';
import { BrokenFile } from '../trouble.ts';
import { featuresOf, metaDataOf, type CommitFile, type MetaData } from './commit-file.ts';
import { holds, type Checkpoint, type LogFiles } from './layout.ts';
import { eachLine } from './lines.ts';
import type { LogReader } from './reader.ts';
import { advance, type StateActions, type TableState } from './state.ts';

/** How far back commits are read one by one where neither checkpoint nor checksum file helps. */
const FARTHEST = 500;
/** Damaged checkpoints that are passed over before others are no longer tried. */
const TRIES = 3;

/**
 * What the table was when this version's commit came, that commit itself included or not: its actions say the same once more. Asked for
 * only where the commits read do not tell: where history begins or has a hole. `_last_checkpoint` is not read: the listing knows better.
 * null: nothing that stands there tells.
 */
export async function stateAt(reader: LogReader, log: LogFiles, version: bigint): Promise<TableState | null> {
  for (const candidate of [version - 1n, version])
    if (log.checksums.has(candidate)) {
      const actions = await checksumActions(reader, candidate);
      if (actions !== null) return advance(null, actions);
    }
  const present = log.versions;
  const checkpoints = log.checkpoints
    .filter((checkpoint) => checkpoint.version <= version)
    .slice(-TRIES)
    .reverse();
  for (const checkpoint of checkpoints) {
    const actions = await checkpointActions(reader, checkpoint);
    if (actions !== null) return stateFrom(reader, present, advance(null, actions), checkpoint.version, version);
  }
  return stateBackwards(reader, present, version);
}

/** The commits after a checkpoint, up to the one before `version`, as far as they are there. */
async function stateFrom(
  reader: LogReader,
  present: readonly bigint[],
  state: TableState | null,
  from: bigint,
  version: bigint,
): Promise<TableState | null> {
  let now = state;
  for (let id = from + 1n; id < version && holds(present, id); id++) {
    const commit = await usable(reader, id);
    if (commit !== null) now = advance(now, commit);
  }
  return now;
}

async function stateBackwards(
  reader: LogReader,
  present: readonly bigint[],
  version: bigint,
): Promise<TableState | null> {
  let metaData: StateActions | null = null;
  let features: ReadonlySet<string> | null = null;
  for (let id = version - 1n; holds(present, id) && id > version - BigInt(FARTHEST); id--) {
    const commit = await usable(reader, id);
    if (commit === null) break;
    metaData ??= commit.metaData === null ? null : commit;
    features ??= commit.features;
    if (metaData !== null && features !== null) break;
  }
  return metaData === null ? identityOnly(reader, present) : advance(null, { ...metaData, features });
}

/** Far from the first commit its metadata tell which table it is, but not the schema, which may have changed since. */
async function identityOnly(reader: LogReader, present: readonly bigint[]): Promise<TableState | null> {
  const first = holds(present, 0n) ? await usable(reader, 0n) : null;
  const state = first && advance(null, first);
  return state && { ...state, schema: null };
}

const usable = (reader: LogReader, id: bigint): Promise<CommitFile | null> =>
  reader.commit(id).catch((error: unknown) => {
    if (error instanceof BrokenFile) return null;
    throw error;
  });

/** The checksum file of a version repeats its metadata and protocol. null: it is damaged or gone. */
async function checksumActions(reader: LogReader, version: bigint): Promise<StateActions | null> {
  const bytes = await reader.bytes(reader.layout.checksum(version));
  if (bytes === null) return null;
  try {
    const json = parseJson(Buffer.from(bytes).toString('utf8'));
    if (!isJsonObject(json) || !isJsonObject(json['metadata']) || !isJsonObject(json['protocol'])) return null;
    return { version, metaData: metaDataOf(json['metadata']), features: featuresOf(json['protocol']) };
  } catch {
    return null;
  }
}

/** The metadata and protocol in a checkpoint of any kind: those of the second kind hold them themselves too, sidecars only files. */
async function checkpointActions(reader: LogReader, { version, files }: Checkpoint): Promise<StateActions | null> {
  let found: StateActions = { version, metaData: null, features: null };
  for (const name of files) {
    const bytes = await reader.bytes(reader.layout.inLog(name));
    if (bytes === null) return null;
    const part = name.endsWith('.json') ? await jsonActions(bytes) : parquetActions(bytes);
    if (part === null) return null;
    found = { version, metaData: part.metaData ?? found.metaData, features: part.features ?? found.features };
    if (found.metaData !== null && found.features !== null) break;
  }
  return found.metaData === null ? null : found;
}

type Part = Omit<StateActions, 'version'>;

const ABOUT_TABLE = /^\s*\{\s*"(?:metaData|protocol)"/;

async function jsonActions(bytes: Uint8Array): Promise<Part | null> {
  let part: Part = { metaData: null, features: null };
  try {
    await eachLine(bytes, (line) => {
      const json = ABOUT_TABLE.test(line) ? parseJson(line) : null;
      if (json === null || !isJsonObject(json)) return;
      if (isJsonObject(json['metaData'])) part = { ...part, metaData: metaDataOf(json['metaData']) };
      if (isJsonObject(json['protocol'])) part = { ...part, features: featuresOf(json['protocol']) };
    });
    return part;
  } catch {
    return null;
  }
}

/** Columns of a checkpoint that hold what is looked for; lists and maps have an inner path that differs between writers. */
const WANTED =
  /^(?:metaData\.(?:id|schemaString|partitionColumns\..+|configuration\..+)|protocol\.(?:readerFeatures|writerFeatures)\..+)$/;

/** A checkpoint has one row with metadata and one with the protocol: all texts of such a column belong to it. */
function parquetActions(bytes: Uint8Array): Part | null {
  try {
    const texts = readParquetTexts(bytes, (path) => WANTED.test(path.join('.')));
    const under = (prefix: string, suffix = ''): readonly string[] =>
      [...texts].find(([path]) => path.startsWith(prefix) && path.endsWith(suffix))?.[1] ?? [];
    const features = [...under('protocol.readerFeatures'), ...under('protocol.writerFeatures')];
    const metaData: MetaData = {
      id: under('metaData.id').at(-1) ?? null,
      schemaString: under('metaData.schemaString').at(-1) ?? null,
      partitionColumns: under('metaData.partitionColumns'),
      configuration: mapOf(under('metaData.configuration', '.key'), under('metaData.configuration', '.value')),
    };
    const present = metaData.id !== null || metaData.schemaString !== null;
    return { metaData: present ? metaData : null, features: present || features.length > 0 ? new Set(features) : null };
  } catch {
    return null;
  }
}

const mapOf = (keys: readonly string[], values: readonly string[]): ReadonlyMap<string, string> =>
  new Map(keys.length === values.length ? keys.map((key, at) => [key, values[at] ?? '']) : []);
