import { loadFiles, loadSource, schemeOf, type Files, type TableFormat } from './sources.ts';
import { findTables, type TableFolder, type WalkBounds } from './walk.ts';
import type { AssetKey } from '../core/asset/key.ts';
import { type Poll, unreadable } from '../core/asset/poll.ts';
import { proposeKeys } from '../core/asset/propose-key.ts';
import { SluiceError } from '../core/errors.ts';
import type { EpochMs } from '../core/time.ts';
import { inTurns } from '../sources/turns.ts';

/** A table below a folder, and how it stands. */
export interface FoundTable {
  readonly format: TableFormat;
  readonly location: string;
  /** null: the names of its folders cannot stand in a key. */
  readonly key: AssetKey | null;
  /** false: it cannot be read, and `problems` says why. */
  readonly readable: boolean;
  /** Id of its newest version; null: it has none, or cannot be read. */
  readonly head: string | null;
  readonly commitTime: EpochMs | null;
  /** What is odd about it, in plain words. */
  readonly problems: readonly string[];
}

export interface Discovery {
  /** In the order of their locations. */
  readonly tables: readonly FoundTable[];
  /** What was not looked into, and why, in sentences. */
  readonly notes: readonly string[];
}

export interface Bounds extends WalkBounds {
  /** The longest that reading one table may take, ms. */
  readonly readMs: number;
}

export const BOUNDS: Bounds = { depth: 6, folders: 100_000, tables: 10_000, readMs: 30_000 };

/** How far a search has come. */
export interface Progress {
  readonly folders: number;
  readonly tables: number;
  /** Tables that were read. */
  readonly read: number;
}

/** The tables in a folder and below it, in all formats, each read for its newest version. Throws SluiceError where there is no such folder. */
export async function discover(
  root: string,
  bounds: Bounds,
  onProgress: (progress: Progress) => void,
): Promise<Discovery> {
  const files = await loadFiles(root);
  if (files === undefined)
    throw new SluiceError(
      'BAD_REQUEST',
      `${schemeOf(root)}: locations are not read yet: name a folder on this machine.`,
    );
  const walk = await findTables(root, files, bounds, (folders, tables) => onProgress({ folders, tables, read: 0 }));
  const places = walk.tables.toSorted((a, b) => (a.location < b.location ? -1 : 1));
  const keys = proposeKeys(places);
  let read = 0;
  const tables = await inTurns([...places.entries()], async ([at, place]) => {
    const found = foundTable(place, keys[at] ?? null, await readNewest(place, files, bounds.readMs));
    onProgress({ folders: walk.folders, tables: places.length, read: ++read });
    return found;
  });
  return { tables, notes: walk.notes };
}

function foundTable({ format, location }: TableFolder, key: AssetKey | null, poll: Poll): FoundTable {
  const { outcome, head, commits } = poll;
  const reason = outcome.kind === 'UNREADABLE' || outcome.kind === 'BEHIND' ? [outcome.reason] : [];
  const keyless =
    key === null
      ? ['The names of its folders cannot stand in an asset key: register it under a name of your own.']
      : [];
  return {
    format,
    location,
    key,
    readable: outcome.kind !== 'UNREADABLE',
    head,
    commitTime: commits.find(({ snapshotId }) => snapshotId === head)?.commitTime ?? null,
    problems: [...reason, ...poll.problems, ...keyless],
  };
}

/** Reads no more commits than tell the newest version. A table that does not answer in time is left alone. */
async function readNewest({ format, location }: TableFolder, files: Files, limitMs: number): Promise<Poll> {
  const source = await loadSource(format);
  if (source === undefined) return unreadable(null, `Sluice does not read ${format} tables yet.`, false);
  const signal = AbortSignal.timeout(limitMs);
  const tooLate = new Promise<Poll>((resolve) =>
    signal.addEventListener('abort', () =>
      resolve(unreadable(null, `It did not answer within ${limitMs / 1000} s.`, true)),
    ),
  );
  const reading = source.poll({ location, branch: null, files }, null, { firstReadLimit: 1, signal });
  return Promise.race([reading, tooLate]).catch((error: unknown) =>
    unreadable(null, `It could not be read: ${error instanceof Error ? error.message : String(error)}`, true),
  );
}
