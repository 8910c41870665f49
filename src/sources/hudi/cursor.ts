import type { Cursor } from '../source.ts';
import { completedInstant, type Instant } from './instants.ts';
import type { Past } from './past.ts';
import type { ZoneFinding } from './zone.ts';

/** What the Hudi source remembers of a table between two polls. */
export interface Memory {
  /** The folder in `.hoodie` that held the timeline; null: `.hoodie` itself. */
  readonly timeline: string | null;
  /** The versions that stood in the active timeline and were read, in the engine's order; of a long timeline those after its past. */
  readonly seen: readonly SeenVersion[];
  /** null: the timeline is not long. */
  readonly past: Past | null;
  readonly keys: ReadonlySet<string>;
  /** Requested times of the completed rollbacks and restores that stood there. */
  readonly takebacks: ReadonlySet<string>;
  /** `<time>.<action>` of writes that had begun. */
  readonly pending: ReadonlySet<string>;
  /** Keys of completed versions whose files could not be read. */
  readonly unread: ReadonlySet<string>;
  /** Only while no version stands in the timeline: the latest requested time of those told. */
  readonly told: string | null;
  /** Of hoodie.properties. */
  readonly properties: string;
  readonly zone: ZoneFinding;
  /** When the newest version was completed, epoch ms; null: there was none, or names do not tell. */
  readonly newest: bigint | null;
  readonly dataHead: string | null;
  /** Id of the table's schema. */
  readonly schemaId: string | null;
}

export interface SeenVersion extends Instant {
  /** null: it was older than what a first read takes. */
  readonly dataChange: boolean | null;
  /** Its metadata names the table's schema. */
  readonly hasSchema: boolean;
}

const VERSION = 1;

/** A version is remembered as its file's name after a letter: D data, N none, U unread, and in lower case if it names no schema. */
const letterOf = ({ dataChange, hasSchema }: SeenVersion): string => {
  const letter = dataChange === null ? 'U' : dataChange ? 'D' : 'N';
  return hasSchema ? letter : letter.toLowerCase();
};

/** Versions as the cursor writes them. */
export const entriesText = (versions: readonly SeenVersion[]): string =>
  versions.map((version) => `${letterOf(version)}${version.file}`).join(' ');

export const toCursor = (memory: Omit<Memory, 'keys'>): Cursor => ({
  v: VERSION,
  timeline: memory.timeline,
  seen: entriesText(memory.seen),
  ...(memory.past === null ? {} : { past: memory.past }),
  takebacks: [...memory.takebacks].sort(),
  pending: [...memory.pending].sort(),
  unread: [...memory.unread].sort(),
  ...(memory.told === null ? {} : { told: memory.told }),
  properties: memory.properties,
  zone: { zone: memory.zone.zone, savedAt: memory.zone.savedAt?.toString() ?? null },
  newest: memory.newest?.toString() ?? null,
  dataHead: memory.dataHead,
  schemaId: memory.schemaId,
});

/** undefined: not a cursor of this source, or of a layout that this version does not know. */
export function fromCursor(cursor: Cursor): Memory | undefined {
  if (cursor.v !== VERSION) return undefined;
  try {
    return readMemory(cursor);
  } catch {
    return undefined; // a member is missing or of another kind
  }
}

/** The part of the memory that tells whether there is anything new; found without taking each version apart. */
export interface Glance {
  readonly timeline: string | null;
  readonly files: ReadonlySet<string>;
  readonly past: Past | null;
  readonly head: string | null;
  readonly dataHead: string | null;
}

const entriesOf = (entries: unknown): readonly string[] =>
  text(entries)
    .split(' ')
    .filter((entry) => entry !== '');

/** undefined as for `fromCursor`. */
export function glanceOf(cursor: Cursor): Glance | undefined {
  if (cursor.v !== VERSION) return undefined;
  try {
    const entries = entriesOf(cursor['seen']);
    return {
      timeline: optionalText(cursor['timeline']),
      files: new Set(entries.map((entry) => entry.slice(1))),
      past: pastOf(cursor['past']),
      head: /\d+/.exec(entries.at(-1) ?? '')?.[0] ?? null,
      dataHead: optionalText(cursor['dataHead']),
    };
  } catch {
    return undefined;
  }
}

function readMemory(cursor: Cursor): Memory {
  const timeline = optionalText(cursor['timeline']);
  const zone = cursor['zone'] as Readonly<Record<string, unknown>>;
  const seen = entriesOf(cursor['seen']).map((entry) => seenVersion(entry, timeline));
  return {
    timeline,
    seen,
    past: pastOf(cursor['past']),
    keys: new Set(seen.map(({ key }) => key)),
    takebacks: new Set(texts(cursor['takebacks'])),
    pending: new Set(texts(cursor['pending'])),
    unread: new Set(texts(cursor['unread'])),
    told: optionalText(cursor['told'] ?? null),
    properties: text(cursor['properties']),
    zone: { zone: text(zone['zone']), savedAt: optionalLong(zone['savedAt']) },
    newest: optionalLong(cursor['newest']),
    dataHead: optionalText(cursor['dataHead']),
    schemaId: optionalText(cursor['schemaId']),
  };
}

function pastOf(value: unknown): Past | null {
  if (value === undefined) return null;
  const { until, names, versions } = value as Readonly<Record<string, unknown>>;
  return { until: text(until), names: text(names), versions: text(versions) };
}

/** The memory with its past taken apart. What is damaged in it is left out, and so is new once more. */
export function wholeMemory(memory: Memory): Memory {
  if (memory.past === null) return memory;
  const past = entriesOf(memory.past.versions).flatMap((entry) => maybeVersion(entry, memory.timeline) ?? []);
  const seen = [...past, ...memory.seen];
  return { ...memory, seen, keys: new Set(seen.map(({ key }) => key)), past: null };
}

function seenVersion(entry: string, timeline: string | null): SeenVersion {
  const version = maybeVersion(entry, timeline);
  if (version === null) throw new TypeError('no version');
  return version;
}

function maybeVersion(entry: string, timeline: string | null): SeenVersion | null {
  const letter = entry.charAt(0);
  const instant = completedInstant(timeline ?? '', entry.slice(1));
  if (instant === null || !'DNUdnu'.includes(letter)) return null;
  const kind = letter.toUpperCase();
  return Object.assign(instant, { dataChange: kind === 'U' ? null : kind === 'D', hasSchema: kind === letter });
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no text');
  return value;
}

const optionalText = (value: unknown): string | null => (value === null ? null : text(value));

const optionalLong = (value: unknown): bigint | null => (value === null ? null : BigInt(text(value)));

function texts(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new TypeError('no list');
  return (value as readonly unknown[]).map(text);
}
