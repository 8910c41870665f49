import type { EpochMs } from '../time.ts';
import type { Condition, Leaf } from './condition.ts';
import type { AssetKey } from './key.ts';
import type { Asset, AssetState, SchemaStatus, Verdict } from './state.ts';
import type { Pin, Pins, Version, VersionRef } from './version.ts';

/** Where a group begins (semantics.md, 3): only what is new, what is there now, or a given version per asset. */
export type StartFrom = 'NEXT' | 'CURRENT' | Readonly<Record<AssetKey, string>>;

/** A dependency group of a workflow (task null) or of a task, defaults filled in. */
export interface DependencyGroup {
  readonly name: string;
  readonly renamedFrom: string | null;
  readonly advance: 'ALL' | 'ANY';
  readonly consume: 'LATEST';
  readonly whileRunning: 'WAIT' | 'PARALLEL';
  readonly startFrom: StartFrom;
  readonly minIntervalSeconds: number | null;
  readonly quietSeconds: number | null;
  readonly maxWaitSeconds: number | null;
  readonly enabled: boolean;
  readonly conditions: readonly Condition[];
}

/** A version with all that is bound to it. */
export interface VersionFacts extends Version {
  readonly tags: readonly string[];
  readonly verdicts: readonly Verdict[];
  readonly schemaStatus: SchemaStatus;
}

/** What evaluation sees of one member's asset. */
export interface MemberFacts {
  /** null: nobody has registered the asset. */
  readonly asset: Asset | null;
  readonly state: AssetState | null;
  /** What the group last consumed, or where it began; null: nothing, so any version counts as new. */
  readonly consumed: VersionRef | null;
  /** The run that used it, for people; null: it was there when the group came into force; absent: not known. */
  readonly consumedBy?: number | null;
  /** The schema of the consumed version, for schemaChanged. */
  readonly consumedSchemaId: string | null;
  /** false: the baseline still waits for the first successful read of the table. */
  readonly baselineKnown: boolean;
  /**
   * Versions that are not withdrawn, oldest first: those newer than `consumed` together with the whole cut that `consumed` lies in (so that
   * verdicts on it hold for its later versions), for reference data the newest ones; at most the newest 1,000, then `truncated`.
   */
  readonly versions: readonly VersionFacts[];
  /** Ordinal of the newest version that the condition's minSnapshotId names, withdrawn ones included; null: never seen; absent: look in `versions`. */
  readonly minOrdinal?: number | null;
  readonly truncated: boolean;
  /** The run's own pin of the asset, for a task of that run: the only version that may be chosen, whatever was consumed; absent: none. */
  readonly pinned?: Pin;
}

/** Everything that the decision about one group looks at. */
export interface GroupFacts {
  readonly group: DependencyGroup;
  readonly members: ReadonlyMap<AssetKey, MemberFacts>;
  /** A run that this group started is unfinished. */
  readonly hasActiveRun: boolean;
  /** The group releases one waiting task, once: it need not move. Absent: it starts runs, again and again. */
  readonly releasesTask?: boolean;
  readonly paused: boolean;
  /** null, or why the owner does not let it fire now: its workflow is offline, its project paused. */
  readonly gate: string | null;
  readonly lastFireAt: EpochMs | null;
  readonly previous: readonly Leaf[];
  readonly now: EpochMs;
}

/** READY(pins) or WAITING(results): the tree is the same in both (semantics.md, 3). */
export type Evaluation =
  | { readonly ready: true; readonly pins: Pins; readonly leaves: readonly Leaf[] }
  | {
      readonly ready: false;
      readonly leaves: readonly Leaf[];
      /** When time alone may change the answer; null: only an event can. */
      readonly nextAt: EpochMs | null;
    };
