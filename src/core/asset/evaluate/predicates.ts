import { type EpochMs, isoTime } from '../../time.ts';
import { compareIds, hasNumericIds } from '../commit-order.ts';
import type { BlockCode, Condition } from '../condition.ts';
import { type Cut, carriesData } from '../cuts.ts';
import { matchesGlob } from './glob.ts';
import type { MemberFacts, VersionFacts } from '../group.ts';
import { qualityOf } from '../quality.ts';
import type { Asset } from '../state.ts';
import { durationWords } from '../words.ts';

/** A version that a condition may choose, with the cut that it stands for. */
export interface Candidate {
  readonly pin: VersionFacts;
  readonly cut: Cut<VersionFacts>;
  /** The tag by which it was found, if one was asked for. */
  readonly tag: string | null;
}

/** What predicates look at beside the candidate. */
export interface PredicateContext {
  readonly condition: Condition;
  readonly member: MemberFacts & { readonly asset: Asset };
  readonly now: EpochMs;
}

/** One demand of a condition on the chosen version's cut. */
export interface Predicate {
  readonly code: BlockCode;
  /** What is demanded, as in "a version newer than 4 with <need>". */
  readonly need: string;
  /** What is there instead, in words; null: it holds. */
  readonly fails: (candidate: Candidate) => string | null;
  /** Something worth saying although it holds. */
  readonly note?: (candidate: Candidate) => string | null;
  /** It compares with the consumed version, so it has nothing to say about keeping that very version. */
  readonly aboutChange?: boolean;
  /** When a candidate for which it holds now stops holding. */
  readonly until?: (candidate: Candidate) => EpochMs;
}

const unless = (holds: boolean, words: string): string | null => (holds ? null : words);

const operations = ({ condition }: PredicateContext): Predicate | null => {
  if (condition.operations.length === 0) return null;
  const wanted = condition.operations.map((operation) => operation.toUpperCase());
  return {
    code: 'BLOCKED_BY_OPERATION',
    need: `operation ${wanted.join(' or ')}`,
    // Behind a version that stands for a gap or a rewind there may have been any operation: it is not held back.
    fails: ({ pin, cut }) => {
      const made = condition.dataChangeOnly ? (cut.data ?? pin) : pin;
      const holds = made.origin !== 'COMMIT' || wanted.includes(made.operation.toUpperCase());
      return unless(holds, `operation ${made.operation}`);
    },
  };
};

const backfill = ({ condition }: PredicateContext): Predicate | null => {
  const wanted = condition.backfill ?? 'EXCLUDE';
  if (wanted === 'INCLUDE') return null;
  const isBackfill = ({ pin, cut }: Candidate): boolean => (cut.data ?? pin).backfill === true;
  return {
    code: 'BLOCKED_BY_BACKFILL',
    need: wanted === 'ONLY' ? 'a backfill' : '',
    fails: (candidate) =>
      unless(
        isBackfill(candidate) === (wanted === 'ONLY'),
        wanted === 'ONLY' ? 'not a backfill' : 'a backfill, which this group leaves out',
      ),
  };
};

/** Is the version at or after the one named? By ordinal once that was seen, before by number or instant where the format has an order. */
const reaches = ({ condition, member }: PredicateContext, minimum: string, version: VersionFacts): boolean => {
  const seen = member.minOrdinal ?? member.versions.findLast((other) => other.snapshotId === minimum)?.ordinal;
  if (seen !== undefined) return version.ordinal >= seen;
  if (hasNumericIds(condition.assetKey, minimum)) return compareIds(version.snapshotId, minimum) >= 0;
  return condition.assetKey.startsWith('hudi:') && version.snapshotId >= minimum;
};

const minSnapshot = (context: PredicateContext): Predicate | null => {
  const minimum = context.condition.minSnapshotId;
  if (minimum === null) return null;
  return {
    code: 'BLOCKED_BY_SNAPSHOT',
    need: `version ${minimum} or later`,
    fails: ({ cut }) =>
      unless(
        cut.versions.some((version) => reaches(context, minimum, version)),
        `before version ${minimum}`,
      ),
  };
};

const tag = ({ condition }: PredicateContext): Predicate | null => {
  if (condition.tag === null) return null;
  return {
    code: 'BLOCKED_BY_TAG',
    need: `a tag ${condition.tag}`,
    fails: ({ tag: found, cut }) => {
      const others = cut.versions.flatMap((version) => version.tags);
      return unless(found !== null, others.length === 0 ? 'no tag' : `tags ${others.join(', ')}`);
    },
  };
};

const quality = ({ condition, member }: PredicateContext): Predicate | null => {
  if (condition.qualityStatus === null) return null;
  const required = condition.qualityChecks.length > 0 ? condition.qualityChecks : member.asset.requiredChecks;
  const checks = required.length === 0 ? '' : ` (${required.join(', ')})`;
  return {
    code: 'BLOCKED_BY_QUALITY',
    need: `quality PASSED${checks}`,
    fails: ({ cut }) => {
      const status = qualityOf(
        cut.versions.flatMap((version) => version.verdicts),
        required,
      );
      return unless(status === 'PASSED', `quality ${status}`);
    },
  };
};

const schema = ({ condition }: PredicateContext): Predicate | null => {
  if (condition.schemaStatus === null) return null;
  return {
    code: 'BLOCKED_BY_SCHEMA',
    need: 'schema COMPATIBLE',
    fails: ({ pin }) =>
      unless(pin.schemaStatus === 'COMPATIBLE', `schema ${pin.schemaId ?? ''} ${pin.schemaStatus}`.replace('  ', ' ')),
  };
};

/** With nothing consumed yet, any accepted schema is a changed one. */
const schemaChanged = ({ condition, member }: PredicateContext): Predicate | null => {
  if (!condition.schemaChanged) return null;
  const before = member.consumed === null ? null : member.consumedSchemaId;
  return {
    code: 'BLOCKED_BY_SCHEMA',
    need: before === null ? 'an accepted schema' : `an accepted schema other than ${before}`,
    aboutChange: true,
    fails: ({ pin }) =>
      unless(
        pin.schemaId !== null && pin.schemaId !== before && pin.schemaStatus === 'COMPATIBLE',
        `schema ${pin.schemaId ?? 'unknown'} (${pin.schemaStatus})`,
      ),
  };
};

const higher = (a: EpochMs | null, b: EpochMs | null): EpochMs | null => (a === null || (b !== null && b > a) ? b : a);

/** By ordinal, the highest watermark of the version's epoch so far: a commit without one never clears it. */
const highMarks = (versions: readonly VersionFacts[]): ReadonlyMap<number, EpochMs | null> => {
  const high = new Map<number, EpochMs | null>();
  const ofEpoch = new Map<number, EpochMs | null>();
  for (const { epoch, ordinal, watermark: mark } of versions) {
    ofEpoch.set(epoch, higher(ofEpoch.get(epoch) ?? null, mark));
    high.set(ordinal, ofEpoch.get(epoch) ?? null);
  }
  return high;
};

/** The highest watermark that holds at the end of a cut; for the newest cut also what the state knows. */
const watermarkAt = ({ member }: PredicateContext): ((candidate: Candidate) => EpochMs | null) => {
  const high = highMarks(member.versions);
  const newest = member.state?.latest?.ordinal;
  return ({ cut }) => {
    const last = cut.versions.at(-1)?.ordinal ?? 0;
    return higher(high.get(last) ?? null, last === newest ? (member.state?.watermark ?? null) : null);
  };
};

const watermark = (context: PredicateContext): Predicate | null => {
  const gte = context.condition.watermarkGte;
  if (gte === null) return null;
  const highest = watermarkAt(context);
  return {
    code: 'BLOCKED_BY_WATERMARK',
    need: `a watermark of ${isoTime(gte)} or later`,
    fails: (candidate) => {
      const high = highest(candidate);
      return unless(high !== null && high >= gte, high === null ? 'no watermark' : `watermark ${isoTime(high)}`);
    },
  };
};

/**
 * Rows added since the consumed version up to the end of a cut; null: a commit did not count, or older ones were not loaded.
 * Compactions are left out: their counts say how many records were merged, not how many rows came.
 */
const rowsUpTo = ({ member }: PredicateContext): ((candidate: Candidate) => bigint | null) => {
  const added = new Map<number, bigint | null>();
  let sum: bigint | null = member.truncated ? null : 0n;
  for (const version of member.versions) {
    const counts = version.ordinal > (member.consumed?.ordinal ?? 0) && carriesData(version, member.asset);
    if (counts)
      sum =
        sum === null || version.addedRecords === null || version.origin !== 'COMMIT'
          ? null
          : sum + version.addedRecords;
    added.set(version.ordinal, sum);
  }
  return ({ cut }) => added.get(cut.versions.at(-1)?.ordinal ?? 0) ?? null;
};

const minRows = (context: PredicateContext): Predicate | null => {
  const minimum = context.condition.minAddedRecords;
  if (minimum === null) return null;
  const rows = rowsUpTo(context);
  return {
    code: 'BLOCKED_BY_ROWS',
    need: `${minimum} rows added`,
    aboutChange: true,
    // A count that is unknown, or negative because rows were replaced, must not hold a run back for ever.
    fails: (candidate) => {
      const added = rows(candidate);
      return unless(added === null || added < 0n || added >= minimum, `${added} rows added`);
    },
    note: (candidate) => {
      const added = rows(candidate);
      if (added === null) return 'rows added unknown';
      return added < 0n ? `${-added} rows fewer, net` : null;
    },
  };
};

const maxAge = ({ condition, now }: PredicateContext): Predicate | null => {
  const seconds = condition.maxAgeSeconds;
  if (seconds === null) return null;
  const limit = BigInt(Math.round(seconds * 1000));
  return {
    code: 'BLOCKED_BY_FRESHNESS',
    need: `an age of at most ${durationWords(seconds)}`,
    fails: ({ pin }) => unless(now - pin.commitTime <= limit, 'too old'),
    until: ({ pin }) => pin.commitTime + limit + 1n,
  };
};

const ALL = [operations, backfill, minSnapshot, tag, schemaChanged, schema, quality, watermark, minRows, maxAge];

/** The predicates that a condition asks for, in the order in which they are reported. */
export const predicatesOf = (context: PredicateContext): readonly Predicate[] =>
  ALL.flatMap((make) => make(context) ?? []);

/** The newest version of the cut that carries a tag matching the glob, and that tag. */
export const taggedIn = (
  versions: readonly VersionFacts[],
  glob: string,
): { readonly version: VersionFacts; readonly tag: string } | null => {
  for (const version of versions.toReversed()) {
    const found = version.tags.toSorted().findLast((name) => matchesGlob(name, glob));
    if (found !== undefined) return { version, tag: found };
  }
  return null;
};
