import { describe, expect, test } from 'vitest';
import type { Ended } from '../../src/executors/executor.ts';
import type { TaskOffer } from '../../src/store/store.ts';
import { endingOf } from '../../src/worker/ending.ts';

const ended = (exitCode: number | null, signal: string | null, endedAt = 1_000n): Ended => ({
  id: { taskRunId: 1, attempt: 1, fence: 1 },
  exitCode,
  signal,
  endedAt,
});

const offer = (run: 'RUNNING_EXECUTION' | 'READY_STOP', deadline: bigint | null = null): TaskOffer =>
  ({ run: { state: run }, task: { timeoutSeconds: 5 }, taskRun: { deadline } }) as unknown as TaskOffer;

describe('what the end of a process means', () => {
  test('exit code 0 is success, even if somebody asked to kill it', () => {
    expect(endingOf(ended(0, null), offer('READY_STOP'), 'STOP').state).toBe('SUCCESS');
  });

  test('another exit code is failure and keeps the code', () => {
    expect(endingOf(ended(3, null), offer('RUNNING_EXECUTION'), null)).toMatchObject({
      state: 'FAILURE',
      exitCode: 3,
      reason: null,
    });
  });

  test('a kill by us says why', () => {
    expect(endingOf(ended(null, 'SIGTERM'), offer('READY_STOP'), 'STOP').state).toBe('KILL');
    expect(endingOf(ended(null, 'SIGKILL'), offer('RUNNING_EXECUTION'), 'TIMEOUT')).toMatchObject({
      state: 'FAILURE',
      reason: 'Killed after its limit of 5 s.',
    });
  });

  test('a script that answers TERM with an exit code of its own was stopped all the same', () => {
    expect(endingOf(ended(143, null), offer('READY_STOP'), 'STOP').state).toBe('KILL');
  });

  test('after a restart the reason is told from what is stored', () => {
    expect(endingOf(ended(null, 'SIGTERM'), offer('READY_STOP'), null).state).toBe('KILL');
    expect(endingOf(ended(null, 'SIGKILL', 2_000n), offer('RUNNING_EXECUTION', 1_500n), null).reason).toMatch(
      /limit of 5 s/,
    );
    expect(endingOf(ended(null, 'SIGKILL', 1_000n), offer('RUNNING_EXECUTION', 1_500n), null).reason).toBe(
      'Ended by signal SIGKILL.',
    );
  });
});
