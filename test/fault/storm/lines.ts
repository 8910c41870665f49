import { existsSync, readFileSync } from 'node:fs';

/** What a task noted by itself: it began, or it ended with an exit code. */
export interface Line {
  readonly what: 'start' | 'end';
  readonly runId: number;
  readonly task: string;
  readonly instanceId: number;
  readonly attempt: number;
  readonly fence: number;
  /** Of an end. */
  readonly exitCode: number | null;
  /** Of a start: what it was told. */
  readonly triggerKey: string;
  /** Table → version, '' for one that the run is not pinned to. */
  readonly reads: Readonly<Record<string, string>>;
}

const readsOf = (text: string): Line['reads'] =>
  Object.fromEntries(
    text
      .split(',')
      .filter(Boolean)
      .map((pair) => pair.split('=') as [string, string]),
  );

/** Throws at a line that is not one: two tasks have written into each other. */
function parseLine(text: string): Line {
  const [what, runId, task = '', instanceId, attempt, fence, told = '', reads = ''] = text.split('|');
  const numbers = [runId, instanceId, attempt, fence].map(Number);
  if ((what !== 'start' && what !== 'end') || numbers.some((number) => !Number.isSafeInteger(number) || number <= 0))
    throw new Error(`No task writes such a line: ${text}`);
  const [run = 0, instance = 0, nth = 0, fenceNumber = 0] = numbers;
  const isEnd = what === 'end';
  return {
    what,
    runId: run,
    task,
    instanceId: instance,
    attempt: nth,
    fence: fenceNumber,
    exitCode: isEnd ? Number(told) : null,
    triggerKey: isEnd ? '' : told,
    reads: isEnd ? {} : readsOf(reads),
  };
}

/** A file to which tasks add lines, read on from where it was read last. */
export class Ledger {
  readonly #path: string;
  readonly #lines: Line[] = [];
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** In the order in which they were written; a last one that is not whole yet comes the next time. */
  lines(): readonly Line[] {
    if (!existsSync(this.#path)) return this.#lines;
    const news = readFileSync(this.#path).subarray(this.#bytes);
    const whole = news.subarray(0, news.lastIndexOf(10) + 1);
    this.#bytes += whole.length;
    this.#lines.push(...whole.toString().split('\n').filter(Boolean).map(parseLine));
    return this.#lines;
  }
}
