/** What the storm itself did, in its own words: what is expected of the product is worked out from this and from nothing that the product says. */

export interface Commit {
  readonly snapshotId: string;
  /** It brought other rows. */
  readonly data: boolean;
}

export interface Verdict {
  readonly eventId: string;
  readonly assetKey: string;
  readonly snapshotId: string;
  readonly passed: boolean;
}

export interface Hint {
  readonly assetKey: string;
  readonly snapshotId: string;
}

export interface Chronicle {
  /** Table → all its commits, in order. */
  readonly commits: Record<string, Commit[]>;
  /** Table → how many of them were there when the groups began. */
  readonly before: Record<string, number>;
  /** Statements and hints to which the server has answered that it has them. */
  readonly verdicts: Verdict[];
  readonly hints: Hint[];
  /** Idempotency keys of the runs started by hand that were answered. */
  readonly starts: string[];
  /** Runs that somebody stopped or paused, or at least tried to. */
  readonly steered: number[];
}

export const emptyChronicle = (): Chronicle => ({
  commits: {},
  before: {},
  verdicts: [],
  hints: [],
  starts: [],
  steered: [],
});

export const commitsOf = ({ commits }: Chronicle, assetKey: string): readonly Commit[] => commits[assetKey] ?? [];

export function noteCommit({ commits }: Chronicle, assetKey: string, commit: Commit): void {
  (commits[assetKey] ??= []).push(commit);
}

/** The groups come into force: what is there now is old to them. */
export function noteBeginning(chronicle: Chronicle): void {
  for (const [key, commits] of Object.entries(chronicle.commits)) chronicle.before[key] = commits.length;
}
