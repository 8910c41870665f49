import { SluiceError } from '../core/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { createService, type Service } from '../runtime/service.ts';
import type { Hint, Store, TaskOffer } from '../store/store.ts';
import { createDispatcher } from './dispatcher.ts';
import type { Duty } from './duty.ts';
import { createLauncher } from './launcher.ts';
import type { Observer } from './observer.ts';
import { type AttemptKiller, createReaper } from './reaper.ts';
import { type AttemptAdopter, createReconciler } from './reconciler.ts';
import { createResolver } from './resolver.ts';
import type { Scanner } from './scanner.ts';
import { createTimekeeper } from './timekeeper.ts';

/** What the duties need of the worker that runs the attempts. */
export interface MasterWorker extends AttemptAdopter, AttemptKiller {
  /** How many more attempts it can take now. */
  room(): number;
  /** Starts an attempt and reports by itself whatever becomes of it. */
  begin(offer: TaskOffer): Promise<void>;
}

export interface MasterOptions {
  readonly store: Store;
  readonly scanner: Scanner;
  readonly worker: MasterWorker;
  readonly observer: Observer;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether groups are decided; without it no table starts anything. */
  readonly decides: boolean;
  /** Called when a duty finds that another server owns the work now. */
  readonly onLost: (error: SluiceError) => void;
}

export interface Master {
  /** There may be work for this duty: it looks now instead of when it would have. */
  wake(duty: string): void;
  /** No duty begins anything more; resolves when what was under way is done. */
  stop(): Promise<void>;
}

/** Which duties look sooner because of a hint. The CHANGED hints are for people, and the API listens to those. */
const WOKEN_BY: Readonly<Record<Hint, readonly string[]>> = {
  ASSETS: [], // the scanner wakes itself when it is told to load its assets again
  SCANS: [],
  GROUPS: ['resolver'],
  COMMANDS: ['launcher'],
  TASKS: ['dispatcher', 'reaper'],
  DEADLINES: ['timekeeper', 'reaper'],
  CHANGED: [],
  CHANGED_ASSETS: [],
  CHANGED_GROUPS: [],
  CHANGED_RUNS: [],
};

/** Starts every duty of the master in a loop of its own. */
export const startMaster = (options: MasterOptions): Master => {
  const { store, scanner, clock, log, onLost } = options;
  const services: ReadonlyMap<string, Service> = new Map(
    dutiesOf(options).map((duty) => [
      duty.name,
      createService({ name: duty.name, clock, log: log.child(duty.name), runOnce: noticingLoss(duty, onLost) }),
    ]),
  );
  const wake = (duty: string): void => services.get(duty)?.wake();
  scanner.onWanted(() => wake('scanner'));
  store.onHint((hint) => {
    if (hint === 'ASSETS') scanner.reload('ALL');
    if (hint === 'SCANS') scanner.reload('WANTED');
    for (const duty of WOKEN_BY[hint]) wake(duty);
  });
  for (const service of services.values()) service.start();
  const stop = async (): Promise<void> => {
    await Promise.all([...services.values()].map((service) => service.stop()));
    await scanner.close();
  };
  return { wake, stop };
};

/** In the order in which they start: what an earlier server left behind is looked after first. */
const dutiesOf = ({ store, scanner, worker, observer, decides }: MasterOptions): readonly Duty[] => {
  const { runs, groups, admin } = store;
  const now = () => admin.now();
  return [
    createReconciler({ runs, worker }),
    scanner,
    ...(decides ? [createResolver({ groups, now, onEvaluated: observer.evaluated })] : []),
    createLauncher({ runs, onLaunched: observer.launched }),
    createDispatcher({ runs, now, room: () => worker.room(), begin: (offer) => void worker.begin(offer) }),
    createReaper({ runs, now, worker }),
    createTimekeeper({ runs, now, onTimedOut: observer.timedOut }),
  ];
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
