import type { FileEntry, Files, FileStat } from '../../../src/files/files.ts';
import type { TableRef } from '../../../src/sources/source.ts';

type Operation = 'read' | 'stat' | 'list';

/** A folder in memory that counts what it is asked and can be told to misbehave. */
class MemoryFiles implements Files {
  readonly #files = new Map<string, { readonly bytes: Uint8Array; readonly modifiedAt: bigint }>();
  /** What was asked, in order: `read /w/t/metadata/v1.metadata.json`. */
  readonly requests: string[] = [];
  /** Called before each request; may change the files or throw. */
  before: (operation: Operation, path: string) => void = () => {};
  /** What a listing leaves out, as a store does that is late with it. */
  unlisted: (name: string) => boolean = () => false;
  #clock = 0n;

  put(path: string, bytes: Uint8Array | string): void {
    this.#files.set(path, { bytes: Buffer.from(bytes as string), modifiedAt: ++this.#clock });
  }

  get(path: string): Uint8Array | undefined {
    return this.#files.get(path)?.bytes;
  }

  text(path: string): string {
    return Buffer.from(this.get(path) ?? '').toString('utf8');
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  paths(): string[] {
    return [...this.#files.keys()];
  }

  read(path: string): Promise<Uint8Array | null> {
    return this.#ask('read', path, () => this.#files.get(path)?.bytes ?? null);
  }

  stat(path: string): Promise<FileStat | null> {
    return this.#ask('stat', path, () => {
      const file = this.#files.get(path);
      return file === undefined ? null : { size: file.bytes.length, modifiedAt: file.modifiedAt };
    });
  }

  list(folder: string, options?: { readonly after?: string }): Promise<readonly FileEntry[] | null> {
    return this.#ask('list', options?.after === undefined ? folder : `${folder} after ${options.after}`, () => {
      const inside = this.paths().filter((path) => path.startsWith(`${folder}/`));
      const entries = new Map<string, FileEntry>();
      for (const path of inside) {
        const [name = '', ...deeper] = path.slice(folder.length + 1).split('/');
        entries.set(name, { name, kind: deeper.length > 0 ? 'folder' : 'file' });
      }
      const listed = [...entries.values()].filter(({ name }) => name > (options?.after ?? '') && !this.unlisted(name));
      return inside.length === 0 ? null : listed;
    });
  }

  #ask<T>(operation: Operation, path: string, answer: () => T): Promise<T> {
    this.requests.push(`${operation} ${path}`);
    return new Promise((resolve) => {
      this.before(operation, path);
      resolve(answer());
    });
  }
}

export interface MadeUpSnapshot {
  readonly id: bigint;
  parent: bigint | null;
  readonly sequence: number;
  readonly time: number;
  readonly summary: Readonly<Record<string, string>>;
  readonly schemaId: number;
}

export interface CommitParts {
  readonly operation?: string;
  /** Rows added; 0 is a commit of nothing. */
  readonly rows?: number;
  readonly summary?: Readonly<Record<string, string>>;
  readonly branch?: string;
  /** A snapshot with this parent instead of the branch's head; null: none. */
  readonly parent?: bigint | null;
  /** Left out: an id of its own that no JavaScript number can hold. */
  readonly id?: bigint;
  /** Listed, but on no branch. */
  readonly staged?: boolean;
}

/** An Iceberg table in memory, written as an engine would: each change is a new metadata file with the whole list of snapshots. */
export class MadeUpTable {
  readonly files = new MemoryFiles();
  readonly ref: TableRef;
  readonly style: 'hadoop' | 'catalog';
  snapshots: MadeUpSnapshot[] = [];
  refs = new Map<string, { id: bigint; type: 'branch' | 'tag' }>();
  schemas: object[] = [];
  formatVersion = 2;
  version = 0;
  uuid = '';
  #ids = 0n;
  #tables = 0;
  #clock = 1_700_000_000_000;
  #sequence = 0;
  #log: { 'metadata-file': string }[] = [];

  constructor(branch: string | null = null, style: 'hadoop' | 'catalog' = 'hadoop') {
    this.style = style;
    this.ref = { location: '/w/t', branch, files: this.files };
  }

  /** The table begins anew: another uuid, the version numbers from the start. */
  create(): this {
    this.uuid = `00000000-0000-0000-0000-${String(++this.#tables).padStart(12, '0')}`;
    [this.snapshots, this.#log, this.schemas] = [[], [], [schema(0, ['id'])]];
    this.refs = new Map();
    this.#sequence = 0;
    this.version = 0;
    this.write();
    return this;
  }

  /** The files go, as DROP in a Hadoop catalog takes them. */
  drop(): void {
    for (const path of this.files.paths()) this.files.remove(path);
  }

  head(branch = 'main'): bigint | null {
    return this.refs.get(branch)?.id ?? null;
  }

  chain(branch = 'main'): MadeUpSnapshot[] {
    const down: MadeUpSnapshot[] = [];
    for (let id = this.head(branch); id !== null; ) {
      const snapshot = this.snapshots.find((candidate) => candidate.id === id);
      if (snapshot === undefined) break;
      down.push(snapshot);
      id = snapshot.parent;
    }
    return down.reverse();
  }

  /** Adds a snapshot without a metadata file of its own: several of them may come in one. */
  add(parts: CommitParts = {}): bigint {
    const { operation = 'append', rows = 1, branch = 'main', staged = false } = parts;
    const parent = parts.parent === undefined ? this.head(branch) : parts.parent;
    const id = parts.id ?? 5_000_000_000_000_000_000n + ++this.#ids * 7_919n;
    const total = this.#rowsAt(parent) + rows;
    const summary = {
      operation,
      ...(rows > 0 ? { 'added-data-files': '1', 'added-records': String(rows) } : {}),
      'changed-partition-count': rows > 0 ? '1' : '0',
      'total-records': String(total),
      ...parts.summary,
    };
    const sequence = ++this.#sequence;
    this.snapshots.push({ id, parent, sequence, time: this.#tick(), summary, schemaId: this.schemas.length - 1 });
    if (!staged) this.refs.set(branch, { id, type: 'branch' });
    return id;
  }

  commit(parts: CommitParts = {}): bigint {
    const id = this.add(parts);
    this.write();
    return id;
  }

  /** REPLACE TABLE AS SELECT: the id stays, a snapshot without a parent begins. */
  replaceAs(rows = 1): bigint {
    return this.commit({ operation: 'overwrite', parent: null, rows, summary: { 'total-records': String(rows) } });
  }

  setHead(id: bigint, branch = 'main'): void {
    this.refs.set(branch, { id, type: 'branch' });
    this.write();
  }

  tag(name: string, id: bigint | null): void {
    if (id === null) this.refs.delete(name);
    else this.refs.set(name, { id, type: 'tag' });
    this.write();
  }

  addColumn(...names: string[]): void {
    this.schemas = [...this.schemas, schema(this.schemas.length, names)];
    this.write();
  }

  /** Takes snapshots off the list; `cutLinks`: their children lose their parent, as PyIceberg does it. */
  expire(ids: readonly bigint[], cutLinks = false): void {
    this.snapshots = this.snapshots.filter((snapshot) => !ids.includes(snapshot.id));
    if (cutLinks)
      for (const snapshot of this.snapshots)
        if (snapshot.parent !== null && ids.includes(snapshot.parent)) snapshot.parent = null;
    this.write();
  }

  /** The next metadata file, and the hint. */
  write(): void {
    if (this.version > 0 || this.style === 'catalog') this.#log.push({ 'metadata-file': this.current() });
    this.version++;
    this.files.put(this.current(), this.json());
    if (this.style === 'hadoop') this.hint(String(this.version));
  }

  current(): string {
    return this.path(this.version);
  }

  path(version: number): string {
    const name = this.style === 'hadoop' ? `v${version}` : `${String(version).padStart(5, '0')}-${this.uuid}`;
    return `/w/t/metadata/${name}.metadata.json`;
  }

  hint(text: string | null): void {
    if (text === null) this.files.remove('/w/t/metadata/version-hint.text');
    else this.files.put('/w/t/metadata/version-hint.text', text);
  }

  json(): string {
    const main = this.head();
    const text = JSON.stringify({
      'format-version': this.formatVersion,
      'table-uuid': this.uuid,
      location: 's3://elsewhere/t',
      ...(this.formatVersion > 1 ? { 'last-sequence-number': this.#sequence } : {}),
      'last-updated-ms': this.#tick(),
      schemas: this.schemas,
      'current-schema-id': this.schemas.length - 1,
      'partition-specs': [{ 'spec-id': 0, fields: [] }],
      'default-spec-id': 0,
      'current-snapshot-id': main === null ? -1 : `<${main}>`,
      refs: Object.fromEntries(
        [...this.refs].map(([name, { id, type }]) => [name, { 'snapshot-id': `<${id}>`, type }]),
      ),
      snapshots: this.snapshots.map((snapshot) => ({
        'snapshot-id': `<${snapshot.id}>`,
        ...(snapshot.parent === null ? {} : { 'parent-snapshot-id': `<${snapshot.parent}>` }),
        ...(this.formatVersion > 1 ? { 'sequence-number': snapshot.sequence } : {}),
        'timestamp-ms': snapshot.time,
        summary: snapshot.summary,
        'manifest-list': `s3://elsewhere/t/metadata/snap-${snapshot.id}.avro`,
        'schema-id': snapshot.schemaId,
      })),
      'metadata-log': this.#log,
    });
    return text.replace(/"<(-?\d+)>"/g, '$1'); // ids are beyond what a JS number holds
  }

  #rowsAt(id: bigint | null): number {
    return Number(this.snapshots.find((snapshot) => snapshot.id === id)?.summary['total-records'] ?? 0);
  }

  #tick(): number {
    this.#clock += 1_000;
    return this.#clock;
  }
}

const schema = (id: number, names: readonly string[]): object => ({
  type: 'struct',
  'schema-id': id,
  fields: names.map((name, at) => ({ id: at + 1, name, required: false, type: 'long' })),
});
