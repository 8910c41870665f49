import { cpSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { manyTables } from './declare.ts';
import { type Benchmark, type Figures, type Measure, type Settings, spread, timed } from './measure.ts';
import { allRead, type Program, PROGRAMS, sluice, withServer } from './server.ts';

const COUNT = 7;
const GOAL_MS = 1_000;
const ASSETS = 1_000;

/** From the spawn of `sluice server` to its ready line. Cold is the process; the files it reads are in the page cache after the first start. */
export const start: Benchmark = {
  summary: 'cold start of `sluice server` to its ready line, on a fresh and on an existing data folder',
  run: async (settings) => {
    const { folder, say } = settings;
    const existing = join(folder, 'existing');
    say(`a data folder with ${ASSETS} assets`);
    const file = manyTables(settings, ASSETS);
    await withServer(existing, {}, async (server) => {
      await sluice(['apply', '-f', file, '--data', existing]);
      await allRead(server);
    });
    const measures: Measure[] = [];
    for (const program of Object.keys(PROGRAMS) as Program[])
      measures.push(...(await both(settings, program, existing)));
    return measures;
  },
};

/** Fresh, existing and a bare Node in turn, so that what else the machine does hits all three. */
const both = async (
  { folder, count, say }: Settings,
  program: Program,
  existing: string,
): Promise<readonly Measure[]> => {
  const times = { fresh: [] as number[], existing: [] as number[], bare: [] as number[] };
  for (let i = 0; i <= (count ?? COUNT); i += 1) {
    const used = join(folder, `used-${program}-${i}`);
    cpSync(existing, used, { recursive: true });
    const round = {
      fresh: await readyMs(join(folder, `fresh-${program}-${i}`), program),
      existing: await readyMs(used, program, existing),
      bare: await timed(bareNode),
    };
    if (i === 0) continue; // warms the page cache
    times.fresh.push(round.fresh);
    times.existing.push(round.existing);
    times.bare.push(round.bare);
  }
  say(`${program} measured`);
  const limit = { what: 'node -e 0', ...spread(times.bare) };
  return [
    measure(`start: fresh folder, ${program}`, spread(times.fresh), limit),
    measure(`start: folder with ${ASSETS} assets, ${program}`, spread(times.existing), limit),
  ];
};

const readyMs = (data: string, program: Program, databaseOf = data): Promise<number> =>
  withServer(data, { program, databaseOf }, async (server) => server.readyMs);

const bareNode = (): Promise<void> =>
  new Promise((done, fail) => {
    const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
    child.once('error', fail);
    child.once('exit', () => done());
  });

const measure = (name: string, result: Figures & { readonly median: number }, limit: Measure['limit']): Measure => ({
  name,
  goal: `median < ${GOAL_MS} ms`,
  unit: 'ms',
  result,
  limit,
  ok: result.median < GOAL_MS,
});
