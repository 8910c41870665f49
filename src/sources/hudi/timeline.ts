import { BrokenFile, NothingThere } from '../trouble.ts';
import type { Memory } from './cursor.ts';
import { completedInstant, readTimeline, type Names, type Timeline } from './instants.ts';
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

/**
 * The active timeline. An upgrade and a downgrade move its files from one folder to the other, and properties that are half written may name
 * the wrong one: if what was seen before is not where it should be, or nothing is there at all, the other folder is looked at too. The folder
 * that files move from is listed first, so that none escapes by moving between the two listings.
 */
export async function listTimeline(reader: TableReader, config: TableConfig, memory: Memory | null): Promise<Timeline> {
  const byCompletion = ordersByCompletion(config);
  const place = config.timeline ?? '';
  const former = memory === null ? place : (memory.timeline ?? '');
  const folders = former === place ? [place] : [former, place];
  const listed: Names[] = [];
  for (const folder of folders) listed.push(await namesIn(reader, folder, memory));
  const timeline = readTimeline(listed, byCompletion);
  const missing = timeline.versions.length === 0 || memory?.seen.some(({ key }) => !timeline.keys.has(key)) === true;
  if (folders.length > 1 || !missing) return timeline;
  const other = await namesIn(reader, place === '' ? 'timeline' : '', memory);
  return isLive(other, memory) ? readTimeline([...listed, other], byCompletion) : timeline;
}

async function namesIn(reader: TableReader, folder: string, memory: Memory | null): Promise<Names> {
  const names = (await reader.names(folder)) ?? [];
  if (memory === null || (memory.timeline ?? '') !== folder) return { folder, names };
  return { folder, names, known: new Map(memory.seen.map((version) => [version.file, version])) };
}

/** Does the folder hold a part of the timeline? Files that an upgrade left behind are of versions that are not known any more. */
const isLive = ({ folder, names }: Names, memory: Memory | null): boolean =>
  names.some((name) => {
    const instant = completedInstant(folder, name);
    return instant !== null && (memory === null || memory.seen.length === 0 || memory.keys.has(instant.key));
  });
