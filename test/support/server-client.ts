import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PinsBody } from '../../src/api/contract/common.ts';
import type { RunDetailsBody, RunTasksBody, TaskRunBody } from '../../src/api/contract/workflows.ts';
import { type Place, type ServerProcess, until } from './server.ts';

/** A small client of a server under test, for what tests do again and again. */
export interface TestClient {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<T>;
  /** Applies a declaration of the client's project. */
  apply(declaration: Readonly<Record<string, unknown>>): Promise<void>;
  emit(event: Readonly<Record<string, unknown>>): Promise<void>;
  runs(): Promise<readonly RunDetailsBody[]>;
  run(id: number): Promise<RunDetailsBody>;
  /** All attempts of a run, oldest first. */
  attempts(id: number): Promise<readonly TaskRunBody[]>;
  /** Waits until the run is in this state. Throws as soon as the server is dead. */
  untilRun(id: number, state: string): Promise<RunDetailsBody>;
  untilRuns(count: number, state: string): Promise<readonly RunDetailsBody[]>;
}

/** The server answered with an error. */
class Refused extends Error {
  override readonly name = 'Refused';
}

/** A request to a server that is dead fails with what fetch throws. */
export function clientOf(place: Place, server: ServerProcess, project: string): TestClient {
  const token = readFileSync(join(place.data, 'admin.token'), 'utf8').trim();
  const call = async <T>(path: string, init: RequestInit): Promise<T> => {
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` };
    const answer = await fetch(`${server.url}/api/v1/projects/${project}${path}`, {
      ...init,
      headers,
      signal: AbortSignal.timeout(15_000),
    });
    if (!answer.ok) throw new Refused(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const get = <T>(path: string): Promise<T> => call(path, {});
  const post = <T>(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<T> =>
    body === undefined
      ? call(path, { method: 'POST', headers })
      : call(path, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
  const runs = async (): Promise<readonly RunDetailsBody[]> =>
    (await get<{ items: RunDetailsBody[] }>('/workflow-instances?limit=500')).items.toSorted((a, b) => a.id - b.id);
  const run = (id: number): Promise<RunDetailsBody> => get(`/workflow-instances/${id}`);
  return {
    get,
    post,
    apply: async (declaration) => void (await post('/apply', { declaration })),
    emit: async (event) => {
      const { rejected } = await post<{ rejected: readonly unknown[] }>('/asset-events', event);
      if (rejected.length > 0) throw new Refused(JSON.stringify(rejected));
    },
    runs,
    run,
    attempts: async (id) => (await get<RunTasksBody>(`/workflow-instances/${id}/tasks`)).history,
    untilRun: (id, state) => until(`run ${id} to be ${state}`, async () => inState(await run(id), state)),
    untilRuns: (count, state) =>
      until(`${count} runs that are ${state}`, async () => {
        const found = await runs();
        return found.length >= count && found.every((one) => one.state === state) ? found : undefined;
      }),
  };
}

const inState = (run: RunDetailsBody, state: string): RunDetailsBody | undefined =>
  run.state === state ? run : undefined;

/** Asset key → snapshot id. */
export const snapshotsOf = (pins: PinsBody): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(pins).map(([key, pin]) => [key, pin.snapshotId]));
