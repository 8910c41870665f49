import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

/**
 * The tests of `test/e2e` and `test/fault` run twice (vitest.config.ts), the second time on PostgreSQL: there on-postgres.ts has set these before
 * they begin. What they ask of the database they ask by psql, so that a test may look at it wherever it looks at a file.
 */
const SERVER = 'TEST_POSTGRES_URL';
const BIN = 'TEST_POSTGRES_BIN';

/** Makes the tests of this process use PostgreSQL. */
export function usePostgres(url: string, bin: string): void {
  process.env[SERVER] = url;
  process.env[BIN] = bin;
}

/** What is started from now on knows of no PostgreSQL, as before. */
export function forgetPostgres(): void {
  delete process.env[SERVER];
  delete process.env[BIN];
}

/** The address of a schema of a server's database. */
export const inSchema = (server: string, schema: string): string =>
  `${server}/postgres?options=-c%20search_path%3D${schema}`;

/** A schema of its own for a place, or null where the tests run on SQLite. */
export function databaseForPlace(): string | null {
  const server = process.env[SERVER];
  if (server === undefined) return null;
  const name = `e_${randomUUID().replaceAll('-', '')}`;
  psql(`${server}/postgres`, `create schema ${name}`);
  return inSchema(server, name);
}

export function dropDatabase(url: string): void {
  const schema = url.slice(url.lastIndexOf('%3D') + 3);
  psql(url, `set client_min_messages = warning; drop schema if exists ${schema} cascade`);
}

type Rows = readonly Readonly<Record<string, string | number | null>>[];

/** The rows of each query, all as they are at one moment. */
export function selectAll<N extends string>(
  url: string,
  queries: Readonly<Record<N, string>>,
): Readonly<Record<N, Rows>> {
  const parts = Object.entries<string>(queries).map(
    ([name, sql]) => `'${name}', (select coalesce(json_agg(row_to_json(found)), '[]') from (${sql}) as found)`,
  );
  return JSON.parse(psql(url, `select json_build_object(${parts.join(', ')})`)) as Readonly<Record<N, Rows>>;
}

function psql(url: string, sql: string): string {
  const program = join(process.env[BIN] ?? '', 'psql');
  return execFileSync(program, ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', url, '-c', sql], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
}
