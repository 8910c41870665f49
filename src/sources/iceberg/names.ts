// How the metadata files of Iceberg tables are called (facts: the specification, its engines, and tables found in public).

/** A metadata file by its name alone. */
export interface MetadataName {
  readonly name: string;
  /** HADOOP: `v12.metadata.json`; CATALOG: `00012-<uuid>.metadata.json`; OTHER: any other name, which tells no version. */
  readonly style: 'HADOOP' | 'CATALOG' | 'OTHER';
  /** null: OTHER. */
  readonly version: bigint | null;
}

const CODEC = '(?:\\.(?:gz|gzip|zst|zstd))?';
const FILE = new RegExp(`^(.+?)${CODEC}\\.metadata\\.json${CODEC}$`, 'i');
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** What a file name says; null: it is no metadata file, or the temporary one of a Hadoop writer (a UUID alone) before its rename. */
export function metadataName(name: string): MetadataName | null {
  const stem = FILE.exec(name)?.[1];
  if (stem === undefined || /^[._]/.test(name) || UUID.test(stem)) return null;
  const hadoop = /^v(\d{1,30})$/.exec(stem)?.[1];
  if (hadoop !== undefined) return { name, style: 'HADOOP', version: BigInt(hadoop) };
  const catalog = /^(\d{1,30})-./.exec(stem)?.[1];
  if (catalog !== undefined) return { name, style: 'CATALOG', version: BigInt(catalog) };
  return { name, style: 'OTHER', version: null };
}

/** Hint files, the usual one first. */
export const HINTS = ['version-hint.text', 'version-hint.txt'] as const;

/** File names that a hint's text may mean: a version, or the stem or the name of a file. */
export function namesOfHint(text: string): readonly string[] {
  const hint = text.trim();
  if (!/^[\w.+-]{1,200}$/.test(hint)) return [];
  const stems = /^\d+$/.test(hint) ? [`v${hint}`] : [hint, `v${hint}`];
  const names = stems.flatMap((stem) => [
    `${stem}.metadata.json`,
    `${stem}.gz.metadata.json`,
    `${stem}.metadata.json.gz`,
  ]);
  return metadataName(hint) === null ? names : [hint, ...names];
}

/** Is the location a metadata file itself, as a catalog names it, and not a folder? */
export const isMetadataFile = (location: string): boolean => /\.json(?:\.(?:gz|gzip|zst|zstd))?$/i.test(location);

export const folderOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0));

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
