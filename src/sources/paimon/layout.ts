// Where a Paimon table keeps what a reader of its metadata needs (facts: the table layout of the Paimon specification).
import type { FileEntry } from '../../files/files.ts';
import { rootOf } from '../location.ts';

/** The folders and files of one branch of a table. Manifests stay in the table's own folder whatever the branch. */
export interface Layout {
  readonly table: string;
  /** The table's folder, or `branch/branch-<name>` in it. */
  readonly root: string;
  readonly snapshots: string;
  readonly schemas: string;
  readonly tags: string;
  readonly snapshot: (id: bigint) => string;
  readonly schema: (id: bigint) => string;
  readonly tag: (name: string) => string;
  readonly manifest: (fileName: string) => string;
}

export function layoutOf(location: string, branch: string | null): Layout {
  const table = rootOf(location);
  const root = branch === null || branch === 'main' ? table : `${table}/branch/branch-${branch}`;
  const [snapshots, schemas, tags] = [`${root}/snapshot`, `${root}/schema`, `${root}/tag`];
  return {
    table,
    root,
    snapshots,
    schemas,
    tags,
    snapshot: (id) => `${snapshots}/snapshot-${id}`,
    schema: (id) => `${schemas}/schema-${id}`,
    tag: (name) => `${tags}/tag-${name}`,
    manifest: (fileName) => `${table}/manifest/${fileName}`,
  };
}

/** A branch's or a manifest's name becomes part of a path: it may not climb out of the table's folder. */
export const isPlainName = (name: string): boolean => name !== '' && !/[/\\\0]/.test(name) && !/^\.{1,2}$/.test(name);

const LONG_MAX = 2n ** 63n - 1n;

/** Names of the form `<prefix><number>`, the numbers ascending, and those whose number no table can have (above 2^63 - 1). */
export interface Numbered {
  readonly ids: readonly bigint[];
  readonly tooLarge: readonly string[];
  /** Names of folders: none of them is a snapshot or a schema. */
  readonly folders: ReadonlySet<string>;
  /** Everything else in the folder that is neither a hint nor a writer's hidden temporary file. */
  readonly stray: readonly string[];
}

const HINTS = new Set(['LATEST', 'EARLIEST']);

/**
 * Sorts the names in a folder strictly: `snapshot-4.bak`, `snapshot-4<uuid>.tmp` and `snapshot-04` are nobody's snapshot 4, though
 * engines stumble over them.
 */
export function numbered(prefix: 'snapshot-' | 'schema-', entries: readonly FileEntry[]): Numbered {
  const ids: bigint[] = [];
  const tooLarge: string[] = [];
  const stray: string[] = [];
  const folders = new Set<string>();
  for (const { name, kind } of entries) {
    if (kind === 'folder') {
      folders.add(name);
      continue;
    }
    const digits = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    if (!/^(?:0|[1-9]\d*)$/.test(digits)) {
      if (!HINTS.has(name) && !name.startsWith('.')) stray.push(name);
    } else if (digits.length > 19 || BigInt(digits) > LONG_MAX) tooLarge.push(name);
    else ids.push(BigInt(digits));
  }
  return {
    ids: ids.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
    tooLarge: tooLarge.sort(),
    folders,
    stray: stray.sort(),
  };
}

/** The tag that a file in `tag/` holds; null for what is no tag (temporary files, the folder of success files). */
export const tagName = (fileName: string): string | null =>
  fileName.startsWith('tag-') &&
  fileName.length > 4 &&
  !/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\.tmp$/.test(fileName)
    ? fileName.slice(4)
    : null;
