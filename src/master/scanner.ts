import type { AssetKey } from '../core/asset/key.ts';
import type { Poll } from '../core/asset/poll.ts';
import type { Asset } from '../core/asset/state.ts';
import { after, type Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { AssetStore, RecordReceipt, ScanTarget } from '../store/store.ts';
import type { Duty } from './duty.ts';
import { type Depth, fullEveryMs, needsRecording, pauseAfter } from './scan-policy.ts';
import type { Reader } from './table-reader.ts';

const LONGEST_SLEEP_MS = 60_000; // where no asset is due sooner
const TICK_MS = 50; // the finest step of the schedule: a table is never more urgent than this unless somebody asks
const IDLE_FLUSH_MS = 5_000;
const CLOSE_MS = 3_000;

/** One asset on the schedule. */
interface Entry {
  target: ScanTarget;
  /** Monotonic ms. */
  dueAt: number;
  /** When the last FULL scan began; -Infinity: none yet, or one is wanted. */
  fullAt: number;
  failures: number;
  /** The reason last recorded while the table cannot be read. */
  reason: string | null;
  running: Promise<void> | null;
  inLine: boolean;
  /** How many scan requests had been made when the newest scan, running or done, began: it answers those and no later ones. */
  servedRequests: number;
}

export interface ScannerOptions {
  readonly assets: AssetStore;
  readonly read: Reader;
  readonly clock: Clock;
  readonly log: Log;
  /** null: the table is not polled, only looked at when somebody asks. */
  readonly intervalMs: (asset: Asset) => number | null;
  /** Scans that may run at once. One that hangs holds one place until its time limit, and delays nobody else. */
  readonly width: number;
  readonly onRecorded: (receipt: RecordReceipt) => void;
  readonly onScanned: (key: AssetKey, poll: Poll, ms: number) => void;
}

/** Polls each asset when it is due and has the answer recorded. The schedule is in memory; from where each asset is read on is stored. */
export class Scanner implements Duty {
  readonly name = 'scanner';
  readonly #options: ScannerOptions;
  readonly #entries = new Map<AssetKey, Entry>();
  readonly #idle = new Map<AssetKey, bigint>();
  readonly #line: Entry[] = [];
  #running = 0;
  /** When the loop looks next; a scan that is due sooner wakes it. */
  #nextAt = 0;
  /** What to load again at the next turn: what is registered, or only what is asked for. */
  #stale: 'ALL' | 'WANTED' | null = 'ALL';
  #idleFlushedAt = 0;
  #closed = false;
  readonly #recording = new Set<Promise<void>>();
  #wake: () => void = () => {};

  constructor(options: ScannerOptions) {
    this.#options = options;
  }

  /** How a finished or wanted scan makes the loop look again. */
  onWanted(wake: () => void): void {
    this.#wake = wake;
  }

  /** ALL: what is registered may have changed. WANTED: a look at some table was asked for. Loaded at the next turn. */
  reload(what: 'ALL' | 'WANTED'): void {
    if (this.#stale !== 'ALL') this.#stale = what;
    this.#wake();
  }

  async runOnce(signal: AbortSignal): Promise<number | null> {
    await this.#loadStale();
    await (signal.aborted ? this.#flushIdle() : this.#flushIdleIfDue());
    if (signal.aborted) return null;
    this.#startDue();
    return this.#untilNext();
  }

  /** Scans the assets now and waits for scans begun after this call, at most `timeoutMs`. Unknown keys are left out. */
  async scanNow(keys: readonly AssetKey[], timeoutMs: number): Promise<void> {
    await this.#load();
    const scans = keys.flatMap((key) => {
      const entry = this.#entries.get(key);
      return entry === undefined ? [] : [this.#again(entry)];
    });
    const limit = after(this.#options.clock, timeoutMs);
    await Promise.race([Promise.all(scans), limit.done]);
    limit.cancel();
  }

  /** Waits for the scans that are under way. */
  async settle(): Promise<void> {
    await Promise.all([...this.#entries.values()].map((entry) => entry.running));
    await this.#flushIdle();
  }

  /**
   * Records nothing more. A table that is being read has a moment to answer; what one that hangs may answer later is dropped, and the next
   * server reads it again.
   */
  async close(): Promise<void> {
    const limit = after(this.#options.clock, CLOSE_MS);
    await Promise.race([this.settle(), limit.done]);
    limit.cancel();
    this.#closed = true;
    await Promise.allSettled(this.#recording);
    await this.#flushIdle();
  }

  async #loadStale(): Promise<void> {
    if (this.#stale === 'ALL') return this.#load();
    if (this.#stale === null) return;
    this.#stale = null;
    for (const target of await this.#options.assets.scanTargets('WANTED')) this.#admit(target);
  }

  async #load(): Promise<void> {
    this.#stale = null;
    const targets = await this.#options.assets.scanTargets();
    const keys = new Set(targets.map((target) => target.asset.key));
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#entries.delete(key);
    for (const target of targets) this.#admit(target);
  }

  #admit(target: ScanTarget): void {
    const known = this.#entries.get(target.asset.key);
    if (known === undefined) {
      this.#entries.set(target.asset.key, {
        target,
        dueAt: this.#isPolled(target) || target.mustRecord ? 0 : Infinity,
        fullAt: -Infinity,
        failures: target.failures,
        reason: null,
        running: null,
        inLine: false,
        servedRequests: -1,
      });
      return;
    }
    const moved = known.target.asset.location !== target.asset.location;
    if (moved || target.revision > known.target.revision) known.target = target;
    else
      known.target = {
        ...known.target,
        asset: target.asset,
        mustRecord: target.mustRecord,
        scanRequests: target.scanRequests,
      };
    if (!moved && known.target.scanRequests <= known.servedRequests) return;
    known.dueAt = 0;
    known.fullAt = -Infinity;
  }

  #isPolled({ asset }: ScanTarget): boolean {
    return this.#options.intervalMs(asset) !== null;
  }

  /** Puts what is due in line; the line moves on by itself as scans finish. */
  #startDue(): void {
    const now = this.#options.clock.monotonicMs();
    for (const entry of this.#entries.values())
      if (entry.dueAt <= now && entry.running === null && !entry.inLine) {
        entry.inLine = true;
        this.#line.push(entry);
      }
    this.#moveOn();
  }

  #moveOn(): void {
    while (this.#running < this.#options.width) {
      const entry = this.#line.shift();
      if (entry === undefined) return;
      entry.inLine = false;
      if (entry.running === null) void this.#start(entry);
    }
  }

  #start(entry: Entry): Promise<void> {
    this.#running += 1;
    entry.running = this.#scan(entry).finally(() => {
      this.#running -= 1;
      entry.running = null;
      if (entry.dueAt < this.#nextAt) this.#wake();
      this.#moveOn();
    });
    return entry.running;
  }

  async #again(entry: Entry): Promise<void> {
    if (entry.running !== null) await entry.running;
    entry.fullAt = -Infinity;
    await (entry.running ?? this.#start(entry));
  }

  /** Never rejects: a scan that goes wrong is a reason to look again later. */
  async #scan(entry: Entry): Promise<void> {
    const { clock, log, read } = this.#options;
    const began = clock.monotonicMs();
    const startedAt = clock.now();
    entry.servedRequests = entry.target.scanRequests;
    try {
      const depth = this.#depth(entry, began);
      if (depth === 'FULL') entry.fullAt = began;
      const poll = await read(entry.target, depth);
      this.#options.onScanned(entry.target.asset.key, poll, clock.monotonicMs() - began);
      if (this.#closed) return;
      const recording = this.#record(entry, poll, startedAt);
      this.#recording.add(recording);
      await recording.finally(() => this.#recording.delete(recording));
    } catch (error) {
      entry.failures += 1;
      log.error('a scan could not be recorded and is tried again', { assetKey: entry.target.asset.key, error });
      this.#schedule(entry);
    }
  }

  #depth(entry: Entry, now: number): Depth {
    const every = fullEveryMs(this.#options.intervalMs(entry.target.asset));
    // What waits for a look may be a rewind, a tag or a schema, which a QUICK one does not see.
    return entry.target.mustRecord || entry.failures > 0 || now - entry.fullAt >= every ? 'FULL' : 'QUICK';
  }

  async #record(entry: Entry, poll: Poll, startedAt: bigint): Promise<void> {
    const { assets, clock, onRecorded } = this.#options;
    const { target } = entry;
    if (needsRecording(target, poll, entry)) {
      const receipt = await assets.recordPoll(target.asset.key, target.revision, poll, {
        startedAt,
        recordedAt: clock.now(),
      });
      entry.target = withScanRequests(receipt.target, entry.target);
      if (receipt.kind === 'STALE') {
        entry.dueAt = 0;
        return;
      }
      onRecorded(receipt);
    } else if (poll.outcome.kind !== 'UNREADABLE') {
      // Unless it was moved to another place meanwhile.
      if (entry.target.revision === target.revision) entry.target = { ...entry.target, cursor: poll.cursor };
      this.#idle.set(target.asset.key, startedAt);
    }
    const unreadable = poll.outcome.kind === 'UNREADABLE' ? poll.outcome.reason : null;
    entry.reason = unreadable;
    entry.failures = unreadable === null ? 0 : entry.failures + 1;
    this.#schedule(entry);
  }

  #schedule(entry: Entry): void {
    const interval = this.#options.intervalMs(entry.target.asset);
    const asked = entry.target.scanRequests > entry.servedRequests; // while it was being scanned
    entry.dueAt = asked ? 0 : this.#options.clock.monotonicMs() + pauseAfter(entry.failures, interval);
  }

  async #flushIdleIfDue(): Promise<void> {
    if (this.#options.clock.monotonicMs() - this.#idleFlushedAt >= IDLE_FLUSH_MS) await this.#flushIdle();
  }

  /** Times of polls that found nothing are written together and seldom: nobody waits for them. */
  async #flushIdle(): Promise<void> {
    if (this.#idle.size === 0) return;
    this.#idleFlushedAt = this.#options.clock.monotonicMs();
    const polls = [...this.#idle].map(([key, scannedAt]) => ({ key, at: scannedAt }));
    this.#idle.clear();
    await this.#options.assets.recordIdle(polls);
  }

  #untilNext(): number {
    const now = this.#options.clock.monotonicMs();
    let next = now + (this.#idle.size > 0 ? IDLE_FLUSH_MS : LONGEST_SLEEP_MS);
    for (const entry of this.#entries.values())
      if (entry.running === null && !entry.inLine) next = Math.min(next, Math.max(now + TICK_MS, entry.dueAt));
    this.#nextAt = next;
    return next - now;
  }
}

/** The target as it was recorded, with scan requests that were loaded in the meantime. */
const withScanRequests = (target: ScanTarget, loaded: ScanTarget): ScanTarget =>
  loaded.scanRequests > target.scanRequests
    ? { ...target, scanRequests: loaded.scanRequests, mustRecord: true }
    : target;
