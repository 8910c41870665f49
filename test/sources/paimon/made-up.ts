import { canonicalJson, type JsonObject } from '../../../src/core/json.ts';
import type { FileEntry, Files, FileStat } from '../../../src/files/files.ts';
import type { TableRef } from '../../../src/sources/source.ts';

/** A folder in memory that counts what it is asked and can be told to misbehave. */
class MemoryFiles implements Files {
  readonly files = new Map<string, Uint8Array>();
  /** What was asked, in order: `read snapshot/snapshot-2`. */
  readonly requests: string[] = [];
  /** Called before each request; may change the files or throw. */
  before: (operation: 'read' | 'stat' | 'list', path: string) => void = () => {};
  /** Listings tell a stamp for each file, as object stores do. */
  stamps = false;
  /** Names that listings leave out though they are there. */
  readonly unlisted = new Set<string>();

  read(path: string): Promise<Uint8Array | null> {
    return this.#ask('read', path, () => this.files.get(path) ?? null);
  }

  stat(path: string): Promise<FileStat | null> {
    return this.#ask('stat', path, () => {
      const bytes = this.files.get(path);
      return bytes === undefined ? null : { size: bytes.length, modifiedAt: 0n };
    });
  }

  list(folder: string): Promise<readonly FileEntry[] | null> {
    return this.#ask('list', folder, () => {
      const inside = [...this.files].filter(([path]) => path.startsWith(`${folder}/`));
      const entries = new Map<string, FileEntry>();
      for (const [path, bytes] of inside) {
        const [name = '', ...deeper] = path.slice(folder.length + 1).split('/');
        if (this.unlisted.has(name)) continue;
        if (deeper.length > 0) entries.set(name, { name, kind: 'folder' });
        else
          entries.set(name, {
            name,
            kind: 'file',
            ...(this.stamps ? { stamp: Buffer.from(bytes).toString('base64') } : {}),
          });
      }
      return inside.length === 0 ? null : [...entries.values()];
    });
  }

  #ask<T>(operation: 'read' | 'stat' | 'list', path: string, answer: () => T): Promise<T> {
    this.requests.push(`${operation} ${path}`);
    return new Promise((resolve) => {
      this.before(operation, path);
      resolve(answer());
    });
  }
}

export interface SnapshotParts {
  readonly kind?: string;
  readonly delta?: number | bigint | null;
  readonly schemaId?: number;
  readonly watermark?: bigint;
  readonly extra?: JsonObject;
}

/** A Paimon table in memory that is written as an engine would: ids continuous, each commit with names and times of its own. */
export class MadeUpTable {
  readonly files = new MemoryFiles();
  readonly ref: TableRef;
  readonly root: string;
  #commits = 0;
  #tables = 0;

  constructor(branch: string | null = null) {
    this.root = branch === null ? '/w/t' : `/w/t/branch/branch-${branch}`;
    this.ref = { location: '/w/t', branch, files: this.files };
  }

  put(path: string, text: string): void {
    this.files.files.set(`${this.root}/${path}`, Buffer.from(text));
  }

  text(path: string): string {
    return Buffer.from(this.files.files.get(`${this.root}/${path}`) ?? '').toString();
  }

  remove(path: string): void {
    this.files.files.delete(`${this.root}/${path}`);
  }

  ids(): number[] {
    return [...this.files.files.keys()]
      .flatMap((path) => (path.startsWith(`${this.root}/snapshot/snapshot-`) ? [Number(path.split('-').at(-1))] : []))
      .sort((a, b) => a - b);
  }

  /** CREATE TABLE: schema-0, made at a time of its own. */
  create(options: Readonly<Record<string, string>> = {}, primaryKeys: readonly string[] = ['id']): this {
    this.schema(0, { options, primaryKeys, timeMillis: 1_000_000 + this.#tables++ });
    return this;
  }

  schema(id: number, parts: Readonly<Record<string, unknown>> = {}): void {
    const fields = [{ id: 0, name: 'id', type: 'BIGINT NOT NULL' }];
    const body = {
      version: 3,
      id,
      fields,
      highestFieldId: 0,
      partitionKeys: [],
      primaryKeys: ['id'],
      options: {},
      timeMillis: 5,
      ...parts,
    };
    this.put(`schema/schema-${id}`, JSON.stringify(body));
  }

  /** A commit with the next id (or the given one); returns the id. */
  commit({ kind = 'APPEND', delta = 1, schemaId = 0, watermark, extra = {} }: SnapshotParts = {}, id?: number): number {
    const next = id ?? (this.ids().at(-1) ?? 0) + 1;
    const number = ++this.#commits;
    const body = {
      version: 3,
      id: next,
      schemaId,
      baseManifestList: `manifest-list-${number}-0`,
      deltaManifestList: `manifest-list-${number}-1`,
      commitUser: 'writer',
      commitIdentifier: 2n ** 63n - 1n,
      commitKind: kind,
      timeMillis: 2_000_000 + number,
      totalRecordCount: 1,
      ...(delta === null ? {} : { deltaRecordCount: delta }),
      ...(watermark === undefined ? {} : { watermark }),
      ...extra,
    };
    this.put(`snapshot/snapshot-${next}`, canonicalJson(body));
    return next;
  }

  /** create_tag, or replace_tag. */
  tag(name: string, id: number): void {
    this.put(`tag/tag-${name}`, this.text(`snapshot/snapshot-${id}`));
  }

  /** rollback_to: the snapshots above go. */
  rollback(to: number): void {
    for (const id of this.ids()) if (id > to) this.remove(`snapshot/snapshot-${id}`);
  }

  /** expire_snapshots: the oldest go, `keep` stay. */
  expire(keep: number): void {
    for (const id of this.ids().slice(0, -keep)) this.remove(`snapshot/snapshot-${id}`);
  }

  drop(): void {
    this.files.files.clear();
  }
}
