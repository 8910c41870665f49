import { FilesError, type FileEntry, type FileStat } from '../../files/files.ts';
import { plainPath, rootOf } from '../location.ts';
import type { TableRef } from '../source.ts';
import { unpack } from '../unpack.ts';
import { BrokenFile, MovedOn } from '../trouble.ts';
import type { SeenFile } from './cursor.ts';
import { parseMetadata, type TableMetadata } from './metadata.ts';
import { folderOf, nameOf } from './names.ts';

/** A metadata file that was read, and how it stood on disk before it was. */
export interface ReadFile {
  readonly file: SeenFile;
  /** A BrokenFile says why it cannot be used. */
  readonly metadata: TableMetadata | BrokenFile;
}

/** Reads the files of one table during one look at it. Throws FilesError, and the signal's reason. */
export class TableReader {
  readonly location: string;
  readonly #table: TableRef;
  readonly #signal: AbortSignal | undefined;

  constructor(table: TableRef, signal: AbortSignal | undefined) {
    this.location = rootOf(table.location);
    this.#table = table;
    this.#signal = signal;
  }

  async read(path: string): Promise<Uint8Array | null> {
    this.#signal?.throwIfAborted();
    return this.#table.files.read(path);
  }

  async stat(path: string): Promise<FileStat | null> {
    this.#signal?.throwIfAborted();
    return this.#table.files.stat(path);
  }

  async list(folder: string, after?: string): Promise<readonly FileEntry[] | null> {
    this.#signal?.throwIfAborted();
    return this.#table.files.list(folder, after === undefined ? {} : { after });
  }

  /** null: there is no such file. Its size and time are taken first, so that a later change is never overlooked. */
  async metadata(path: string): Promise<ReadFile | null> {
    const stat = await this.stat(path);
    if (stat === null) return null;
    const bytes = await this.read(path);
    if (bytes === null) throw new MovedOn(nameOf(path));
    const file = { path, size: stat.size, modifiedAt: stat.modifiedAt };
    return { file, metadata: await parsed(bytes) };
  }

  /**
   * Reads a file that the metadata names by its whole path. Tables are copied and moved while those paths stay as they were written, so it
   * is looked for beside the metadata file first, then under the table's folder, then where the path says.
   */
  async named(path: string, metadataFile: string, tableLocation: string | null): Promise<Uint8Array | null> {
    const beside = `${folderOf(metadataFile)}/${nameOf(path)}`;
    const rest =
      tableLocation !== null && path.startsWith(`${tableLocation}/`) ? path.slice(tableLocation.length) : null;
    const below = rest === null ? [] : [`${folderOf(folderOf(metadataFile))}${rest}`];
    for (const candidate of new Set([beside, ...below, plainPath(path)])) {
      const bytes = await this.read(candidate).catch(absentIfUnreadable);
      if (bytes !== null) return bytes;
    }
    return null;
  }
}

const absentIfUnreadable = (error: unknown): null => {
  if (error instanceof FilesError) return null;
  throw error;
};

async function parsed(bytes: Uint8Array): Promise<TableMetadata | BrokenFile> {
  try {
    return await parseMetadata(await whole(bytes));
  } catch (error) {
    if (error instanceof BrokenFile) return error;
    throw error;
  }
}

async function whole(bytes: Uint8Array): Promise<Uint8Array> {
  try {
    return await unpack(bytes);
  } catch (error) {
    throw new BrokenFile('it cannot be unpacked, as it is cut short or damaged', { cause: error });
  }
}
