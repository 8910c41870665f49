// npm run accept [-- TEXT]: builds, then asks the acceptance scripts of the shared folder (SLUICE_SHARED, default ../shared) whether the
// product tells the truth. Disagreements listed in scripts/accept-exceptions.txt are known and explained there.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { exceptionsOf, judge } from './disagreements.ts';
import { PROJECT, progress, reportCounts, run } from './run.ts';

const SHARED = resolve(PROJECT, process.env['SLUICE_SHARED'] ?? '../shared');

const FORMATS = ['paimon', 'iceberg', 'hudi', 'delta'] as const;

/** Name → script and arguments: for each format, what it says of whole tables and of what happens to them step by step. */
const SCRIPTS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  FORMATS.flatMap((format): [string, readonly string[]][] => [
    [`inspect-${format}`, ['accept/inspect.mjs', '--format', format]],
    [`replay-${format}`, ['accept/replay.mjs', join(SHARED, 'recorded', format)]],
  ]),
);

const EXCEPTIONS = readFileSync(join(PROJECT, 'scripts/accept-exceptions.txt'), 'utf8');

async function accept(name: string): Promise<boolean> {
  const [script = '', ...args] = SCRIPTS[name] ?? [];
  const { output, ms } = await run(['node', join(SHARED, script), ...args]);
  const problems = judge(output, exceptionsOf(name, EXCEPTIONS));
  console.log(progress(name, problems.length === 0, ms));
  console.log(problems.length === 0 ? output.trim().split('\n').at(-1) : `${output.trim()}\n${problems.join('\n')}`);
  return problems.length === 0;
}

if (!existsSync(join(SHARED, 'accept'))) {
  console.error(
    'The acceptance scripts are not there: put the shared folder beside the project or set SLUICE_SHARED to it.',
  );
  reportCounts(0, Object.keys(SCRIPTS).length);
  process.exit(2);
}
const results = [(await run(['node', 'scripts/build.ts'])).code === 0];
for (const name of Object.keys(SCRIPTS)) results.push(await accept(name));
const failed = results.filter((ok) => !ok).length;
console.log(`accept: ${results.length - failed} passed, ${failed} failed`);
reportCounts(results.length - failed, failed);
process.exit(failed > 0 ? 1 : 0);
