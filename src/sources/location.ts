import { pathOfFileUrl } from '../runtime/file-url.ts';

/**
 * A table's location as the beginning of paths: without slashes at its end, and never a URL of which names that are put behind it would
 * become a part (`#` and `%` are plain characters in a name).
 */
export const rootOf = (location: string): string => plainPath(location).replace(/(?<=.)\/+$/, '');

/** A path that a table's metadata name; a file on another machine stays a URL, which cannot be read. */
export function plainPath(path: string): string {
  try {
    return pathOfFileUrl(path);
  } catch {
    return path;
  }
}
