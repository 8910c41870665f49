import { eachAlone, isLostOwnership, type OnProblem } from './each-alone.ts';
import type { Engine } from './engine.ts';
import { chunks } from './queries/assets/load.ts';
import { type Batch, evaluateBatch } from './queries/groups/batch.ts';
import { dueGroups, evaluateQueued, postpone } from './queries/groups/evaluate.ts';
import type { EvaluationReport } from './store.ts';

/**
 * Decides the groups that are due, in as few transactions as may be: those of workflows together as far as they go on waiting, those of waiting
 * attempts some at a time, and each that may fire alone.
 */
export const evaluateDue = async (
  engine: Engine,
  limit: number,
  onProblem: OnProblem,
): Promise<readonly EvaluationReport[]> => {
  const due = await engine.writeAsOwner((tx) => dueGroups(tx, limit));
  const batch = await evaluateTogether(engine, due, onProblem);
  const waiting = await evaluateWaits(engine, batch.waiting, onProblem);
  const alone = await evaluateAlone(engine, batch.alone, onProblem);
  return [...batch.reports, ...waiting, ...alone];
};

/** A group whose evaluation failed is tried again after this long. */
const POSTPONE_MS = 30_000n;

const evaluateAlone = async (
  engine: Engine,
  ids: readonly bigint[],
  onProblem: OnProblem,
): Promise<readonly EvaluationReport[]> => {
  const reports = await eachAlone(
    ids,
    async (id) => engine.writeAsOwner((tx) => evaluateQueued(tx, id)),
    async (id, error) => {
      onProblem(`group ${id} could not be evaluated`, error);
      await engine.writeAsOwner((tx) => postpone(tx, id, POSTPONE_MS));
    },
  );
  return reports.filter((report) => report !== null);
};

/** Groups of waiting attempts in one transaction: few enough that nobody waits long behind them. */
const WAITS_TOGETHER = 20;

/** Attempts have nothing to do with each other, so that their releases may well share a transaction. */
const evaluateWaits = async (
  engine: Engine,
  ids: readonly bigint[],
  onProblem: OnProblem,
): Promise<readonly EvaluationReport[]> => {
  const reports: EvaluationReport[] = [];
  for (const some of chunks(ids, WAITS_TOGETHER))
    try {
      const told = await engine.writeAsOwner(async (tx) => {
        const each: EvaluationReport[] = [];
        for (const id of some) {
          const report = await evaluateQueued(tx, id);
          if (report !== null) each.push(report);
        }
        return each;
      });
      reports.push(...told);
    } catch (error) {
      if (isLostOwnership(error)) throw error;
      reports.push(...(await evaluateAlone(engine, some, onProblem)));
    }
  return reports;
};

/** Where one of them goes wrong, each is decided alone, and that one is found. */
const evaluateTogether = async (engine: Engine, due: readonly bigint[], onProblem: OnProblem): Promise<Batch> => {
  try {
    return due.length < 2
      ? { reports: [], alone: due, waiting: [] }
      : await engine.writeAsOwner((tx) => evaluateBatch(tx, due));
  } catch (error) {
    if (isLostOwnership(error)) throw error;
    onProblem(`${due.length} groups could not be evaluated together; each is tried alone`, error);
    return { reports: [], alone: due, waiting: [] };
  }
};
