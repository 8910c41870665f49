import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { assetAt, PROJECT, workflowOn, writeApplyFile } from './declare.ts';
import { type Benchmark, difference, type Measure, percentiles, quantile, type Settings } from './measure.ts';
import { type Server, sluice, withServer } from './server.ts';
import { tableWriter } from './tables.ts';

const COUNT = 100;
const WARM_UP = 5;
const GOAL_MS = 20;
const POLL_SECONDS = 0.1;
/** Long enough for the run before to have ended, not a multiple of anything that the server does at intervals. */
const restMs = (): number => 120 + Math.random() * 100;

/**
 * A commit is written into a real table of an idle server; its recording (`receivedAt` of its event, taken before the transaction that records it)
 * and the first instruction of the task that it triggers (bash's EPOCHREALTIME) are compared. Between two triggers a bare `bash -c` with the same first instruction is
 * spawned by this process. Both beginnings are read in whole milliseconds, so what that cuts off (0.5 ms on average) cancels in the difference.
 */
export const latency: Benchmark = {
  summary: 'commit recorded -> task process started, on an idle server, beside a bare process',
  run: async (settings) => {
    const place = prepare(settings);
    const measured = await withServer(place.data, { pollSeconds: POLL_SECONDS }, async (server) => {
      await sluice(['apply', '-f', place.file, '--data', place.data]);
      return trigger(place, server, settings);
    });
    return [report(measured)];
  },
};

interface Place {
  readonly data: string;
  readonly table: string;
  readonly file: string;
  /** Each task leaves its first instant in a file named by the snapshot that it is pinned to. */
  readonly out: string;
}

const prepare = ({ folder, format }: Settings): Place => {
  const [data, file, out] = [join(folder, 'data'), join(folder, 'bench.yaml'), join(folder, 'out')];
  const asset = assetAt(format, folder, 1);
  mkdirSync(out);
  tableWriter(format).create(asset.location);
  const script = `now=$EPOCHREALTIME\necho "$now" >${out}/part && mv ${out}/part ${out}/\${asset.t1.snapshot_id}\n`;
  writeApplyFile(file, { assets: [asset], workflows: [workflowOn('w', [asset], script)] });
  return { data, table: asset.location, file, out };
};

interface Measured {
  readonly tasks: readonly number[];
  readonly bare: readonly number[];
}

const trigger = async (place: Place, server: Server, { format, count, say }: Settings): Promise<Measured> => {
  const writer = tableWriter(format);
  const first = 2 + WARM_UP;
  const last = first + (count ?? COUNT) - 1;
  const bare: number[] = [];
  const started = new Map<string, number>();
  for (let id = 2; id <= last; id += 1) {
    await pause(restMs());
    const name = writer.nameOf(id);
    const told = fileIn(place.out, name);
    writer.commit(place.table, id);
    const at = epochMs(await told);
    if (id >= first) started.set(name, at);
    await pause(restMs());
    const between = await bareProcess();
    if (id >= first) bare.push(between);
    if (id % 20 === 0) say(`${id - 1} of ${last - 1} commits`);
  }
  const recorded = await recordings(server);
  const tasks = [...started].map(([name, at]) => at - (recorded.get(name) ?? Number.NaN));
  return { tasks, bare };
};

/** The text of a file that somebody will put into the folder. */
const fileIn = (folder: string, name: string): Promise<string> =>
  new Promise((done, fail) => {
    const late = setTimeout(() => fail(new Error(`No task started within 30 s after commit ${name}.`)), 30_000);
    const watcher = watch(folder, (_event, changed) => {
      if (changed !== name) return;
      clearTimeout(late);
      watcher.close();
      done(readFileSync(join(folder, name), 'utf8'));
    });
  });

/** `1796031503.910123`, or with a comma where the language of the host has one. */
const epochMs = (text: string): number => {
  const [, seconds, micros] = /^(\d+)[.,](\d{6})$/.exec(text.trim()) ?? [];
  if (seconds === undefined) throw new Error(`bash gave no EPOCHREALTIME (${JSON.stringify(text)}): bash 5 is needed.`);
  return Number(seconds) * 1000 + Number(micros) / 1000;
};

const bareProcess = (): Promise<number> =>
  new Promise((done, fail) => {
    const from = Date.now();
    const child = spawn('bash', ['-c', 'now=$EPOCHREALTIME; echo "$now"'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (bytes: Buffer) => {
      text += bytes.toString();
    });
    child.once('error', fail);
    child.once('close', () => done(epochMs(text) - from));
  });

/** When each snapshot was recorded, epoch ms. */
const recordings = async (server: Server): Promise<ReadonlyMap<string, number>> => {
  const page = (await server.get(`/projects/${PROJECT}/asset-events?limit=500`)) as {
    readonly items: readonly EventRow[];
  };
  const commits = page.items.filter((event) => event.eventType === 'SNAPSHOT_COMMITTED');
  return new Map(commits.map((event) => [event.snapshotId ?? '', Date.parse(event.receivedAt)]));
};

interface EventRow {
  readonly eventType: string;
  readonly snapshotId: string | null;
  readonly receivedAt: string;
}

const report = ({ tasks, bare }: Measured): Measure => {
  const above = (share: number): number => difference(quantile(tasks, share), quantile(bare, share));
  return {
    name: 'latency',
    goal: `p50 < ${GOAL_MS} ms above a bare process`,
    unit: 'ms',
    result: { ...percentiles(tasks), 'p50 above': above(0.5), 'p90 above': above(0.9), 'p99 above': above(0.99) },
    limit: { what: 'bare bash -c', ...percentiles(bare) },
    ok: above(0.5) < GOAL_MS,
  };
};
