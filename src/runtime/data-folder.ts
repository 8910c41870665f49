import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * Two small files in the data folder by which commands on the same machine find a server: `server.json` says where it listens, `admin.token`
 * holds the first administrator's token. Both are readable by their owner alone.
 */

const tokenFile = (folder: string): string => join(folder, 'admin.token');
const addressFile = (folder: string): string => join(folder, 'server.json');

/** The administrator's token of this folder: 32 random bytes, made the first time that it is asked for. */
export const ensureToken = (folder: string): string => {
  const file = tokenFile(folder);
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const token = randomBytes(32).toString('base64url');
  writeWhole(file, `${token}\n`);
  return token;
};

/** Says where the server listens; the answer takes that back. */
export const announceAddress = (folder: string, url: string): (() => void) => {
  const file = addressFile(folder);
  writeWhole(file, `${JSON.stringify({ url, pid: process.pid })}\n`);
  return () => rmSync(file, { force: true });
};

/** null: no server was ever started on this folder, or its token may not be read. */
export const tokenIn = (folder: string): string | null => readOrNull(tokenFile(folder))?.trim() ?? null;

/** Where the server of this folder listens; null: none runs there. */
export const addressIn = (folder: string): string | null => {
  try {
    const { url } = JSON.parse(readOrNull(addressFile(folder)) ?? '') as { url?: unknown };
    return typeof url === 'string' ? url : null;
  } catch {
    return null; // a file that says nothing is as good as none
  }
};

const readOrNull = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
};

/** By a rename, so that nobody reads half a file. */
const writeWhole = (file: string, text: string): void => {
  const part = `${file}.${process.pid}.part`;
  writeFileSync(part, text, { mode: 0o600 });
  chmodSync(part, 0o600);
  renameSync(part, file);
};
