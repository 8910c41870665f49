import type { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import Type from 'typebox';
import { SluiceError } from '../../core/errors.ts';
import type { TaskRun } from '../../core/workflow/run.ts';
import { isTaskFinished } from '../../core/workflow/task-state.ts';
import { ProjectParam } from '../contract/common.ts';
import { LogBody } from '../contract/workflows.ts';
import type { ApiDeps } from '../deps.ts';
import { runOfTask } from '../actions/find.ts';
import type { Routes } from '../app.ts';
import { wholeCharacters } from '../http/utf8.ts';

const PIECE = 256 * 1024;
const LOOK_MS = 250;
const KEEP_ALIVE_MS = 15_000;
const Params = Type.Object({ ...ProjectParam, id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) });

export const logRoutes: Routes = (app, deps) => {
  const followers = new Followers();
  app.get(
    '/projects/:projectCode/task-instances/:id/log',
    {
      config: { permission: 'read' },
      exposeHeadRoute: false, // it would follow a log that nobody reads
      schema: {
        operationId: 'getTaskInstanceLog',
        tags: ['task-instances'],
        summary:
          'A piece of the log; with "Accept: text/event-stream" all of it as it grows: events "log", then one "end".',
        params: Params,
        querystring: Type.Object({
          offset: Type.Optional(Type.Integer({ minimum: 0 })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PIECE })),
        }),
        response: { 200: LogBody },
      },
    },
    async ({ params, query, headers }, reply) => {
      const { project } = await runOfTask(deps.store, params.projectCode, params.id);
      const offset = resumeAt(headers['last-event-id']) ?? query.offset ?? 0;
      if (!(headers.accept ?? '').includes('text/event-stream'))
        return piece(deps, await attempt(deps, params.id), offset, query.limit ?? PIECE);
      deps.log.debug('A log is followed.', { taskInstanceId: params.id, project });
      const stream = Readable.from(follow(deps, params.id, offset, followers.open(reply.raw)));
      return reply
        .type('text/event-stream')
        .header('cache-control', 'no-store')
        .send(stream as never);
    },
  );
};

const MOST_FOLLOWERS = 100;

/** Each follower asks the database four times a second. */
class Followers {
  #open = 0;

  /** Aborted when the follower is gone: a generator that only waits would not learn it. Throws TOO_MANY_FOLLOWERS. */
  open(connection: EventEmitter): AbortSignal {
    if (this.#open >= MOST_FOLLOWERS)
      throw new SluiceError(
        'TOO_MANY_FOLLOWERS',
        `Close some of the ${this.#open} logs that are followed, or ask for pieces of this one.`,
      );
    const gone = new AbortController();
    this.#open++;
    connection.once('close', () => {
      this.#open--;
      gone.abort();
    });
    return gone.signal;
  }
}

/** Where a follower that lost its connection goes on: the id of an event is the offset after it. */
const resumeAt = (lastEventId: string | string[] | undefined): number | null =>
  typeof lastEventId === 'string' && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : null;

const attempt = async (deps: ApiDeps, taskRunId: number): Promise<TaskRun> => {
  const { history } = await deps.store.runs.ofTask(taskRunId);
  const found = history.find((task) => task.id === taskRunId);
  if (found === undefined)
    throw new SluiceError('NOT_FOUND', `Ask for a task instance that exists: there is no ${taskRunId}.`);
  return found;
};

/** The attempt's state is read before its log, so that when it has ended what is read is all. */
const piece = async (deps: ApiDeps, task: TaskRun, offset: number, limit: number) => {
  const id = { taskRunId: task.id, attempt: task.attempt, fence: task.fence };
  const { bytes, size } = await deps.attemptLog(id, task.runId, offset, limit);
  const ended = isTaskFinished(task.state);
  const atEnd = offset + bytes.length >= size;
  const whole = ended && atEnd ? bytes : wholeCharacters(bytes);
  return {
    taskInstanceId: task.id,
    offset,
    nextOffset: offset + whole.length,
    size,
    state: task.state,
    finished: ended && atEnd,
    text: new TextDecoder().decode(whole),
  };
};

/** Server-sent events: `log` {offset, text} as the log grows, at the end `end` {state, exitCode}. */
async function* follow(deps: ApiDeps, taskRunId: number, from: number, gone: AbortSignal): AsyncGenerator<string> {
  let offset = from;
  let quietSince = deps.clock.monotonicMs();
  while (!gone.aborted) {
    const task = await attempt(deps, taskRunId);
    const { text, nextOffset, finished } = await piece(deps, task, offset, PIECE);
    if (nextOffset > offset) {
      yield sent('log', { offset, text }, nextOffset);
      quietSince = deps.clock.monotonicMs();
    }
    const moved = nextOffset > offset;
    offset = nextOffset;
    if (finished) {
      yield sent('end', { state: task.state, exitCode: task.exitCode }, offset);
      return;
    }
    if (moved) continue;
    if (deps.clock.monotonicMs() - quietSince > KEEP_ALIVE_MS) {
      yield ': still here\n\n';
      quietSince = deps.clock.monotonicMs();
    }
    await new Promise<void>((resolve) => void deps.clock.setTimer(LOOK_MS, resolve));
  }
}

const sent = (event: string, data: object, id: number): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
