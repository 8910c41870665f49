// npm run check [-- NAME…]: everything that can be judged without running the product. Each step is a tool that can be run by itself.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, progress, reportCounts, run } from './run.ts';
import { sizeReport } from './sizes.ts';

const CACHE = 'node_modules/.cache/sluice';
const tsc = (project: string, name: string): readonly string[] => [
  ...['tsc', '-p', project, '--noEmit', '--incremental', '--tsBuildInfoFile', `${CACHE}/${name}.tsbuildinfo`],
];
const FOLDERS = ['src', 'test', 'scripts', 'demo', 'bench', 'web'].filter((folder) =>
  existsSync(join(PROJECT, folder)),
);

/** The longest first, so that two at a time end together. ESLint has no cache here: its typed rules depend on other files than the cached one. */
const STEPS: Readonly<Record<string, readonly string[]>> = {
  lint: ['eslint', '.', '--max-warnings', '0'],
  imports: ['depcruise', '--config', '.dependency-cruiser.cjs', '--output-type', 'err', ...FOLDERS],
  unused: ['knip'],
  types: tsc('tsconfig.json', 'root'),
  'types-core': tsc('src/core/tsconfig.json', 'core'),
  'types-page': tsc('src/api/page/tsconfig.json', 'page'),
  generated: ['node', 'scripts/generate.ts', '--check'],
  format: ['biome', 'format', '.'],
};

/** How many steps run at once: two are memory enough for a small machine. */
const WIDTH = 2;

async function runStep(name: string): Promise<boolean> {
  const { code, output, ms } = await run(STEPS[name] ?? []);
  console.log(progress(name, code === 0, ms));
  if (code !== 0) console.log(`\n$ ${STEPS[name]?.join(' ')}\n${output.trimEnd()}\n`);
  return code === 0;
}

async function runAll(names: readonly string[]): Promise<readonly boolean[]> {
  const waiting = [...names];
  const results: boolean[] = [];
  const lane = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) results.push(await runStep(name));
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
  return results;
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in STEPS));
if (unknown.length > 0) {
  console.error(`There is no step ${unknown.join(', ')}: choose from ${Object.keys(STEPS).join(', ')}.`);
  process.exit(2);
}
const results = await runAll(asked.length > 0 ? asked : Object.keys(STEPS));
const failed = results.filter((ok) => !ok).length;
console.log(sizeReport());
console.log(`check: ${results.length - failed} passed, ${failed} failed`);
reportCounts(results.length - failed, failed);
process.exit(failed > 0 ? 1 : 0);
