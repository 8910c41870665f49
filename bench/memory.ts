import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { manyTables } from './declare.ts';
import { type Benchmark, type Figures, type Measure, type Settings, spread } from './measure.ts';
import { allRead, residentMB, sluice, withServer } from './server.ts';

const GOAL_MB = 150;
const IDLE_SECONDS = 30;
const SIZES = [5, 1_000];

/**
 * Resident memory of an idle server: default configuration, N assets with a table each, a workflow for every five. Looked at twice: 30 s
 * after everything was registered and read for the first time, and 30 s after the server was started again on the same data.
 */
export const memory: Benchmark = {
  summary: `resident memory of a server that has been idle for ${IDLE_SECONDS} s, with ${SIZES.join(' and ')} assets`,
  run: async (settings) => {
    const limit = { what: 'an idle node', ...(await bareNode()) };
    const measures: Measure[] = [];
    for (const assets of SIZES) measures.push(...(await measureSize(settings, assets, limit)));
    return measures;
  },
};

const measureSize = async (
  settings: Settings,
  assets: number,
  limit: Measure['limit'],
): Promise<readonly Measure[]> => {
  const { folder, say } = settings;
  const data = join(folder, `data-${assets}`);
  const file = manyTables(settings, assets);
  const registered = await withServer(data, {}, async (server) => {
    await sluice(['apply', '-f', file, '--data', data]);
    await allRead(server);
    say(`${assets} assets registered; idle for ${IDLE_SECONDS} s`);
    return idle(server.pid);
  });
  const restarted = await withServer(data, {}, ({ pid }) => {
    say(`started again; idle for ${IDLE_SECONDS} s`);
    return idle(pid);
  });
  return [
    measure(`memory: ${assets} assets, after registering them`, registered, limit),
    measure(`memory: ${assets} assets, after a start`, restarted, limit),
  ];
};

/** Every second of the idle time is looked at; what counts is the end. */
const idle = async (pid: number): Promise<Figures & { readonly 'at the end': number }> => {
  const seen: number[] = [];
  for (let second = 0; second < IDLE_SECONDS; second += 1) {
    await pause(1_000);
    seen.push(await residentMB(pid));
  }
  return { 'at the end': Number((seen.at(-1) ?? Number.NaN).toFixed(1)), peak: spread(seen).max };
};

const bareNode = async (): Promise<Figures> => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await pause(1_000);
  const resident = await residentMB(child.pid ?? 0);
  child.kill('SIGTERM');
  return { 'at the end': Number(resident.toFixed(1)) };
};

const measure = (
  name: string,
  result: Figures & { readonly 'at the end': number },
  limit: Measure['limit'],
): Measure => ({
  name,
  goal: `< ${GOAL_MB} MB`,
  unit: 'MB',
  result,
  limit,
  ok: result['at the end'] < GOAL_MB,
});
