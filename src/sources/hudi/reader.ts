import type { TableRef } from '../source.ts';

/** A file that stands there but does not hold what it must: half-written, damaged, or something else under its name. */
export class BrokenFile extends Error {
  override readonly name = 'BrokenFile';
}

/** What was listed a moment ago is gone, or stands there unlisted: the table is changing, so it must be looked at again. */
export class MovedOn extends Error {
  override readonly name = 'MovedOn';
}

/** How many files are read at once where many are wanted. */
const AT_ONCE = 16;

/** Runs `work` over the items, at most AT_ONCE together; answers in order. */
export async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE)
    answers.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  return answers;
}

/** Reads what stands in the `.hoodie` folder of a table; paths are relative to it. Throws FilesError and the signal's reason. */
export class TableReader {
  readonly table: string;
  readonly #ref: TableRef;
  readonly #signal: AbortSignal | undefined;

  constructor(ref: TableRef, signal: AbortSignal | undefined) {
    this.#ref = ref;
    this.#signal = signal;
    this.table = ref.location.replace(/(?<=.)\/+$/, '');
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
    this.#signal?.throwIfAborted();
    const entries = await this.#ref.files.list(this.#whole(folder));
    return entries === null ? null : entries.flatMap(({ name, kind }) => (kind === 'file' ? [name] : []));
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
