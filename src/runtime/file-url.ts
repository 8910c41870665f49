import { fileURLToPath } from 'node:url';

/**
 * The path of a `file:` URL; anything else as it is. Lakehouse engines write such URLs without encoding anything (`file:/w/50% done`): what
 * cannot be an encoded URL is taken for the path itself. Throws TypeError for a file on another machine.
 */
export function pathOfFileUrl(location: string): string {
  if (!/^file:/i.test(location)) return location;
  const unencoded = location.slice('file:'.length).replace(/^\/\/(?:localhost)?(?=\/)/i, '');
  return isEncoded(unencoded) ? fileURLToPath(location) : unencoded;
}

/** `?` and `#` would begin a query or a fragment, which files do not have; a `%` stands before two digits. */
const isEncoded = (path: string): boolean => !/[?#]|%(?![0-9a-f]{2})|%2f/i.test(path) && decodes(path);

function decodes(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false; // not UTF-8
  }
}
