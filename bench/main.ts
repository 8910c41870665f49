/**
 * The figures that the project may quote, each beside the plain limit of the machine in the same run. See docs/reference/benchmarks.md.
 *
 *   npm run bench                            lists the benchmarks
 *   npm run bench -- NAME… | all [--json] [--format F] [--count N] [--dir FOLDER] [--database URL]
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { databaseVersion, dropSchemas, useDatabase } from './database.ts';
import { fire } from './fire.ts';
import { commitOf, hostOf } from './host.ts';
import { ingest } from './ingest.ts';
import { latency } from './latency.ts';
import { long } from './long.ts';
import type { Benchmark } from './measure.ts';
import { memory } from './memory.ts';
import { type Reported, table } from './report.ts';
import { scan } from './scan.ts';
import { start } from './start.ts';
import { FORMATS, tableWriter } from './tables.ts';
import { waiting } from './waiting.ts';

/** A benchmark is one file and one line here. */
const BENCHMARKS: Readonly<Record<string, Benchmark>> = { latency, start, memory, scan, long, fire, ingest, waiting };

const USAGE = `npm run bench -- NAME… | all [--json] [--format ${FORMATS.join('|')}] [--count N] [--dir FOLDER] [--database URL]

${Object.entries(BENCHMARKS)
  .map(([name, { summary }]) => `  ${name.padEnd(9)} ${summary}`)
  .join('\n')}

--json      one object a line: name, goal, unit, result, limit, ok, host, commit
--format    the format of the tables (default: ${FORMATS[0]})
--count     fewer or more repetitions than the figures in docs/reference/benchmarks.md: for a short look
--dir       a folder on the disk to be measured (default: the folder for temporary files)
--database  postgres://…: on that database server instead of SQLite; schemas of its own come and go in it
`;

const arguments_ = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      format: { type: 'string', default: FORMATS[0] ?? '' },
      count: { type: 'string' },
      dir: { type: 'string', default: tmpdir() },
      database: { type: 'string' },
    },
  });

type Options = ReturnType<typeof arguments_>['values'];

/** Runs one benchmark in a folder of its own. */
const run = async (
  name: string,
  benchmark: Benchmark,
  { format, count, dir }: Options,
): Promise<readonly Reported[]> => {
  mkdirSync(dir, { recursive: true });
  const folder = mkdtempSync(join(resolve(dir), 'sluice-bench-'));
  try {
    const host = { ...hostOf(folder), database: await databaseVersion() };
    const say = (text: string): void => void process.stderr.write(`${name}: ${text}\n`);
    const measures = await benchmark.run({ folder, format, count: count === undefined ? null : Number(count), say });
    return measures.map((measure) => ({ ...measure, host, commit: commitOf() }));
  } finally {
    await dropSchemas(folder);
    rmSync(folder, { recursive: true, force: true });
  }
};

/** 0: every goal was met; 1: one was missed; 2: wrong usage, or a benchmark that failed. */
const main = async (): Promise<number> => {
  const { values, positionals } = arguments_();
  const names = positionals.includes('all') ? Object.keys(BENCHMARKS) : positionals;
  const unknown = names.filter((name) => BENCHMARKS[name] === undefined);
  if (names.length === 0 || unknown.length > 0 || (values.count !== undefined && !/^[1-9]\d*$/.test(values.count))) {
    process.stdout.write(USAGE);
    return names.length === 0 ? 0 : 2;
  }
  tableWriter(values.format);
  useDatabase(values.database);
  const reported: Reported[] = [];
  for (const name of names) {
    const benchmark = BENCHMARKS[name];
    if (benchmark === undefined) continue;
    const measures = await run(name, benchmark, values);
    reported.push(...measures);
    process.stdout.write(
      values.json ? measures.map((measure) => `${JSON.stringify(measure)}\n`).join('') : table(measures),
    );
  }
  return reported.some(({ ok }) => ok === false) ? 1 : 0;
};

const failed = (error: unknown): number => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 2;
};

process.exitCode = await main().catch(failed);
