import { isoTime } from '../../core/time.ts';
import type { TaskExplanation } from '../../store/store.ts';
import type { TaskWhyBody } from '../contract/task-why.ts';
import { timeOrNull } from './common.ts';
import { groupAnswer, lastFireBody } from './workflows.ts';

export const taskWhyBody = (workflow: string, explained: TaskExplanation): TaskWhyBody => {
  const { task, wait, waitingCount, lastRelease } = explained;
  const waiting = explained.waiting.map(({ runId, taskRunId, attempt, since, deadline, groups }) => ({
    runId,
    taskInstanceId: taskRunId,
    attempt,
    since: isoTime(since),
    deadline: timeOrNull(deadline),
    groups: groups.map(groupAnswer),
  }));
  return {
    workflow,
    task,
    waits: wait !== null,
    groups: waiting[0]?.groups ?? [],
    waiting,
    waitingCount,
    lastRelease: lastRelease === null ? null : { group: lastRelease.group, ...lastFireBody(lastRelease) },
  };
};
