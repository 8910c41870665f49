import type { EpochMs } from '../core/time.ts';

/** What names one handing-out of an attempt for ever, to every executor: a second start of the same name starts nothing. */
export interface AttemptId {
  readonly taskRunId: number;
  readonly attempt: number;
  readonly fence: number;
}

/** A process to run: the script is already rendered, nothing in it is substituted any more. */
export interface ProcessLaunch {
  readonly id: AttemptId;
  readonly runId: number;
  /** For bash. */
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  /** Written to the file that $SLUICE_CONTEXT names. */
  readonly context: string;
  /** Working directory; null: the attempt's own folder. */
  readonly cwd: string | null;
}

export interface Started {
  readonly pid: number;
  /** Where the log is, as `log()` understands it. */
  readonly logPath: string;
  readonly startedAt: EpochMs;
}

/** How an attempt ended. `exitCode` null: killed by a signal, or lost. */
export interface Ended {
  readonly id: AttemptId;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly endedAt: EpochMs;
  /** Why the executor ended it without being asked, as a sentence (its log is too long); absent: it did not. */
  readonly reason?: string;
}

/** What became of an attempt that an earlier process may have started. */
export type Found =
  | { readonly kind: 'RUNNING'; readonly started: Started }
  | { readonly kind: 'ENDED'; readonly started: Started | null; readonly ended: Ended }
  /** It certainly never started: starting it is safe. */
  | { readonly kind: 'NEVER_STARTED' }
  /** It started, is gone, and left no exit code (the machine died, somebody killed the wrapper). */
  | { readonly kind: 'LOST'; readonly started: Started | null };

/** Where processes run. Attempts outlive the server: an executor finds them again by their id. */
export interface Executor {
  readonly name: string;
  /** Starts the attempt, or finds the one already started under this id. Throws SluiceError if no process could be started. */
  start(launch: ProcessLaunch): Promise<Started>;
  find(id: AttemptId, runId: number): Promise<Found>;
  /** Asks the attempt's whole process group to end, and after `graceMs` makes it. Returns at once; the end is reported through onEnded. */
  kill(id: AttemptId, runId: number, graceMs: number): Promise<void>;
  /** Called once for each attempt started or watched by this process, when it has ended and its exit code is on disk. */
  onEnded(listener: (ended: Ended) => void): void;
  /** Go on watching an attempt that an earlier server started. */
  watch(id: AttemptId, runId: number): Promise<void>;
  /** Bytes of the log from `offset` on, at most `limit`; empty at the end. Masks nothing. */
  log(
    id: AttemptId,
    runId: number,
    offset: number,
    limit: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly size: number }>;
  /** Stops watching; running attempts go on. */
  close(): Promise<void>;
}
