import type { LogReader } from './reader.ts';

/** Folders in which catalogs keep commits that the log does not show yet: today's, and that of the first preview. */
const FOLDERS = ['_staged_commits', '_commits'];

/** Versions after the newest published one for which commits are staged, ascending. Which of them hold, only the catalog knows. */
export async function stagedVersions(reader: LogReader, head: bigint): Promise<readonly bigint[]> {
  const lists = await Promise.all(FOLDERS.map((folder) => reader.names(reader.layout.inLog(folder))));
  const versions = lists
    .flatMap((names) => names ?? [])
    .filter((name) => /^\d{20}\.[0-9a-zA-Z-]+\.json$/.test(name))
    .map((name) => BigInt(name.slice(0, 20)))
    .filter((version) => version > head);
  return [...new Set(versions)].sort((a, b) => (a < b ? -1 : 1));
}
