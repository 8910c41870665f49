import type { StatedEvent } from '../core/asset/event.ts';
import { eachAlone, type OnProblem } from './each-alone.ts';
import { type Engine, SHARD, type Tx } from './engine.ts';
import { evaluateDue } from './evaluate-due.ts';
import { NEWEST, migrate, schemaVersion } from './migrations/migrate.ts';
import { applyDeclaration } from './queries/apply.ts';
import { releaseAsset, removeAsset } from './queries/assets/admin.ts';
import {
  assetDetails,
  keyOfCode,
  listAssets,
  listEvents,
  listVersions,
  ownersOf,
  scanTargets,
} from './queries/assets/lists.ts';
import { KnownVersion } from './queries/assets/effects.ts';
import { recordIdle, recordPoll } from './queries/assets/record.ts';
import { recordStated } from './queries/assets/stated.ts';
import { findWorkflow, listWorkflows } from './queries/workflows/definitions.ts';
import { pauseGroup, resumeGroup } from './queries/groups/admin.ts';
import { explainWorkflow, listTriggers, nextDueAt } from './queries/groups/lists.ts';
import { claimKey, freeKey, keepAnswer } from './queries/idempotency.ts';
import { advanceRun } from './queries/runs/planning.ts';
import { detailsOfTask, listRuns, runDetails } from './queries/runs/lists.ts';
import { operate, startManually } from './queries/runs/start.ts';
import * as work from './queries/runs/work.ts';
import { expireWait, nextWaitDeadlineAt, overdueWaits } from './queries/waits/expire.ts';
import { explainTask } from './queries/waits/why.ts';
import { sample } from './queries/sample.ts';
import { listWorkflowVersions, releaseWorkflow, removeWorkflow, workflowVersion } from './queries/workflows/admin.ts';
import { listProjects, pauseProject, resumeProject } from './queries/workflows/project-admin.ts';
import { Turns } from './turns.ts';
import type { AdminStore, AssetStore, DefinitionStore, GroupStore, RunStore, StatedReceipt, Store } from './store.ts';

/** The store's face over an engine: which transaction each method is. */
export const assemble = (engine: Engine, onProblem: OnProblem): Store => {
  const turns = new Turns(() => engine.ownerIdle());
  return {
    definitions: definitionStore(engine),
    assets: assetStore(engine, turns),
    groups: groupStore(engine, onProblem, turns),
    runs: runStore(engine, onProblem),
    idempotency: {
      claim: (key, request) => engine.write((tx) => claimKey(tx, key, request)),
      keep: (key, answer) => engine.write((tx) => keepAnswer(tx, key, answer)),
      free: (key) => engine.write((tx) => freeKey(tx, key)),
    },
    admin: adminStore(engine),
    onHint: (listener) => engine.onHint(listener),
    close: () => engine.close(),
  };
};

/** Carries a dry run's plan out of the transaction that it rolls back. */
class RolledBack<T> extends Error {
  readonly value: T;
  constructor(value: T) {
    super('Rolled back on purpose.');
    this.value = value;
  }
}

const dry = async <T>(run: (keep: (value: T) => never) => Promise<unknown>): Promise<T> => {
  try {
    await run((value) => {
      throw new RolledBack(value);
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.value as T;
    throw error;
  }
  throw new Error('A dry run was not rolled back.');
};

const definitionStore = (engine: Engine): DefinitionStore => ({
  apply: async (declaration, { dryRun, ...options }) => {
    const write = (tx: Tx) => applyDeclaration(tx, declaration, options);
    const plan = dryRun
      ? await dry<Awaited<ReturnType<typeof write>>>((keep) => engine.write(async (tx) => keep(await write(tx))))
      : await engine.write(write);
    return { ...plan, dryRun };
  },
  projects: () => engine.read(listProjects),
  pauseProject: (nameOrCode) => engine.write((tx) => pauseProject(tx, nameOrCode)),
  resumeProject: (nameOrCode, how) => engine.write((tx) => resumeProject(tx, nameOrCode, how)),
  workflow: (project, nameOrCode) => engine.read((view) => findWorkflow(view, project, nameOrCode)),
  workflows: (project) => engine.read((view) => listWorkflows(view, project)),
  versions: (code, page) => engine.read((view) => listWorkflowVersions(view, BigInt(code), page)),
  version: (code, version) => engine.read((view) => workflowVersion(view, BigInt(code), BigInt(version))),
  release: (code, state, how = 'CATCH_UP') => engine.write((tx) => releaseWorkflow(tx, BigInt(code), state, how)),
  remove: (code) => engine.write((tx) => removeWorkflow(tx, BigInt(code))),
});

const assetStore = (engine: Engine, turns: Turns): AssetStore => ({
  scanTargets: (keys) => engine.read((view) => scanTargets(view, keys)),
  recordPoll: (key, revision, poll, times) => engine.writeAsOwner((tx) => recordPoll(tx, key, revision, poll, times)),
  recordIdle: (polls) => inSlices(polls, IDLE_SLICE, (some) => engine.writeAsOwner((tx) => recordIdle(tx, some))),
  recordStated: (events) => turns.record(() => recordAll(engine, events)),
  list: (project) => engine.read((view) => listAssets(view, project)),
  get: (key) => engine.read((view) => assetDetails(view, key)),
  keyOf: (code) => engine.read((view) => keyOfCode(view, code)),
  versions: (key, page) => engine.read((view) => listVersions(view, key, page)),
  release: (key) => engine.write((tx) => releaseAsset(tx, key)),
  remove: (key) => engine.write((tx) => removeAsset(tx, key)),
  owners: (keys) => engine.read((view) => ownersOf(view, keys)),
  events: (filter, page) => engine.read((view) => listEvents(view, filter, page)),
});

/** Scan times in one transaction: few enough that a trigger never waits long behind them. */
const IDLE_SLICE = 500;

/** Writes the items in slices of this size; without items still once, so that lost ownership is noticed. */
const inSlices = async <T>(
  items: readonly T[],
  size: number,
  write: (some: readonly T[]) => Promise<void>,
): Promise<void> => {
  for (let at = 0; at === 0 || at < items.length; at += size) await write(items.slice(at, at + size));
};

/** Statements in one transaction: those of the largest request. The more there are, the fewer pages of the indexes are written twice. */
const STATED_BATCH = 1_000;

const recordAll = async (engine: Engine, events: readonly StatedEvent[]): Promise<readonly StatedReceipt[]> => {
  const receipts: StatedReceipt[] = [];
  for (let at = 0; at < events.length; at += STATED_BATCH) {
    const batch = events.slice(at, at + STATED_BATCH);
    receipts.push(...(await recordBatch(engine, batch)));
  }
  return receipts;
};

/** Nearly always the newest versions suffice; that they did not is noticed before anything is written for good. */
const recordBatch = async (engine: Engine, batch: readonly StatedEvent[]): Promise<readonly StatedReceipt[]> => {
  try {
    return await engine.write((tx) => recordStated(tx, batch, 'NEWEST'));
  } catch (error) {
    if (!(error instanceof KnownVersion)) throw error;
    return engine.write((tx) => recordStated(tx, batch, 'WHOLE'));
  }
};

const groupStore = (engine: Engine, onProblem: OnProblem, turns: Turns): GroupStore => {
  let backlog = false;
  return {
    evaluateDue: async (limit) => {
      if (backlog) await turns.next();
      const reports = await evaluateDue(engine, limit, onProblem);
      backlog = reports.length >= limit;
      return reports;
    },
    nextDueAt: () => engine.read(nextDueAt),
    explain: (workflowCode) => engine.read((view) => explainWorkflow(view, workflowCode)),
    explainTask: (workflowCode, task) => engine.read((view) => explainTask(view, workflowCode, task)),
    pause: (code, group) => engine.write((tx) => pauseGroup(tx, BigInt(code), group)),
    resume: (code, group, how) => engine.write((tx) => resumeGroup(tx, BigInt(code), group, how)),
    triggerHistory: (filter, page) => engine.read((view) => listTriggers(view, filter, page)),
  };
};

const runStore = (engine: Engine, onProblem: OnProblem): RunStore => ({
  start: (request) => engine.write((tx) => startManually(tx, request)),
  launch: async (limit) => {
    const commands = await engine.writeAsOwner((tx) => work.waitingCommands(tx, limit));
    const runs = await eachAlone(
      commands,
      (id) => engine.writeAsOwner((tx) => work.launchCommand(tx, id)),
      async (id, error) => onProblem(`command ${id} could not be launched`, error),
    );
    return runs.filter((run) => run !== null);
  },
  dispatch: (limit) => engine.writeAsOwner((tx) => work.dispatchDue(tx, limit)),
  nextDispatchAt: () => engine.read(work.nextDispatchAt),
  taskStarted: (id, fence, at, host, pid) =>
    engine.writeAsOwner((tx) => work.startTask(tx, BigInt(id), fence, at, host, pid)),
  taskEnded: (id, fence, ending) => engine.writeAsOwner((tx) => work.endTask(tx, BigInt(id), fence, ending)),
  // As the owner, though it only reads: so it stands in line behind `dispatch`, and sees no attempt that was handed out but not yet passed to the worker.
  unfinished: () => engine.writeAsOwner(work.unfinishedOffers),
  killable: () => engine.read(work.killableAttempts),
  nextDeadlineAt: () => engine.read(work.nextDeadlineAt),
  expireWaits: async (limit) => {
    const overdue = await engine.writeAsOwner((tx) => overdueWaits(tx, limit));
    const reports = await eachAlone(
      overdue,
      (id) => engine.writeAsOwner((tx) => expireWait(tx, id)),
      async (id, error) => onProblem(`the wait of task instance ${id} could not be ended`, error),
    );
    return reports.filter((report) => report !== null);
  },
  nextWaitDeadlineAt: () => engine.read(nextWaitDeadlineAt),
  operate: (id, operation, { repin }) => engine.write((tx) => operate(tx, BigInt(id), operation, repin)),
  advanceAll: async () => {
    const runs = await engine.writeAsOwner(work.activeRuns);
    await eachAlone(
      runs,
      (id) => engine.writeAsOwner((tx) => advanceRun(tx, id)),
      async (id, error) => onProblem(`run ${id} could not be planned`, error),
    );
  },
  get: (id) => engine.read((view) => runDetails(view, id)),
  ofTask: (taskRunId) => engine.read((view) => detailsOfTask(view, taskRunId)),
  list: (filter, page) => engine.read((view) => listRuns(view, filter, page)),
});

const adminStore = (engine: Engine): AdminStore => ({
  schemaVersion: async () => ({ current: await schemaVersion(engine.writer, engine.dialect), newest: NEWEST }),
  migrate: async () => migrate(engine.writer, engine.dialect, await engine.dialect.now(engine.writer)),
  takePresence: () => engine.takePresence(),
  claimOwnership: async (owner) => {
    const generation = await engine.write(async (tx) => {
      // So that the owner before looks for work, finds that it has lost the ownership, and stops.
      for (const hint of ['GROUPS', 'COMMANDS', 'TASKS'] as const) tx.hint(hint);
      return claim(tx, owner);
    });
    engine.setGeneration(generation);
    return Number(generation);
  },
  now: () => engine.dialect.now(engine.writer),
  sample: () => engine.read(sample),
});

/** The next generation. The row's lock makes two who claim at once take two different ones. */
const claim = async ({ db, dialect, now }: Tx, owner: string): Promise<bigint> => {
  const shard = { shard_id: BigInt(SHARD), owner, generation: 0n, claim_time: now };
  await dialect.insertIgnore(db, 't_ds_master', [shard]);
  await db
    .updateTable('t_ds_master')
    .set((e) => ({ owner, claim_time: now, generation: e('generation', '+', 1n) }))
    .where('shard_id', '=', shard.shard_id)
    .execute();
  const generation = await dialect.generation(db, SHARD);
  if (generation === null) throw new Error('The row of the ownership was removed while it was claimed.');
  return generation;
};
