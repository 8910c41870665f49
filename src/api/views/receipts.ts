import type { Problem } from '../../core/result.ts';
import type { StatedReceipt } from '../../store/store.ts';
import type { EventsReceiptBody } from '../contract/asset-events.ts';
import { SluiceError } from '../../core/errors.ts';

/** What is refused before the store sees it keeps its position in the request. */
export interface Refused {
  readonly index: number;
  readonly problem: Problem;
}

/**
 * The answer to stated events. `indexes`: the position in the request of each event that the store was given; null: it was a single event, whose
 * refusal is the answer's own problem.
 */
export const answerStated = (
  receipts: readonly StatedReceipt[],
  indexes: readonly number[] | null,
  refused: readonly Refused[] = [],
): EventsReceiptBody => {
  const rejected = receipts.flatMap(({ status, problem }, i): Refused[] =>
    status === 'REJECTED' && problem !== null ? [{ index: indexes?.[i] ?? i, problem }] : [],
  );
  const all = [...refused, ...rejected].sort((a, b) => a.index - b.index);
  const [first] = all;
  if (indexes === null && first !== undefined) throw new SluiceError(first.problem.code, first.problem.detail);
  const duplicates = receipts.filter(({ status }) => status === 'DUPLICATE').length;
  return {
    accepted: receipts.filter(({ status }) => status === 'ACCEPTED').length,
    duplicates,
    ...(indexes === null ? { duplicate: duplicates > 0 } : {}),
    rejected: all.map(({ index, problem }) => ({ index, code: problem.code, detail: problem.detail })),
  };
};
