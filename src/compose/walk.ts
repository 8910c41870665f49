import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { formatAmong, schemeOf, type Files, type TableFormat } from './sources.ts';
import { SluiceError } from '../core/errors.ts';
import { type FileEntry, FilesError } from '../files/files.ts';

/** The folder of a table that was found. */
export interface TableFolder {
  readonly format: TableFormat;
  readonly location: string;
  /** Names of the folders that lead to it, its own last. */
  readonly path: readonly string[];
}

export interface Walk {
  readonly tables: readonly TableFolder[];
  /** What was not looked into, and why, in sentences. */
  readonly notes: readonly string[];
  /** Folders that were looked into. */
  readonly folders: number;
}

/** How far a walk goes. */
export interface WalkBounds {
  /** Levels below the folder; 0: only the folder itself. */
  readonly depth: number;
  /** Folders looked into. */
  readonly folders: number;
  readonly tables: number;
}

/** A folder to be looked into. */
interface Folder {
  readonly location: string;
  readonly path: readonly string[];
  readonly depth: number;
  /** Where it really is: the same for all links to it. null: not known yet, since it is a link. */
  readonly real: string | null;
}

/** What stands in a folder. */
type Sight =
  | { readonly kind: 'TABLE'; readonly format: TableFormat }
  | { readonly kind: 'FOLDER'; readonly folders: readonly Folder[] }
  | { readonly kind: 'CLOSED'; readonly note: string }
  | { readonly kind: 'ABSENT' };

/** Folders that are looked into at once. */
const WIDTH = 16;

/**
 * The tables in a folder and below it. What lies inside a table is part of it and not looked into; neither are hidden folders and
 * partitions (`day=1`). Symbolic links are followed, but each folder is looked into once. Throws SluiceError where the folder itself
 * cannot be listed.
 */
export async function findTables(
  root: string,
  files: Files,
  bounds: WalkBounds,
  onProgress: (folders: number, tables: number) => void,
): Promise<Walk> {
  const seen = new Set<string>();
  const [tables, notes]: [TableFolder[], string[]] = [[], []];
  let [folders, tooDeep] = [0, 0];
  const queue: Folder[] = [await rootFolder(root, files)];
  // Links wait until all folders were seen under their own names, so that a table is listed where it is.
  const links: Folder[] = [];
  while (queue.length > 0 && folders < bounds.folders && tables.length <= bounds.tables) {
    const next = await Promise.all(queue.splice(0, Math.min(WIDTH, bounds.folders - folders)).map(resolved));
    const fresh = next.filter(({ real }) => real !== null && seen.size < seen.add(real).size);
    const sights = await Promise.all(fresh.map((folder) => lookInto(folder, files)));
    for (const [at, { location, path }] of fresh.entries()) {
      const sight = sights[at];
      if (sight?.kind === 'TABLE') tables.push({ format: sight.format, location, path });
      if (sight?.kind === 'CLOSED') notes.push(sight.note);
      if (sight?.kind !== 'FOLDER') continue;
      const near = sight.folders.filter(({ depth }) => depth <= bounds.depth);
      tooDeep += sight.folders.length - near.length;
      for (const folder of near) (folder.real === null ? links : queue).push(folder);
    }
    folders += fresh.length;
    onProgress(folders, tables.length);
    if (queue.length === 0) queue.push(...links.splice(0));
  }
  const stopped = queue.length + links.length > 0;
  const limits = limitsMet(bounds, { folders, tooDeep, tables: tables.length, stopped });
  return { tables: tables.slice(0, bounds.tables), notes: [...notes, ...limits], folders };
}

async function rootFolder(root: string, files: Files): Promise<Folder> {
  const location = root.replace(/(?<=.)[/\\]+$/, '');
  if ((await listed(location, files)) === null)
    throw new SluiceError('NOT_FOUND', `There is no folder ${location}: check the path.`);
  const real = isLocal(location) ? await realpath(location) : location;
  const names = location.replace(/^[a-z][a-z0-9+.-]+:\/\//i, '').split(/[/\\]/);
  return { location, path: names.filter((name) => name !== '').slice(-2), depth: 0, real };
}

const isLocal = (location: string): boolean => schemeOf(location) === '';

async function listed(location: string, files: Files): Promise<readonly FileEntry[] | null> {
  try {
    return await files.list(location);
  } catch (error) {
    if (error instanceof FilesError) throw new SluiceError('NOT_FOUND', error.message, { cause: error });
    throw error;
  }
}

/** A link with where it leads; null where that is nothing, or a circle of links. */
const resolved = async (folder: Folder): Promise<Folder> =>
  folder.real === null ? { ...folder, real: await realpath(folder.location).catch(() => null) } : folder;

async function lookInto(folder: Folder, files: Files): Promise<Sight> {
  const { location } = folder;
  try {
    const entries = await files.list(location);
    if (entries === null) return { kind: 'ABSENT' };
    const names = new Set(entries.map(({ name }) => name));
    const format = await formatAmong({ location, branch: null, files }, names);
    if (format !== undefined) return { kind: 'TABLE', format };
    return {
      kind: 'FOLDER',
      folders: entries
        .filter(isWalked)
        .sort(byName)
        .map((entry) => child(folder, entry)),
    };
  } catch (error) {
    if (error instanceof FilesError) return { kind: 'CLOSED', note: `${error.message} What is below it is unknown.` };
    throw error;
  }
}

const byName = (a: FileEntry, b: FileEntry): number => (a.name < b.name ? -1 : 1);

/** Hidden folders, what Spark has not committed, and partitions of plain files hold no tables. */
const isWalked = ({ name, kind, link }: FileEntry): boolean =>
  (kind === 'folder' || link === true) && !/^\.|^_temporary$|=/.test(name);

const child = ({ location, path, depth, real }: Folder, { name, link }: FileEntry): Folder => ({
  location: `${location.replace(/[/\\]$/, '')}/${name}`,
  path: [...path, name],
  depth: depth + 1,
  real: link === true || real === null ? null : join(real, name),
});

function limitsMet(
  bounds: WalkBounds,
  met: { readonly folders: number; readonly tooDeep: number; readonly tables: number; readonly stopped: boolean },
): readonly string[] {
  if (met.tables > bounds.tables)
    return [`There are more than ${bounds.tables} tables: raise --limit, or name a folder further down.`];
  if (met.stopped) return [`The search ended after ${met.folders} folders: name a folder further down.`];
  const folders = met.tooDeep === 1 ? '1 folder was' : `${met.tooDeep} folders were`;
  return met.tooDeep === 0 ? [] : [`${folders} too deep to be looked into: raise --depth, or name one of them.`];
}
