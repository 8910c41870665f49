import type { AdminStore, IdempotencyStore } from './face/administration.ts';
import type { AssetStore } from './face/assets.ts';
import type { DefinitionStore } from './face/definitions.ts';
import type { GroupStore } from './face/groups.ts';
import type { RunStore } from './face/runs.ts';

/**
 * The one door to the database. Every method is one whole transaction (or one read): it has happened entirely or not at all, and
 * what a comment says about dying in it holds for `kill -9` too. Time is the database's. Nobody outside holds a transaction open.
 * Lists take `limit` (1 to 500) and `cursor` (opaque, from the page before) and give newest first unless said otherwise.
 */
export interface Store {
  readonly definitions: DefinitionStore;
  readonly assets: AssetStore;
  readonly groups: GroupStore;
  readonly runs: RunStore;
  readonly idempotency: IdempotencyStore;
  readonly admin: AdminStore;
  /** Told after a commit that may give somebody work; only a hint: everything also works, slower, when it is lost. */
  onHint(listener: (hint: Hint) => void): void;
  close(): Promise<void>;
}

/**
 * What a commit may have given somebody to do, or people to see. To be told is only a reason to look at the database sooner: a hint says
 * nothing that is not stored.
 */
export type Hint =
  /** Which assets are to be scanned, or how, changed. */
  | 'ASSETS'
  /** A scan of some asset was asked for. */
  | 'SCANS'
  /** Evaluations of groups are due. */
  | 'GROUPS'
  /** Commands wait for the launcher. */
  | 'COMMANDS'
  /** Attempts wait to be dispatched or killed. */
  | 'TASKS'
  /** The next end of a wait, or of an attempt's time limit, may be sooner than it was. */
  | 'DEADLINES'
  /** What is declared changed, or anything of what the next three say. */
  | 'CHANGED'
  /** States of assets are not what they were. */
  | 'CHANGED_ASSETS'
  /** Trees of groups are not what they were. */
  | 'CHANGED_GROUPS'
  /** Runs or their tasks are not what they were. */
  | 'CHANGED_RUNS';

export type * from './face/administration.ts';
export type * from './face/assets.ts';
export type * from './face/common.ts';
export type * from './face/definitions.ts';
export type * from './face/explanations.ts';
export type * from './face/groups.ts';
export type * from './face/runs.ts';
export type * from './face/triggers.ts';
