import { fingerprint } from '../fingerprint.ts';

/**
 * The older part of a long timeline, which hardly ever changes: as long as its files have the names that they had, it need not be taken
 * apart. Taking 10,000 actions apart costs more than listing them.
 */
export interface Past {
  /** Names that sort before this requested time belong to it. */
  readonly until: string;
  /** Fingerprint of those names, whatever they stand for. */
  readonly names: string;
  /** The versions among them as the cursor writes them, in the engine's order. */
  readonly versions: string;
}

/** A folder's names, parted by a requested time. Only names that begin with a digit: no other can be an action's. */
export interface PartedNames {
  readonly before: string;
  readonly after: readonly string[];
}

export function partNames(names: readonly string[], until: string): PartedNames {
  const known = lately.get(names);
  if (known?.until === until) return known.parted;
  const parted = part(names, until);
  lately.set(names, { until, parted });
  return parted;
}

/** A quick look that finds something is followed by a whole one on the same listing. */
const lately = new WeakMap<readonly string[], { readonly until: string; readonly parted: PartedNames }>();

function part(names: readonly string[], until: string): PartedNames {
  const before: string[] = [];
  const after: string[] = [];
  for (const name of names) if (isTimed(name)) (name < until ? before : after).push(name);
  return { before: fingerprint(before.sort().join('\n'), 24), after };
}

const isTimed = (name: string): boolean => {
  const first = name.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
};

/** The names after the past; null if the past is not as it was. */
export function namesSince(names: readonly string[], past: Past): readonly string[] | null {
  const { before, after } = partNames(names, past.until);
  return before === past.names ? after : null;
}

/** So many of the newest versions are never past, and twice as many are needed before any is. */
const RECENT = 128;

/** What parting needs to know of a version; in the engine's order. */
interface Parted {
  readonly time: string;
  readonly hasSchema: boolean;
}

/**
 * How many of the versions may become past, oldest first; 0: none. They must be the first in both orders, that of requests (by which names
 * sort) and the engine's; none that cannot be read yet may be among them; and the newest that may tell the table's schema stay.
 */
export function pastCount(versions: readonly Parted[], unread: readonly string[], schemaTries: number): number {
  if (versions.length < 2 * RECENT) return 0;
  const telling = versions.flatMap(({ hasSchema }, at) => (hasSchema ? [at] : [])).slice(-schemaTries);
  const most = Math.min(versions.length - RECENT, telling[0] ?? versions.length);
  const latest = latestBefore(versions);
  const oldestUnread = unread.reduce<string | null>((a, b) => (a === null || b < a ? b : a), null);
  let earliest: string | null = oldestUnread;
  for (let at = versions.length - 1; at > 0; at--) {
    const { time = '' } = versions[at] ?? {};
    if (earliest === null || time < earliest) earliest = time;
    if (at <= most && time === earliest && (latest[at] ?? '') < time) return at;
  }
  return 0;
}

/** For each place the latest time before it. */
function latestBefore(versions: readonly Parted[]): readonly string[] {
  let latest = '';
  return versions.map(({ time }) => {
    const before = latest;
    if (time > latest) latest = time;
    return before;
  });
}
