import { BrokenFile, NothingThere } from '../trouble.ts';
import { wholeMemory, type Memory } from './cursor.ts';
import { decide, NOTHING_FOUND, type Remembered } from './decide.ts';
import { completedInstant, readTimeline, type Instant, type Names, type Timeline } from './instants.ts';
import { namesSince } from './past.ts';
import { ordersByCompletion, parseProperties, type TableConfig } from './properties.ts';
import type { TableReader } from './reader.ts';

const PROPERTIES = 'hoodie.properties';

/** The table's properties; while they are rewritten a copy stands beside. Throws NothingThere, BrokenFile. */
export async function readConfig(reader: TableReader, known: boolean): Promise<TableConfig> {
  const bytes = await reader.read(PROPERTIES);
  const config = bytes === null ? null : parseProperties(bytes);
  if (config !== null) return config;
  const copy = await reader.read(`${PROPERTIES}.backup`);
  const backup = copy === null ? null : parseProperties(copy);
  if (backup !== null) return backup;
  if (bytes !== null || copy !== null) throw new BrokenFile(`${PROPERTIES} cannot be used: it does not name the table`);
  if (known) throw new NothingThere(`${reader.table} is no Hudi table any more: it was dropped or moved.`);
  throw new NothingThere(
    (await reader.tableExists())
      ? `The folder ${reader.table} is not a Hudi table: it holds no .hoodie/${PROPERTIES}.`
      : `The folder ${reader.table} does not exist: check the location.`,
  );
}

/** What is looked at of a table, and what was remembered of the same part of it. */
export interface Sight {
  readonly memory: Memory | null;
  readonly timeline: Timeline;
  /** All names in the timeline's folder; null while its files are spread over two. */
  readonly names: readonly string[] | null;
}

/** The active timeline: of a long one what came after its past, where nothing else has changed; else all of it. */
export async function seeTimeline(reader: TableReader, config: TableConfig, memory: Memory | null): Promise<Sight> {
  const recent = memory === null ? null : await seeRecent(reader, config, memory);
  if (recent !== null) return recent;
  const whole = memory === null ? null : wholeMemory(memory);
  return { memory: whole, ...(await listTimeline(reader, config, whole)) };
}

/** null: something happened that only the whole timeline can tell. */
async function seeRecent(reader: TableReader, config: TableConfig, memory: Memory): Promise<Sight | null> {
  const { past } = memory;
  if (past === null || memory.timeline !== config.timeline || memory.properties !== config.fingerprint) return null;
  const folder = config.timeline ?? '';
  const names = await reader.earlyNames(folder);
  const since = namesSince(names, past);
  if (since === null) return null;
  const known = { folder, names: since, known: byFile(memory) };
  const timeline = readTimeline([known], ordersByCompletion(config));
  if (!memory.seen.every(({ key }) => timeline.keys.has(key))) return null;
  const verdict = decide(rememberedOf(memory, config), timeline, NOTHING_FOUND);
  return verdict.kind === 'FORWARD' ? { memory, timeline, names } : null;
}

/** What was there at the last poll, as far as it is looked at now. */
export function rememberedOf(memory: Memory, config: TableConfig): Remembered {
  const until = memory.past?.until ?? '';
  const pending = new Set([...memory.pending].filter((key) => key >= until));
  return { ...memory, pending, sameProperties: memory.properties === config.fingerprint };
}

const byFile = (memory: Memory): ReadonlyMap<string, Instant> =>
  new Map(memory.seen.map((version) => [version.file, version]));

/**
 * The active timeline. An upgrade and a downgrade move its files from one folder to the other, and properties that are half written may name
 * the wrong one: if what was seen before is not where it should be, or nothing is there at all, the other folder is looked at too. The folder
 * that files move from is listed first, so that none escapes by moving between the two listings.
 */
async function listTimeline(
  reader: TableReader,
  config: TableConfig,
  memory: Memory | null,
): Promise<Omit<Sight, 'memory'>> {
  const byCompletion = ordersByCompletion(config);
  const place = config.timeline ?? '';
  const former = memory === null ? place : (memory.timeline ?? '');
  const folders = former === place ? [place] : [former, place];
  const listed: Names[] = [];
  for (const folder of folders) listed.push(await namesIn(reader, folder, memory));
  const timeline = readTimeline(listed, byCompletion);
  const missing = timeline.versions.length === 0 || memory?.seen.some(({ key }) => !timeline.keys.has(key)) === true;
  const names = folders.length > 1 ? null : (listed[0]?.names ?? null);
  if (folders.length > 1 || !missing) return { timeline, names };
  const other = await namesIn(reader, place === '' ? 'timeline' : '', memory);
  return isLive(other, memory)
    ? { timeline: readTimeline([...listed, other], byCompletion), names: null }
    : { timeline, names };
}

async function namesIn(reader: TableReader, folder: string, memory: Memory | null): Promise<Names> {
  const names = (await reader.names(folder)) ?? [];
  if (memory === null || (memory.timeline ?? '') !== folder) return { folder, names };
  return { folder, names, known: byFile(memory) };
}

/** Does the folder hold a part of the timeline? Files that an upgrade left behind are of versions that are not known any more. */
const isLive = ({ folder, names }: Names, memory: Memory | null): boolean =>
  names.some((name) => {
    const instant = completedInstant(folder, name);
    return instant !== null && (memory === null || memory.seen.length === 0 || memory.keys.has(instant.key));
  });
