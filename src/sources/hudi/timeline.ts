import type { Memory } from './cursor.ts';
import { completedInstant, readTimeline, type Names, type Timeline } from './instants.ts';
import { ordersByCompletion, parseProperties, type TableConfig } from './properties.ts';
import { BrokenFile, type TableReader } from './reader.ts';

/** There is nothing that could be read: no such folder, no table in it, or a table that is gone. */
export class NothingThere extends Error {
  override readonly name = 'NothingThere';
}

const PROPERTIES = 'hoodie.properties';

/** The table's properties; while they are rewritten a copy stands beside. Throws NothingThere, BrokenFile. */
export async function readConfig(reader: TableReader, known: boolean): Promise<TableConfig> {
  const bytes = await reader.read(PROPERTIES);
  const config = bytes === null ? null : parseProperties(bytes);
  if (config !== null) return config;
  const copy = await reader.read(`${PROPERTIES}.backup`);
  const backup = copy === null ? null : parseProperties(copy);
  if (backup !== null) return backup;
  if (bytes !== null || copy !== null) throw new BrokenFile(`${PROPERTIES} cannot be used: it holds no properties`);
  if (known) throw new NothingThere(`${reader.table} is no Hudi table any more: it was dropped or moved.`);
  throw new NothingThere(
    (await reader.tableExists())
      ? `The folder ${reader.table} is not a Hudi table: it holds no .hoodie/${PROPERTIES}.`
      : `The folder ${reader.table} does not exist: check the location.`,
  );
}

/**
 * The active timeline. An upgrade and a downgrade move its files from one folder to the other: what was seen before and is not where it
 * should be is looked for in the other folder too, after the first, so that no file escapes by moving between the two listings.
 */
export async function listTimeline(reader: TableReader, config: TableConfig, memory: Memory | null): Promise<Timeline> {
  const byCompletion = ordersByCompletion(config);
  const place = config.timeline ?? '';
  const former =
    memory === null || (memory.timeline ?? '') === place ? null : await known(reader, memory.timeline ?? '', memory);
  const folders: Names[] = [{ folder: place, names: (await reader.names(place)) ?? [] }];
  if (former !== null) folders.push(former);
  const timeline = readTimeline(folders, byCompletion);
  if (memory === null || former !== null || isWhole(memory, timeline)) return timeline;
  const other = place === '' ? 'timeline' : '';
  return readTimeline([...folders, await known(reader, other, memory)], byCompletion);
}

const isWhole = (memory: Memory, timeline: Timeline): boolean => memory.seen.every(({ key }) => timeline.keys.has(key));

/** Of what stands in a folder only the versions that were seen before: nothing else there is of this timeline. */
async function known(reader: TableReader, folder: string, memory: Memory): Promise<Names> {
  const names = (await reader.names(folder)) ?? [];
  return {
    folder,
    names: names.filter((name) => {
      const instant = completedInstant(folder, name);
      return instant !== null && memory.keys.has(instant.key);
    }),
  };
}
