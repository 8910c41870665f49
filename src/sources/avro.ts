import { inflateRawSync, zstdDecompressSync } from 'node:zlib';
import avro, { type Schema, type Type } from 'avsc';
import { snappy } from './snappy.ts';

/** A record of an Avro file: longs are bigint, bytes Buffers, unions plain values. */
export type AvroRecord = Readonly<Record<string, unknown>>;

/**
 * All records of an Avro object container file, in order, decoded by the schema that the file carries. Codecs: null, deflate, snappy,
 * zstandard. Throws Error for a file that is cut short or damaged.
 */
export function readAvro(bytes: Uint8Array): readonly AvroRecord[] {
  const file = new Container(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const { schema, codec } = file.header();
  const type = avro.Type.forSchema(JSON.parse(schema) as Schema, { typeHook: exactLongs, noAnonymousTypes: false });
  const records: AvroRecord[] = [];
  for (let block = file.block(); block !== null; block = file.block()) {
    const data = decompress(codec, block.data);
    let offset = 0;
    for (let left = block.count; left > 0; left--) {
      const decoded = type.decode(data, offset);
      if (decoded.offset < 0) throw new Error('a record of the Avro file is cut short');
      if (decoded.offset === offset && left > data.length + 1)
        throw new Error('the Avro file counts records that hold nothing');
      offset = decoded.offset;
      records.push(decoded.value as AvroRecord);
    }
  }
  return records;
}

/** avsc refuses longs beyond 2^53 unless told otherwise; `typeHook` also reaches `{"type": "long"}`, which a registry would miss. */
const BIG_LONG: Type = avro.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64LE(value);
    return buffer;
  },
  fromJSON: (value: number | string) => BigInt(value),
  toJSON: (value: bigint) => value.toString(),
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
});

const exactLongs = (schema: unknown): Type | undefined => {
  const named = typeof schema === 'object' && schema !== null && 'type' in schema ? schema.type : schema;
  return named === 'long' ? BIG_LONG : undefined;
};

/** Bytes; writers flush blocks of some 64 KiB. A guard against a file made to fill the memory. */
const LARGEST_BLOCK = 256 * 1024 * 1024;

function decompress(codec: string, data: Buffer): Buffer {
  switch (codec) {
    case 'null':
      return data;
    case 'deflate':
      return inflateRawSync(data, { maxOutputLength: LARGEST_BLOCK });
    case 'zstandard':
      return zstdDecompressSync(data, { maxOutputLength: LARGEST_BLOCK });
    case 'snappy':
      return snappy(data.subarray(0, data.length - 4)); // Avro appends a CRC-32 of 4 bytes
    default:
      throw new Error(`the Avro file uses the codec ${codec}, which Sluice cannot decompress`);
  }
}

/** The container format: magic, metadata map, sync marker, blocks of (count, size, data, sync marker). */
class Container {
  readonly #bytes: Buffer;
  #at = 0;
  #sync: Buffer = Buffer.alloc(0);

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  header(): { readonly schema: string; readonly codec: string } {
    if (this.#take(4).toString('latin1') !== 'Obj\x01') throw new Error('it is not an Avro file');
    const meta = new Map<string, string>();
    for (let count = this.#long(); count !== 0; count = this.#long()) {
      if (count < 0) this.#long(); // a negative count is followed by the size of the map's block
      for (let left = Math.abs(count); left > 0; left--) meta.set(this.#string(), this.#string());
    }
    this.#sync = this.#take(16);
    return { schema: meta.get('avro.schema') ?? '', codec: meta.get('avro.codec') ?? 'null' };
  }

  /** null at the end of the file. */
  block(): { readonly count: number; readonly data: Buffer } | null {
    if (this.#at === this.#bytes.length) return null;
    const count = this.#long();
    const data = this.#take(this.#long());
    if (count < 0 || !this.#take(16).equals(this.#sync)) throw new Error('a block of the Avro file is damaged');
    return { count, data };
  }

  #take(size: number): Buffer {
    const end = this.#at + size;
    if (size < 0 || end > this.#bytes.length) throw new Error('the Avro file is cut short');
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }

  #string(): string {
    return this.#take(this.#long()).toString('utf8');
  }

  /** A zig-zag variable-length integer: sizes and counts, which fit a number. */
  #long(): number {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#take(1)[0] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number((value >> 1n) ^ -(value & 1n));
    }
    throw new Error('an integer of the Avro file is too long');
  }
}
