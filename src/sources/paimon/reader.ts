import type { FileEntry } from '../../files/files.ts';
import type { TableRef } from '../source.ts';
import { BrokenFile, MovedOn, type Parsed } from '../trouble.ts';
import { layoutOf, numbered, tagName, type Layout, type Numbered } from './layout.ts';
import { manifestReader, readDelta, readDeletionVectors } from './manifest.ts';
import { readPartitions } from './partitions.ts';
import type { Evidence } from './judge.ts';
import { parseSchema, type PaimonSchema } from './schema.ts';
import { parseSnapshot, type Snapshot } from './snapshot.ts';

/** A tag file: the snapshot that it names, or why it names none. */
export interface TagFile {
  readonly name: string;
  readonly stamp: string | null;
  readonly read: () => Promise<Parsed<bigint>>;
}

/**
 * Reads one branch of a table during one look at it. What it has parsed it keeps, so that no file is read twice (`again` does that on
 * purpose). Throws BrokenFile, MovedOn, FilesError, and the signal's reason.
 */
export class TableReader {
  readonly layout: Layout;
  readonly #table: TableRef;
  readonly #signal: AbortSignal | undefined;
  readonly #snapshots = new Map<bigint, Promise<Snapshot | null>>();
  readonly #schemas = new Map<bigint, Promise<PaimonSchema | null>>();

  constructor(table: TableRef, signal: AbortSignal | undefined) {
    this.#table = table;
    this.#signal = signal;
    this.layout = layoutOf(table.location, table.branch);
  }

  readonly bytes = (path: string): Promise<Uint8Array | null> => {
    this.#signal?.throwIfAborted();
    return this.#table.files.read(path);
  };

  async exists(path: string): Promise<boolean> {
    this.#signal?.throwIfAborted();
    return (await this.#table.files.stat(path)) !== null;
  }

  async list(folder: string): Promise<readonly FileEntry[] | null> {
    this.#signal?.throwIfAborted();
    return this.#table.files.list(folder);
  }

  /** null: there is no such folder. */
  async numbered(prefix: 'snapshot-' | 'schema-'): Promise<Numbered | null> {
    const entries = await this.list(prefix === 'snapshot-' ? this.layout.snapshots : this.layout.schemas);
    return entries && numbered(prefix, entries);
  }

  /** null: there is no such snapshot. */
  snapshot(id: bigint): Promise<Snapshot | null> {
    return remember(this.#snapshots, id, () => this.again(id));
  }

  /** The snapshot as it stands now, even if it was read before. */
  async again(id: bigint): Promise<Snapshot | null> {
    const bytes = await this.bytes(this.layout.snapshot(id));
    return bytes === null ? null : whole(`snapshot-${id}`, parseSnapshot(bytes, id));
  }

  /** null: there is no such schema. */
  schema(id: bigint): Promise<PaimonSchema | null> {
    return remember(this.#schemas, id, async () => {
      const bytes = await this.bytes(this.layout.schema(id));
      return bytes === null ? null : whole(`schema-${id}`, parseSchema(bytes, id));
    });
  }

  async tags(): Promise<readonly TagFile[]> {
    const entries = (await this.list(this.layout.tags)) ?? [];
    return entries.flatMap((entry) => {
      const name = entry.kind === 'file' ? tagName(entry.name) : null;
      return name === null ? [] : [{ name, stamp: entry.stamp ?? null, read: () => this.#tag(name) }];
    });
  }

  async #tag(name: string): Promise<Parsed<bigint>> {
    const bytes = await this.bytes(this.layout.tag(name));
    if (bytes === null) throw new MovedOn(`tag-${name}`);
    const parsed = parseSnapshot(bytes, null);
    return parsed.ok ? { ok: true, value: parsed.value.id } : parsed;
  }

  /** What judging a commit may need, read by this reader. */
  evidence(): Evidence {
    const manifests = manifestReader(this.bytes, this.layout);
    return {
      schema: (id) => this.schema(id),
      delta: (list, hidden) => readDelta(manifests, list, hidden),
      deletionVectors: (indexManifest) => readDeletionVectors(manifests, indexManifest),
      partitions: (question) => readPartitions(manifests, question),
      before: (id) => (id <= 1n ? Promise.resolve(null) : this.#usable(id - 1n)),
    };
  }

  /** A damaged snapshot before the one in question is as good as an expired one. */
  #usable(id: bigint): Promise<Snapshot | null> {
    return this.snapshot(id).catch((error: unknown) => {
      if (error instanceof BrokenFile) return null;
      throw error;
    });
  }
}

/** One reading for each id, also for those who ask while it is on its way. */
function remember<T>(known: Map<bigint, Promise<T>>, id: bigint, read: () => Promise<T>): Promise<T> {
  const before = known.get(id);
  if (before !== undefined) return before;
  const reading = read();
  known.set(id, reading);
  return reading;
}

function whole<T>(file: string, parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new BrokenFile(`${file} cannot be used: ${parsed.reason}`);
}
