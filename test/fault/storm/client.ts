import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from './pace.ts';
import { PROJECT_NAME } from './plan.ts';
import type { Place } from './server.ts';

/** What a caller does whose server dies again and again: it asks until it is answered. */

/** An answer that may be the server's right to give. */
export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

const PATIENCE_MS = 10_000;
/** The pause before the same is asked again, which grows. */
const AGAIN_MS = { first: 80, most: 640 };

export class Client {
  /** Requests sent once more because no answer came. */
  retries = 0;
  answers = 0;
  /** Answers of a server that is at its end: it lives and cannot do what it should. */
  readonly faults: string[] = [];
  readonly #place: Place;
  readonly #closed = new AbortController();

  constructor(place: Place) {
    this.#place = place;
  }

  /** Nobody is asked any more: whoever still waits for an answer gets an error. */
  close(): void {
    this.#closed.abort();
  }

  /** Asks until it is answered; statuses other than 2xx and those that are expected are noted as faults, and 5xx are asked again. */
  async post<T>(
    path: string,
    body: unknown,
    options: { readonly key?: string; readonly expected?: readonly number[] } = {},
  ): Promise<Answer<T>> {
    const headers = {
      'content-type': 'application/json',
      ...(options.key === undefined ? {} : { 'idempotency-key': options.key }),
    };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    for (let wait = AGAIN_MS.first; ; wait = Math.min(2 * wait, AGAIN_MS.most)) {
      const answer = await this.#ask<T>(path, init);
      if (answer !== null && (answer.status < 300 || options.expected?.includes(answer.status) === true)) return answer;
      if (answer !== null)
        this.faults.push(`POST ${path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      if (answer !== null && answer.status < 500) return answer;
      this.retries += 1;
      await pause(wait, this.#closed.signal);
    }
  }

  async get<T>(path: string): Promise<T> {
    for (;;) {
      const answer = await this.#ask<T>(path, {});
      if (answer !== null && answer.status < 300) return answer.body;
      if (answer !== null)
        this.faults.push(`GET ${path} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      await pause(AGAIN_MS.first, this.#closed.signal);
    }
  }

  /** null: no answer, or half of one. */
  async #ask<T>(path: string, init: RequestInit): Promise<Answer<T> | null> {
    this.#closed.signal.throwIfAborted();
    try {
      const token = readFileSync(join(this.#place.data, 'admin.token'), 'utf8').trim();
      const headers = { ...(init.headers as Record<string, string> | undefined), authorization: `Bearer ${token}` };
      const url = `http://127.0.0.1:${this.#place.port}/api/v1/projects/${PROJECT_NAME}${path}`;
      const answer = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(PATIENCE_MS) });
      const whole = { status: answer.status, body: (await answer.json()) as T };
      this.answers += 1;
      return whole;
    } catch (error) {
      if (error instanceof DOMException && error.name === 'TimeoutError')
        this.faults.push(`${path} was not answered within ${PATIENCE_MS} ms`);
      return null;
    }
  }
}
