import { commitsOf } from './chronicle.ts';
import type { Story } from './story.ts';
import type { AttemptFact, RunFact } from './facts.ts';
import type { Line } from './lines.ts';
import type { PlannedTask, PlannedWorkflow } from './plan.ts';

/** Each task of each run ran, as often as its attempts say and no oftener: the database against what the tasks noted themselves. */

interface Told {
  readonly run: RunFact;
  readonly workflow: PlannedWorkflow;
  readonly attempts: readonly AttemptFact[];
  /** Of this run, with their places among all lines. */
  readonly lines: readonly (Line & { readonly at: number })[];
  /** Nobody stopped or paused it. */
  readonly alone: boolean;
}

const groupBy = <T>(items: readonly T[], key: (item: T) => number): ReadonlyMap<number, readonly T[]> => {
  const groups = new Map<number, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
};

function toldOf({ facts, workflows, chronicle }: Story): readonly Told[] {
  const attempts = groupBy(facts.attempts, ({ runId }) => runId);
  const lines = groupBy(
    facts.lines.map((line, at) => ({ ...line, at })),
    ({ runId }) => runId,
  );
  const steered = new Set(chronicle.steered);
  return facts.runs.flatMap((run) => {
    const workflow = workflows.find(({ name }) => name === run.workflow);
    return workflow === undefined
      ? []
      : [
          {
            run,
            workflow,
            attempts: attempts.get(run.id) ?? [],
            lines: lines.get(run.id) ?? [],
            alone: !steered.has(run.id),
          },
        ];
  });
}

const nameOf = ({ run }: Told, task?: string): string =>
  `run ${run.id} of ${run.workflow}${task === undefined ? '' : `, task ${task}`}`;

const forEachTask = (
  story: Story,
  check: (told: Told, task: PlannedTask, attempts: readonly AttemptFact[]) => readonly string[],
) =>
  toldOf(story).flatMap((told) =>
    told.workflow.tasks.flatMap((task) =>
      check(
        told,
        task,
        told.attempts.filter(({ name }) => name === task.name),
      ).map((problem) => `${nameOf(told, task.name)}: ${problem}`),
    ),
  );

export const runsEnded = (story: Story): readonly string[] => [
  ...story.facts.runs
    .filter(({ workflow }) => !story.workflows.some(({ name }) => name === workflow))
    .map(({ id, workflow }) => `run ${id} is of ${workflow}, which nobody declared`),
  ...toldOf(story).flatMap((told) =>
    told.run.state === told.workflow.ends ? [] : [`${nameOf(told)} is ${told.run.state}, not ${told.workflow.ends}`],
  ),
];

const outline = (attempts: readonly AttemptFact[]): string =>
  attempts
    .map(({ attempt, state, reason }) => `${attempt} ${state}${reason === null ? '' : ` (${reason})`}`)
    .join(', ') || 'none';

/** Of a run that nobody steered: exactly the attempts that its scripts ask for. Else: those, and attempts that were cut short. */
const courseKept = (told: Told, { course, failsWith }: PlannedTask, attempts: readonly AttemptFact[]): boolean => {
  if (told.alone) return attempts.map(({ state }) => state).join() === course.join();
  const allowed = new Set(['SUCCESS', 'KILL', 'PAUSE', ...(failsWith === 0 ? [] : ['FAILURE'])]);
  return attempts.every(({ state }) => allowed.has(state)) && attempts.at(-1)?.state === course.at(-1);
};

export const attemptsRight = (story: Story): readonly string[] =>
  forEachTask(story, (told, task, attempts) => {
    const numbered = attempts.every(({ attempt }, i) => attempt === i + 1);
    const valid = attempts.filter(({ valid }) => valid);
    const lastCounts = attempts.length === 0 || (valid.length === 1 && valid[0] === attempts.at(-1));
    return [
      ...(courseKept(told, task, attempts)
        ? []
        : [
            `its attempts are ${outline(attempts)}; expected ${task.course.join(', ') || 'none'}${told.alone ? '' : ', with some cut short'}`,
          ]),
      ...(numbered ? [] : [`its attempts are numbered ${attempts.map(({ attempt }) => attempt).join(', ')}`]),
      ...(lastCounts ? [] : [`${valid.length} of its ${attempts.length} attempts count, not the last alone`]),
    ];
  });

/** How often a script may have begun for an attempt that ended so: one that was killed may not have come to its first line. */
const startsAllowed = ({ type }: PlannedTask, { state }: AttemptFact): readonly number[] => {
  if (type === 'ASSET_SENSOR' || state === 'PAUSE') return [0];
  return state === 'KILL' ? [0, 1] : [1];
};

const ofAttempt = (line: Line, { id, attempt, fence }: AttemptFact): boolean =>
  line.instanceId === id && line.attempt === attempt && line.fence === fence;

function processesOf(told: Told, task: PlannedTask, attempt: AttemptFact): readonly string[] {
  const lines = told.lines.filter((line) => ofAttempt(line, attempt));
  const starts = lines.filter(({ what }) => what === 'start');
  const ends = lines.filter(({ what }) => what === 'end');
  const allowed = startsAllowed(task, attempt);
  const which = `attempt ${attempt.attempt} (${attempt.state})`;
  const finished = attempt.state === 'SUCCESS' || attempt.state === 'FAILURE';
  const exit = attempt.state === 'SUCCESS' ? 0 : task.failsWith;
  const endsRight =
    task.type === 'ASSET_SENSOR' ||
    !finished ||
    (ends.length === 1 && ends[0]?.exitCode === exit && attempt.exitCode === exit);
  return [
    ...(allowed.includes(starts.length)
      ? []
      : [`${which} has begun ${starts.length} times, not ${allowed.join(' or ')}`]),
    ...(endsRight
      ? []
      : [
          `${which} has exit code ${attempt.exitCode} and noted the ends ${ends.map(({ exitCode }) => exitCode).join(', ') || 'none'}; it must be ${exit}, once`,
        ]),
    ...(ends.length > starts.length
      ? [`${which} has ended ${ends.length} times and begun ${starts.length} times`]
      : []),
  ];
}

export const processesOnce = (story: Story): readonly string[] => {
  const known = groupBy(story.facts.attempts, ({ id }) => id);
  const strange = story.facts.lines.filter(
    (line) =>
      !(known.get(line.instanceId) ?? []).some(
        (attempt) => ofAttempt(line, attempt) && attempt.runId === line.runId && attempt.name === line.task,
      ),
  );
  return [
    ...strange.map((line) => `a process noted what no attempt accounts for: ${JSON.stringify(line)}`),
    ...forEachTask(story, (told, task, attempts) => attempts.flatMap((attempt) => processesOf(told, task, attempt))),
  ];
};

/** A script sees the trigger key and the pins of its run. */
export const readsArePins = (story: Story): readonly string[] =>
  toldOf(story).flatMap((told) =>
    told.lines
      .filter(({ what }) => what === 'start')
      .filter(({ triggerKey, reads }) => {
        const pins = Object.entries(told.run.pins);
        const right = pins.length > 0 && pins.every(([key, id]) => reads[key] === id);
        return !right || triggerKey !== (told.run.triggerKey ?? '');
      })
      .map(
        ({ task, triggerKey, reads }) =>
          `${nameOf(told, task)}: it was told ${triggerKey || 'no key'} and ${JSON.stringify(reads)}, its run has ${told.run.triggerKey} and ${JSON.stringify(told.run.pins)}`,
      ),
  );

/** Nothing begins before all that it depends on has ended well, and no attempt beside the one before it. */
export const orderKept = (story: Story): readonly string[] =>
  forEachTask(story, (told, task, attempts) => {
    const shells = task.dependsOn.filter(
      (name) => told.workflow.tasks.find((one) => one.name === name)?.type === 'SHELL',
    );
    const starts = told.lines.filter((line) => line.what === 'start' && line.task === task.name);
    const early = starts.flatMap((start) =>
      shells
        .filter(
          (name) =>
            !told.lines.some(
              (line) => line.at < start.at && line.what === 'end' && line.task === name && line.exitCode === 0,
            ),
        )
        .map((name) => `attempt ${start.attempt} began before ${name} had succeeded`),
    );
    const beside = attempts.flatMap((attempt) => {
      const end = told.lines.find((line) => line.what === 'end' && ofAttempt(line, attempt));
      const next = starts.find((line) => line.attempt === attempt.attempt + 1);
      return end !== undefined && next !== undefined && next.at < end.at
        ? [`attempt ${next.attempt} began before attempt ${attempt.attempt} had ended`]
        : [];
    });
    return [...early, ...beside];
  });

/** What released a waiting attempt is one trigger record, and is what it waited for; attempts after it in the run read the same. */
export const releasesOnce = (story: Story): readonly string[] => {
  const { triggers } = story.facts;
  const releases = groupBy(
    triggers.filter(({ task }) => task !== null),
    ({ task }) => task?.instanceId ?? 0,
  );
  const known = new Set(story.facts.attempts.map(({ id }) => id));
  const strange = [...releases.keys()].filter((id) => !known.has(id));
  return [
    ...strange.map((id) => `attempt ${id} was released, and there is none`),
    ...forEachTask(story, (told, task, attempts) => {
      const released = attempts.filter(({ pins }) => pins !== null);
      const pins = new Set(released.map((attempt) => JSON.stringify(attempt.pins)));
      const records = attempts.flatMap(({ id }) => releases.get(id) ?? []);
      const { waits } = task;
      if (waits === null)
        return records.length + released.length === 0 ? [] : ['it was released, and waits for nothing'];
      const id = released[0]?.pins?.[waits.assetKey];
      const isCommit = commitsOf(story.chronicle, waits.assetKey).some(
        ({ snapshotId, data }) => data && snapshotId === id,
      );
      const right =
        records.length === 1 &&
        records[0]?.runId === told.run.id &&
        records[0].task?.instanceId === released[0]?.id &&
        pins.has(JSON.stringify(records[0].pins));
      return pins.size === 1 && right && isCommit && attempts.at(-1)?.pins !== null
        ? []
        : [
            `it was released ${records.length} times, with ${[...pins].join(' and ') || 'nothing'}; its attempts: ${outline(attempts)}`,
          ];
    }),
  ];
};

/** Of a baseline: RUN_START takes what was recorded after the run began, LAST_SUCCESS what is newer than in the run before. */
export const baselinesKept = (story: Story): readonly string[] => {
  const newest = new Map<string, number>();
  return forEachTask(story, (told, task, attempts) => {
    const pin = task.waits === null ? undefined : attempts.at(-1)?.pins?.[task.waits.assetKey];
    if (task.waits === null || pin === undefined || !told.alone) return [];
    const { assetKey, baseline } = task.waits;
    const version = story.facts.versions.find((one) => one.assetKey === assetKey && one.snapshotId === pin);
    const last = newest.get(`${told.run.workflow} ${task.name}`) ?? 0;
    newest.set(`${told.run.workflow} ${task.name}`, version?.ordinal ?? 0);
    if (version === undefined) return [`it read ${pin}, which is not recorded`];
    if (baseline === 'RUN_START' && version.recordedAt < told.run.startedAt)
      return [`it read ${pin}, recorded before the run began`];
    return baseline === 'LAST_SUCCESS' && version.ordinal <= last
      ? [`it read ${pin}, which is not newer than what the run before had read`]
      : [];
  });
};
