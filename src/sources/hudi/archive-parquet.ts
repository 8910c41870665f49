import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';

/** A row of the archive of layout 2. */
export interface ArchivedRow {
  readonly time: string;
  readonly completion: string | null;
  readonly action: string;
  /** The bytes of the completed action's file; null if the row holds none. */
  readonly metadata: Uint8Array | null;
}

type Unpack = (data: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;

const within =
  (unpack: Unpack) =>
  (input: Uint8Array, size: number): Uint8Array =>
    unpack(input, { maxOutputLength: Math.max(size, 1) });

const COMPRESSORS = {
  GZIP: within(gunzipSync),
  ZSTD: within(zstdDecompressSync),
  BROTLI: within(brotliDecompressSync),
};

/** Reads a file of the archive. Throws Error for one that is damaged. */
export async function readArchiveParquet(bytes: Uint8Array): Promise<readonly ArchivedRow[]> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const columns = ['instantTime', 'completionTime', 'action', 'metadata'];
  const rows: readonly Readonly<Record<string, unknown>>[] = await parquetReadObjects({
    file,
    columns,
    compressors: COMPRESSORS,
    utf8: false,
    geoparquet: false,
  });
  return rows.flatMap(({ instantTime, completionTime, action, metadata }) =>
    typeof instantTime === 'string' && typeof action === 'string'
      ? [
          {
            time: instantTime,
            completion: typeof completionTime === 'string' ? completionTime : null,
            action,
            metadata: metadata instanceof Uint8Array ? metadata : null,
          },
        ]
      : [],
  );
}
