import type { FileEntry } from '../../files/files.ts';
import { fingerprint } from '../fingerprint.ts';
import { NothingThere } from '../trouble.ts';
import type { SeenFile, SeenFiles } from './cursor.ts';
import { HINTS, isMetadataFile, metadataName, type MetadataName } from './names.ts';
import type { TableReader } from './reader.ts';

/** What a table's files look like from outside, without reading metadata. */
export interface Glance {
  /** The table's own folder; null: the location is the metadata file itself. */
  readonly base: string | null;
  readonly names: readonly MetadataName[];
  readonly print: string;
  readonly hint: string | null;
  /** Nothing has changed since the last poll. */
  readonly still: boolean;
}

/** Looks at the location, which is a metadata file or a folder by its name. Throws NothingThere, FilesError. */
export const glance = (reader: TableReader, seen: SeenFiles | null): Promise<Glance> =>
  isMetadataFile(reader.location) ? glanceAtFile(reader, seen) : glanceAtFolder(reader, seen);

async function glanceAtFile(reader: TableReader, seen: SeenFiles | null): Promise<Glance> {
  const path = reader.location;
  const known = seen?.base === null && seen.current === path;
  return { base: null, names: [], print: '', hint: null, still: known && (await unchanged(reader, seen.consulted)) };
}

/** One listing; the hint, if there is one; and of files seen before their sizes and times. */
async function glanceAtFolder(reader: TableReader, seen: SeenFiles | null): Promise<Glance> {
  const { base, entries } = await findBase(reader, seen);
  const names = namesIn(entries);
  const print = printOf(names);
  const same = seen !== null && seen.base === base && seen.print === print;
  const [hint, still] = await Promise.all([readHint(reader, base, entries), same && unchanged(reader, seen.consulted)]);
  return { base, names, print, hint, still: still && seen !== null && hint === seen.hint };
}

/** Whether the folder shows a metadata file that was not there; one listing. Only of a table seen before in that folder. */
export async function isQuiet(reader: TableReader, seen: SeenFiles): Promise<boolean> {
  if (isMetadataFile(reader.location))
    return seen.base === null && seen.current === reader.location && unchanged(reader, seen.consulted);
  const { location } = reader;
  if (seen.base !== location && seen.base?.startsWith(`${location}/`) !== true) return false;
  // Manifests (`snap-…`, UUIDs) sort before `v`: an object store then answers with one page however many there are.
  const entries = await reader.list(`${seen.base}/metadata`, seen.hadoop ? 'v' : undefined);
  return entries !== null && printOf(namesIn(entries)) === seen.print;
}

async function unchanged(reader: TableReader, files: readonly SeenFile[]): Promise<boolean> {
  const stats = await Promise.all(files.map((file) => reader.stat(file.path)));
  return stats.every((stat, at) => stat?.size === files[at]?.size && stat?.modifiedAt === files[at]?.modifiedAt);
}

const namesIn = (entries: readonly FileEntry[]): readonly MetadataName[] =>
  entries.flatMap((entry) => (entry.kind === 'file' ? (metadataName(entry.name) ?? []) : []));

const printOf = (names: readonly MetadataName[]): string => {
  const sorted = names.map((name) => name.name).sort();
  return fingerprint(sorted.join('\n'), PRINT_LENGTH);
};

/** 96 bits: enough to tell the few texts apart that one table ever has. */
export const PRINT_LENGTH = 16;

async function readHint(reader: TableReader, base: string, entries: readonly FileEntry[]): Promise<string | null> {
  const name = HINTS.find((hint) => entries.some((entry) => entry.name === hint && entry.kind === 'file'));
  if (name === undefined) return null;
  const bytes = await reader.read(`${base}/metadata/${name}`);
  return bytes === null ? null : Buffer.from(bytes.subarray(0, 1024)).toString('utf8').trim();
}

interface Base {
  readonly base: string;
  readonly entries: readonly FileEntry[];
}

async function findBase(reader: TableReader, seen: SeenFiles | null): Promise<Base> {
  const { location } = reader;
  const bases = [...new Set([location, ...(seen?.base?.startsWith(`${location}/`) ? [seen.base] : [])])];
  for (const base of bases) {
    const entries = await reader.list(`${base}/metadata`);
    if (entries !== null && namesIn(entries).length > 0) return { base, entries };
    // A listing can miss what stands there; the file that was read last is asked for by name.
    if (seen?.base === base && (await reader.stat(seen.current)) !== null) return { base, entries: entries ?? [] };
  }
  const below = seen === null || seen.base !== location ? await findBelow(reader, location) : [];
  const [only, another] = below;
  if (only !== undefined && another === undefined) return only;
  throw new NothingThere(await whyNothing(reader, location, seen, below));
}

/** Folders that are looked into at most, where the location itself holds no metadata. */
const LOOKED_INTO = 24;

/** Tables in the folders below, two levels deep: people name a warehouse or a database that holds one table. */
async function findBelow(reader: TableReader, location: string): Promise<readonly Base[]> {
  const found: Base[] = [];
  let level = [location];
  let left = LOOKED_INTO;
  for (let depth = 0; depth < 2; depth++) {
    const next: string[] = [];
    for (const folder of level) {
      if (left-- <= 0) break;
      const entries = (await reader.list(folder)) ?? [];
      next.push(...entries.filter(isPlainFolder).map((entry) => `${folder}/${entry.name}`));
    }
    level = next;
    for (const base of level) {
      if (left-- <= 0) break;
      const entries = (await reader.list(`${base}/metadata`)) ?? [];
      if (namesIn(entries).length > 0) found.push({ base, entries });
    }
  }
  return found;
}

const isPlainFolder = (entry: FileEntry): boolean =>
  entry.kind === 'folder' && !/^[._]|^(?:data|metadata)$|=/.test(entry.name);

async function whyNothing(
  reader: TableReader,
  location: string,
  seen: SeenFiles | null,
  below: readonly Base[],
): Promise<string> {
  const [one, other] = below.map((found) => found.base);
  if (one !== undefined && other !== undefined)
    return `${location} is no Iceberg table but holds several, such as ${one} and ${other}: name one of them.`;
  if (seen !== null) return `${location} holds no Iceberg metadata any more: the table was dropped or moved.`;
  return (await reader.list(location)) === null
    ? `The folder ${location} does not exist: check the location.`
    : `${location} is not an Iceberg table: it has no metadata folder with a metadata file in it.`;
}
