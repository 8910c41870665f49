// npm run soak [-- SHARE] [-- --database sqlite|postgres] [-- --minutes N] [-- --seed N]: what takes more than two minutes, or a share of it.
import { parseArgs } from 'node:util';
import { postgresBin } from '../test/support/postgres-server.ts';
import { type StormResult, storm } from '../test/fault/storm/storm.ts';
import { progress, reportCounts, run } from './run.ts';

const DATABASES = ['sqlite', 'postgres'] as const;
type Database = (typeof DATABASES)[number];

/** How long each database is stormed. */
const MINUTES = 5;
const PROJECTS: Readonly<Record<Database, string>> = { sqlite: 'all', postgres: 'postgres' };

interface Wanted {
  readonly share: number;
  readonly minutes: number;
  readonly seed: number;
  readonly databases: readonly Database[];
}

function wrong(sentence: string): never {
  console.error(sentence);
  process.exit(2);
}

const above = (name: string, text: string, most = Infinity): number =>
  Number(text) > 0 && Number(text) <= most
    ? Number(text)
    : wrong(`Give ${name} above 0, such as 0.1; "${text}" is none.`);

function wanted(): Wanted {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { database: { type: 'string' }, minutes: { type: 'string' }, seed: { type: 'string' } },
  });
  const share = above('a share up to 1 and', positionals[0] ?? process.env['SLUICE_SOAK'] ?? '1', 1);
  const database = DATABASES.find((name) => name === values.database);
  if (values.database !== undefined && database === undefined)
    wrong(`Give --database one of ${DATABASES.join(', ')}; "${values.database}" is none.`);
  return {
    share,
    minutes: values.minutes === undefined ? MINUTES * share : above('--minutes', values.minutes),
    seed: values.seed === undefined ? Date.now() % 1_000_000 : above('--seed', values.seed),
    databases: database === undefined ? DATABASES : [database],
  };
}

/** What happened in a part: how much of it held. */
interface Part {
  readonly passed: number;
  readonly failed: number;
}

/** Deaths at each commit point of two stories (test/fault/crash-*.test.ts). */
async function stories({ share }: Wanted, databases: readonly Database[]): Promise<Part> {
  const projects = databases.flatMap((database) => ['--project', PROJECTS[database]]);
  process.env['SLUICE_SOAK'] = String(share);
  // Tests that are left out on purpose are no skips, and the report is that of `npm test`.
  delete process.env['SLUICE_TEST_ALL'];
  delete process.env['SLUICE_TEST_REPORT'];
  const filter = ['test/fault/crash-', '-t', 'a retry, a stop and a resume'];
  const { code, output, ms } = await run(['vitest', 'run', ...projects, ...filter]);
  console.log(output.trimEnd());
  console.log(progress('stories', code === 0, ms));
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 };
}

const PROBLEMS_SHOWN = 5;

/** That it could not be carried out is a fault too. */
const carryOut = (database: Database, minutes: number, seed: number): Promise<StormResult> =>
  storm({ database, minutes, seed, bin: postgresBin(), say: (line) => console.log(`  ${line}`) }).catch(
    (error: unknown) => ({ verdicts: [{ rule: 'the storm is carried out', problems: [String(error)] }], folder: null }),
  );

async function stormOn(database: Database, { minutes, seed }: Wanted): Promise<Part> {
  const name = `storm ${database}`;
  console.log(
    `${name}: ${minutes} min, seed ${seed} (again: npm run soak -- --database ${database} --minutes ${minutes} --seed ${seed})`,
  );
  const start = performance.now();
  const { verdicts, folder } = await carryOut(database, minutes, seed);
  const broken = verdicts.filter(({ problems }) => problems.length > 0);
  for (const { rule, problems } of broken) {
    console.log(`  BROKEN: ${rule}`);
    for (const problem of problems.slice(0, PROBLEMS_SHOWN)) console.log(`    ${problem}`);
    if (problems.length > PROBLEMS_SHOWN) console.log(`    and ${problems.length - PROBLEMS_SHOWN} more`);
  }
  if (folder !== null) console.log(`  what is left of it: ${folder}`);
  console.log(progress(name, broken.length === 0, performance.now() - start));
  return { passed: verdicts.length - broken.length, failed: broken.length };
}

/** Under SLUICE_TEST_ALL=1 a database that is missing is a failure. */
function missing(): Part {
  console.log('skipped: soak on PostgreSQL (needs PostgreSQL: apt-get install postgresql)');
  return { passed: 0, failed: process.env['SLUICE_TEST_ALL'] === '1' ? 1 : 0 };
}

async function soak(): Promise<readonly Part[]> {
  const all = wanted();
  const here = all.databases.filter((database) => database !== 'postgres' || postgresBin() !== null);
  const parts = here.length < all.databases.length ? [missing()] : [];
  for (const database of here) parts.push(await stormOn(database, all));
  if (here.length > 0) parts.push(await stories(all, here));
  return parts;
}

const parts = await soak();
const passed = parts.reduce((sum, part) => sum + part.passed, 0);
const failed = parts.reduce((sum, part) => sum + part.failed, 0);
console.log(`soak: ${passed} passed, ${failed} failed`);
reportCounts(passed, failed);
process.exit(failed > 0 ? 1 : 0);
