import { inflateRaw, zstdDecompress } from 'node:zlib';
import { promisify } from 'node:util';
import { snappy } from '../snappy.ts';
import { AvroTap } from './avro-tap.ts';
import { parseSchema, type AvroSchema } from './avro-value.ts';

/** An Avro object container file, unpacked: its schema, and the records' bytes of each block. */
export interface Container {
  readonly schema: AvroSchema;
  readonly blocks: readonly { readonly count: number; readonly data: Buffer }[];
}

const MAGIC = 'Obj\x01';

export const isContainer = (bytes: Uint8Array): boolean =>
  bytes.length >= 4 && Buffer.from(bytes.buffer, bytes.byteOffset, 4).toString('latin1') === MAGIC;

/** Bytes; a guard against a file made to fill the memory. */
const LARGEST = 512 * 1024 * 1024;

const inflate = promisify(inflateRaw);
const unzstd = promisify(zstdDecompress);

/** Opens the file; unpacks beside the event loop. Throws Error for one that is cut short or damaged. */
export async function openContainer(bytes: Uint8Array): Promise<Container> {
  const tap = new AvroTap(bytes);
  if (tap.take(4).toString('latin1') !== MAGIC) throw new Error('it is not an Avro file');
  const meta = new Map<string, string>();
  for (let count = tap.block(); count > 0; count = tap.block())
    for (; count > 0; count--) meta.set(tap.text(), tap.text());
  const sync = tap.take(16);
  const schema = parseSchema(meta.get('avro.schema') ?? '');
  const blocks: { count: number; data: Buffer }[] = [];
  while (tap.left > 0) {
    const count = tap.size();
    const packed = tap.take(tap.size());
    if (!(count >= 0) || !tap.take(16).equals(sync)) throw new Error('a block of it is damaged');
    blocks.push({ count, data: await decompress(meta.get('avro.codec') ?? 'null', packed) });
  }
  return { schema, blocks };
}

async function decompress(codec: string, data: Buffer): Promise<Buffer> {
  switch (codec) {
    case 'null':
      return data;
    case 'deflate':
      return inflate(data, { maxOutputLength: LARGEST });
    case 'zstandard':
      return unzstd(data, { maxOutputLength: LARGEST });
    case 'snappy':
      return snappy(data.subarray(0, Math.max(data.length - 4, 0))); // Avro appends a CRC-32 of 4 bytes
    default:
      throw new Error(`it uses the codec ${codec}, which Sluice cannot unpack`);
  }
}
