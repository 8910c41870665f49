import { commitsToldOnce, headsCurrent, hintsConfirmed, verdictsOnce, versionsOnce } from './check-tables.ts';
import {
  attemptsRight,
  baselinesKept,
  orderKept,
  processesOnce,
  readsArePins,
  releasesOnce,
  runsEnded,
} from './check-tasks.ts';
import {
  consumedLast,
  everyStepFires,
  firesFollowVersions,
  firesTakeNewest,
  keysUnique,
  startsOnce,
  triggersAreRuns,
} from './check-triggers.ts';
import type { Story } from './story.ts';

const UNFINISHED = new Set(['SUBMITTED_SUCCESS', 'DELAY_EXECUTION', 'DISPATCH', 'RUNNING_EXECUTION']);

function nothingLeft({ facts }: Story): readonly string[] {
  const counts = Object.entries(facts.left).filter(([, n]) => n > 0);
  const stuck = facts.attempts.filter(({ state }) => UNFINISHED.has(state));
  return [
    ...counts.map(([name, n]) => `${n} ${name} are left`),
    ...stuck.map(({ id, name, state, runId }) => `attempt ${id} of task ${name} in run ${runId} is ${state}`),
    ...facts.processes.map((pid) => `the process ${pid} of a task still runs`),
  ];
}

/** The auditor of the storm, pure: each rule says what breaks it, with the facts; nothing: it holds. */
export const RULES: Readonly<Record<string, (story: Story) => readonly string[]>> = {
  'every version once, in order': versionsOnce,
  'states name the newest version': headsCurrent,
  'one event a commit': commitsToldOnce,
  'hints confirmed, none twice': hintsConfirmed,
  'verdicts once, bound to their version': verdictsOnce,
  'fires follow the versions, none lost or doubled': firesFollowVersions,
  'every step fires': everyStepFires,
  'fires take the newest': firesTakeNewest,
  'one trigger, one run': triggersAreRuns,
  'one start by hand, one run': startsOnce,
  'trigger keys unique and made of the pins': keysUnique,
  'consumed is what fired last': consumedLast,
  'every run ended as it must': runsEnded,
  'every task has the attempts that it must': attemptsRight,
  'every attempt was one process': processesOnce,
  'tasks read the pins of their run': readsArePins,
  'tasks in order, attempts one after the other': orderKept,
  'waiting tasks released once': releasesOnce,
  'waiting tasks begin at their baseline': baselinesKept,
  'nothing is left': nothingLeft,
};

export interface Verdict {
  readonly rule: string;
  readonly problems: readonly string[];
}

export const judge = (story: Story): readonly Verdict[] =>
  Object.entries(RULES).map(([rule, check]) => ({ rule, problems: check(story) }));
