import type { Api, RunRow, Why } from './api.ts';
import { type Feed, isFinished } from './feed.ts';
import { layStep, readSteps } from './recording.ts';
import { bold, dim, green, line, tableOf, yellow } from './screen.ts';
import { sluice } from './server.ts';
import { type Act, ORDERS, PAYMENTS, type Seen, STORY } from './story.ts';

const PATIENCE_MS = 15_000;
const SETTLE_MS = 3_000;
const CHAIN = ['dwd', 'dws', 'ads'];

export interface Stage {
  readonly api: Api;
  readonly feed: Feed;
  readonly data: string;
  readonly warehouse: string;
  readonly fast: boolean;
}

/** Plays the story; returns what was not as it must be. */
export const play = async (stage: Stage): Promise<string[]> => {
  const problems: string[] = [];
  const steps = readSteps();
  for (const act of STORY) {
    const problem = await perform(stage, act, steps);
    if (problem !== null) problems.push(problem);
    if (!stage.fast && act.act !== 'NOTHING') await new Promise((done) => setTimeout(done, 700));
  }
  return problems;
};

const perform = (stage: Stage, act: Act, steps: ReturnType<typeof readSteps>): Promise<string | null> => {
  switch (act.act) {
    case 'COMMIT':
      return commit(stage, act, steps);
    case 'QUALITY':
      return state(stage, act.says, ORDERS, {
        eventType: act.passed ? 'QUALITY_CHECK_PASSED' : 'QUALITY_CHECK_FAILED',
        snapshotId: act.snapshotId,
        checkName: 'row_count',
      });
    case 'APPROVE':
      return state(stage, act.says, PAYMENTS, { eventType: 'SCHEMA_CHANGE_APPROVED', schemaId: act.schemaId });
    case 'RUN':
      return byHand(stage, act);
    case 'CHAIN':
      return chain(stage, act);
    case 'NOTHING':
      return nothing(stage, act);
  }
};

const commit = async (
  stage: Stage,
  act: Act & { act: 'COMMIT' },
  steps: ReturnType<typeof readSteps>,
): Promise<string | null> => {
  const step = steps.get(act.step);
  if (step === undefined) return `step ${act.step} is not in the recording`;
  line('writer', bold(act.says));
  const before = stage.feed.events.length;
  layStep(step, stage.warehouse);
  const seen = await stage.feed.until(PATIENCE_MS, () =>
    stage.feed.events.slice(before).find((event) => event.assetKey === act.asset && matches(event, act.seen)),
  );
  return seen === null ? `step ${act.step} (${act.says}) was not noticed` : null;
};

const matches = (event: { readonly eventType: string; readonly snapshotId: string | null }, seen: Seen): boolean =>
  'eventType' in seen
    ? event.eventType === seen.eventType
    : event.eventType === 'SNAPSHOT_COMMITTED' && event.snapshotId === seen.snapshotId;

const state = async (
  stage: Stage,
  says: string,
  assetKey: string,
  event: Readonly<Record<string, unknown>>,
): Promise<null> => {
  line('check', bold(says));
  await stage.api.emit({ assetKey, ...event });
  await stage.feed.look();
  return null;
};

const byHand = async (stage: Stage, act: Act & { act: 'RUN' }): Promise<null> => {
  line('person', bold(`${act.says}: sluice ${act.args.join(' ')}`));
  await sluice([...act.args, '--data', stage.data]);
  return null;
};

/** One run of each workflow in turn, each started by the commit of the one before. */
const chain = async (stage: Stage, act: Act & { act: 'CHAIN' }): Promise<string | null> => {
  const rounds = stage.feed.runs().filter((run) => run.workflow === 'ads').length + 1;
  const done = await stage.feed.until(PATIENCE_MS, () => {
    const ends = CHAIN.map(
      (workflow) => stage.feed.runs().filter((run) => run.workflow === workflow && isFinished(run)).length,
    );
    const failed = stage.feed.runs().some((run) => isFinished(run) && run.state !== 'SUCCESS');
    return failed || ends.every((count) => count === rounds) ? ends : undefined;
  });
  if (done === null || done.some((count) => count !== rounds))
    return `the chain for GMV ${act.gmv} did not run to its end`;
  const gmv = await gmvOf(
    stage.api,
    stage.feed.runs().findLast((run) => run.workflow === 'ads'),
  );
  line('result', green(`GMV ${gmv ?? 'unknown'}`));
  return gmv === act.gmv ? null : `the chain produced GMV ${gmv}, not ${act.gmv}`;
};

/** The GMV that an ADS run wrote: the last date's figure of what its task printed. */
export const gmvOf = async (api: Api, run: RunRow | undefined): Promise<string | null> => {
  if (run === undefined) return null;
  const task = (await api.run(run.id)).tasks?.at(-1);
  if (task === undefined) return null;
  const said = /^gmv (\S+)$/m.exec(await api.log(task.id));
  return said?.[1] ?? null;
};

const nothing = async (stage: Stage, act: Act & { act: 'NOTHING' }): Promise<string | null> => {
  const runs = stage.feed.runs().length;
  const expected = act.blockedBy?.toSorted().join();
  const why =
    (await stage.feed.until(SETTLE_MS, async () => {
      const now = await stage.api.why('dwd');
      return expected === undefined || openCodes(now).join() === expected ? now : undefined;
    })) ?? (await stage.api.why('dwd'));
  await stage.feed.look();
  const open = why.groups.flatMap((one) => one.results).filter((leaf) => !leaf.met);
  line(
    'waits',
    `${dim(`${act.because}.`)} ${open.map((leaf) => yellow(`${tableOf(leaf.assetKey ?? 'group')}: ${leaf.actual}`)).join('; ')}`,
  );
  if (stage.feed.runs().length !== runs) return `a run started although ${act.because}`;
  const codes = openCodes(why).join();
  return expected === undefined || codes === expected ? null : `why dwd says ${codes}, not ${expected}`;
};

const openCodes = (why: Why): readonly string[] =>
  why.groups
    .flatMap((one) => one.results)
    .filter((leaf) => !leaf.met)
    .map((leaf) => leaf.code ?? '')
    .toSorted();
