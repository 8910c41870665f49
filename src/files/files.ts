/** What stands in a folder. */
export interface FileEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder';
  /** It is a symbolic link, to a file or a folder: `kind` is 'file' whichever, since links are not followed by a listing. Left out: no link. */
  readonly link?: true;
  /** Changes whenever the bytes change, where the store tells it in a listing (an object store's ETag); a local disk does not. */
  readonly stamp?: string;
}

export interface FileStat {
  readonly size: number;
  /** Last modification, epoch ms. */
  readonly modifiedAt: bigint;
}

/**
 * How bytes are listed and read: a local disk or an object store. Paths are whole locations as the table's folder was given
 * (`/data/t/snapshot/LATEST`, later `s3://bucket/t/...`). Absence is a value (null); anything else that fails throws FilesError.
 */
export interface Files {
  /** The whole file, or null if there is none. */
  read(path: string): Promise<Uint8Array | null>;
  /** Size and time, or null if there is no such file. */
  stat(path: string): Promise<FileStat | null>;
  /** What stands directly in a folder, in no order; null if there is no such folder. `after`: only names that sort after it. */
  list(folder: string, options?: { readonly after?: string }): Promise<readonly FileEntry[] | null>;
}

/** A read that failed for another reason than absence: permission, network, a broken disk. */
export class FilesError extends Error {
  override readonly name = 'FilesError';
  readonly retryable: boolean;
  constructor(message: string, retryable: boolean, options?: { cause?: unknown }) {
    super(message, options);
    this.retryable = retryable;
  }
}
