import { inflateRawSync, zstdDecompressSync } from 'node:zlib';
import { snappy } from '../snappy.ts';

/**
 * How many rows an ORC file holds, from its tail alone (ORC specification: postscript and footer, both Protocol Buffers). Manifests
 * may be ORC; how many entries they have is all that is read of them. Throws Error for a damaged file or an unknown codec.
 */
export function orcRowCount(bytes: Uint8Array): bigint {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.length < 4 || file.toString('latin1', 0, 3) !== 'ORC') throw new Error('it is not an ORC file');
  const postscriptSize = file[file.length - 1] ?? 0;
  const postscriptStart = file.length - 1 - postscriptSize;
  if (postscriptStart < 3) throw new Error('the ORC file is cut short');
  const postscript = varints(file.subarray(postscriptStart, file.length - 1));
  const footerStart = postscriptStart - Number(postscript.get(FOOTER_LENGTH) ?? 0n);
  if (footerStart < 3) throw new Error('the ORC file is cut short');
  const footer = decompress(Number(postscript.get(COMPRESSION) ?? 0n), file.subarray(footerStart, postscriptStart));
  return varints(footer).get(NUMBER_OF_ROWS) ?? 0n;
}

const FOOTER_LENGTH = 1;
const COMPRESSION = 2;
const NUMBER_OF_ROWS = 6;

/** Bytes; a guard against a file made to fill the memory. */
const LARGEST = 64 * 1024 * 1024;

const DECOMPRESS: Readonly<Record<number, (data: Buffer) => Buffer>> = {
  1: (data) => inflateRawSync(data, { maxOutputLength: LARGEST }),
  2: snappy,
  5: (data) => zstdDecompressSync(data, { maxOutputLength: LARGEST }),
};

/** A compressed stream is chunks of a 3-byte header (twice the size, plus one if stored as it is) and data. */
function decompress(kind: number, stream: Buffer): Buffer {
  if (kind === 0) return stream;
  const codec = DECOMPRESS[kind];
  if (codec === undefined) throw new Error(`the ORC file uses compression ${kind}, which Sluice cannot decompress`);
  const parts: Buffer[] = [];
  for (let at = 0; at + 3 <= stream.length; ) {
    const header = stream.readUIntLE(at, 3);
    const chunk = stream.subarray(at + 3, at + 3 + (header >> 1));
    parts.push(header & 1 ? chunk : codec(chunk));
    at += 3 + (header >> 1);
  }
  return Buffer.concat(parts);
}

/** The varint fields of a Protocol Buffers message, number → value; all other fields are passed over. */
function varints(message: Buffer): ReadonlyMap<number, bigint> {
  const values = new Map<number, bigint>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw new Error('the ORC file is cut short');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new Error('the ORC file is damaged');
  };
  const skip = (size: number): void => {
    at += size;
  };
  while (at < message.length) {
    const key = Number(varint());
    const wire = key & 7;
    if (wire === 0) values.set(key >> 3, varint());
    else if (wire === 1) skip(8);
    else if (wire === 2) skip(Number(varint()));
    else if (wire === 5) skip(4);
    else throw new Error('the ORC file is damaged');
  }
  return values;
}
