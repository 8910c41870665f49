// npm run build: src → dist, plain JavaScript for people who install the package. Types are `npm run check`'s business.
import { chmodSync, copyFileSync, existsSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { progress, PROJECT, run } from './run.ts';

const DIST = join(PROJECT, 'dist');
const COMMAND = join(DIST, 'cli/main.js');
/** Files of the page as browsers read them: copied as they are. */
const PAGE = 'api/page/*.{html,css,js,svg}';

/** Compiles in place and then removes what an earlier build left behind, so that a server running from dist is not pulled from under its feet. */
async function build(): Promise<boolean> {
  const { code, output, ms } = await run(['tsc', '-p', 'tsconfig.build.json']);
  console.log(progress('build', code === 0, ms));
  if (code !== 0) {
    console.log(output);
    return false;
  }
  const compiled = [...output.matchAll(/^TSFILE: (.+)$/gm)].map((match) => resolve(match[1] ?? ''));
  const emitted = new Set([...compiled, ...copyPage()]);
  const stale = globSync('**/*.{js,json,html,css,svg}', { cwd: DIST }).map((file) => join(DIST, file));
  for (const file of stale.filter((file) => !emitted.has(file))) rmSync(file);
  if (existsSync(COMMAND)) chmodSync(COMMAND, 0o755);
  return true;
}

/** The copies' paths. */
function copyPage(): readonly string[] {
  mkdirSync(join(DIST, 'api/page'), { recursive: true });
  return globSync(PAGE, { cwd: join(PROJECT, 'src') }).map((file) => {
    copyFileSync(join(PROJECT, 'src', file), join(DIST, file));
    return join(DIST, file);
  });
}

process.exit((await build()) ? 0 : 1);
