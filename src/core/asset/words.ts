import { isoTime } from '../time.ts';
import type { Version } from './version.ts';

/** Every leaf that names a version says so, at every evaluation; a record never changes. */
const said = new WeakMap<Version, string>();

/** `5 (APPEND, 2026-11-30T09:38:23.910Z)`: how people are shown a version. */
export const versionWords = (version: Version): string => {
  const known = said.get(version);
  if (known !== undefined) return known;
  const words = `${version.snapshotId} (${version.operation}, ${isoTime(version.commitTime)})`;
  said.set(version, words);
  return words;
};

/** `2 minutes`, `90 seconds`, `1 day`: the largest unit that says it exactly. */
export const durationWords = (seconds: number): string => {
  const units = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const;
  const unit = units.find(([, size]) => seconds >= size && seconds % size === 0);
  const [name, size] = unit ?? (['second', 1] as const);
  const count = seconds / size;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
};

/** `3 rows added`, `1 row fewer`: a net count of rows. */
export const rowWords = (added: bigint): string => {
  const count = added < 0n ? -added : added;
  return `${count} ${count === 1n ? 'row' : 'rows'} ${added < 0n ? 'fewer' : 'added'}`;
};
