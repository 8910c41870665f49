import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parquetMetadata, parquetSchema, type ColumnMetaData, type SchemaTree } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { deltaByteArray, deltaLengthByteArray } from 'hyparquet/src/delta.js';
import { snappy } from './snappy.ts';

/** More texts than any column read here holds: a guard against a file made to fill the memory. */
const MOST_TEXTS = 100_000;
/** Bytes; writers make pages of some 1 MiB. */
const LARGEST_PAGE = 256 * 1024 * 1024;

/**
 * The texts of some string columns of a Parquet file, those of each in file order, nulls left out, by the column's path joined with dots.
 * Made for columns that hold little among many rows of other columns: what is null costs next to nothing (300,000 rows in 20 ms), as
 * no rows are assembled. Codecs: none, snappy, gzip, zstd, brotli. Throws Error for a file that is damaged or uses anything else.
 */
export function readParquetTexts(
  bytes: Uint8Array,
  wanted: (path: readonly string[]) => boolean,
): ReadonlyMap<string, readonly string[]> {
  const metadata = parquetMetadata(footerOf(bytes), { geoparquet: false });
  const tree = parquetSchema(metadata);
  const texts = new Map<string, string[]>();
  for (const { meta_data: column } of metadata.row_groups.flatMap((group) => group.columns)) {
    if (column === undefined || !wanted(column.path_in_schema)) continue;
    const path = column.path_in_schema.join('.');
    const known = texts.get(path) ?? [];
    if (!isAllNull(column)) known.push(...chunkTexts(bytes, column, levelsOf(tree, column.path_in_schema)));
    if (known.length > MOST_TEXTS) throw new Error(`column ${path} holds too much`);
    texts.set(path, known);
  }
  return texts;
}

/** The end of the file, where its metadata lie, in a buffer of their own: the rest is not copied. */
function footerOf(bytes: Uint8Array): ArrayBuffer {
  const length = bytes.length < 12 ? 0 : little(bytes, bytes.length - 8, 4);
  const footer = bytes.subarray(-(length + 8));
  if (footer.length !== length + 8) throw new Error('the Parquet file is cut short');
  return Uint8Array.from(footer).buffer;
}

const isAllNull = ({ statistics, num_values }: ColumnMetaData): boolean => statistics?.null_count === num_values;

/** How deep a column lies: the highest level that its values have (Parquet's definition and repetition levels). */
interface Levels {
  readonly definition: number;
  readonly repetition: number;
}

function levelsOf(tree: SchemaTree, path: readonly string[]): Levels {
  let node = tree;
  const levels = { definition: 0, repetition: 0 };
  for (const name of path) {
    const child = node.children.find(({ element }) => element.name === name);
    if (child === undefined) throw new Error('the Parquet file names a column that it does not have');
    node = child;
    if (child.element.repetition_type !== 'REQUIRED') levels.definition++;
    if (child.element.repetition_type === 'REPEATED') levels.repetition++;
  }
  return levels;
}

function chunkTexts(bytes: Uint8Array, column: ColumnMetaData, levels: Levels): readonly string[] {
  if (column.type !== 'BYTE_ARRAY') throw new Error(`column ${column.path_in_schema.join('.')} holds no text`);
  const start = Number(column.dictionary_page_offset || column.data_page_offset);
  const end = start + Number(column.total_compressed_size);
  if (start < 0 || end > bytes.length) throw new Error('the Parquet file is cut short');
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, end - start);
  const reader = { view, offset: 0 };
  const texts: string[] = [];
  let dictionary: readonly string[] = [];
  while (reader.offset < view.byteLength && texts.length <= MOST_TEXTS) {
    const header = parquetHeader(reader);
    const from = reader.offset;
    reader.offset += header.compressed_page_size;
    if (reader.offset <= from && header.compressed_page_size !== 0) throw new Error('a Parquet page is damaged');
    const raw = bytes.subarray(start + from, Math.min(start + reader.offset, end));
    if (header.type === 'DICTIONARY_PAGE') dictionary = plainTexts(decompress(column.codec, raw));
    else texts.push(...pageTexts(pageOf(header, raw, column.codec, levels), dictionary));
  }
  return texts;
}

type Header = ReturnType<typeof parquetHeader>;

/** What a page holds: how many values, and their bytes. */
interface Page {
  readonly count: number;
  readonly encoding: string;
  readonly values: Uint8Array;
}

function pageOf(header: Header, raw: Uint8Array, codec: string, levels: Levels): Page {
  const { data_page_header: first, data_page_header_v2: second } = header;
  if (header.type === 'DATA_PAGE' && first !== undefined) return firstPage(first, decompress(codec, raw), levels);
  if (header.type !== 'DATA_PAGE_V2' || second === undefined)
    throw new Error(`a Parquet page is of the kind ${header.type}`);
  const skipped = second.repetition_levels_byte_length + second.definition_levels_byte_length;
  const count = second.num_values - second.num_nulls;
  const packed = raw.subarray(skipped);
  const values = second.is_compressed === false || packed.length === 0 ? packed : decompress(codec, packed);
  return { count, encoding: second.encoding, values };
}

/** A page of the first layout: repetition levels, definition levels, each after its length, and the values. */
function firstPage(
  header: { readonly num_values: number; readonly encoding: string },
  page: Buffer,
  levels: Levels,
): Page {
  let at = 0;
  const section = (): Buffer => {
    const size = page.readInt32LE(at);
    const part = page.subarray(at + 4, at + 4 + size);
    if (size < 0 || part.length !== size) throw new Error('the levels of a Parquet page are cut short');
    at += 4 + size;
    return part;
  };
  if (levels.repetition > 0) section();
  const count = levels.definition > 0 ? present(section(), levels.definition, header.num_values) : header.num_values;
  return { count, encoding: header.encoding, values: page.subarray(at) };
}

/** How many of the page's definition levels are the highest: so many values are not null. */
function present(levels: Buffer, highest: number, total: number): number {
  let count = 0;
  let left = total;
  for (const run of hybridRuns(levels, 32 - Math.clz32(highest))) {
    const used = Math.min(run.count, left);
    if (run.value === highest) count += used;
    left -= used;
    if (left === 0) break;
  }
  return count;
}

function pageTexts({ count, encoding, values }: Page, dictionary: readonly string[]): readonly string[] {
  if (count === 0) return [];
  if (count < 0 || count > MOST_TEXTS) throw new Error('a Parquet page counts more values than it can hold');
  switch (encoding) {
    case 'PLAIN':
      return plainTexts(values).slice(0, count);
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY':
      return dictionaryTexts(values, count, dictionary);
    case 'DELTA_LENGTH_BYTE_ARRAY':
      return deltaTexts(values, count, deltaLengthByteArray);
    case 'DELTA_BYTE_ARRAY':
      return deltaTexts(values, count, deltaByteArray);
    default:
      throw new Error(`the Parquet file uses the encoding ${encoding}, which Sluice cannot read`);
  }
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');

/** Each text after its length in four bytes. */
function plainTexts(values: Uint8Array): readonly string[] {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.length);
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = bytes.readUInt32LE(at);
    const end = at + 4 + size;
    if (end > bytes.length || texts.length > MOST_TEXTS) throw new Error('a Parquet page is damaged');
    texts.push(bytes.toString('utf8', at + 4, end));
    at = end;
  }
  return texts;
}

function dictionaryTexts(values: Uint8Array, count: number, dictionary: readonly string[]): readonly string[] {
  const texts: string[] = [];
  for (const run of hybridRuns(values.subarray(1), values[0] ?? 0)) {
    const text = dictionary[run.value];
    if (text === undefined) throw new Error('a Parquet page names a text that its dictionary does not have');
    for (let left = Math.min(run.count, count - texts.length); left > 0; left--) texts.push(text);
    if (texts.length === count) return texts;
  }
  throw new Error('a Parquet page is cut short');
}

type DeltaDecoder = (reader: { view: DataView; offset: number }, count: number, output: Uint8Array[]) => void;

function deltaTexts(values: Uint8Array, count: number, decode: DeltaDecoder): readonly string[] {
  const output = new Array<Uint8Array>(count);
  decode({ view: new DataView(values.buffer, values.byteOffset, values.byteLength), offset: 0 }, count, output);
  return output.map(textOf);
}

/** Parquet's mix of repeated values and bit-packed groups of eight. */
function* hybridRuns(bytes: Uint8Array, width: number): Generator<{ readonly value: number; readonly count: number }> {
  if (width > 32) throw new Error('a Parquet page is damaged');
  const size = Math.ceil(width / 8);
  let at = 0;
  while (at < bytes.length) {
    let header = 0;
    for (let factor = 1, more = true; more; factor *= 128) {
      const byte = bytes[at++] ?? 0;
      header += (byte & 0x7f) * factor;
      more = byte > 127 && factor < 2 ** 35;
    }
    if (header % 2 === 0) {
      const value = little(bytes, at, size);
      at += size;
      yield { value, count: header / 2 };
    } else {
      const end = Math.min(at + ((header - 1) / 2) * width, bytes.length);
      yield* packed(bytes.subarray(at, end), width);
      at = end;
      if (width === 0) return;
    }
  }
}

const little = (bytes: Uint8Array, at: number, size: number): number => {
  let value = 0;
  for (let byte = size - 1; byte >= 0; byte--) value = value * 256 + (bytes[at + byte] ?? 0);
  return value;
};

function* packed(bytes: Uint8Array, width: number): Generator<{ readonly value: number; readonly count: number }> {
  if (width === 0) return;
  for (let bit = 0; bit + width <= bytes.length * 8; bit += width) {
    let value = 0;
    for (let of = width - 1; of >= 0; of--) {
      const place = bit + of;
      value = value * 2 + (((bytes[place >> 3] ?? 0) >> (place & 7)) & 1);
    }
    yield { value, count: 1 };
  }
}

function decompress(codec: string, data: Uint8Array): Buffer {
  const limit = { maxOutputLength: LARGEST_PAGE };
  switch (codec) {
    case 'UNCOMPRESSED':
      return Buffer.from(data.buffer, data.byteOffset, data.length);
    case 'SNAPPY':
      return snappy(data);
    case 'GZIP':
      return gunzipSync(data, limit);
    case 'ZSTD':
      return zstdDecompressSync(data, limit);
    case 'BROTLI':
      return brotliDecompressSync(data, limit);
    default:
      throw new Error(`the Parquet file uses the codec ${codec}, which Sluice cannot decompress`);
  }
}
