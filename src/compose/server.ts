import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createApi } from '../api/server.ts';
import { openOwnedStore } from './database.ts';
import { loadFiles, loadSource } from './sources.ts';
import { checkTask, taskPlugin } from './tasks.ts';
import { assetName } from '../core/asset/key.ts';
import type { Asset } from '../core/asset/state.ts';
import { SluiceError } from '../core/errors.ts';
import type { Executor } from '../executors/executor.ts';
import { createLocalExecutor } from '../executors/local/local-executor.ts';
import { createDispatcher } from '../master/dispatcher.ts';
import { after, type Duty } from '../master/duty.ts';
import { createLauncher } from '../master/launcher.ts';
import { createObserver, type Observer, sampleInto } from '../master/observer.ts';
import { createReaper } from '../master/reaper.ts';
import { createReconciler } from '../master/reconciler.ts';
import { createResolver } from '../master/resolver.ts';
import { createReader } from '../master/table-reader.ts';
import { Scanner } from '../master/scanner.ts';
import { createTimekeeper } from '../master/timekeeper.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { createLog, type Log, type LogLevel } from '../runtime/log.ts';
import { createMetrics, type Metrics } from '../runtime/metrics.ts';
import { createService, type Service } from '../runtime/service.ts';
import { type FolderLock, lockFolder } from '../store/folder-lock.ts';
import type { StatementHook } from '../store/open.ts';
import type { Hint, PinFacts, Store } from '../store/store.ts';
import { prepareAttempt } from '../worker/prepare.ts';
import { Worker } from '../worker/worker.ts';

/** What a server is started with; cli/commands/server.ts makes it of the configuration. */
export interface ServerSettings {
  readonly dataDir: string;
  /** null: `sluice.db` in the data folder. */
  readonly databaseUrl: string | null;
  /** Connections of a database server for requests, and how long to wait for one that cannot be reached. */
  readonly databasePoolSize: number;
  readonly databaseWaitMs: number;
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly timezone: string;
  readonly log: { readonly level: LogLevel; readonly destination: string };
  /** How often a table of this format is looked at, unless the asset says otherwise. */
  readonly pollIntervalMs: (format: string) => number;
  readonly pollLimitMs: number;
  readonly scanWidth: number;
  readonly taskSlots: number;
  readonly logLimitBytes: number;
  readonly logPolicy: 'truncate' | 'kill';
  readonly passEnvironment: readonly string[];
  readonly version: string;
}

export interface RunningServer {
  readonly url: string;
  /** Resolves, with what to say, when another server has taken over the work: this one must stop. */
  readonly lost: Promise<SluiceError>;
  /** Stops the loops, lets what is under way finish, closes everything. Tasks go on; the next server finds them. */
  stop(): Promise<void>;
}

/** Test seams: what a fault harness may put between the server and its database. Never set by the product. */
export interface ServerHooks {
  readonly onStatement?: StatementHook;
}

/**
 * Starts a server with all roles on one data folder and resolves when it accepts requests. Throws SluiceError DATA_IN_USE if another server
 * has the folder, SCHEMA_TOO_NEW if a newer Sluice wrote it.
 */
export const startServer = async (settings: ServerSettings, hooks: ServerHooks = {}): Promise<RunningServer> => {
  mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
  const lock = lockFolder(settings.dataDir);
  try {
    return await startLocked(settings, hooks, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
};

const startLocked = async (settings: ServerSettings, hooks: ServerHooks, lock: FolderLock): Promise<RunningServer> => {
  const clock = systemClock;
  const token = adminToken(settings.dataDir);
  const log = createLog({ ...settings.log, now: clock.now, secrets: [token] });
  const store = await openOwnedStore({
    url: settings.databaseUrl ?? join(settings.dataDir, 'sluice.db'),
    poolSize: settings.databasePoolSize,
    waitMs: settings.databaseWaitMs,
    log: log.child('store'),
    ...hooks,
  });
  const executor = createLocalExecutor({
    folder: join(settings.dataDir, 'runs'),
    clock,
    log: log.child('executor'),
    environment: process.env,
    passEnvironment: settings.passEnvironment,
    logLimitBytes: settings.logLimitBytes,
    logPolicy: settings.logPolicy,
  });
  const lost = Promise.withResolvers<SluiceError>();
  const master = startMaster({ onLost: lost.resolve, settings, store, executor, clock, log });
  const api = await createApi({
    store,
    scanNow: (keys, ms) => master.scanner.scanNow(keys, ms),
    attemptLog: (id, runId, offset, limit) => executor.log(id, runId, offset, limit),
    notReady: () => reasonsNotReady(store),
    metrics: master.metrics,
    onStated: master.observer.stated,
    onRefused: master.observer.refused,
    declarations: { timezone: settings.timezone, checkTask },
    tokens: [{ name: 'admin', token, grants: 'admin' }],
    allowedHosts: settings.allowedHosts,
    clock,
    log: log.child('api'),
    version: settings.version,
  });
  const stop = async (): Promise<void> => {
    await api.close();
    await master.stop();
    await executor.close();
    await store.close();
  };
  let url: string;
  try {
    url = await api.listen({ host: settings.host, port: settings.port });
  } catch (error) {
    await stop();
    throw listenProblem(error, settings);
  }
  const announcement = announce(settings.dataDir, url);
  return {
    url,
    lost: lost.promise,
    stop: async () => {
      await stop();
      rmSync(announcement, { force: true });
      lock.release();
    },
  };
};

/** A database that does not answer is the one thing that a server waits for after its start. */
const reasonsNotReady = (store: Store): Promise<readonly string[]> =>
  store.admin.now().then(
    () => [],
    (error: unknown) => [error instanceof Error ? error.message : String(error)],
  );

const listenProblem = (error: unknown, { host, port }: ServerSettings): unknown =>
  (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
    ? new SluiceError(
        'CONFLICT',
        `Port ${port} of ${host} is taken: stop what listens there, or give another --port (0: a free one).`,
      )
    : error;

interface Parts {
  readonly onLost: (error: SluiceError) => void;
  readonly settings: ServerSettings;
  readonly store: Store;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly log: Log;
}

/** The duties, each with its loop, and who wakes whom. */
const startMaster = (
  parts: Parts,
): {
  readonly scanner: Scanner;
  readonly metrics: Metrics;
  readonly observer: Observer;
  readonly stop: () => Promise<void>;
} => {
  const { store, clock, log } = parts;
  const metrics = createMetrics();
  const observer = createObserver(log.child('master'), metrics, clock.now);
  metrics.onScrape(() => sampleInto(metrics, store.admin));
  const scanner = createScanner(parts, observer);
  const wake = (name: string): void => services.get(name)?.wake();
  const worker = createWorker(parts, observer, () => wake('dispatcher'));
  const duties: readonly Duty[] = [
    createReconciler({ runs: store.runs, worker }),
    scanner,
    createResolver({ groups: store.groups, clock, onEvaluated: observer.evaluated }),
    createLauncher({ runs: store.runs, onLaunched: observer.launched }),
    createDispatcher({
      runs: store.runs,
      clock,
      room: () => worker.room(),
      begin: (offer) => void worker.begin(offer),
    }),
    createReaper({ runs: store.runs, clock, worker }),
    createTimekeeper({ runs: store.runs, clock, onTimedOut: observer.timedOut }),
  ];
  const services: ReadonlyMap<string, Service> = new Map(
    duties.map((duty) => [
      duty.name,
      createService({ name: duty.name, clock, log: log.child(duty.name), runOnce: noticingLoss(duty, parts.onLost) }),
    ]),
  );
  scanner.onWanted(() => wake('scanner'));
  store.onHint((hint) => {
    if (hint === 'ASSETS') scanner.reload('ALL');
    if (hint === 'SCANS') scanner.reload('WANTED');
    for (const name of WOKEN_BY[hint]) wake(name);
  });
  for (const service of services.values()) service.start();
  const stop = async (): Promise<void> => {
    await Promise.all([...services.values()].map((service) => service.stop()));
    await scanner.settle();
  };
  return { scanner, metrics, observer, stop };
};

const noticingLoss =
  (duty: Duty, onLost: (error: SluiceError) => void): Duty['runOnce'] =>
  async (signal) => {
    try {
      return await duty.runOnce(signal);
    } catch (error) {
      if (error instanceof SluiceError && error.code === 'OWNERSHIP_LOST') onLost(error);
      throw error;
    }
  };

const WOKEN_BY: Readonly<Record<Hint, readonly string[]>> = {
  ASSETS: [], // scanner.reload wakes it
  SCANS: [],
  GROUPS: ['resolver'],
  COMMANDS: ['launcher'],
  TASKS: ['dispatcher', 'reaper'],
  DEADLINES: ['timekeeper', 'reaper'],
  CHANGED: [], // for people: the API listens
  CHANGED_ASSETS: [],
  CHANGED_GROUPS: [],
  CHANGED_RUNS: [],
};

const createScanner = ({ settings, store, clock, log }: Parts, observer: Observer): Scanner =>
  new Scanner({
    assets: store.assets,
    read: createReader({ sourceOf: loadSource, filesOf: loadFiles, clock, limitMs: settings.pollLimitMs }),
    clock,
    log: log.child('scanner'),
    intervalMs: (asset: Asset) => asset.pollIntervalMs ?? settings.pollIntervalMs(assetName(asset.key).format),
    width: settings.scanWidth,
    onRecorded: observer.recorded,
    onScanned: observer.scanned,
  });

const createWorker = (
  { settings, store, executor, clock, log }: Parts,
  observer: Observer,
  onRoom: () => void,
): Worker =>
  new Worker({
    runs: store.runs,
    executor,
    clock,
    log: log.child('worker'),
    host: hostname(),
    slots: settings.taskSlots,
    prepare: (offer) =>
      prepareAttempt(offer, {
        plugin: taskPlugin,
        isReadable: (pin) => isPinReadable(pin, clock, settings.pollLimitMs),
      }),
    onRoom,
    onStarted: observer.taskStarted,
    onEnded: observer.taskEnded,
  });

/** A table that cannot be asked right now, or does not answer in time, counts as readable: its task will see for itself. */
const isPinReadable = async (pin: PinFacts, clock: Clock, limitMs: number): Promise<boolean> => {
  const limit = after(clock, limitMs);
  try {
    return await Promise.race([askForPin(pin), limit.done.then(() => true)]);
  } catch {
    return true;
  } finally {
    limit.cancel();
  }
};

const askForPin = async ({ assetKey, location, pin, version }: PinFacts): Promise<boolean> => {
  const { format, branch } = assetName(assetKey);
  const source = await loadSource(format);
  const files = location === null ? undefined : await loadFiles(location);
  if (source === undefined || files === undefined || location === null) return true;
  return source.isReadable({ location, branch, files }, version?.readAs ?? pin.snapshotId);
};

/** The first administrator's token, made at the first start: 32 random bytes, readable by this user alone. */
const adminToken = (dataDir: string): string => {
  const file = join(dataDir, 'admin.token');
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const token = randomBytes(32).toString('base64url');
  writeWhole(file, `${token}\n`);
  return token;
};

/** Tells commands on this machine where the server is. */
const announce = (dataDir: string, url: string): string => {
  const file = join(dataDir, 'server.json');
  writeWhole(file, `${JSON.stringify({ url, pid: process.pid })}\n`);
  return file;
};

/** Whole or not at all, for this user alone. */
const writeWhole = (file: string, text: string): void => {
  const part = `${file}.${process.pid}.part`;
  writeFileSync(part, text, { mode: 0o600 });
  chmodSync(part, 0o600);
  renameSync(part, file);
};
