import { type Dirent, readFile, readdir, stat } from 'node:fs';
import { pathOfFileUrl } from '../runtime/file-url.ts';
import { FilesError, type FileEntry, type Files, type FileStat } from './files.ts';

/**
 * Files on a disk of this machine: paths as the operating system writes them, or `file:` URLs. Uses the callback API, which is three
 * times as fast as the promise API where most probes find nothing (10,000 in 0.1 s), and never blocks the thread on a slow mount.
 */
export const createLocalFiles = (): Files => ({ read: readBytes, stat: statFile, list: listFolder });

const ABSENT = new Set(['ENOENT', 'ENOTDIR']);
/** Will not mend itself by waiting: the path or its permissions must change first. */
const LASTING = new Set(['EACCES', 'EPERM', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']);

/** Turns a callback into an answer: absence is null, anything else a FilesError. */
function answer<T, R>(
  path: string,
  resolve: (value: R | null) => void,
  reject: (error: FilesError) => void,
  found: (value: T) => R | null,
): (error: NodeJS.ErrnoException | null, value: T) => void {
  return (error, value) => {
    if (error === null) resolve(found(value));
    else if (ABSENT.has(error.code ?? '')) resolve(null);
    else reject(cannotRead(path, error));
  };
}

const cannotRead = (path: string, error: NodeJS.ErrnoException): FilesError =>
  new FilesError(`${path} cannot be read: ${reason(error)}.`, !LASTING.has(error.code ?? ''), { cause: error });

const reason = (error: NodeJS.ErrnoException): string => {
  if (error.code === 'EACCES' || error.code === 'EPERM') return 'permission denied; let the user of Sluice read it';
  if (error.code === 'EISDIR') return 'it is a folder, not a file';
  return error.code ?? error.message;
};

/** Calls the operation; what the operation throws by itself (a path with a NUL, a bad URL) is a FilesError as well. */
const attempt = <R>(
  path: string,
  operation: (local: string, resolve: (value: R | null) => void, reject: (error: FilesError) => void) => void,
): Promise<R | null> =>
  new Promise((resolve, reject) => {
    try {
      operation(pathOfFileUrl(path), resolve, reject);
    } catch (error) {
      const problem = `${path.replaceAll('\0', '\\0')} is not a path on this machine.`;
      reject(new FilesError(problem, false, { cause: error }));
    }
  });

const readBytes = (path: string): Promise<Uint8Array | null> =>
  attempt(path, (local, resolve, reject) =>
    readFile(
      local,
      answer(path, resolve, reject, (bytes: Buffer) => bytes),
    ),
  );

const statFile = (path: string): Promise<FileStat | null> =>
  attempt(path, (local, resolve, reject) =>
    stat(
      local,
      { throwIfNoEntry: false },
      answer(path, resolve, reject, (found) =>
        found === undefined ? null : { size: found.size, modifiedAt: BigInt(Math.trunc(found.mtimeMs)) },
      ),
    ),
  );

const listFolder = (folder: string, options?: { readonly after?: string }): Promise<readonly FileEntry[] | null> =>
  attempt(folder, (local, resolve, reject) =>
    readdir(
      local,
      { withFileTypes: true },
      answer(folder, resolve, reject, (entries) => entriesAfter(entries, options?.after)),
    ),
  );

const entriesAfter = (entries: readonly Dirent[], after: string | undefined): readonly FileEntry[] =>
  (after === undefined ? entries : entries.filter((entry) => entry.name > after)).map(entryOf);

const entryOf = (entry: Dirent): FileEntry => {
  if (entry.isSymbolicLink()) return { name: entry.name, kind: 'file', link: true };
  return { name: entry.name, kind: entry.isDirectory() ? 'folder' : 'file' };
};
