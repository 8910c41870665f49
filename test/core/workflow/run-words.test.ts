import { describe, expect, test } from 'vitest';
import { RUN_STATES, RUN_TRANSITIONS, type RunOperation } from '../../../src/core/workflow/run-state.ts';
import { cannotOperate, cannotRepin, RUN_STATE_WORDS, runStateNamed } from '../../../src/core/workflow/run-words.ts';

describe('runs in words', () => {
  test.each<[Parameters<typeof cannotOperate>[1], RunOperation, string]>([
    ['SUCCESS', 'STOP', 'Run 7 has succeeded and cannot be stopped: rerun it (all tasks) or leave it as it is.'],
    ['SUCCESS', 'RECOVER', 'Run 7 has succeeded and cannot be recovered: rerun it (all tasks) or leave it as it is.'],
    [
      'FAILURE',
      'RESUME',
      'Run 7 has failed and cannot be resumed: recover it (failed tasks and all after them), rerun it (all tasks) or leave it as it is.',
    ],
    ['RUNNING_EXECUTION', 'RERUN', 'Run 7 is running and cannot be rerun: pause it, stop it or wait for its end.'],
    [
      'SUBMITTED_SUCCESS',
      'RESUME',
      'Run 7 is submitted and cannot be resumed: pause it, stop it or wait until it runs.',
    ],
    ['READY_PAUSE', 'RESUME', 'Run 7 is pausing and cannot be resumed: stop it or wait until it is paused.'],
    ['READY_STOP', 'PAUSE', 'Run 7 is stopping and cannot be paused: wait until it is stopped.'],
    ['PAUSE', 'PAUSE', 'Run 7 is paused already: resume it, rerun it (all tasks), stop it or leave it as it is.'],
    ['STOP', 'STOP', 'Run 7 is stopped already: resume it, rerun it (all tasks) or leave it as it is.'],
    ['FAILOVER', 'STOP', 'Run 7 is being taken over and cannot be stopped: wait until that is done.'],
  ])('%s refuses %s', (state, operation, sentence) => {
    expect(cannotOperate(7, state, operation)).toBe(sentence);
  });

  test('no refusal names a state as the database does, nor offers what is refused', () => {
    for (const state of RUN_STATES)
      for (const operation of ['PAUSE', 'RESUME', 'STOP', 'RERUN', 'RECOVER'] as const) {
        if (RUN_TRANSITIONS[state][operation] !== undefined) continue;
        const [, ways = ''] = cannotOperate(7, state, operation).split(': ');
        expect(cannotOperate(7, state, operation)).not.toMatch(/[A-Z_]{4,}/);
        expect(ways).not.toContain(`${operation.toLowerCase()} it`);
      }
  });

  test('new pins are said to be for two operations only', () => {
    expect(cannotRepin('PAUSE')).toBe(
      'Leave out repin: only recover and rerun take new versions, pause keeps those that the run has.',
    );
  });

  test('a state is found by its word and by its name, in any case', () => {
    for (const state of RUN_STATES) {
      expect(runStateNamed(state)).toBe(state);
      expect(runStateNamed(RUN_STATE_WORDS[state])).toBe(state);
    }
    expect(runStateNamed('Failed')).toBe('FAILURE');
    expect(runStateNamed('done')).toBeUndefined();
  });
});
