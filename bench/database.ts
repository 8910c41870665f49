import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

/**
 * `--database postgres://…`: whatever a benchmark would keep in an SQLite file it keeps in a schema of that database instead, which is named after
 * the file and dropped at the end. The processes of a benchmark hear of it by this variable.
 */
const VARIABLE = 'BENCH_DATABASE';

export const useDatabase = (url: string | undefined): void => {
  if (url !== undefined) process.env[VARIABLE] = url;
};

const server = (): string | null => process.env[VARIABLE] ?? null;

/** Folders of a run are called `sluice-bench-XXXXXX`. */
const prefixOf = (path: string): string => `bench_${/sluice-bench-(\w+)/.exec(path)?.[1]?.toLowerCase() ?? 'x'}_`;

const withClient = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: server() ?? '' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/** What a store or a server opens in place of this file. */
export const databaseFor = async (file: string): Promise<string> => {
  const url = server();
  if (url === null) return file;
  const schema = prefixOf(file) + createHash('sha256').update(file).digest('hex').slice(0, 12);
  await withClient((client) => client.query(`create schema if not exists ${schema}`));
  return `${url}${url.includes('?') ? '&' : '?'}options=-c%20search_path%3D${schema}`;
};

/** The variable by which a server is told, or nothing. */
export const databaseEnv = async (file: string): Promise<Readonly<Record<string, string>>> =>
  server() === null ? {} : { SLUICE_DATABASE_URL: await databaseFor(file) };

/** What the host's line says beside SQLite's version. */
export const databaseVersion = async (): Promise<string | null> =>
  server() === null
    ? null
    : withClient(async (client) => {
        const { rows } = await client.query<{ version: string }>("select current_setting('server_version') as version");
        return `PostgreSQL ${rows[0]?.version ?? ''}`;
      });

export const dropSchemas = async (folder: string): Promise<void> => {
  if (server() === null) return;
  await withClient(async (client) => {
    const names = await client.query<{ name: string }>(
      'select nspname as name from pg_namespace where starts_with(nspname, $1)',
      [prefixOf(folder)],
    );
    for (const { name } of names.rows) await client.query(`drop schema ${name} cascade`);
  });
};

/** The plain limit of whatever writes: a table with one row after the other, each forced to the disk as the database does it. */
export interface PlainTable {
  readonly name: string;
  /** So many rows, each in a transaction of its own; how long it took, in ms. */
  commit(times: number): Promise<number>;
  /** So many rows, `batch` in a transaction; how long it took, in ms. */
  fill(rows: number, batch: number): Promise<number>;
  close(): Promise<void>;
}

const HASHED = (i: number): string => `${Math.imul(i, 2_654_435_761) >>> 0}-${i}`;
const TEXT = 'Version 12345 (APPEND) was committed at some time.';

export const plainTable = async (file: string): Promise<PlainTable> =>
  server() === null ? sqliteTable(file) : postgresTable(await databaseFor(file));

const timed = async (work: () => Promise<unknown> | unknown): Promise<number> => {
  const from = performance.now();
  await work();
  return performance.now() - from;
};

const sqliteTable = (file: string): PlainTable => {
  const database = new DatabaseSync(file);
  database.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, hash TEXT UNIQUE, asset INTEGER, text TEXT) STRICT;',
  );
  const insert = database.prepare('INSERT INTO t (hash, asset, text) VALUES (?, ?, ?)');
  let next = 0;
  const insertOne = (): void => void insert.run(HASHED(next), next++ % 10_000, TEXT);
  return {
    name: 'SQLite',
    commit: (times) =>
      timed(() => {
        for (let i = 0; i < times; i += 1) insertOne();
      }),
    fill: (rows, batch) =>
      timed(() => {
        for (let at = 0; at < rows; at += batch) {
          database.exec('BEGIN IMMEDIATE');
          for (let i = at; i < Math.min(rows, at + batch); i += 1) insertOne();
          database.exec('COMMIT');
        }
      }),
    close: async () => database.close(),
  };
};

const postgresTable = async (url: string): Promise<PlainTable> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    'create table t (id bigint generated always as identity primary key, hash text unique, asset bigint, text text)',
  );
  const text = 'insert into t (hash, asset, text) select * from unnest($1::text[], $2::bigint[], $3::text[])';
  let next = 0;
  const insert = async (rows: number): Promise<void> => {
    const at = Array.from({ length: rows }, () => next++);
    const values = [at.map(HASHED), at.map((i) => i % 10_000), at.map(() => TEXT)];
    await client.query({ name: 'insert', text, values });
  };
  return {
    name: 'PostgreSQL',
    commit: (times) =>
      timed(async () => {
        for (let i = 0; i < times; i += 1) await insert(1);
      }),
    fill: (rows, batch) =>
      timed(async () => {
        for (let at = 0; at < rows; at += batch) await insert(Math.min(batch, rows - at));
      }),
    close: () => client.end(),
  };
};
