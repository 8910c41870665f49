import type { Result } from '../core/result.ts';
import { SluiceError } from '../core/errors.ts';
import type { AttemptId, Ended, Executor, Found } from '../executors/executor.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { RunStore, TaskEnding, TaskOffer } from '../store/store.ts';
import { type EndingReason, endingOf, withOutputs } from './ending.ts';
import { outputsOf } from './outputs.ts';
import type { Prepared } from './prepare.ts';

export interface WorkerOptions {
  readonly runs: RunStore;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly log: Log;
  readonly host: string;
  /** Attempts that may run at once. */
  readonly slots: number;
  /** How long a process that is told to end may take before it is killed. */
  readonly killGraceMs: number;
  readonly prepare: (offer: TaskOffer) => Promise<Result<Prepared>>;
  /** A place became free. */
  readonly onRoom: () => void;
  readonly onStarted: (offer: TaskOffer) => void;
  readonly onEnded: (offer: TaskOffer, ending: TaskEnding) => void;
}

/** An attempt that this process looks after. */
interface Attempt {
  readonly offer: TaskOffer;
  killed: EndingReason | null;
  /** Settled when the start is recorded: an end that is faster waits for it. */
  starting: Promise<unknown>;
}

const idOf = (offer: TaskOffer): AttemptId => ({
  taskRunId: offer.taskRun.id,
  attempt: offer.taskRun.attempt,
  fence: offer.taskRun.fence,
});

/**
 * Takes attempts from offer to end. What it remembers is only who looks after what; the truth is the task's row and the attempt's folder,
 * so that a server that dies at any line here is followed by one that finds out (`adopt`) and goes on.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #attempts = new Map<number, Attempt>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    options.executor.onEnded((ended) => void this.#ended(ended));
  }

  room(): number {
    return this.#options.slots - this.#attempts.size;
  }

  knows(taskRunId: number, fence: number): boolean {
    return this.#attempts.get(taskRunId)?.offer.taskRun.fence === fence;
  }

  /** Starts an attempt that was just handed out. Never rejects: what goes wrong becomes the attempt's end. */
  async begin(offer: TaskOffer): Promise<void> {
    const attempt = this.#keep(offer);
    try {
      const prepared = await this.#options.prepare(offer);
      if (!prepared.ok)
        await this.#finish(offer, failure(this.#options.clock, `${prepared.problem.code}: ${prepared.problem.detail}`));
      else if (prepared.value.kind === 'NOTHING') await this.#finishNothing(offer);
      else await (attempt.starting = this.#startProcess(offer, prepared.value));
    } catch (error) {
      if (error instanceof Unrecorded) this.#leave(offer, error.cause);
      else await this.#failed(offer, error);
    }
  }

  /** Finds out what became of an attempt that nobody here looks after: mostly one that an earlier server handed out. */
  async adopt(offer: TaskOffer): Promise<void> {
    const found = await this.#options.executor.find(idOf(offer), offer.run.id);
    if (found.kind === 'NEVER_STARTED') return this.begin(offer);
    this.#keep(offer);
    try {
      await this.#takeOver(offer, found);
    } catch (error) {
      this.#forget(offer); // or nobody would come back to it
      throw error;
    }
  }

  async #takeOver(offer: TaskOffer, found: Exclude<Found, { readonly kind: 'NEVER_STARTED' }>): Promise<void> {
    const { executor } = this.#options;
    if (found.started !== null) await this.#reportStart(offer, found.started.startedAt, found.started.pid);
    if (found.kind === 'RUNNING') await executor.watch(idOf(offer), offer.run.id);
    else if (found.kind === 'ENDED') await this.#ended(found.ended);
    else
      await this.#finish(
        offer,
        failure(this.#options.clock, 'The process is gone and left no exit code: it or its machine was killed.'),
      );
  }

  async kill(id: AttemptId, runId: number, why: EndingReason): Promise<void> {
    const known = this.#attempts.get(id.taskRunId);
    if (known !== undefined && known.offer.taskRun.fence === id.fence) {
      if (known.killed !== null) return;
      known.killed = why;
      await known.starting.catch(() => {});
    }
    await this.#options.executor.kill(id, runId, this.#options.killGraceMs);
  }

  async #startProcess(offer: TaskOffer, prepared: Prepared & { readonly kind: 'PROCESS' }): Promise<void> {
    const { executor } = this.#options;
    const started = await executor.start({ id: idOf(offer), runId: offer.run.id, ...prepared.launch });
    const current = await this.#reportStart(offer, started.startedAt, started.pid);
    if (!current) await executor.kill(idOf(offer), offer.run.id, this.#options.killGraceMs);
  }

  async #reportStart(offer: TaskOffer, at: bigint, pid: number | null): Promise<boolean> {
    const { runs, host, onStarted } = this.#options;
    const { id, fence, state } = offer.taskRun;
    if (state === 'RUNNING_EXECUTION') return true;
    const current = await runs.taskStarted(id, fence, at, host, pid).catch((cause: unknown) => {
      throw new Unrecorded(cause);
    });
    if (current) onStarted(offer);
    return current;
  }

  /** The process was started, but that could not be recorded. The attempt has not failed: the reconciler finds it and goes on from there. */
  #leave(offer: TaskOffer, error: unknown): void {
    this.#forget(offer);
    this.#options.log.error('the start of a task could not be recorded and is tried again', {
      taskInstanceId: offer.taskRun.id,
      error,
    });
  }

  async #finishNothing(offer: TaskOffer): Promise<void> {
    const now = this.#options.clock.now();
    if (await this.#reportStart(offer, now, null))
      await this.#finish(offer, { state: 'SUCCESS', exitCode: null, reason: null, endedAt: now });
  }

  async #ended(ended: Ended): Promise<void> {
    const attempt = this.#attempts.get(ended.id.taskRunId);
    if (attempt === undefined || attempt.offer.taskRun.fence !== ended.id.fence) return;
    try {
      await attempt.starting.catch(() => {}); // its own failure was reported by begin
      await this.#finish(attempt.offer, await this.#endingOf(ended, attempt));
    } catch (error) {
      this.#forget(attempt.offer); // the exit code is on disk: the reconciler reports it again
      this.#options.log.error('the end of a task could not be recorded and is tried again', {
        taskInstanceId: ended.id.taskRunId,
        error,
      });
    }
  }

  /** The log is on disk like the exit code, so that whoever finds the attempt after a crash reads the same outputs. */
  async #endingOf(ended: Ended, { offer, killed }: Attempt): Promise<TaskEnding> {
    const ending = endingOf(ended, offer, killed);
    if (ending.state !== 'SUCCESS') return ending;
    return withOutputs(ending, await outputsOf(this.#options.executor, ended.id, offer.run.id, offer.task.localParams));
  }

  async #finish(offer: TaskOffer, ending: TaskEnding): Promise<void> {
    const { runs, onEnded } = this.#options;
    const current = await runs.taskEnded(offer.taskRun.id, offer.taskRun.fence, ending);
    this.#forget(offer);
    if (current) onEnded(offer, ending);
  }

  /** The attempt could not be started. If not even that can be recorded, the reconciler comes back to it. */
  async #failed(offer: TaskOffer, error: unknown): Promise<void> {
    const reason =
      error instanceof SluiceError
        ? `${error.code}: ${error.message}`
        : `The task could not be started: ${String(error)}`;
    try {
      await this.#finish(offer, failure(this.#options.clock, reason));
    } catch (second) {
      this.#forget(offer);
      this.#options.log.error('a failed start could not be recorded and is tried again', {
        taskInstanceId: offer.taskRun.id,
        error: second,
      });
    }
  }

  #keep(offer: TaskOffer): Attempt {
    const attempt: Attempt = { offer, killed: null, starting: Promise.resolve() };
    this.#attempts.set(offer.taskRun.id, attempt);
    return attempt;
  }

  #forget(offer: TaskOffer): void {
    if (this.knows(offer.taskRun.id, offer.taskRun.fence)) this.#attempts.delete(offer.taskRun.id);
    this.#options.onRoom();
  }
}

/** That an attempt started could not be written down. */
class Unrecorded extends Error {
  constructor(cause: unknown) {
    super('The start of a task could not be recorded.', { cause });
  }
}

const failure = (clock: Clock, reason: string): TaskEnding => ({
  state: 'FAILURE',
  exitCode: null,
  reason,
  endedAt: clock.now(),
});
