import type { Parameter } from '../core/workflow/definition.ts';
import { outputReader } from '../core/workflow/output.ts';
import type { AttemptId, Executor } from '../executors/executor.ts';

const PIECE = 256 * 1024;
/** A longer line is read as several: a value that lies across such a cut is none. */
const LONGEST_LINE = 1024 * 1024;

/** The most that one attempt may give to the tasks behind it, in characters: all of it is read again for each of them. */
export const MOST_OUTPUT = 256 * 1024;

/**
 * What an attempt that succeeded gives to the tasks behind it: for each parameter that it declares as OUT the value that it printed last, else the
 * one that was declared, unless that is empty.
 */
export const outputsOf = async (
  executor: Pick<Executor, 'log'>,
  id: AttemptId,
  runId: number,
  localParams: readonly Parameter[],
): Promise<readonly Parameter[]> => {
  const declared = new Map(localParams.flatMap((one) => (one.direct === 'OUT' ? [[one.prop, one.value]] : [])));
  if (declared.size === 0) return [];
  const reader = outputReader();
  for await (const line of linesOf(executor, id, runId)) reader.line(line);
  return [...declared].flatMap(([prop, value]): Parameter[] => {
    const printed = reader.values.get(prop) ?? (value === '' ? undefined : value);
    return printed === undefined ? [] : [{ prop, direct: 'OUT', value: printed }];
  });
};

/** A log of any size, a piece of it in memory. */
async function* linesOf(executor: Pick<Executor, 'log'>, id: AttemptId, runId: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let offset = 0;
  let rest = '';
  for (;;) {
    const { bytes } = await executor.log(id, runId, offset, PIECE);
    if (bytes.length === 0) break;
    offset += bytes.length;
    const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > LONGEST_LINE) {
      yield rest;
      rest = '';
    }
  }
  yield rest + decoder.decode();
}
