import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import pg from 'pg';
import { inject } from 'vitest';
import { inSchema } from './postgres-sync.ts';
import { describeNeeding } from './shared.ts';

/** The run's PostgreSQL server (postgres-setup.ts), with a database for each test that wants one. */

export interface PostgresDatabase {
  readonly url: string;
  /** A statement of the test's own, as another program would make it; rows as the driver gives them. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  drop(): Promise<void>;
}

interface Server {
  readonly url: string;
  readonly bin: string;
}

let asked: Promise<Server> | undefined;

/** Starts it at the first call of the run: that takes some seconds. */
export const postgresServer = (): Promise<Server> => (asked ??= ask());

async function ask(): Promise<Server> {
  const path = inject('postgres');
  if (path === null) throw new Error('PostgreSQL is not installed: apt-get install postgresql.');
  const socket = connect(path);
  let text = '';
  for await (const bytes of socket.setEncoding('utf8')) text += String(bytes);
  const answer = JSON.parse(text) as Server & { readonly error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}

/** Runs statements on the server, outside every test database. */
async function administer(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** An empty schema of the run's database, which is as good as a database of its own and made in a tenth of the time. */
export async function makeDatabase(): Promise<PostgresDatabase> {
  const server = await postgresServer();
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  await administer(server.url, `create schema ${name}`);
  const url = inSchema(server.url, name);
  return {
    url,
    query: async (sql, values = []) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        return (await client.query<Record<string, unknown>>(sql, [...values])).rows;
      } finally {
        await client.end();
      }
    },
    drop: () => administer(server.url, `drop schema ${name} cascade`),
  };
}

/** A suite on the run's server. Where PostgreSQL is not installed it is skipped with one line. */
export function describePostgres(name: string, body: () => void): void {
  const found = inject('postgres');
  describeNeeding(name, { found, enable: 'PostgreSQL: apt-get install postgresql' }, body);
}
