import type { PaimonSchema } from './schema.ts';

/** How a table names its partitions. */
export interface PartitionNaming {
  readonly columns: readonly PartitionColumn[];
  /** Stands for null and for blank text. */
  readonly defaultName: string;
  /** Dates are numbers of days, as folders have been named since the beginning (`partition.legacy-name`). */
  readonly legacy: boolean;
}

interface PartitionColumn {
  readonly name: string;
  /** `INT` of `INT`, `VARCHAR` of `VARCHAR(20)`. */
  readonly type: string;
}

/** null: the table has no partitions. */
export function partitionNaming({ table, options }: PaimonSchema): PartitionNaming | null {
  if (table.partitionKeys.length === 0) return null;
  const types = new Map(table.fields.map(({ name, type }) => [name, type.replace(/\(.*$/, '')]));
  return {
    columns: table.partitionKeys.map((name) => ({ name, type: types.get(name) ?? '' })),
    defaultName: options.get('partition.default-name') ?? '__DEFAULT_PARTITION__',
    legacy: options.get('partition.legacy-name')?.toLowerCase() !== 'false',
  };
}

/**
 * The partition that a manifest's `_PARTITION` stands for, as its folder is named: `dt=2026-11-29/hour=7`. The bytes are a row in Paimon's
 * binary form (BinaryRow of the Paimon sources): the number of columns, a bit for each that is null, eight bytes for each value. null: a
 * column is of a type whose text Paimon alone knows (floating point, decimals, timestamps, bytes), or the bytes are no such row.
 */
export function partitionName(bytes: Uint8Array, { columns, defaultName, legacy }: PartitionNaming): string | null {
  const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = ARITY + nullBytes(columns.length);
  if (row.length < values + 8 * columns.length || row.readInt32BE(0) !== columns.length) return null;
  const parts: string[] = [];
  for (const [at, { name, type }] of columns.entries()) {
    const text = isNull(row, at) ? '' : valueText(row, values + 8 * at, type, legacy);
    if (text === null) return null;
    parts.push(`${escaped(name)}=${escaped(text.trim() === '' ? defaultName : text)}`);
  }
  return parts.join('/');
}

/** Bytes before the row: its number of columns. */
const ARITY = 4;
/** Bits before those of the columns: the row's kind. */
const KIND_BITS = 8;

const nullBytes = (columns: number): number => Math.ceil((columns + KIND_BITS) / 64) * 8;

const isNull = (row: Buffer, column: number): boolean => {
  const bit = column + KIND_BITS;
  return (((row[ARITY + (bit >> 3)] ?? 0) >> (bit & 7)) & 1) === 1;
};

function valueText(row: Buffer, at: number, type: string, legacy: boolean): string | null {
  switch (type) {
    case 'STRING':
    case 'VARCHAR':
    case 'CHAR':
      return stringAt(row, at);
    case 'BOOLEAN':
      return String(row[at] !== 0);
    case 'TINYINT':
      return row.readInt8(at).toString();
    case 'SMALLINT':
      return row.readInt16LE(at).toString();
    case 'INT':
    case 'INTEGER':
      return row.readInt32LE(at).toString();
    case 'BIGINT':
      return row.readBigInt64LE(at).toString();
    case 'DATE':
      return legacy ? row.readInt32LE(at).toString() : dateText(row.readInt32LE(at));
    default:
      return null;
  }
}

/** Up to 7 bytes stand in the value itself, behind them their number with the highest bit set; else size and place are told there. */
function stringAt(row: Buffer, at: number): string | null {
  const mark = row[at + 7] ?? 0;
  const size = mark & 0x80 ? mark & 0x7f : row.readUInt32LE(at);
  const from = mark & 0x80 ? at : ARITY + row.readUInt32LE(at + 4);
  return from + size > row.length ? null : row.toString('utf8', from, from + size);
}

const DAY_MS = 86_400_000;
/** Days from 1970 to the end of year 9999: beyond, dates have another form. */
const LAST_DAY = 2_932_896;

const dateText = (days: number): string | null =>
  days < -719_528 || days > LAST_DAY ? null : new Date(days * DAY_MS).toISOString().slice(0, 10);

/** As Hive names folders. */
const escaped = (text: string): string =>
  text.replace(
    /[\u0001-\u001f"#%'*/:=?\\\u007f{}[\]^]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
