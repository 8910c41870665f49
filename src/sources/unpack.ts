import { createGunzip, createZstdDecompress } from 'node:zlib';
import { nextTurn } from './turns.ts';

/** Bytes after unpacking; a guard against a file made to fill the memory. */
const LARGEST = 1024 ** 3;
/** Copied without a pause; a few milliseconds. */
const SLICE = 4 * 1024 * 1024;

const starts = (bytes: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((byte, index) => bytes[index] === byte);

/**
 * The bytes themselves, or what is packed in them by gzip or zstd: told by the first bytes, as names of metadata files lie. Works beside
 * the event loop and never holds it longer than a copy of 4 MiB takes. Throws Error if the packed bytes are cut short or damaged.
 */
export async function unpack(bytes: Uint8Array): Promise<Uint8Array> {
  if (starts(bytes, [0x1f, 0x8b])) return unpackWith(createGunzip({ chunkSize: 256 * 1024 }), bytes);
  if (starts(bytes, [0x28, 0xb5, 0x2f, 0xfd]))
    return unpackWith(createZstdDecompress({ chunkSize: 256 * 1024 }), bytes);
  return bytes;
}

type Unpacker = ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>;

async function unpackWith(unpacker: Unpacker, bytes: Uint8Array): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  unpacker.end(bytes);
  for await (const part of unpacker as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > LARGEST) throw new Error('it unpacks to more than 1 GiB');
    parts.push(part);
  }
  return join(parts, size);
}

async function join(parts: readonly Uint8Array[], size: number): Promise<Uint8Array> {
  const whole = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for (let paused = 0, index = 0; index < parts.length; index++) {
    const part = parts[index] ?? new Uint8Array();
    whole.set(part, filled);
    filled += part.length;
    if (filled - paused < SLICE) continue;
    paused = filled;
    await nextTurn();
  }
  return whole;
}
