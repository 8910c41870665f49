import { FilesError, type Files } from '../files/files.ts';
import type { Source, TableFormat, TableRef } from '../sources/source.ts';

/** How each format's source is loaded: when the first table of the format is read. A new format is one line. */
const SOURCES: ReadonlyMap<string, () => Promise<Source>> = new Map([
  ['paimon', async () => (await import('../sources/paimon/source.ts')).createPaimonSource()],
  ['hudi', async () => (await import('../sources/hudi/source.ts')).createHudiSource()],
  ['delta', async () => (await import('../sources/delta/source.ts')).createDeltaSource()],
  ['iceberg', async () => (await import('../sources/iceberg/source.ts')).createIcebergSource()],
]);

/** Formats that can be read, in the order in which a folder is tried: Iceberg last, since the others can write Iceberg metadata beside their own. */
export const READABLE_FORMATS = [...SOURCES.keys()] as readonly TableFormat[];

/** What stands in a table's folder, by format: where none of these is, no format needs to be tried. `sure`: nothing else is called so. */
const MARKS: readonly { readonly name: string; readonly format: TableFormat; readonly sure: boolean }[] = [
  { name: 'snapshot', format: 'paimon', sure: false },
  { name: 'schema', format: 'paimon', sure: false },
  { name: '.hoodie', format: 'hudi', sure: true },
  { name: '_delta_log', format: 'delta', sure: true },
  { name: 'metadata', format: 'iceberg', sure: false },
];

/** How bytes are read, by the scheme of a location; '' is a path on this machine. */
const STORES: ReadonlyMap<string, () => Promise<Files>> = new Map([
  ['', async () => (await import('../files/local.ts')).createLocalFiles()],
  ['file', async () => (await import('../files/local.ts')).createLocalFiles()],
]);

/** The source of a format; undefined if Sluice does not read the format (yet). */
export const loadSource = async (format: string): Promise<Source | undefined> => SOURCES.get(format)?.();

/** How the bytes of a location are read; undefined if Sluice does not read its scheme (yet). */
export const loadFiles = async (location: string): Promise<Files | undefined> => STORES.get(schemeOf(location))?.();

/** `s3` of `s3://bucket/t`; '' of a path (a letter before the colon is a drive). */
export const schemeOf = (location: string): string => /^([a-z][a-z0-9+.-]+):/i.exec(location)?.[1]?.toLowerCase() ?? '';

/** The format whose metadata stands in the folder; undefined if none does. */
export async function detectFormat(table: TableRef): Promise<TableFormat | undefined> {
  for (const format of READABLE_FORMATS) {
    const source = await loadSource(format);
    if (source !== undefined && (await source.detect(table))) return format;
  }
  return undefined;
}

/**
 * The format of a folder in which these names stand: as detectFormat, without asking where no name hints at a table. A folder whose log or timeline is
 * there, but holds nothing readable, still is a table of its format.
 */
export async function formatAmong(table: TableRef, names: ReadonlySet<string>): Promise<TableFormat | undefined> {
  const marks = MARKS.filter(({ name }) => names.has(name));
  if (marks.length === 0) return undefined;
  return (await detectFormat(table)) ?? marks.find(({ sure }) => sure)?.format;
}

/** One sentence that says why detectFormat found nothing. */
export async function whyNoTable({ location, files }: TableRef): Promise<string> {
  try {
    const names = READABLE_FORMATS.join(', ');
    return (await files.list(location)) === null
      ? `There is no folder ${location}: check the path.`
      : `${location} holds no table that Sluice can read (${names}): check the path, or name the format with --format.`;
  } catch (error) {
    if (error instanceof FilesError) return error.message;
    throw error;
  }
}

export type { Files, Source, TableFormat, TableRef };
