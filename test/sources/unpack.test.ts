import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { unpack } from '../../src/sources/unpack.ts';

const TEXT = Buffer.from(JSON.stringify(Array.from({ length: 200_000 }, (_, at) => at)));

describe('unpacking by the first bytes', () => {
  test.each([
    ['plain', (bytes: Buffer) => bytes],
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('%s', async (_, pack) => {
    expect(Buffer.from(await unpack(pack(TEXT))).equals(TEXT)).toBe(true);
  });

  test.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ])('%s that is cut short or damaged is refused', async (_, pack) => {
    const packed = pack(TEXT);
    for (const size of [5, 20, packed.length >> 1, packed.length - 1])
      await expect(unpack(packed.subarray(0, size))).rejects.toThrow();
    const damaged = Buffer.from(packed);
    damaged.fill(0, packed.length >> 1, (packed.length >> 1) + 400);
    await expect(unpack(damaged)).rejects.toThrow();
  });

  test('too few bytes for any mark are plain', async () => {
    expect(await unpack(new Uint8Array())).toHaveLength(0);
    expect(await unpack(Uint8Array.of(0x1f))).toEqual(Uint8Array.of(0x1f));
  });
});
