import { type FileHandle, open } from 'node:fs/promises';

const noticeOf = (limit: number, cut: number): string =>
  `\n[sluice] The log reached its limit of ${limit} bytes; at least ${cut} bytes after it were not kept.\n`;
const NOTICE = /^\n\[sluice\] The log reached its limit of \d+ bytes; at least (\d+) bytes after it were not kept\.\n/;
const LONGEST_NOTICE = 160;

/**
 * Cuts a log back to its first `limit` bytes and one line that says how many were not kept, in total over all cuts. The task writes on through its own
 * append-only descriptor, so what it writes next lands after that line and goes with the next cut. Returns whether the log is over its limit.
 * The host's errors (a full disk) are thrown.
 */
export async function enforceLimit(path: string, limit: number): Promise<boolean> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    if (size <= limit) return false;
    const before = await readNotice(file, limit);
    const fresh = size - limit - before.length;
    if (before.length === 0 || fresh > 0) await cut(file, limit, before.cut + fresh);
    return true;
  } finally {
    await file.close();
  }
}

async function readNotice(file: FileHandle, limit: number): Promise<{ readonly length: number; readonly cut: number }> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST_NOTICE), 0, LONGEST_NOTICE, limit);
  const [notice, cutBefore] = NOTICE.exec(buffer.toString('latin1', 0, bytesRead)) ?? ['', '0'];
  return { length: notice.length, cut: Number(cutBefore) };
}

async function cut(file: FileHandle, limit: number, total: number): Promise<void> {
  await file.truncate(limit);
  await file.write(noticeOf(limit, total), limit, 'latin1');
}
