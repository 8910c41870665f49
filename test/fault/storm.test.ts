import { existsSync, mkdtempSync, appendFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { chanceOf } from './storm/chance.ts';
import { judge, RULES } from './storm/check.ts';
import { Ledger } from './storm/lines.ts';
import { declarationOf, WORKFLOWS } from './storm/plan.ts';
import type { Story } from './storm/story.ts';
import { type Draft, goodStory } from './storm-story.ts';

/** The auditor of the storm (`npm run soak`) sees what it is there for: each test takes a story in which all is well and breaks one thing. */

const brokenBy = (spoil: (story: Draft) => void): readonly string[] => {
  const story = goodStory();
  spoil(story);
  return judge(story as Story).flatMap(({ rule, problems }) => (problems.length > 0 ? [rule] : []));
};

/** The first of a list that is so; the story has one. */
const find = <T>(list: readonly T[], test: (item: T) => boolean): T => {
  const found = list.find(test);
  if (found === undefined) throw new Error('The story has none such.');
  return found;
};

const remove = <T>(list: T[], test: (item: T) => boolean): void => void list.splice(list.indexOf(find(list, test)), 1);

test('all is well', () => {
  expect(brokenBy(() => {})).toEqual([]);
});

/** What is broken → which rules say so, in their order, and nothing else. */
const FAULTS: Readonly<
  Record<string, readonly [rules: readonly (keyof typeof RULES)[], spoil: (story: Draft) => void]>
> = {
  'a version is lost': [
    ['every version once, in order'],
    ({ facts }) => remove(facts.versions, ({ snapshotId }) => snapshotId === '3'),
  ],
  'a version is recorded twice': [
    ['every version once, in order'],
    ({ facts }) => facts.versions.push({ ...find(facts.versions, ({ ordinal }) => ordinal === 4), ordinal: 5 }),
  ],
  'two versions are in the wrong order': [
    ['every version once, in order'],
    ({ facts }) => {
      find(facts.versions, ({ snapshotId }) => snapshotId === '3').snapshotId = 'x';
      find(facts.versions, ({ snapshotId }) => snapshotId === '4').snapshotId = '3';
      find(facts.versions, ({ snapshotId }) => snapshotId === 'x').snapshotId = '4';
    },
  ],
  'a version without new rows is taken for data': [
    ['every version once, in order'],
    ({ facts }) => void (find(facts.versions, ({ snapshotId }) => snapshotId === '3').data = true),
  ],
  'a version is withdrawn': [
    ['every version once, in order'],
    ({ facts }) => void (find(facts.versions, ({ ordinal }) => ordinal === 4).status = 'WITHDRAWN'),
  ],
  'the state lags behind': [
    ['states name the newest version'],
    ({ facts }) => void (find(facts.heads, ({ assetKey }) => assetKey === 'paimon://s/a').snapshotId = '3'),
  ],
  'a commit is told twice': [
    ['one event a commit'],
    ({ facts }) => facts.events.push(find(facts.events, ({ type }) => type === 'SNAPSHOT_COMMITTED')),
  ],
  'a gap is told that never was': [
    ['one event a commit'],
    ({ facts }) => facts.events.push({ ...find(facts.events, () => true), type: 'HISTORY_GAP' }),
  ],
  'a hint is never confirmed': [
    ['hints confirmed, none twice'],
    ({ facts }) => void (find(facts.events, ({ status }) => status === 'CONFIRMED').status = 'UNCONFIRMED'),
  ],
  'a hint is kept twice': [
    ['hints confirmed, none twice'],
    ({ facts }) => facts.events.push(find(facts.events, ({ status }) => status === 'CONFIRMED')),
  ],
  'an accepted verdict is lost': [
    ['verdicts once, bound to their version'],
    ({ facts }) => remove(facts.events, ({ type }) => type === 'QUALITY_CHECK_PASSED'),
  ],
  'a verdict is recorded twice': [
    ['verdicts once, bound to their version'],
    ({ facts }) => facts.events.push(find(facts.events, ({ type }) => type === 'QUALITY_CHECK_PASSED')),
  ],
  'a verdict waits for its version for ever': [
    ['verdicts once, bound to their version'],
    ({ facts }) => void (find(facts.verdicts, () => true).waiting = true),
  ],
  'a group never fires on the newest version': [
    [
      'fires follow the versions, none lost or doubled',
      'every step fires',
      'one trigger, one run',
      'consumed is what fired last',
    ],
    ({ facts }) => remove(facts.triggers, ({ workflow, pins }) => workflow === 'one' && pins['paimon://s/a'] === '4'),
  ],
  'a group fires twice on one version': [
    [
      'fires follow the versions, none lost or doubled',
      'every step fires',
      'one trigger, one run',
      'trigger keys unique and made of the pins',
    ],
    ({ facts }) => facts.triggers.push({ ...find(facts.triggers, ({ id }) => id === 2), id: 9 }),
  ],
  'a group fires on a version without new rows': [
    [
      'fires follow the versions, none lost or doubled',
      'every step fires',
      'trigger keys unique and made of the pins',
      'consumed is what fired last',
    ],
    ({ facts }) => {
      const wrong = { 'paimon://s/a': '3' };
      find(facts.triggers, ({ id }) => id === 2).pins = wrong;
      const run = find(facts.runs, ({ id }) => id === 2);
      run.pins = wrong;
      for (const line of facts.lines) if (line.runId === 2 && line.what === 'start') line.reads = wrong;
    },
  ],
  'a group fires on a version that has not passed': [
    ['verdicts once, bound to their version', 'fires follow the versions, none lost or doubled'],
    ({ chronicle }) => void (find(chronicle.verdicts, ({ snapshotId }) => snapshotId === '2').passed = false),
  ],
  'a step has no run': [
    ['every step fires'],
    ({ chronicle, facts }) => {
      // Between the two that fired: only a table that waits for its run can tell that it was passed over.
      const at = { assetKey: 'paimon://s/a', data: true, snapshotId: '3' };
      find(chronicle.commits['paimon://s/a'] ?? [], ({ snapshotId }) => snapshotId === '3').data = true;
      Object.assign(
        find(facts.versions, ({ snapshotId }) => snapshotId === '3'),
        at,
      );
    },
  ],
  'a group is decided on what was there before': [
    ['fires take the newest'],
    ({ facts }) => void (find(facts.triggers, ({ id }) => id === 1).at = 60_000),
  ],
  'a trigger has no run': [['one trigger, one run'], ({ facts }) => remove(facts.runs, ({ id }) => id === 2)],
  'a trigger has two runs': [
    ['one trigger, one run', 'every task has the attempts that it must'],
    ({ facts }) => facts.runs.push({ ...find(facts.runs, ({ id }) => id === 2), id: 9 }),
  ],
  'a run has other pins than its trigger': [
    ['one trigger, one run', 'tasks read the pins of their run'],
    ({ facts }) => void (find(facts.runs, ({ id }) => id === 2).pins = { 'paimon://s/a': '2' }),
  ],
  'a run by hand is made twice': [
    ['one start by hand, one run', 'every task has the attempts that it must'],
    ({ facts }) => facts.runs.push({ ...find(facts.runs, ({ id }) => id === 4), id: 9 }),
  ],
  'an answered start is lost': [['one start by hand, one run'], ({ chronicle }) => chronicle.starts.push('key-2')],
  'a trigger key says something else': [
    ['one trigger, one run', 'trigger keys unique and made of the pins'],
    ({ facts }) => void (find(facts.triggers, ({ id }) => id === 2).key = 'workflow_1_group_g_x=1:1'),
  ],
  'what was consumed is not what fired': [
    ['consumed is what fired last'],
    ({ facts }) => void (find(facts.consumed, ({ workflow }) => workflow === 'one').snapshotId = '2'),
  ],
  'a run never ends': [
    [
      'every run ended as it must',
      'every task has the attempts that it must',
      'every attempt was one process',
      'nothing is left',
    ],
    ({ facts }) => {
      find(facts.runs, ({ id }) => id === 2).state = 'RUNNING_EXECUTION';
      find(facts.attempts, ({ id }) => id === 6).state = 'RUNNING_EXECUTION';
      remove(facts.lines, ({ what, instanceId }) => what === 'start' && instanceId === 6);
    },
  ],
  'a failed run': [
    ['every run ended as it must'],
    ({ facts }) => void (find(facts.runs, ({ id }) => id === 2).state = 'FAILURE'),
  ],
  'a task has no attempt': [
    ['every task has the attempts that it must', 'every attempt was one process'],
    ({ facts }) => remove(facts.attempts, ({ id }) => id === 6),
  ],
  'a retry that was not to be': [
    ['every task has the attempts that it must', 'every attempt was one process'],
    ({ facts }) => {
      const last = find(facts.attempts, ({ id }) => id === 6);
      facts.attempts.push({ ...last, id: 60, attempt: last.attempt + 1 });
      last.valid = false;
    },
  ],
  'two attempts of a task count': [
    ['every task has the attempts that it must'],
    ({ facts }) => void (find(facts.attempts, ({ id }) => id === 2).valid = true),
  ],
  'an attempt is lost with its process': [
    ['every task has the attempts that it must', 'every attempt was one process'],
    ({ facts }) =>
      Object.assign(
        find(facts.attempts, ({ id }) => id === 6),
        { state: 'FAILURE', exitCode: null },
      ),
  ],
  'a process never ran, though its attempt succeeded': [
    ['every attempt was one process'],
    ({ facts }) => {
      remove(facts.lines, ({ what, instanceId }) => what === 'start' && instanceId === 6);
      remove(facts.lines, ({ what, instanceId }) => what === 'end' && instanceId === 6);
    },
  ],
  'a process ran twice for one attempt': [
    ['every attempt was one process'],
    ({ facts }) => facts.lines.push(...facts.lines.filter(({ instanceId }) => instanceId === 6)),
  ],
  'a process ran that no attempt accounts for': [
    ['every attempt was one process'],
    ({ facts }) => facts.lines.push({ ...find(facts.lines, ({ instanceId }) => instanceId === 6), fence: 7 }),
  ],
  'an exit code is not that of the process': [
    ['every attempt was one process'],
    ({ facts }) => void (find(facts.attempts, ({ id }) => id === 2).exitCode = 9),
  ],
  'a task reads another version': [
    ['tasks read the pins of their run'],
    ({ facts }) =>
      void (find(facts.lines, ({ runId, what }) => runId === 2 && what === 'start').reads = { 'paimon://s/a': '2' }),
  ],
  'a task begins before the one that it depends on has ended': [
    ['tasks in order, attempts one after the other'],
    ({ facts }) => {
      const at = facts.lines.findIndex(({ what, instanceId }) => what === 'end' && instanceId === 4);
      const [end] = facts.lines.splice(at, 1);
      if (end !== undefined) facts.lines.push(end);
    },
  ],
  'a retry runs beside what it retries': [
    ['tasks in order, attempts one after the other'],
    ({ facts }) => {
      const at = facts.lines.findIndex(({ what, instanceId }) => what === 'end' && instanceId === 2);
      const [end] = facts.lines.splice(at, 1);
      if (end !== undefined) facts.lines.push(end);
    },
  ],
  'a waiting task is released twice': [
    ['trigger keys unique and made of the pins', 'waiting tasks released once'],
    ({ facts }) => facts.triggers.push({ ...find(facts.triggers, ({ task }) => task !== null), id: 9 }),
  ],
  'a waiting task goes on without its version': [
    ['waiting tasks released once'],
    ({ facts }) => void (find(facts.attempts, ({ pins }) => pins !== null).pins = null),
  ],
  'a waiting task takes what was there before its run': [
    ['waiting tasks begin at their baseline'],
    ({ facts }) => void (find(facts.runs, ({ id }) => id === 3).startedAt = 50_000),
  ],
  'a command is left': [['nothing is left'], ({ facts }) => void (facts.left.commands = 1)],
  'a change is left that no group was asked about': [['nothing is left'], ({ facts }) => void (facts.left.changes = 1)],
  'an evaluation is left': [['nothing is left'], ({ facts }) => void (facts.left.evaluations = 1)],
  'a process is left': [['nothing is left'], ({ facts }) => facts.processes.push(4711)],
};

for (const [fault, [rules, spoil]] of Object.entries(FAULTS))
  test(fault, () => {
    expect(brokenBy(spoil)).toEqual(rules);
  });

/** The task of run 2 that comes last was killed and begins again. */
const cutShort = ({ facts }: Draft): void => {
  const last = find(facts.attempts, ({ id }) => id === 6);
  facts.attempts.push({ ...last, id: 60, attempt: 2 });
  Object.assign(last, { state: 'KILL', valid: false, exitCode: 143 });
  remove(facts.lines, ({ what, instanceId }) => what === 'end' && instanceId === 6);
  const start = find(facts.lines, ({ instanceId }) => instanceId === 6);
  const again = { ...start, instanceId: 60, attempt: 2 };
  facts.lines.push(again, { ...again, what: 'end', exitCode: 0 });
};

test('a run that was stopped and resumed is well, one that nobody stopped is not', () => {
  const stopped = (story: Draft): void => {
    cutShort(story);
    story.chronicle.steered.push(2);
  };
  expect(brokenBy(stopped)).toEqual([]);
  expect(brokenBy(cutShort)).toEqual(['every task has the attempts that it must']);
});

test('every rule is seen to be broken by something', () => {
  const seen = new Set(Object.values(FAULTS).flatMap(([rules]) => rules));
  expect(Object.keys(RULES).filter((rule) => !seen.has(rule))).toEqual([]);
});

test('lines are read on from where they were read last, whole ones only; one that is none is refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'ledger');
  const ledger = new Ledger(path);
  expect(existsSync(path)).toBe(false);
  expect(ledger.lines()).toEqual([]);
  appendFileSync(path, 'start|1|read|7|1|2|key|paimon://s/a=9223372036854775807,paimon://s/b=\nend|1|re');
  const start = { what: 'start', runId: 1, task: 'read', instanceId: 7, attempt: 1, fence: 2, exitCode: null };
  const first = { ...start, triggerKey: 'key', reads: { 'paimon://s/a': '9223372036854775807', 'paimon://s/b': '' } };
  expect(ledger.lines()).toEqual([first]);
  appendFileSync(path, 'ad|7|1|2|143\n');
  expect(ledger.lines()).toEqual([first, { ...start, what: 'end', exitCode: 143, triggerKey: '', reads: {} }]);
  appendFileSync(path, 'starstart|1|read|8|1|2|key|\n');
  expect(() => ledger.lines()).toThrow(/No task writes such a line/);
});

test('the same seed makes the same choices, another one others', () => {
  const choices = (seed: number): readonly number[] => {
    const chance = chanceOf(seed);
    return Array.from({ length: 50 }, () => chance.between(1, 1_000));
  };
  expect(choices(7)).toEqual(choices(7));
  expect(choices(7)).not.toEqual(choices(8));
  expect(Math.min(...choices(7))).toBeGreaterThanOrEqual(1);
  expect(Math.max(...choices(7))).toBeLessThanOrEqual(1_000);
  expect(new Set(choices(7)).size).toBeGreaterThan(40);
});

test('what is declared is what is expected: each workflow with its groups and tasks', () => {
  const { workflows } = declarationOf('/w', '/l');
  expect(workflows.map(({ name, tasks, triggers }) => [name, tasks.length, triggers.length])).toEqual(
    WORKFLOWS.map(({ name, tasks, groups }) => [name, tasks.length, groups.length]),
  );
});
