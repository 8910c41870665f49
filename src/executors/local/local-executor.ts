import { open, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SluiceError } from '../../core/errors.ts';
import type { Cancel, Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { AttemptId, Ended, Executor, Found, ProcessLaunch, Started } from '../executor.ts';
import * as attempt from './attempt.ts';
import type { AttemptFiles, Claim } from './attempt.ts';
import { checkLaunch, cleanEnvironment } from './environment.ts';
import { enforceLimit } from './log-limit.ts';
import { createLookup, KILL_PATIENCE_MS, type Lookup, type StartedClaim, startedOf } from './lookup.ts';
import { hostProcesses, type ProcessTable, signalGroup } from './processes.ts';
import { findPrograms, type Programs, spawnWrapper, type Wrapper } from './spawn.ts';

export interface LocalExecutorOptions {
  /** Where attempts have their folders (`RUN/TASKRUN-ATTEMPT-FENCE/`); made if it is not there. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The server's environment; tasks get a clean part of it (environment.ts). */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Further variables that tasks get from it: names, or prefixes with a final `*`. */
  readonly passEnvironment?: readonly string[];
  /** Bytes of an attempt's log that are kept; default 100 MB. */
  readonly logLimitBytes?: number;
  /** What happens to an attempt whose log is longer: it goes on and the rest is not kept, or it is killed. Default truncate. */
  readonly logPolicy?: 'truncate' | 'kill';
  /** How often logs are measured and attempts of earlier servers looked at; default 200 ms. */
  readonly checkEveryMs?: number;
  /** How processes are looked up; default: as this host does. */
  readonly processes?: ProcessTable;
}

const LOG_LIMIT = 100_000_000;
const CHECK_MS = 200;
/** The grace of an attempt that is killed for its log. */
const LOG_KILL_GRACE_MS = 5_000;

/** Runs attempts as processes of this host (docs/guide/tasks/shell.md says what a script sees). */
export const createLocalExecutor = (options: LocalExecutorOptions): Executor => new LocalExecutor(options);

/** An attempt that runs and is watched. */
interface Running {
  readonly id: AttemptId;
  readonly files: AttemptFiles;
  readonly claim: StartedClaim;
  readonly started: Started;
  /** Our own child tells its end by itself. */
  readonly own: boolean;
  kill: { readonly at: number; readonly cancel: Cancel; hardAt: number | null } | null;
  settling: boolean;
  /** Cuts of the log, one after the other. */
  cuts: Promise<void>;
}

class LocalExecutor implements Executor {
  readonly name = 'local';
  readonly #options: LocalExecutorOptions;
  readonly #lookup: Lookup;
  readonly #baseEnv: Readonly<Record<string, string>>;
  readonly #starting = new Map<string, Promise<Started>>();
  readonly #running = new Map<string, Running>();
  readonly #listeners: ((ended: Ended) => void)[] = [];
  #programs: Programs | null = null;
  #cancelCheck: Cancel | null = null;
  #checking: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: LocalExecutorOptions) {
    this.#options = { ...options, folder: resolve(options.folder) }; // scripts run elsewhere
    this.#lookup = createLookup(options.clock, options.processes ?? hostProcesses());
    this.#baseEnv = cleanEnvironment(options.environment, options.passEnvironment ?? []);
  }

  onEnded(listener: (ended: Ended) => void): void {
    this.#listeners.push(listener);
  }

  start(launch: ProcessLaunch): Promise<Started> {
    const files = this.#files(launch.id, launch.runId);
    const known = this.#starting.get(files.folder) ?? this.#running.get(files.folder)?.started;
    if (known !== undefined) return Promise.resolve(known);
    const starting = this.#start(files, launch).finally(() => this.#starting.delete(files.folder));
    this.#starting.set(files.folder, starting);
    return starting;
  }

  async find(id: AttemptId, runId: number): Promise<Found> {
    const files = this.#files(id, runId);
    await this.#starting.get(files.folder)?.catch(() => {});
    const running = this.#running.get(files.folder);
    if (running !== undefined) return { kind: 'RUNNING', started: running.started };
    if ((await stat(files.folder).catch(() => null)) === null) return { kind: 'NEVER_STARTED' };
    const claim = await this.#lookup.settledClaim(files);
    // A wrapper that an earlier server spawned may still be on its way: whoever makes the file first decides.
    if (claim.kind === 'NONE' && !(await attempt.abandon(files))) return this.find(id, runId);
    if (claim.kind === 'NONE' || claim.kind === 'ABANDONED') return { kind: 'NEVER_STARTED' };
    return this.#lookup.inspect(id, files, claim);
  }

  async watch(id: AttemptId, runId: number): Promise<void> {
    const files = this.#files(id, runId);
    await this.#starting.get(files.folder)?.catch(() => {});
    const claim = await this.#lookup.settledClaim(files);
    if (claim.kind === 'STARTED') this.#register(id, files, claim, false);
    // The wrapper died while it wrote its claim, so it ran nothing. The caller waits for an end nevertheless.
    else if (claim.kind === 'UNFINISHED') this.#report(lost(id, this.#options.clock.now()));
  }

  async kill(id: AttemptId, runId: number, graceMs: number): Promise<void> {
    const { folder } = this.#files(id, runId);
    if ((await this.find(id, runId)).kind !== 'RUNNING') return;
    if (!this.#running.has(folder)) await this.watch(id, runId);
    const running = this.#running.get(folder);
    if (running !== undefined) await this.#kill(running, graceMs, '');
  }

  async log(id: AttemptId, runId: number, offset: number, limit: number): Promise<{ bytes: Uint8Array; size: number }> {
    const file = await open(this.#files(id, runId).log, 'r').catch(ignoreMissing);
    if (file === null) return { bytes: new Uint8Array(), size: 0 };
    try {
      const { size } = await file.stat();
      const length = Math.max(0, Math.min(limit, size - offset));
      const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, offset);
      return { bytes: buffer.subarray(0, bytesRead), size };
    } finally {
      await file.close();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelCheck?.();
    await Promise.allSettled(this.#starting.values());
    for (const running of this.#running.values()) running.kill?.cancel();
    await Promise.all([this.#checking, ...[...this.#running.values()].map(({ cuts }) => cuts)]);
    this.#running.clear();
  }

  #files(id: AttemptId, runId: number): AttemptFiles {
    return attempt.attemptFiles(this.#options.folder, runId, id);
  }

  // Starting

  async #start(files: AttemptFiles, launch: ProcessLaunch): Promise<Started> {
    checkLaunch(launch);
    this.#programs ??= findPrograms(this.#baseEnv['PATH'] ?? '');
    const fresh = await this.#prepare(files, launch);
    if (!fresh) {
      const claim = await this.#lookup.settledClaim(files);
      if (claim.kind === 'STARTED') return this.#register(launch.id, files, claim, false);
      await attempt.removeClaim(files);
    }
    const env = {
      ...this.#baseEnv,
      ...launch.env,
      SLUICE_CONTEXT: files.context,
      SLUICE_ATTEMPT_FOLDER: files.folder,
    };
    const wrapper = await spawnWrapper(files, this.#programs, env, launch.cwd ?? files.work);
    return this.#afterSpawn(files, launch.id, wrapper);
  }

  /** Writes the attempt's files; false if there already was a folder. Then nothing can start in it before the caller removes the claim. */
  async #prepare(files: AttemptFiles, launch: ProcessLaunch): Promise<boolean> {
    let fresh = false;
    try {
      fresh = attempt.createFolder(files);
      const free =
        fresh || (await attempt.abandon(files)) || (await this.#lookup.settledClaim(files)).kind !== 'STARTED';
      if (free) attempt.writeLaunch(files, launch);
      return fresh;
    } catch (error) {
      if (fresh) await rm(files.folder, { recursive: true, force: true }).catch(() => {});
      throw folderError(this.#options.folder, error as NodeJS.ErrnoException);
    }
  }

  async #afterSpawn(files: AttemptFiles, id: AttemptId, wrapper: Wrapper): Promise<Started> {
    const claim = await this.#lookup.startedClaim(files);
    if (claim.kind !== 'STARTED') throw await this.#refusal(files, claim);
    const started = this.#register(id, files, claim, wrapper.claimed);
    const running = this.#running.get(files.folder);
    if (wrapper.claimed && running !== undefined) void wrapper.exited.then((code) => this.#settle(running, code));
    return started;
  }

  /** Our wrapper was refused and nobody else's runs: either another server has given the attempt up, or no claim can be written. */
  async #refusal(files: AttemptFiles, claim: Claim): Promise<SluiceError> {
    if (claim.kind === 'ABANDONED')
      return new SluiceError(
        'TASK_NOT_STARTED',
        `Another server took the attempt in ${files.folder}; let only one server use this folder.`,
      );
    await attempt.removeClaim(files); // nothing may be left that looks as if it had run
    return folderError(this.#options.folder, Object.assign(new Error('no claim could be written'), { code: 'ENOSPC' }));
  }

  #register(id: AttemptId, files: AttemptFiles, claim: StartedClaim, own: boolean): Started {
    const known = this.#running.get(files.folder);
    if (known !== undefined) return known.started;
    const started = startedOf(files, claim);
    const running = { id, files, claim, started, own, kill: null, settling: false, cuts: Promise.resolve() };
    this.#running.set(files.folder, running);
    this.#scheduleCheck();
    return started;
  }

  // Watching

  #scheduleCheck(): void {
    if (this.#cancelCheck !== null || this.#closed || this.#running.size === 0) return;
    this.#cancelCheck = this.#options.clock.setTimer(this.#options.checkEveryMs ?? CHECK_MS, () => {
      this.#checking = this.#check().finally(() => {
        this.#cancelCheck = null;
        this.#scheduleCheck();
      });
    });
  }

  async #check(): Promise<void> {
    await Promise.all([...this.#running.values()].map((running) => this.#checkOne(running)));
  }

  async #checkOne(running: Running): Promise<void> {
    try {
      await this.#checkLog(running);
      if (!running.own && !running.settling && !(await this.#lookup.lives(running.claim)))
        void this.#settle(running, null);
    } catch (error) {
      this.#options.log.warn('An attempt could not be looked at; it goes on', { ...logFields(running), error });
    }
  }

  async #checkLog(running: Running): Promise<void> {
    const { logLimitBytes = LOG_LIMIT, logPolicy = 'truncate' } = this.#options;
    const log = await stat(running.files.log).catch(ignoreMissing);
    if (log === null || log.size <= logLimitBytes) return;
    await this.#cutLog(running);
    if (logPolicy === 'kill' && running.kill === null && !running.settling) {
      this.#options.log.warn(`An attempt is killed: its log is over ${logLimitBytes} bytes`, logFields(running));
      await this.#kill(running, LOG_KILL_GRACE_MS, overLimit(logLimitBytes));
    }
  }

  #cutLog(running: Running): Promise<void> {
    const cut = async (): Promise<void> => {
      try {
        await enforceLimit(running.files.log, this.#options.logLimitBytes ?? LOG_LIMIT);
      } catch (error) {
        this.#options.log.warn('The log of an attempt could not be cut', { ...logFields(running), error });
      }
    };
    running.cuts = running.cuts.then(cut);
    return running.cuts;
  }

  // Ending

  /** `why` becomes the reason of the attempt's end; '' if whoever asked for the kill knows the reason. */
  async #kill(running: Running, graceMs: number, why: string): Promise<void> {
    const { clock } = this.#options;
    const at = clock.monotonicMs() + graceMs;
    const over = running.kill === null && running.settling;
    if (over || (running.kill !== null && running.kill.at <= at)) return;
    if (!running.own && !(await this.#lookup.lives(running.claim))) return; // the next check reports its end
    running.kill?.cancel();
    const cancel = clock.setTimer(graceMs, () => {
      signalGroup(running.claim.pid, 'SIGKILL');
      if (running.kill !== null) running.kill.hardAt = clock.monotonicMs();
    });
    running.kill = { at, cancel, hardAt: null };
    // On a full disk the mark is missing after a restart; the kill matters more.
    await attempt.markKilled(running.files, why).catch(() => {});
    if (running.settling) return;
    signalGroup(running.claim.pid, 'SIGTERM');
    signalGroup(running.claim.pid, 'SIGCONT'); // a stopped process takes no other signal
  }

  /** The wrapper is gone: find out how it ended, once, and tell. */
  async #settle(running: Running, wrapperCode: number | null): Promise<void> {
    if (running.settling || this.#closed) return;
    running.settling = true;
    try {
      if (running.kill !== null) await this.#awaitGroup(running);
      const ended = await this.#endOf(running, wrapperCode);
      await this.#cutLog(running);
      if (this.#closed) return;
      this.#running.delete(running.files.folder);
      this.#report(ended);
    } catch (error) {
      if (this.#closed) return;
      running.settling = false;
      this.#options.log.error('How an attempt ended could not be read', { ...logFields(running), error });
      this.#options.clock.setTimer(CHECK_MS, () => void this.#settle(running, wrapperCode));
    }
  }

  /** Bash dies at once from SIGTERM while what it started may use its grace to clean up: the attempt ends with the last of its group. */
  async #awaitGroup(running: Running): Promise<void> {
    await this.#lookup.groupEnd(running.claim, () => {
      const hardAt = running.kill?.hardAt ?? Number.POSITIVE_INFINITY;
      return this.#closed || this.#options.clock.monotonicMs() > hardAt + KILL_PATIENCE_MS;
    });
    running.kill?.cancel();
  }

  async #endOf({ id, files, claim }: Running, wrapperCode: number | null): Promise<Ended> {
    const ended = await this.#lookup.end(id, files, claim);
    if (ended !== null) return ended;
    const endedAt = this.#options.clock.now();
    // Without a place to write it, the wrapper has still told us the code as its own.
    return wrapperCode === null ? lost(id, endedAt) : { id, exitCode: wrapperCode, signal: null, endedAt };
  }

  #report(ended: Ended): void {
    for (const listener of this.#listeners) listener(ended);
  }
}

const overLimit = (bytes: number): string =>
  `Killed because its log grew over ${bytes} bytes; let it write less, or raise worker.log-limit-bytes.`;

const lost = (id: AttemptId, endedAt: bigint): Ended => ({ id, exitCode: null, signal: null, endedAt });

const logFields = ({ id, files }: Running) => ({ taskInstanceId: id.taskRunId, folder: files.folder });

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

function folderError(folder: string, error: NodeJS.ErrnoException): SluiceError {
  const full = error.code === 'ENOSPC' || error.code === 'EDQUOT';
  const detail = full
    ? `The task was not started because the disk of ${folder} is full; free space there, or set data-dir to a larger disk.`
    : `The task was not started because its files cannot be written under ${folder} (${error.message}); make that folder writable.`;
  return new SluiceError('TASK_NOT_STARTED', detail, { cause: error });
}
