import { isOlder, type Instant, type Timeline } from './instants.ts';

/** What was there at the last poll. */
export interface Remembered {
  readonly seen: readonly Instant[];
  readonly keys: ReadonlySet<string>;
  readonly takebacks: ReadonlySet<string>;
  readonly pending: ReadonlySet<string>;
  readonly unread: ReadonlySet<string>;
  /** While no version stands in the timeline: the latest requested time of those told, which are all archived or gone. null: none was told. */
  readonly told: string | null;
  /** The table's properties file is the same as then: no other table can stand here, for it would have written its own. */
  readonly sameProperties: boolean;
}

/** What has been found out so far beside the timeline's names; null: not looked at. */
export interface Found {
  /** Requested times that the new rollbacks and restores took back. */
  readonly takenBack: ReadonlySet<string> | null;
  readonly archive: ArchiveView | null;
  /** Keys of vanished versions whose files stand there nevertheless. */
  readonly unlisted: ReadonlySet<string> | null;
}

export const NOTHING_FOUND: Found = { takenBack: null, archive: null, unlisted: null };

export interface ArchiveView {
  /** Archived versions that were requested when asked for, or later. */
  readonly versions: readonly Instant[];
  /** Requested times of archived rollbacks and restores, of the same age. */
  readonly takebacks: ReadonlySet<string>;
  readonly complete: boolean;
}

/** What must be looked at before anything can be said. */
export type Question =
  | { readonly kind: 'TAKEBACKS'; readonly instants: readonly Instant[] }
  | { readonly kind: 'ARCHIVE'; readonly oldest: string }
  | { readonly kind: 'UNLISTED'; readonly instants: readonly Instant[] };

/** `fresh` stand in the timeline, `archived` only in the archive; neither had been seen. */
export type Verdict =
  | { readonly kind: 'FORWARD'; readonly fresh: readonly Instant[]; readonly archived: readonly Instant[] }
  /** `lost` had been seen and was taken back. */
  | {
      readonly kind: 'REWOUND';
      readonly fresh: readonly Instant[];
      readonly archived: readonly Instant[];
      readonly lost: readonly Instant[];
    }
  /** Versions may have come and gone unseen. */
  | { readonly kind: 'EXPIRED'; readonly fresh: readonly Instant[]; readonly archived: readonly Instant[] }
  | { readonly kind: 'RECREATED'; readonly fresh: readonly Instant[] }
  /** There were versions and there is none, though no other table can stand here: it is being dropped, or damaged. */
  | { readonly kind: 'VANISHED' }
  /** The listing did not show what stands there. */
  | { readonly kind: 'MISLISTED'; readonly instant: Instant };

/** The state of things that a decision is made from, sorted out once. */
interface Case {
  readonly before: Remembered;
  readonly found: Found;
  readonly fresh: readonly Instant[];
  /** Seen, and taken back by a rollback or a restore that tells so. */
  readonly lost: readonly Instant[];
  /** Seen, and gone without a word. */
  readonly gone: readonly Instant[];
  readonly survivors: readonly Instant[];
  /** Requested times of writes that had begun and are gone without a word. */
  readonly ended: readonly string[];
  /** Nothing has ever been completed, as far as the timeline shows. */
  readonly untouched: boolean;
}

/**
 * What happened since the last poll. Pure; asks one question after the other until it can tell. A version leaves the active timeline in
 * three ways: it is archived (the oldest first), taken back (a rollback or a restore names it), or the table was made anew. What can be new is
 * told by the set of those seen, never by comparing times: writes complete in another order than they are requested, and their writers' clocks
 * and zones differ.
 */
export function decide(before: Remembered | null, now: Timeline, found: Found): Verdict | Question {
  if (before === null) return { kind: 'FORWARD', fresh: now.versions, archived: [] };
  const vanished = before.seen.filter(({ key }) => !now.keys.has(key));
  const ended = endedWrites(before, now);
  const takebacks = now.takebacks.filter(({ time }) => !before.takebacks.has(time));
  if (vanished.length + ended.length > 0 && takebacks.length > 0 && found.takenBack === null)
    return { kind: 'TAKEBACKS', instants: takebacks };
  const isLost = (time: string): boolean => found.takenBack?.has(time) ?? false;
  return settle({
    before,
    found,
    fresh: now.versions.filter(({ key }) => !before.keys.has(key)),
    lost: vanished.filter(({ time }) => isLost(time)),
    gone: vanished.filter(({ time }) => !isLost(time)),
    survivors: vanished.length === 0 ? before.seen : before.seen.filter(({ key }) => now.keys.has(key)),
    ended: ended.filter((time) => !isLost(time)),
    untouched: now.keys.size === 0,
  });
}

/** Writes that had begun, or could not be read, and neither go on nor stand completed in the active timeline. */
function endedWrites(before: Remembered, now: Timeline): readonly string[] {
  if (before.pending.size + before.unread.size === 0) return [];
  const done = new Set(now.versions.map(({ time }) => time));
  const under = new Set([...now.pending].map(timeOf));
  return [...before.pending, ...before.unread].map(timeOf).filter((time) => !done.has(time) && !under.has(time));
}

const timeOf = (key: string): string => key.slice(0, key.indexOf('.'));

const oldestOf = (times: readonly string[]): string | undefined =>
  times.reduce<string | undefined>(
    (oldest, time) => (oldest === undefined || isOlder(time, oldest) ? time : oldest),
    undefined,
  );

function settle(given: Case): Verdict | Question {
  const { found, fresh, lost, gone, survivors, ended, before, untouched } = given;
  const firstKept = oldestOf(survivors.map(({ time }) => time));
  const archivedOnly =
    gone.length === 0 || (firstKept !== undefined && gone.every(({ time }) => isOlder(time, firstKept)));
  // Nothing that was not seen can have been archived: it would be older than a version that still stands.
  const nothingMissed = ended.length === 0 && (before.seen.length > 0 || untouched);
  if (archivedOnly && nothingMissed) return mislisted(found, gone) ?? concluded(lost, fresh, []);
  if (found.archive === null)
    return { kind: 'ARCHIVE', oldest: oldestOf([...gone.map(({ time }) => time), ...ended]) ?? before.told ?? '' };
  return afterArchive(given, found.archive, archivedOnly);
}

const concluded = (lost: readonly Instant[], fresh: readonly Instant[], archived: readonly Instant[]): Verdict =>
  lost.length > 0 ? { kind: 'REWOUND', fresh, archived, lost } : { kind: 'FORWARD', fresh, archived };

function afterArchive(given: Case, archive: ArchiveView, archivedOnly: boolean): Verdict | Question {
  const { before, found, fresh, lost, gone, survivors } = given;
  const archived = missedIn(given, archive);
  const kept = new Set(archive.versions.map(({ key }) => key));
  const missing = archivedOnly ? [] : gone.filter((version) => !kept.has(version.key));
  if (missing.length === 0)
    return archive.complete || lost.length > 0
      ? concluded(lost, fresh, archived)
      : { kind: 'EXPIRED', fresh, archived };
  const unlisted = mislisted(found, missing);
  if (unlisted !== null) return unlisted;
  if (!archive.complete) return { kind: 'EXPIRED', fresh, archived };
  // A rollback may have left the timeline together with all that surrounded what it took back.
  const takenBack = [...archive.takebacks].some((time) => !before.takebacks.has(time));
  if (survivors.length + lost.length > 0 || gone.length > missing.length || takenBack)
    return { kind: 'REWOUND', fresh, archived, lost: [...lost, ...missing] };
  if (!before.sameProperties) return { kind: 'RECREATED', fresh };
  return fresh.length === 0 ? { kind: 'VANISHED' } : { kind: 'EXPIRED', fresh, archived };
}

/** A listing may miss what stands there; null: it did not. */
function mislisted(found: Found, vanished: readonly Instant[]): Verdict | Question | null {
  if (vanished.length === 0) return null;
  if (found.unlisted === null) return { kind: 'UNLISTED', instants: vanished.slice(-UNLISTED) };
  const unlisted = vanished.find(({ key }) => found.unlisted?.has(key));
  return unlisted === undefined ? null : { kind: 'MISLISTED', instant: unlisted };
}

/** How many vanished versions are looked for by their names before they are believed to be gone. */
const UNLISTED = 3;

/** Archived versions that had never been seen: older ones than the oldest seen had left the active timeline before. */
function missedIn({ before, fresh, ended }: Case, archive: ArchiveView): readonly Instant[] {
  const known = new Set([...before.seen, ...fresh].map(({ key }) => key));
  const oldest = oldestOf(before.seen.map(({ time }) => time)) ?? before.told;
  return archive.versions.filter(
    (version) =>
      !known.has(version.key) && (oldest === null || isOlder(oldest, version.time) || ended.includes(version.time)),
  );
}
