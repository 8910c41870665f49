import type { BlockCode } from '../../core/asset/condition.ts';
import type { AssetKey } from '../../core/asset/key.ts';
import type { EpochMs } from '../../core/time.ts';

export interface AdminStore {
  schemaVersion(): Promise<{ readonly current: number; readonly newest: number }>;
  migrate(): Promise<readonly string[]>;
  /**
   * Before a server works on a database that others can reach: throws DATA_IN_USE, naming the server that has it, and holds it until this store
   * is closed or its process ends. Where the database is a file it does nothing: the data folder is locked.
   */
  takePresence(): Promise<void>;
  /** Becomes the owner: a new generation, checked by every transaction that a master makes. An older owner's transactions fail from then on. */
  claimOwnership(owner: string): Promise<number>;
  now(): Promise<EpochMs>;
  sample(): Promise<Sample>;
}

/** What a scrape of the metrics shows. */
export interface Sample {
  readonly now: EpochMs;
  readonly assets: readonly {
    readonly key: AssetKey;
    /** Of the newest version; null: there is none. */
    readonly commitTime: EpochMs | null;
    readonly watermark: EpochMs | null;
  }[];
  /** Groups whose evaluation is due. */
  readonly evaluations: number;
  /** Runs that wait for the launcher. */
  readonly commands: number;
  /** Attempts that an executor has. */
  readonly running: number;
  /** Attempts that are to be handed out. */
  readonly submitted: number;
  /** Attempts that wait for tables. */
  readonly waiting: number;
  /** Since when the evaluation that has been due longest is; null: none is due. */
  readonly evaluationDueAt: EpochMs | null;
  /** When the server that owns the work took it; null: none ever did. */
  readonly claimedAt: EpochMs | null;
  /** What holds groups of workflows up, of each unmet leaf one; of at most 10,000 groups. */
  readonly blocked: readonly {
    readonly workflowCode: number;
    readonly assetKey: AssetKey | null;
    readonly code: BlockCode;
  }[];
}

/** What was answered under which key: for a day, and across restarts. */
export interface IdempotencyStore {
  /**
   * Before a request is carried out. NEW: the key was free and is this request's now; SAME: the request was made before, with its answer if it
   * was given; OTHER: the key stands for another request. Dying after it: the same request is SAME without an answer, and may be carried out.
   */
  claim(
    key: string,
    request: string,
  ): Promise<{
    readonly kind: 'NEW' | 'SAME' | 'OTHER';
    readonly answer: { readonly status: number; readonly body: string } | null;
  }>;
  /** What is answered to the same request from now on. */
  keep(key: string, answer: { readonly status: number; readonly body: string }): Promise<void>;
  /** The request was refused: the key is as if it had never been sent. A key with an answer stays. */
  free(key: string): Promise<void>;
}
