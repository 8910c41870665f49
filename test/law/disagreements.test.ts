import { expect, test } from 'vitest';
import { exceptionsOf, judge } from '../../scripts/disagreements.ts';

const none: ReadonlySet<string> = new Set();
const output = 'DISAGREE a/t step 3\n    must   head 4, truth 5\n8 agree, 1 disagree\n';

test('a script that disagrees nowhere passes', () => {
  expect(judge('9 agree, 0 disagree\n', none)).toEqual([]);
});

test('a disagreement is a problem unless it is listed', () => {
  expect(judge(output, none)).toEqual(['disagrees: a/t step 3']);
  expect(judge(output, new Set(['a/t step 3']))).toEqual([]);
});

test('a listed disagreement that is gone is a problem: the list stays short', () => {
  expect(judge('9 agree, 0 disagree\n', new Set(['a/t step 3']))).toEqual([
    'is listed as an exception but agrees now: a/t step 3',
  ]);
});

test('a script that died, agreed nowhere or hides disagreements is a problem', () => {
  expect(judge('Error: missing\n', none)).toEqual(['it did not come to its closing line']);
  expect(judge('0 agree, 0 disagree\n', none)).toEqual(['it agreed nowhere']);
  expect(judge('8 agree, 2 disagree\n', none)).toEqual(['it counts 2 disagreements and names 0']);
});

test('the exceptions file gives each script its own lines; comments are none', () => {
  const file = '# why: a/t\nreplay: a/t step 3\ninspect: b/u\nreplay: c/v\n';
  expect([...exceptionsOf('replay', file)]).toEqual(['a/t step 3', 'c/v']);
  expect([...exceptionsOf('inspect', file)]).toEqual(['b/u']);
  expect([...exceptionsOf('why', file)]).toEqual([]);
});
