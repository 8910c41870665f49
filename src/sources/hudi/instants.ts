// The names of Hudi's timeline files (facts: facts/formats.md, 3.1, and the file name parsers of both timeline layouts).

/** A completed action of a timeline. */
export interface Instant {
  /** When it was requested, as it stands in the name: 14 digits (seconds) or 17 (milliseconds), in the writer's time zone. */
  readonly time: string;
  /** When it was completed, in the same shape; null in layout 1, whose names do not say it. */
  readonly completion: string | null;
  /** As it was completed: a compaction completes as `commit`, a clustering as `replacecommit`. */
  readonly action: string;
  /** The file's name. */
  readonly file: string;
  /** The file's folder. */
  readonly folder: string;
  /** `<time>.<action>`: unique where the time alone is not (Hudi 0.5 gave a commit and its clean the same). */
  readonly key: string;
}

/** A rewriting action is known by the files of its earlier states. */
export type Service = 'compaction' | 'logcompaction' | 'clustering';

/** What stands in the active timeline. */
export interface Timeline {
  /** Completed actions that make a version, in the engine's order, oldest first. */
  readonly versions: readonly Instant[];
  /** Keys of all completed actions. */
  readonly keys: Pick<ReadonlySet<string>, 'has' | 'size'>;
  /** Completed rollbacks and restores. */
  readonly takebacks: readonly Instant[];
  readonly cleans: readonly Instant[];
  /** Requested times of savepoints. */
  readonly savepoints: ReadonlySet<string>;
  /** `<time>.<action>` of writes that have been requested and are not completed. */
  readonly pending: ReadonlySet<string>;
  readonly services: ReadonlyMap<string, Service>;
}

const TIME = /^\d{14,20}$/;

/** Actions that change no row and are no version. */
const HOUSEKEEPING = new Set(['clean', 'rollback', 'restore', 'savepoint', 'indexing', 'schemacommit']);
const WRITES = new Set(['commit', 'deltacommit', 'replacecommit']);
const SERVICES = new Set<string>(['compaction', 'logcompaction', 'clustering']);
const MAY_BE_SERVICE = /compaction|clustering/;

/** The writes that Hudi completes; an action of another name is new to this reader. */
export const isKnownWrite = (action: string): boolean => WRITES.has(action);

/** An action that takes versions, or unfinished writes, back. */
export const isTakeback = (action: string): boolean => action === 'rollback' || action === 'restore';

/** Where the words of a time are compared: a time of whole seconds stands for the end of its second, as in Hudi. */
export const orderText = (time: string): string => (time.length === 14 ? `${time}999` : time);

export const isOlder = (a: string, b: string): boolean => orderText(a) < orderText(b);

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Oldest first, as the engine orders versions: by requested time up to table version 6, by completion time after. */
export const engineOrder = (byCompletion: boolean) =>
  byCompletion
    ? (a: Instant, b: Instant): number =>
        byText(orderText(a.completion ?? a.time), orderText(b.completion ?? b.time)) ||
        byText(orderText(a.time), orderText(b.time))
    : (a: Instant, b: Instant): number => byText(orderText(a.time), orderText(b.time)) || byText(a.action, b.action);

const instantOf = (
  time: string,
  completion: string | null,
  action: string,
  place: { readonly file: string; readonly folder: string },
): Instant => ({ time, completion, action, key: `${time}.${action}`, ...place });

/** An action of an archive, which has no file of its own. */
export const archivedInstant = (time: string, completion: string | null, action: string): Instant =>
  instantOf(time, completion, action, { file: '', folder: '' });

/** Does the name look like that of an action that has begun only? Told without taking it apart: two of three names are of this kind. */
const isStarted = (file: string): boolean => file.endsWith('.requested') || file.endsWith('.inflight');

/** The completed action that a file's name stands for; null for everything else. */
export function completedInstant(folder: string, file: string): Instant | null {
  if (isStarted(file)) return null;
  const dot = file.indexOf('.');
  const action = file.slice(dot + 1);
  if (dot < 14 || !WORD.test(action)) return null;
  const line = file.indexOf('_');
  const time = line === -1 ? file.slice(0, dot) : file.slice(0, line);
  const completion = line === -1 ? null : file.slice(line + 1, dot);
  if (!TIME.test(time) || (completion !== null && !TIME.test(completion))) return null;
  return instantOf(time, completion, action, { file, folder });
}

const WORD = /^[a-z]+$/;

/** Is it the name of a completed action that makes a version? */
export const isVersion = (instant: Instant): boolean => !HOUSEKEEPING.has(instant.action);

/** What stands in a folder, for reading it as a timeline. */
export interface Names {
  readonly folder: string;
  readonly names: readonly string[];
  /** Actions by the names of their files that were taken apart before: most of a long timeline is the same at the next look. */
  readonly known?: ReadonlyMap<string, Instant>;
}

/**
 * Sorts file names into a timeline. More than one folder is given while a table is upgraded or downgraded: the files move from one layout
 * to the other, and an action that stands in both is one.
 */
export function readTimeline(folders: readonly Names[], byCompletion: boolean): Timeline {
  const completed = new Map<string, Instant>();
  const started: string[] = [];
  for (const { folder, names, known } of folders)
    for (const name of names) {
      const instant = known?.get(name) ?? completedInstant(folder, name);
      if (instant !== null) {
        // Of two files for one action the one that tells its completion time is kept.
        if ((completed.get(instant.key)?.completion ?? null) === null) completed.set(instant.key, instant);
      } else if (isStarted(name)) started.push(name);
    }
  const all = [...completed.values()];
  const versions = all.filter(isVersion).sort(engineOrder(byCompletion));
  const done = new Set(versions.map(({ time }) => time));
  return {
    versions,
    keys: completed,
    takebacks: all.filter(({ action }) => isTakeback(action)),
    cleans: all.filter(({ action }) => action === 'clean').sort(engineOrder(byCompletion)),
    savepoints: new Set(all.filter(({ action }) => action === 'savepoint').map(({ time }) => time)),
    ...readStarted(started, done),
  };
}

/** Actions that have begun: `<time>.<action>.requested` or `.inflight`; `<time>.inflight` is that of a commit. */
function readStarted(names: readonly string[], done: ReadonlySet<string>): Pick<Timeline, 'pending' | 'services'> {
  const pending = new Set<string>();
  const services = new Map<string, Service>();
  for (const name of names) {
    const dot = name.indexOf('.');
    const time = name.slice(0, dot);
    if (done.has(time) && !MAY_BE_SERVICE.test(name)) continue;
    const word = dot === name.lastIndexOf('.') ? 'commit' : name.slice(dot + 1, name.lastIndexOf('.'));
    if (SERVICES.has(word)) services.set(time, word as Service);
    else if (WRITES.has(word) && !done.has(time) && TIME.test(time)) pending.add(`${time}.${word}`);
  }
  return { pending, services };
}
