/**
 * A table to play with where no engine is at hand: the recorded orders table, commit by commit, as Flink wrote it.
 *
 *   npx node demo/table.ts create FOLDER     the table with its first commit
 *   npx node demo/table.ts commit FOLDER     the next recorded commit
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layStep, readSteps } from './recording.ts';

const TABLE = 'ods_db.db/ods_order_latest';
/** The steps of the recording that commit to the orders table; 1 makes the empty table. */
const COMMITS = [2, 3, 8, 9, 19, 20, 30];

const [action = '', folder = ''] = process.argv.slice(2);

const lay = (numbers: readonly number[]): void => {
  const staging = mkdtempSync(join(tmpdir(), 'sluice-table-'));
  for (const number of numbers) {
    const step = readSteps().get(number);
    if (step !== undefined) layStep(step, staging);
  }
  mkdirSync(folder, { recursive: true });
  cpSync(join(staging, TABLE), folder, { recursive: true });
  rmSync(staging, { recursive: true });
};

const fail = (sentence: string): never => {
  console.error(sentence);
  process.exit(2);
};

const commitsIn = (): number =>
  readdirSync(join(folder, 'snapshot')).filter((name) => /^snapshot-\d+$/.test(name)).length;

if (!['create', 'commit'].includes(action) || folder === '') fail('Usage: npx node demo/table.ts create|commit FOLDER');
if (action === 'create' && existsSync(folder)) fail(`${folder} exists already; name a folder that does not.`);
if (action === 'commit' && !existsSync(join(folder, 'snapshot')))
  fail(`There is no table in ${folder}; make one: npx node demo/table.ts create ${folder}`);

const next = action === 'create' ? 0 : commitsIn();
const step = COMMITS[next];
if (step === undefined) fail(`All ${COMMITS.length} recorded commits are in ${folder} already.`);
else {
  lay(action === 'create' ? [1, step] : [step]);
  console.log(`${folder}: snapshot ${next + 1}, ${readSteps().get(step)?.did}`);
}
