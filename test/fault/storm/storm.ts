import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseForPlace, forgetPostgres, usePostgres } from '../../support/postgres-sync.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { type Chance, chanceOf } from './chance.ts';
import { judge, type Verdict } from './check.ts';
import { type Chronicle, emptyChronicle, noteBeginning } from './chronicle.ts';
import { Client } from './client.ts';
import { type Counts, type Facts, readCounts, readFacts } from './facts.ts';
import { Ledger } from './lines.ts';
import { pause, repeat } from './pace.ts';
import { letGoOn, startByHand, stopAndPause } from './people.ts';
import { declarationOf, STATED, TURNS, WORKFLOWS, WRITTEN } from './plan.ts';
import { liveTasks } from './processes.ts';
import { type Place, Servers } from './server.ts';
import { openTables } from './tables.ts';
import {
  type Scene,
  sendOne,
  stateInStep,
  stateOne,
  stateTables,
  writeInStep,
  writeTables,
  writeTicks,
} from './writers.ts';

/**
 * The server is killed again and again while commits arrive by poll and by push, runs are started by hand, stopped, paused and resumed. Then
 * it is left alone until all is quiet, and what it made of the storm is judged by what the storm itself knows of it (check.ts).
 */
export interface StormOptions {
  readonly database: 'sqlite' | 'postgres';
  readonly minutes: number;
  /** The same seed makes the same choices; when each of them happens is the machine's affair. */
  readonly seed: number;
  /** PostgreSQL's programs. */
  readonly bin: string | null;
  readonly say: (line: string) => void;
}

export interface StormResult {
  readonly verdicts: readonly Verdict[];
  /** Kept if something is wrong; null: removed. */
  readonly folder: string | null;
}

const SAY_MS = 5_000;
const QUIET_LIMIT_MS = 180_000;
const LOOK_MS = 500;
const CONFIG = {
  log: { level: 'info' },
  worker: { concurrency: 40, 'kill-grace-seconds': 2 },
  'asset-event-scheduling': { 'event-source': { polling: { 'interval-seconds': 0.2 } } },
};

export async function storm(options: StormOptions): Promise<StormResult> {
  const postgres = options.database === 'postgres' ? await startOwnPostgres(options.bin) : null;
  const place = await makePlace(postgres !== null);
  const servers = new Servers(place);
  const cleanUp = async (): Promise<void> => {
    await servers.destroy();
    killTasks(place);
    forgetPostgres();
    await postgres?.stop();
  };
  const interrupted = (): void => void cleanUp().finally(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted);
  try {
    const verdicts = await carryOut(options, place, servers);
    const good = verdicts.every(({ problems }) => problems.length === 0);
    if (good) rmSync(place.folder, { recursive: true, force: true, maxRetries: 3 });
    return { verdicts, folder: good ? null : place.folder };
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupted);
    await cleanUp();
  }
}

async function startOwnPostgres(bin: string | null): Promise<PostgresServer> {
  if (bin === null) throw new Error('PostgreSQL is not installed: apt-get install postgresql.');
  const server = await startPostgres(bin);
  usePostgres(server.url, bin);
  return server;
}

async function makePlace(
  onPostgres: boolean,
): Promise<Place & { readonly warehouse: string; readonly ledger: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-storm-'));
  const inside = (name: string): string => join(folder, name);
  mkdirSync(inside('warehouse'));
  writeFileSync(inside('sluice.yaml'), JSON.stringify(CONFIG));
  return {
    folder,
    data: inside('data'),
    config: inside('sluice.yaml'),
    databaseUrl: onPostgres ? databaseForPlace() : null,
    port: await freePort(),
    warehouse: inside('warehouse'),
    ledger: inside('ledger'),
  };
}

type StormPlace = Awaited<ReturnType<typeof makePlace>>;

/** Below the ports that the system gives to those who ask for any, so that nobody is given it while no server listens there. */
async function freePort(): Promise<number> {
  for (let port = 21_000 + (process.pid % 5_000); ; port += 1) if (await isFree(port)) return port;
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

function killTasks({ data }: Place): void {
  for (const pid of liveTasks(data)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}

/** What happens all the time until the storm is over, and what until all is quiet. */
const STORMING = [writeTables, stateTables, writeInStep, stateInStep, startByHand, stopAndPause];
const LASTING = [writeTicks, letGoOn];

async function carryOut(options: StormOptions, place: StormPlace, servers: Servers): Promise<readonly Verdict[]> {
  const scene = openScene(place, chanceOf(options.seed));
  const over = new AbortController();
  const quiet = new AbortController();
  try {
    await begin(scene, place, servers);
    const report = (): void => options.say(progressOf(place, scene, servers));
    const lasting = LASTING.map((act) => act(scene, quiet.signal));
    const reports = repeat(quiet.signal, () => SAY_MS, report);
    const storming = STORMING.map((act) => act(scene, over.signal));
    const killing = servers.killAgainAndAgain(chanceOf(options.seed + 1), () => scene.client.answers, over.signal);
    // Raced, so that what goes wrong is known at once.
    await Promise.race([pause(options.minutes * 60_000, over.signal), killing, ...storming, ...lasting, reports]);
    over.abort();
    await Promise.all([...storming, killing]);
    options.say('the storm is over; waiting until all is quiet');
    const calm = await untilQuiet(place, scene, quiet);
    await Promise.all([...lasting, reports, ...scene.pending]);
    report();
    // What is quiet stays quiet, whoever looks at it next.
    await servers.kill();
    await servers.untilReady();
    await untilStill(place);
    return await audit(place, scene, servers, calm);
  } finally {
    over.abort();
    quiet.abort();
    scene.client.close();
  }
}

function openScene(place: StormPlace, chance: Chance): Scene {
  const chronicle = emptyChronicle();
  const ledger = new Ledger(place.ledger);
  return {
    chronicle,
    chance,
    client: new Client(place),
    tables: openTables(place.warehouse, chronicle),
    lines: () => ledger.lines(),
    pending: new Set(),
    events: 0,
  };
}

/** Everything stands and is known before the first server is killed: so it is certain what is old to the groups. */
async function begin(scene: Scene, place: StormPlace, servers: Servers): Promise<void> {
  for (const table of WRITTEN) scene.tables.create(table);
  await servers.untilReady();
  const declaration = declarationOf(place.warehouse, place.ledger);
  await scene.client.post('/apply', { declaration: { ...declaration, workflows: [] } });
  for (const table of WRITTEN)
    await scene.client.post(`/assets/${encodeURIComponent(table.key)}/scan`, { timeoutSeconds: 30 });
  for (const key of [STATED, TURNS]) await stateOne(scene, key);
  await sendOne(scene);
  await scene.client.post('/apply', { declaration });
  if (scene.client.faults.length > 0) throw new Error(scene.client.faults.join('\n'));
  noteBeginning(scene.chronicle);
}

const total = ({ commits }: Chronicle): number => Object.values(commits).reduce((sum, list) => sum + list.length, 0);

function progressOf(place: StormPlace, scene: Scene, { deaths }: Servers): string {
  const { fires, releases, runs, ended, attempts } = readCounts(place);
  const parts = [
    `${deaths.kills} kills (${deaths.early} while starting)`,
    `${total(scene.chronicle)} commits`,
    `${scene.events} events pushed (${scene.client.retries} requests sent again)`,
    `${fires} fires`,
    `${runs} runs (${ended} ended, ${new Set(scene.chronicle.steered).size} stopped or paused)`,
    `${releases} waits over`,
    `${attempts} attempts`,
  ];
  return parts.join(', ');
}

const isDone = (counts: Counts, commits: number): boolean =>
  counts.commands + counts.changes + counts.evaluations + counts.wantedScans === 0 &&
  counts.ended === counts.runs &&
  counts.versions === commits;

/** Waits, with the tables at rest but the one that tasks wait for, until nothing is left to do; then that one rests too. False: in vain. */
async function untilQuiet(place: StormPlace, scene: Scene, quiet: AbortController): Promise<boolean> {
  const end = performance.now() + QUIET_LIMIT_MS;
  const { signal } = new AbortController();
  while (performance.now() < end) {
    const commits = total(scene.chronicle);
    if (scene.pending.size === 0 && isDone(readCounts(place), commits)) break;
    await pause(LOOK_MS, signal);
  }
  quiet.abort();
  return performance.now() < end;
}

/** Until nothing has moved for as long as several polls take. */
async function untilStill(place: StormPlace): Promise<void> {
  const { signal } = new AbortController();
  let last = '';
  for (let same = 0; same < 4; same += 1) {
    const now = JSON.stringify(readCounts(place));
    if (now !== last) same = 0;
    last = now;
    await pause(LOOK_MS, signal);
  }
}

/** What never happened, though it is what the storm is for: nothing can be said of it. */
function missingParts({ chronicle, events }: Scene, { deaths }: Servers, { runs }: Facts): readonly string[] {
  const idle = WORKFLOWS.filter(({ name }) => !runs.some(({ workflow }) => workflow === name));
  const counts = { kills: deaths.kills, events, 'runs stopped or paused': chronicle.steered.length };
  return [
    ...idle.map(({ name }) => `${name} has no run`),
    ...Object.entries(counts).flatMap(([what, n]) =>
      n > 0 ? [] : [`there were no ${what}: let it last longer (--minutes)`],
    ),
  ];
}

async function audit(place: StormPlace, scene: Scene, servers: Servers, calm: boolean): Promise<readonly Verdict[]> {
  const stopped = await servers.stop();
  const facts = readFacts(place, place.ledger);
  writeFileSync(join(place.folder, 'chronicle.json'), JSON.stringify(scene.chronicle));
  writeFileSync(join(place.folder, 'facts.json'), JSON.stringify(facts));
  return [
    { rule: 'the storm was one', problems: missingParts(scene, servers, facts) },
    { rule: 'all became quiet', problems: calm ? [] : [`not within ${QUIET_LIMIT_MS / 1000} s`] },
    { rule: 'servers ended only by the storm', problems: [...servers.deaths.ownEnds, ...stopped] },
    { rule: 'every request was answered as it must be', problems: scene.client.faults },
    ...judge({ workflows: WORKFLOWS, chronicle: scene.chronicle, facts }),
  ];
}
