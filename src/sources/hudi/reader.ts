import { rootOf } from '../location.ts';
import type { TableRef } from '../source.ts';

/** Reads what stands in the `.hoodie` folder of a table; paths are relative to it. Throws FilesError and the signal's reason. */
export class TableReader {
  readonly table: string;
  readonly #ref: TableRef;
  readonly #signal: AbortSignal | undefined;
  #early: { readonly folder: string; readonly names: readonly string[] } | null = null;

  constructor(ref: TableRef, signal: AbortSignal | undefined) {
    this.#ref = ref;
    this.#signal = signal;
    this.table = rootOf(ref.location);
  }

  read(path: string): Promise<Uint8Array | null> {
    this.#signal?.throwIfAborted();
    return this.#ref.files.read(this.#whole(path));
  }

  async exists(path: string): Promise<boolean> {
    return (await this.modifiedAt(path)) !== null;
  }

  /** Epoch ms; null: there is no such file. */
  async modifiedAt(path: string): Promise<bigint | null> {
    this.#signal?.throwIfAborted();
    return (await this.#ref.files.stat(this.#whole(path)))?.modifiedAt ?? null;
  }

  /** Names of the files in a folder; null: there is no such folder. */
  async names(folder: string): Promise<readonly string[] | null> {
    const early = this.#early;
    this.#early = null;
    if (early?.folder === folder) return early.names;
    this.#signal?.throwIfAborted();
    const entries = await this.#ref.files.list(this.#whole(folder));
    if (entries === null) return null;
    const names: string[] = [];
    for (const { name, kind } of entries) if (kind === 'file') names.push(name);
    return names;
  }

  /** Names in a folder, kept for the next question for them: a long timeline is not listed twice where a quick look found something. */
  async earlyNames(folder: string): Promise<readonly string[]> {
    const names = (await this.names(folder)) ?? [];
    this.#early = { folder, names };
    return names;
  }

  /** What was listed early may be another table's. */
  forgetEarly(): void {
    this.#early = null;
  }

  /** Is there anything where the table should be? */
  async tableExists(): Promise<boolean> {
    this.#signal?.throwIfAborted();
    return (await this.#ref.files.list(this.table)) !== null;
  }

  #whole(path: string): string {
    return path === '' ? `${this.table}/.hoodie` : `${this.table}/.hoodie/${path}`;
  }
}

/** A file in a folder of `.hoodie`; '' is `.hoodie` itself. */
export const pathIn = (folder: string, file: string): string => (folder === '' ? file : `${folder}/${file}`);
