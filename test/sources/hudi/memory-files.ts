import { FilesError, type FileEntry, type Files, type FileStat } from '../../../src/files/files.ts';

type Operation = 'read' | 'stat' | 'list';

/** A folder in memory that counts what it is asked and can be told to misbehave. */
export class MemoryFiles implements Files {
  readonly files = new Map<string, Uint8Array>();
  /** Epoch ms at which every file was written. */
  modifiedAt = 4_000_000_000_000n;
  /** What was asked, in order: `read .hoodie/hoodie.properties`. */
  readonly requests: string[] = [];
  /** Called before each request; may change the files or throw. */
  before: (operation: Operation, path: string) => void = () => {};
  /** Names that listings leave out. */
  readonly unlisted = new Set<string>();

  read(path: string): Promise<Uint8Array | null> {
    return this.#ask('read', path, () => this.files.get(path) ?? null);
  }

  stat(path: string): Promise<FileStat | null> {
    return this.#ask('stat', path, () => {
      const bytes = this.files.get(path);
      return bytes === undefined ? null : { size: bytes.length, modifiedAt: this.modifiedAt };
    });
  }

  list(folder: string): Promise<readonly FileEntry[] | null> {
    return this.#ask('list', folder, () => {
      const names = new Map<string, FileEntry>();
      for (const path of this.files.keys()) {
        if (!path.startsWith(`${folder}/`)) continue;
        const [name = '', ...deeper] = path.slice(folder.length + 1).split('/');
        if (!this.unlisted.has(name)) names.set(name, { name, kind: deeper.length > 0 ? 'folder' : 'file' });
      }
      return names.size === 0 ? null : [...names.values()];
    });
  }

  /** From now on every request fails. */
  fail(retryable: boolean): void {
    this.before = (_, path) => {
      throw new FilesError(`${path} cannot be read: EIO.`, retryable);
    };
  }

  #ask<T>(operation: Operation, path: string, answer: () => T): Promise<T> {
    this.requests.push(`${operation} ${path.replace('/w/t/', '')}`);
    return new Promise((resolve) => {
      this.before(operation, path);
      resolve(answer());
    });
  }
}
