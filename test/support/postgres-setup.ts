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

/** What the projects of one run share. */
interface Shared {
  users: number;
  readonly path: string;
  readonly end: () => Promise<void>;
}
const holder = globalThis as { sluicePostgres?: Shared };

/** One PostgreSQL server for the whole run, started when a test first asks, ended with the run. */
export default function setup(project: TestProject): (() => Promise<void>) | undefined {
  const bin = postgresBin();
  const shared = bin === null ? null : (holder.sluicePostgres ??= share(bin));
  project.provide('postgres', shared?.path ?? null);
  if (shared === null) return undefined;
  shared.users += 1;
  return async () => {
    shared.users -= 1;
    if (shared.users === 0) await shared.end();
  };
}

function share(bin: string): Shared {
  let started: Promise<PostgresServer> | undefined;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-postgres-ask-'));
  const path = join(folder, 'ask');
  const asked = createServer((socket) => {
    socket.on('error', () => {});
    started ??= startPostgres(bin);
    void started.then(
      ({ url }) => socket.end(JSON.stringify({ url, bin })),
      (error: unknown) => socket.end(JSON.stringify({ error: String(error) })),
    );
  });
  asked.listen(path);
  asked.unref();
  const end = async (): Promise<void> => {
    asked.close();
    await (await started)?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { users: 0, path, end };
}
