import type { FileStat } from '../../files/files.ts';
import type { TableRef } from '../source.ts';
import { BrokenFile } from '../trouble.ts';
import { fingerprintOf, parseCommit, type CommitFile } from './commit-file.ts';
import type { SeenCommit } from './cursor.ts';
import { commitName, layoutOf, logFiles, type Layout, type LogFiles } from './layout.ts';

/** Bytes up to which a commit file is read again to see whether it is still the same; above, its size and time tell. */
const SMALL = 64 * 1024;

/** Reads one table's log during one look at it. Commits are read once (`stands` looks again). Throws BrokenFile, FilesError, the signal's reason. */
export class LogReader {
  readonly layout: Layout;
  readonly #table: TableRef;
  readonly #signal: AbortSignal | undefined;
  readonly #commits = new Map<bigint, Promise<CommitFile | null>>();

  constructor(table: TableRef, signal: AbortSignal | undefined) {
    this.#table = table;
    this.#signal = signal;
    this.layout = layoutOf(table.location);
  }

  bytes(path: string): Promise<Uint8Array | null> {
    this.#signal?.throwIfAborted();
    return this.#table.files.read(path);
  }

  stat(path: string): Promise<FileStat | null> {
    this.#signal?.throwIfAborted();
    return this.#table.files.stat(path);
  }

  /** Names of what stands in a folder; null: there is none. */
  async names(folder: string, after?: string): Promise<readonly string[] | null> {
    this.#signal?.throwIfAborted();
    const entries = await this.#table.files.list(folder, after === undefined ? {} : { after });
    return entries?.filter(({ kind }) => kind === 'file').map(({ name }) => name) ?? null;
  }

  /** The log, or what in it is newer than a version; null: there is no log. */
  async log(after: bigint | null): Promise<LogFiles | null> {
    const names = await this.names(this.layout.log, after === null ? undefined : commitName(after));
    return names === null ? null : logFiles(names);
  }

  async exists(version: bigint): Promise<boolean> {
    return (await this.stat(this.layout.commit(version))) !== null;
  }

  /** The versions that follow `last` one after the other, at most `most` of them. */
  async probe(last: bigint, most: number): Promise<readonly bigint[]> {
    const found: bigint[] = [];
    for (let id = last + 1n; found.length < most && (await this.exists(id)); id++) found.push(id);
    return found;
  }

  /** null: there is no such commit. */
  commit(version: bigint): Promise<CommitFile | null> {
    const known = this.#commits.get(version);
    if (known !== undefined) return known;
    const reading = this.#read(version);
    this.#commits.set(version, reading);
    return reading;
  }

  async #read(version: bigint): Promise<CommitFile | null> {
    const bytes = await this.bytes(this.layout.commit(version));
    if (bytes === null) return null;
    const parsed = await parseCommit(bytes, version);
    if (parsed.ok) return parsed.value;
    throw new BrokenFile(`${commitName(version)} cannot be used: ${parsed.reason}`);
  }

  /** When a commit file was written last; null: it is small, so that its bytes are looked at instead. */
  async timeOf({ version, size }: CommitFile): Promise<bigint | null> {
    return size > SMALL ? ((await this.stat(this.layout.commit(version)))?.modifiedAt ?? null) : null;
  }

  /** Is the commit that was seen still the one under its version? */
  async stands(seen: SeenCommit): Promise<boolean> {
    const path = this.layout.commit(seen.id);
    if (seen.size > SMALL) {
      const now = await this.stat(path);
      if (now === null) return false;
      if (now.size === seen.size && now.modifiedAt === seen.modifiedAt) return true;
    }
    const bytes = await this.bytes(path);
    return bytes !== null && (await fingerprintOf(bytes)) === seen.fingerprint;
  }

  /** When the folder of the log changed last, where folders have such a time; null on an object store. */
  async folderTime(): Promise<bigint | null> {
    return (await this.stat(this.layout.log))?.modifiedAt ?? null;
  }
}
