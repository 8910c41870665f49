import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { ApiDeps } from '../api/deps.ts';
import { createApi } from '../api/server.ts';
import { assetName } from '../core/asset/key.ts';
import type { Asset } from '../core/asset/state.ts';
import { SluiceError } from '../core/errors.ts';
import type { Executor } from '../executors/executor.ts';
import { createLocalExecutor } from '../executors/local/local-executor.ts';
import { startMaster } from '../master/master.ts';
import { createObserver, type Observer, sampleInto } from '../master/observer.ts';
import { Scanner } from '../master/scanner.ts';
import { createReader } from '../master/table-reader.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { announceAddress, ensureToken } from '../runtime/data-folder.ts';
import { createLog, type Log, type LogLevel } from '../runtime/log.ts';
import { createMetrics, type Metrics } from '../runtime/metrics.ts';
import { type FolderLock, lockFolder } from '../store/folder-lock.ts';
import type { StatementHook } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { createPinCheck } from '../worker/pin-readable.ts';
import { prepareAttempt } from '../worker/prepare.ts';
import { Worker } from '../worker/worker.ts';
import { openOwnedStore } from './database.ts';
import { loadFiles, loadSource } from './sources.ts';
import { checkTask, taskPlugin } from './tasks.ts';

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
  /** Whether commits and pushed events are taken and start runs. */
  readonly assetScheduling: boolean;
  readonly takesPushes: boolean;
  /** How often a table of this format is looked at, unless the asset says otherwise; null: only when somebody asks. */
  readonly pollIntervalMs: (format: string) => number | null;
  readonly pollLimitMs: number;
  readonly scanWidth: number;
  readonly taskSlots: number;
  readonly killGraceMs: number;
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
  const token = ensureToken(settings.dataDir);
  const parts = await openParts(settings, hooks, token);
  const { store, executor, observer, clock, log } = parts;
  const lost = Promise.withResolvers<SluiceError>();
  const scanner = createScanner(parts);
  const worker = createWorker(parts, () => master.wake('dispatcher'));
  const master = startMaster({
    store,
    scanner,
    worker,
    observer,
    clock,
    log,
    decides: settings.assetScheduling,
    onLost: lost.resolve,
  });
  const api = await createApi(apiDeps(parts, scanner, token));
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
  const withdrawAddress = announceAddress(settings.dataDir, url);
  return {
    url,
    lost: lost.promise,
    stop: async () => {
      await stop();
      withdrawAddress();
      lock.release();
    },
  };
};

/** What the loops and the API are built on. */
interface Parts {
  readonly settings: ServerSettings;
  readonly store: Store;
  readonly executor: Executor;
  readonly metrics: Metrics;
  readonly observer: Observer;
  readonly clock: Clock;
  readonly log: Log;
}

const openParts = async (settings: ServerSettings, hooks: ServerHooks, token: string): Promise<Parts> => {
  const clock = systemClock;
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
  const metrics = createMetrics();
  metrics.onScrape(() => sampleInto(metrics, store.admin));
  const observer = createObserver(log.child('master'), metrics, clock.now);
  return { settings, store, executor, metrics, observer, clock, log };
};

const apiDeps = (
  { settings, store, executor, metrics, observer, clock, log }: Parts,
  scanner: Scanner,
  token: string,
): ApiDeps => ({
  store,
  scanNow: (keys, ms) => scanner.scanNow(keys, ms),
  attemptLog: (id, runId, offset, limit) => executor.log(id, runId, offset, limit),
  notReady: () => reasonsNotReady(store),
  metrics,
  onStated: observer.stated,
  onRefused: observer.refused,
  takesPushes: settings.takesPushes,
  declarations: { timezone: settings.timezone, checkTask },
  tokens: [{ name: 'admin', token, grants: 'admin' }],
  allowedHosts: settings.allowedHosts,
  clock,
  log: log.child('api'),
  version: settings.version,
});

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

const createScanner = ({ settings, store, observer, clock, log }: Parts): Scanner =>
  new Scanner({
    assets: store.assets,
    read: createReader({ sourceOf: loadSource, filesOf: loadFiles, clock, limitMs: settings.pollLimitMs }),
    clock,
    log: log.child('scanner'),
    intervalMs: (asset: Asset) => {
      const usual = settings.pollIntervalMs(assetName(asset.key).format);
      return usual === null ? null : (asset.pollIntervalMs ?? usual);
    },
    width: settings.scanWidth,
    onRecorded: observer.recorded,
    onScanned: observer.scanned,
  });

const createWorker = ({ settings, store, executor, observer, clock, log }: Parts, onRoom: () => void): Worker =>
  new Worker({
    runs: store.runs,
    executor,
    clock,
    log: log.child('worker'),
    host: hostname(),
    slots: settings.taskSlots,
    killGraceMs: settings.killGraceMs,
    prepare: (offer) =>
      prepareAttempt(offer, {
        plugin: taskPlugin,
        isReadable: createPinCheck({ sourceOf: loadSource, filesOf: loadFiles, clock, limitMs: settings.pollLimitMs }),
      }),
    onRoom,
    onStarted: observer.taskStarted,
    onEnded: observer.taskEnded,
  });
