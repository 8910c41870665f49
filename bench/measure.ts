/** What one benchmark tells of one thing it measured: a line of `--json`. */
export interface Measure {
  /** `latency`, or `start: existing folder, dist` where a benchmark measures more than one thing. */
  readonly name: string;
  /** What the project promises, in words; null: no promise, a figure to compare with. */
  readonly goal: string | null;
  readonly unit: 'ms' | 's' | 'MB' | '%' | 'events/s';
  readonly result: Figures;
  /** The plain limit of the same run: what the machine takes for the bare thing, without Sluice. */
  readonly limit: Figures & { readonly what: string };
  /** Is the goal met? null where there is none. */
  readonly ok: boolean | null;
  /** Whatever helps to read the figure. */
  readonly notes?: readonly string[];
}

/** Percentiles, differences and sizes by name, in the unit of their measure. */
export type Figures = Readonly<Record<string, number | string>>;

export interface Settings {
  /** An empty folder on the disk to be measured; removed afterwards. */
  readonly folder: string;
  /** How the tables are written; see tables.ts. */
  readonly format: string;
  /** Replaces the benchmark's own count of repetitions, for a short look. */
  readonly count: number | null;
  /** A line for whoever waits. */
  readonly say: (text: string) => void;
}

export interface Benchmark {
  readonly summary: string;
  readonly run: (settings: Settings) => Promise<readonly Measure[]>;
}

const rounded = (value: number): number => Number(value.toPrecision(value < 1 ? 2 : 4));

/** The value below which the share lies (nearest rank); NaN of nothing. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
};

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const percentiles = (values: readonly number[]) => ({
  p50: rounded(quantile(values, 0.5)),
  p90: rounded(quantile(values, 0.9)),
  p99: rounded(quantile(values, 0.99)),
  n: values.length,
});

/** For a handful of repetitions, where percentiles would pretend. */
export const spread = (values: readonly number[]) => ({
  median: rounded(median(values)),
  min: rounded(Math.min(...values)),
  max: rounded(Math.max(...values)),
  n: values.length,
});

export const difference = (a: number, b: number): number => rounded(a - b);

/** Milliseconds that the work took. */
export const timed = async (work: () => Promise<unknown> | unknown): Promise<number> => {
  const from = performance.now();
  await work();
  return performance.now() - from;
};
