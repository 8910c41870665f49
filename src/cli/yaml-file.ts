import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Document, isMap, isNode, isSeq, LineCounter, type ParsedNode, parseAllDocuments } from 'yaml';
import type { FilePath } from '../core/declaration/read.ts';
import { SluiceError } from '../core/errors.ts';

/** One YAML document of a file as plain JSON, and where in the file each part of it stands. */
export interface DeclaredFile {
  readonly content: unknown;
  /** `FILE:LINE:COLUMN` of what stands at the path, or of the nearest part above it that exists. */
  readonly locate: (path: FilePath) => string;
}

/** The documents of a YAML file (`-`: stdin). Throws BAD_FILE, with line and column where the text is no YAML. */
export const readYaml = (file: string): readonly DeclaredFile[] => {
  const text = readText(file);
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { lineCounter: lines, intAsBigInt: true, prettyErrors: false });
  const documents = 'empty' in parsed ? [] : parsed;
  if (documents.length === 0) throw new SluiceError('BAD_FILE', `Declare something in ${file}: it is empty.`);
  return documents.map((document) => declared(file, document, lines));
};

const readText = (file: string): string => {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'is not there' : `cannot be read (${message})`;
    throw new SluiceError('BAD_FILE', `${file} ${why}: name a file that can be read.`);
  }
};

const declared = (file: string, document: Document.Parsed, lines: LineCounter): DeclaredFile => {
  const where = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const [problem] = document.errors;
  if (problem !== undefined)
    throw new SluiceError('BAD_FILE', `${where(problem.pos[0])}: ${firstLine(problem.message)}`);
  const locate = (path: FilePath): string => where(offsetOf(document.contents, path));
  const content = absolute(exact(toPlain(document, file), [], locate), file);
  return { content, locate };
};

const firstLine = (message: string): string => `${message.split('\n')[0]?.replace(/[:.]$/, '') ?? message}.`;

const toPlain = (document: Document.Parsed, file: string): unknown => {
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (error) {
    throw new SluiceError('BAD_FILE', `${file}: ${firstLine((error as Error).message)}`);
  }
};

/** YAML integers come as bigint: those that JSON carries exactly become numbers, others are refused where they stand. */
const exact = (value: unknown, path: FilePath, locate: (path: FilePath) => string): unknown => {
  if (typeof value === 'bigint') {
    const number = Number(value);
    if (Number.isSafeInteger(number)) return number;
    throw new SluiceError('BAD_FILE', `${locate(path)}: Put ${value} in quotes: numbers lose digits beyond 2^53.`);
  }
  if (Array.isArray(value)) return value.map((item, i) => exact(item, [...path, i], locate));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, exact(item, [...path, key], locate)]));
};

/** Locations count from the file's folder. */
const absolute = (content: unknown, file: string): unknown => {
  const fields = content as { assets?: unknown } | null;
  if (typeof fields !== 'object' || fields === null || !Array.isArray(fields.assets)) return content;
  const folder = file === '-' ? process.cwd() : dirname(resolve(file));
  return { ...fields, assets: fields.assets.map((asset: unknown) => located(asset, folder)) };
};

const located = (asset: unknown, folder: string): unknown => {
  const { location } = (asset ?? {}) as { location?: unknown };
  if (typeof location !== 'string' || location === '' || /^[A-Za-z][A-Za-z0-9+.-]+:\/\//.test(location)) return asset;
  return { ...(asset as object), location: resolve(folder, location) };
};

/** Where the part at the path begins: of a mapping's entry its key. */
const offsetOf = (root: ParsedNode | null, path: FilePath): number => {
  let node: unknown = root;
  let offset = root?.range[0] ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(key) === String(step));
      if (pair === undefined) return offset;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      offset = startOf(node) ?? offset;
    } else return offset;
  }
  return offset;
};

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);
