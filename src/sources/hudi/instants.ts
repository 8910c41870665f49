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
}

/** A rewriting action is known by the files of its earlier states. */
export type Service = 'compaction' | 'logcompaction' | 'clustering';

/** What stands in the active timeline. */
export interface Timeline {
  /** Completed actions that make a version, in the engine's order, oldest first. */
  readonly versions: readonly Instant[];
  /** Completed rollbacks and restores. */
  readonly takebacks: readonly Instant[];
  readonly cleans: readonly Instant[];
  /** Requested times of savepoints. */
  readonly savepoints: ReadonlySet<string>;
  /** `<time>.<action>` of writes that have been requested and are not completed. */
  readonly pending: ReadonlySet<string>;
  readonly services: ReadonlyMap<string, Service>;
}

/** One action of a table: unique where its requested time is not (Hudi 0.5 gave a commit and its clean the same). */
export const keyOf = ({ time, action }: { readonly time: string; readonly action: string }): string =>
  `${time}.${action}`;

const NAME = /^(\d{14,20})(?:_(\d{14,20}))?\.([a-z]+)(?:\.(requested|inflight))?$/;

/** Actions that change no row and are no version. */
const HOUSEKEEPING = new Set(['clean', 'rollback', 'restore', 'savepoint', 'indexing', 'schemacommit']);
const WRITES = new Set(['commit', 'deltacommit', 'replacecommit']);
const SERVICES = new Set<string>(['compaction', 'logcompaction', 'clustering']);

/** The writes that Hudi completes; an action of another name is new to this reader. */
export const isKnownWrite = (action: string): boolean => WRITES.has(action);

/** Where the words of a time are compared: a time of whole seconds stands for the end of its second, as in Hudi. */
export const orderText = (time: string): string => (time.length === 14 ? `${time}999` : time);

export const isOlder = (a: string, b: string): boolean => orderText(a) < orderText(b);

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Oldest first, as the engine orders versions: by requested time up to table version 6, by completion time after. */
export const engineOrder =
  (byCompletion: boolean) =>
  (a: Pick<Instant, 'time' | 'completion'>, b: Pick<Instant, 'time' | 'completion'>): number => {
    const [first, second] = byCompletion ? [a.completion ?? a.time, b.completion ?? b.time] : [a.time, b.time];
    return byText(orderText(first), orderText(second)) || byText(orderText(a.time), orderText(b.time));
  };

/** The completed action that a file's name stands for; null for everything else. */
export function completedInstant(folder: string, file: string): Instant | null {
  const [, time = '', completion = null, action = '', state] = NAME.exec(file) ?? [];
  if (state !== undefined || action === '' || action === 'inflight') return null;
  return { time, completion, action, file, folder };
}

/** What stands in a folder, for reading it as a timeline. */
export interface Names {
  readonly folder: string;
  readonly names: readonly string[];
}

/**
 * Sorts file names into a timeline. More than one folder is given while a table is upgraded or downgraded: the files move from one layout
 * to the other, and an action that stands in both is one.
 */
export function readTimeline(folders: readonly Names[], byCompletion: boolean): Timeline {
  const completed = new Map<string, Instant>();
  const started = new Map<string, string>();
  const services = new Map<string, Service>();
  for (const { folder, names } of folders)
    for (const name of names) {
      const [, time = '', completion = null, word = '', state] = NAME.exec(name) ?? [];
      if (time === '') continue;
      if (state === undefined && word !== 'inflight')
        keep(completed, { time, completion, action: word, file: name, folder });
      else if (SERVICES.has(word)) services.set(time, word as Service);
      else if (word === 'inflight' || WRITES.has(word)) started.set(time, word === 'inflight' ? 'commit' : word);
    }
  const all = [...completed.values()];
  const versions = all.filter(({ action }) => !HOUSEKEEPING.has(action)).sort(engineOrder(byCompletion));
  const done = new Set(versions.map(({ time }) => time));
  return {
    versions,
    takebacks: all.filter(({ action }) => action === 'rollback' || action === 'restore'),
    cleans: all.filter(({ action }) => action === 'clean').sort(engineOrder(byCompletion)),
    savepoints: new Set(all.filter(({ action }) => action === 'savepoint').map(({ time }) => time)),
    pending: new Set([...started].filter(([time]) => !done.has(time)).map(([time, action]) => `${time}.${action}`)),
    services,
  };
}

/** Of two files for one action the one that tells its completion time is kept. */
function keep(completed: Map<string, Instant>, instant: Instant): void {
  const key = keyOf(instant);
  if ((completed.get(key)?.completion ?? null) === null) completed.set(key, instant);
}
