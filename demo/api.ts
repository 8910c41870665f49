import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The part of Sluice's HTTP API that the demo uses, as docs/reference/api.md describes it. */
export interface EventRow {
  readonly id: number;
  readonly assetKey: string;
  readonly eventType: string;
  readonly snapshotId: string | null;
  readonly commitKind: string | null;
  readonly dataChange: boolean | null;
  readonly status: string;
  readonly sentence: string;
}

export interface RunRow {
  readonly id: number;
  readonly workflow: string;
  readonly state: string;
  readonly commandType: string;
  readonly triggerGroup: string | null;
  readonly pins: Readonly<Record<string, { readonly snapshotId: string; readonly tag?: string }>>;
  readonly tasks?: readonly { readonly id: number; readonly state: string; readonly reason?: string | null }[];
}

export interface Why {
  readonly workflow: string;
  readonly groups: readonly {
    readonly group: string;
    readonly ready: boolean;
    readonly results: readonly {
      readonly assetKey: string | null;
      readonly met: boolean;
      readonly code: string | null;
      readonly needed: string;
      readonly actual: string;
    }[];
  }[];
}

interface Page<T> {
  readonly items: readonly T[];
}

export class Api {
  readonly url: string;
  readonly #token: string;

  constructor(data: string) {
    this.url = (JSON.parse(readFileSync(join(data, 'server.json'), 'utf8')) as { url: string }).url;
    this.#token = readFileSync(join(data, 'admin.token'), 'utf8').trim();
  }

  events = (): Promise<readonly EventRow[]> => this.#items('/projects/gmv/asset-events?limit=500');
  runs = (): Promise<readonly RunRow[]> => this.#items('/projects/gmv/workflow-instances?limit=500');
  run = (id: number): Promise<RunRow> => this.#get(`/projects/gmv/workflow-instances/${id}`);
  why = (workflow: string): Promise<Why> => this.#get(`/projects/gmv/workflow-definitions/${workflow}/why`);

  log = async (taskInstanceId: number): Promise<string> =>
    (await this.#get<{ readonly text: string }>(`/projects/gmv/task-instances/${taskInstanceId}/log`)).text;

  /** States something about an asset, as a quality tool or a person would. */
  emit = async (event: Readonly<Record<string, unknown>>): Promise<void> => {
    const answer = await this.#fetch('/projects/gmv/asset-events', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
    });
    const { rejected } = (await answer.json()) as { rejected: readonly unknown[] };
    if (rejected.length > 0) throw new Error(`The event was rejected: ${JSON.stringify(rejected)}`);
  };

  async #items<T>(path: string): Promise<readonly T[]> {
    return (await this.#get<Page<T>>(path)).items;
  }

  async #get<T>(path: string): Promise<T> {
    return (await (await this.#fetch(path)).json()) as T;
  }

  async #fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string> | undefined), authorization: `Bearer ${this.#token}` };
    const answer = await fetch(`${this.url}/api/v1${path}`, { ...init, headers });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }
}
