import { open, rm, stat } from 'node:fs/promises';
import { SluiceError } from '../../core/errors.ts';
import type { Cancel, Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { AttemptId, Ended, Executor, Found, ProcessLaunch, Started } from '../executor.ts';
import * as attempt from './attempt.ts';
import type { AttemptFiles, Claim } from './attempt.ts';
import { checkLaunch, cleanEnvironment } from './environment.ts';
import { enforceLimit } from './log-limit.ts';
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
/** How often a group that is being killed is looked at, and a claim that is being written. */
const SOON_MS = 10;
/** A claim takes microseconds; one still unfinished after this will never be. */
const CLAIM_PATIENCE_MS = 1_000;
/** How long after SIGKILL a process may hang in the kernel before the end is reported all the same. */
const KILL_PATIENCE_MS = 2_000;
/** The grace of an attempt that is killed for its log. */
const LOG_KILL_GRACE_MS = 5_000;

/** Runs attempts as processes of this host (docs/guide/tasks/shell.md says what a script sees). */
export const createLocalExecutor = (options: LocalExecutorOptions): Executor => new LocalExecutor(options);

type StartedClaim = Extract<Claim, { kind: 'STARTED' }>;

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
  readonly #processes: ProcessTable;
  readonly #baseEnv: Readonly<Record<string, string>>;
  readonly #starting = new Map<string, Promise<Started>>();
  readonly #running = new Map<string, Running>();
  readonly #listeners: ((ended: Ended) => void)[] = [];
  #programs: Programs | null = null;
  #cancelCheck: Cancel | null = null;
  #checking: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: LocalExecutorOptions) {
    this.#options = options;
    this.#processes = options.processes ?? hostProcesses();
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
    const claim = await this.#settledClaim(files);
    // A wrapper that an earlier server spawned may still be on its way: whoever makes the file first decides.
    if (claim.kind === 'NONE' && !(await attempt.abandon(files))) return this.find(id, runId);
    if (claim.kind === 'NONE' || claim.kind === 'ABANDONED') return { kind: 'NEVER_STARTED' };
    return this.#inspect(id, files, claim);
  }

  async watch(id: AttemptId, runId: number): Promise<void> {
    const files = this.#files(id, runId);
    await this.#starting.get(files.folder)?.catch(() => {});
    const claim = await this.#settledClaim(files);
    if (claim.kind === 'STARTED') this.#register(id, files, claim, false);
    // Died while it claimed, so it ran nothing; but the caller waits for an end.
    else if (claim.kind === 'UNFINISHED') this.#report(lost(id, this.#options.clock.now()));
  }

  async kill(id: AttemptId, runId: number, graceMs: number): Promise<void> {
    const { folder } = this.#files(id, runId);
    if ((await this.find(id, runId)).kind !== 'RUNNING') return;
    if (!this.#running.has(folder)) await this.watch(id, runId);
    const running = this.#running.get(folder);
    if (running !== undefined) await this.#kill(running, graceMs);
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
      const claim = await this.#settledClaim(files);
      if (claim.kind === 'STARTED') return this.#register(launch.id, files, claim, false);
      await attempt.removeClaim(files);
    }
    const env = {
      ...this.#baseEnv,
      ...launch.env,
      SLUICE_CONTEXT: files.context,
      SLUICE_ATTEMPT_FOLDER: files.folder,
    };
    const wrapper = await spawnWrapper(files, this.#programs, env, launch.cwd ?? files.folder);
    return this.#afterSpawn(files, launch.id, wrapper);
  }

  /** Writes the attempt's files; false if there already was a folder. Then nothing can start in it before the caller removes the claim. */
  async #prepare(files: AttemptFiles, launch: ProcessLaunch): Promise<boolean> {
    let fresh = false;
    try {
      fresh = await attempt.createFolder(files);
      const free = fresh || (await attempt.abandon(files)) || (await this.#settledClaim(files)).kind !== 'STARTED';
      if (free) await attempt.writeLaunch(files, launch);
      return fresh;
    } catch (error) {
      if (fresh) await rm(files.folder, { recursive: true, force: true }).catch(() => {});
      throw folderError(this.#options.folder, error as NodeJS.ErrnoException);
    }
  }

  async #afterSpawn(files: AttemptFiles, id: AttemptId, wrapper: Wrapper): Promise<Started> {
    const claim = await this.#settledClaim(files);
    if (claim.kind !== 'STARTED') {
      // The wrapper could not write its claim: it has run nothing, and nothing may be left that looks as if it had.
      await wrapper.exited;
      await attempt.removeClaim(files);
      throw folderError(this.#options.folder, Object.assign(new Error('no claim could be written'), { code: 'ENOSPC' }));
    }
    const own = wrapper.claimed;
    const started = this.#register(id, files, claim, own);
    const running = this.#running.get(files.folder);
    if (own && running !== undefined) void wrapper.exited.then((code) => this.#settle(running, code));
    return started;
  }

  /** The claim, once its writer has had the time to write it. */
  async #settledClaim(files: AttemptFiles): Promise<Claim> {
    const { clock } = this.#options;
    const end = clock.monotonicMs() + CLAIM_PATIENCE_MS;
    let claim = await attempt.readClaim(files);
    while (claim.kind === 'UNFINISHED' && clock.monotonicMs() < end) {
      await this.#pause(SOON_MS);
      claim = await attempt.readClaim(files);
    }
    return claim;
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

  // Looking

  async #inspect(id: AttemptId, files: AttemptFiles, claim: Claim): Promise<Found> {
    const started = claim.kind === 'STARTED' ? startedOf(files, claim) : null;
    if (claim.kind === 'STARTED' && started !== null && (await this.#lives(claim))) return { kind: 'RUNNING', started };
    // Read after the process is gone: its last act was to write the end.
    const ended = await this.#endOnDisk(id, files);
    if (ended !== null) return { kind: 'ENDED', started, ended };
    if (claim.kind === 'STARTED') await this.#sweep(files, claim);
    return { kind: 'LOST', started };
  }

  /** Is the wrapper that made this claim alive? A pid alone proves nothing: it may have been given to another process since. */
  async #lives(claim: StartedClaim): Promise<boolean> {
    if (claim.boot !== this.#processes.boot) return false;
    const found = await this.#processes.byPid(claim.pid);
    return found !== null && found.birth === this.#processes.birthOf(claim.noted);
  }

  /** The end as the folder tells it. Of an attempt that we killed, with its wrapper, it is written here. */
  async #endOnDisk(id: AttemptId, files: AttemptFiles): Promise<Ended | null> {
    const ended = await attempt.readEnd(files, id);
    if (ended !== null || !(await attempt.isKilled(files))) return ended;
    await attempt.writeEnd(files, 'SIGKILL');
    return attempt.readEnd(files, id);
  }

  /** What a lost wrapper left running is killed, so that the next attempt does not run beside it. Strangers under the same number are left alone. */
  async #sweep(files: AttemptFiles, claim: StartedClaim): Promise<void> {
    if (claim.boot !== this.#processes.boot || (await this.#processes.byPid(claim.pid)) !== null) return;
    const left = await this.#processes.inGroup(claim.pid);
    const entry = `SLUICE_ATTEMPT_FOLDER=${files.folder}`;
    if (left.some(({ pid }) => this.#processes.hasEnvironment(pid, entry) !== false)) signalGroup(claim.pid, 'SIGKILL');
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
      if (!running.own && !running.settling && !(await this.#lives(running.claim))) void this.#settle(running, null);
    } catch (error) {
      this.#options.log.warn('An attempt could not be looked at; it goes on', { ...logFields(running), error });
    }
  }

  async #checkLog(running: Running): Promise<void> {
    const { logLimitBytes = LOG_LIMIT, logPolicy = 'truncate' } = this.#options;
    const { size } = await stat(running.files.log);
    if (size <= logLimitBytes) return;
    await this.#cutLog(running);
    if (logPolicy === 'kill' && running.kill === null && !running.settling) {
      this.#options.log.warn(`An attempt is killed: its log is over ${logLimitBytes} bytes`, logFields(running));
      await this.#kill(running, LOG_KILL_GRACE_MS);
    }
  }

  #cutLog(running: Running): Promise<void> {
    const cut = async (): Promise<void> => {
      await enforceLimit(running.files.log, this.#options.logLimitBytes ?? LOG_LIMIT).catch((error: unknown) =>
        this.#options.log.warn('The log of an attempt could not be cut', { ...logFields(running), error }),
      );
    };
    running.cuts = running.cuts.then(cut);
    return running.cuts;
  }

  // Ending

  async #kill(running: Running, graceMs: number): Promise<void> {
    const { clock } = this.#options;
    const at = clock.monotonicMs() + graceMs;
    if (running.kill !== null && running.kill.at <= at) return;
    if (!running.own && !(await this.#lives(running.claim))) return; // the next check reports its end
    // On a full disk the mark is missing after a restart; the kill matters more.
    await attempt.markKilled(running.files).catch(() => {});
    running.kill?.cancel();
    const cancel = clock.setTimer(graceMs, () => {
      signalGroup(running.claim.pid, 'SIGKILL');
      if (running.kill !== null) running.kill.hardAt = clock.monotonicMs();
    });
    running.kill = { at, cancel, hardAt: null };
    signalGroup(running.claim.pid, 'SIGTERM');
    signalGroup(running.claim.pid, 'SIGCONT'); // a stopped process takes no other signal
  }

  /** The wrapper is gone: find out how it ended, once, and tell. */
  async #settle(running: Running, wrapperCode: number | null): Promise<void> {
    if (running.settling) return;
    running.settling = true;
    try {
      if (running.kill !== null) await this.#awaitGroup(running);
      const ended = await this.#endOf(running, wrapperCode);
      await this.#cutLog(running);
      if (this.#closed) return;
      this.#running.delete(running.files.folder);
      this.#report(ended);
    } catch (error) {
      running.settling = false;
      this.#options.log.error('How an attempt ended could not be read', { ...logFields(running), error });
      if (!this.#closed) this.#options.clock.setTimer(CHECK_MS, () => void this.#settle(running, wrapperCode));
    }
  }

  /** Bash dies at once from SIGTERM while what it started may use its grace to clean up: the attempt ends with the last of its group. */
  async #awaitGroup(running: Running): Promise<void> {
    const { clock } = this.#options;
    const patient = (): boolean => {
      const hardAt = running.kill?.hardAt ?? null;
      return !this.#closed && (hardAt === null || clock.monotonicMs() < hardAt + KILL_PATIENCE_MS);
    };
    while (patient() && (await this.#processes.inGroup(running.claim.pid)).length > 0) await this.#pause(SOON_MS);
    running.kill?.cancel();
  }

  async #endOf({ id, files, claim }: Running, wrapperCode: number | null): Promise<Ended> {
    const ended = await this.#endOnDisk(id, files);
    if (ended !== null) return ended;
    const endedAt = this.#options.clock.now();
    if (wrapperCode !== null) return { id, exitCode: wrapperCode, signal: null, endedAt };
    await this.#sweep(files, claim);
    return lost(id, endedAt);
  }

  #report(ended: Ended): void {
    for (const listener of this.#listeners) listener(ended);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#options.clock.setTimer(ms, resolve));
  }
}

const lost = (id: AttemptId, endedAt: bigint): Ended => ({ id, exitCode: null, signal: null, endedAt });

const startedOf = (files: AttemptFiles, claim: StartedClaim): Started => ({
  pid: claim.pid,
  logPath: files.log,
  startedAt: claim.at,
});

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
