import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, postgresBin, startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A socket that answers with the address of the run's PostgreSQL server, which the first question starts; null: none is installed. */
    readonly postgres: string | null;
  }
}

/** One PostgreSQL server for the whole run, started when a test first asks, ended with the run. */
export default function setup(project: TestProject): (() => Promise<void>) | undefined {
  const bin = postgresBin();
  if (bin === null) {
    project.provide('postgres', null);
    return undefined;
  }
  let started: Promise<PostgresServer> | undefined;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-postgres-ask-'));
  const asked = createServer((socket) => {
    socket.on('error', () => {});
    started ??= startPostgres(bin);
    void started.then(
      ({ url }) => socket.end(JSON.stringify({ url, bin })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    );
  });
  const path = join(folder, 'ask');
  asked.listen(path);
  asked.unref();
  project.provide('postgres', path);
  return async () => {
    asked.close();
    await (await started)?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}
