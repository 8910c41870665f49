import type { FileEntry, Files, FileStat } from '../../../src/files/files.ts';
import type { TableRef } from '../../../src/sources/source.ts';

type Operation = 'read' | 'stat' | 'list';

/** A folder in memory that counts what it is asked and can be told to misbehave. */
class MemoryFiles implements Files {
  readonly files = new Map<string, Uint8Array>();
  /** What was asked, in order: `read _delta_log/00000000000000000002.json`. */
  readonly requests: string[] = [];
  /** Called before each request; may change the files or throw. */
  before: (operation: Operation, path: string) => void = () => {};
  /** Names that listings leave out though they are there. */
  readonly unlisted = new Set<string>();
  /** Folders have a time that changes with what stands in them, as on a disk. */
  folderTimes = true;
  #clock = 0n;
  readonly #times = new Map<string, bigint>();

  put(path: string, bytes: Uint8Array): void {
    const isNew = !this.files.has(path);
    this.files.set(path, bytes);
    this.#times.set(path, ++this.#clock);
    if (isNew) this.#touchFolder(path);
  }

  remove(path: string): void {
    if (this.files.delete(path)) this.#touchFolder(path);
  }

  #touchFolder(path: string): void {
    this.#times.set(path.slice(0, path.lastIndexOf('/')), ++this.#clock);
  }

  read(path: string): Promise<Uint8Array | null> {
    return this.#ask('read', path, () => this.files.get(path) ?? null);
  }

  stat(path: string): Promise<FileStat | null> {
    return this.#ask('stat', path, () => {
      const size = this.files.get(path)?.length ?? (this.folderTimes && this.#isFolder(path) ? 0 : null);
      return size === null ? null : { size, modifiedAt: this.#times.get(path) ?? 0n };
    });
  }

  list(folder: string, options?: { readonly after?: string }): Promise<readonly FileEntry[] | null> {
    return this.#ask('list', folder, () => {
      const inside = [...this.files.keys()].filter((path) => path.startsWith(`${folder}/`));
      const entries = new Map<string, FileEntry>();
      for (const path of inside) {
        const [name = '', ...deeper] = path.slice(folder.length + 1).split('/');
        if (this.unlisted.has(name) || name <= (options?.after ?? '')) continue;
        entries.set(name, { name, kind: deeper.length > 0 ? 'folder' : 'file' });
      }
      return inside.length === 0 ? null : [...entries.values()];
    });
  }

  #isFolder(path: string): boolean {
    return [...this.files.keys()].some((file) => file.startsWith(`${path}/`));
  }

  #ask<T>(operation: Operation, path: string, answer: () => T): Promise<T> {
    this.requests.push(`${operation} ${path.replace('/w/t/', '')}`);
    return new Promise((resolve) => {
      this.before(operation, path);
      resolve(answer());
    });
  }
}

type Action = Readonly<Record<string, unknown>>;

export const column = (name: string, type: unknown = 'string', more: Action = {}): Action => ({
  name,
  type,
  nullable: true,
  metadata: {},
  ...more,
});

export const schemaString = (...fields: readonly Action[]): string => JSON.stringify({ type: 'struct', fields });

export const add = (more: Action = {}): Action => ({
  add: { path: 'p.parquet', partitionValues: {}, size: 1, modificationTime: 1, dataChange: true, ...more },
});

export const remove = (more: Action = {}): Action => ({ remove: { path: 'p.parquet', dataChange: true, ...more } });

export const name = (version: number | bigint): string => `${version.toString().padStart(20, '0')}.json`;

/** A Delta table in memory that is written as an engine would: versions continuous, each commit with a time of its own. */
export class MadeUpTable {
  readonly files = new MemoryFiles();
  readonly ref: TableRef = { location: '/w/t', branch: null, files: this.files };
  #commits = 0;
  #tables = 0;

  put(inLog: string, text: string): void {
    this.files.put(`/w/t/_delta_log/${inLog}`, Buffer.from(text));
  }

  text(inLog: string): string {
    return Buffer.from(this.files.files.get(`/w/t/_delta_log/${inLog}`) ?? '').toString();
  }

  remove(inLog: string): void {
    this.files.remove(`/w/t/_delta_log/${inLog}`);
  }

  versions(): number[] {
    return [...this.files.files.keys()]
      .map((path) => /\/(\d{20})\.json$/.exec(path)?.[1])
      .filter((digits) => digits !== undefined)
      .map(Number)
      .sort((a, b) => a - b);
  }

  /** CREATE TABLE: version 0, a table id of its own. */
  create(more: Action = {}, features: readonly string[] = []): this {
    this.commit([this.metaData(more), protocol(features)], { operation: 'CREATE TABLE' }, 0);
    return this;
  }

  /** The `metaData` action of a new table. */
  metaData(more: Action = {}): Action {
    const id = `table-${++this.#tables}`;
    return {
      metaData: {
        id,
        format: { provider: 'parquet', options: {} },
        schemaString: schemaString(column('id', 'long')),
        partitionColumns: [],
        configuration: {},
        ...more,
      },
    };
  }

  /** A commit of these actions with the next version (or the given one); returns the version. */
  commit(actions: readonly Action[] = [add()], info: Action = {}, version?: number): number {
    const next = version ?? (this.versions().at(-1) ?? -1) + 1;
    const number = ++this.#commits;
    const commitInfo = { timestamp: 1_000_000 + number * 1_000, operation: 'WRITE', txnId: `t${number}`, ...info };
    const lines = [{ commitInfo }, ...actions].map((action) => `${JSON.stringify(action)}\n`);
    this.put(name(next), lines.join(''));
    return next;
  }

  optimize(): number {
    return this.commit([remove({ dataChange: false }), add({ dataChange: false })], { operation: 'OPTIMIZE' });
  }

  /** A checkpoint of the second kind, which may be JSON. */
  checkpoint(version: number, actions: readonly Action[]): void {
    const digits = name(version).slice(0, 20);
    this.put(
      `${digits}.checkpoint.6374b053-df23-479b-b2cf-c9c550132b49.json`,
      actions.map((action) => JSON.stringify(action)).join('\n'),
    );
  }

  /** Commits above a version are taken away, as when a backup is put back. */
  rewind(to: number): void {
    for (const version of this.versions()) if (version > to) this.remove(name(version));
  }

  /** Clean-up: commits below a version go, behind a checkpoint of it. */
  cleanUp(below: number, metaData: Action): void {
    this.checkpoint(below, [metaData, protocol()]);
    for (const version of this.versions()) if (version < below) this.remove(name(version));
  }

  drop(): void {
    for (const path of [...this.files.files.keys()]) this.files.remove(path);
  }
}

export const protocol = (features: readonly string[] = []): Action => ({
  protocol: { minReaderVersion: 3, minWriterVersion: 7, readerFeatures: features, writerFeatures: features },
});
