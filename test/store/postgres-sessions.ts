import pg from 'pg';
import { onTestFinished } from 'vitest';
import { assemble } from '../../src/store/assemble.ts';
import { postgresDialect } from '../../src/store/dialects/postgres.ts';
import { openPostgres } from '../../src/store/dialects/postgres-open.ts';
import { Engine } from '../../src/store/engine.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { clock, nonce, sha256, START } from '../contract/store/support.ts';
import { makeDatabase, type PostgresDatabase } from '../support/postgres.ts';
import { until } from '../support/server.ts';

/** Sessions of other programs, and stores, on a database of the test's own; all of it goes when the test has ended. */

export interface Scene {
  readonly database: PostgresDatabase;
  /** A store that owns nothing; `owner` one that has claimed the database. */
  open(): Promise<Store>;
  owner(): Promise<Store>;
  /** A second store with the ownership of the first, as if a master had two threads. */
  twin(generation: bigint): Promise<Store>;
  session(): Promise<Session>;
}

/** A session that holds what it has locked until it is let go. */
export interface Session {
  run(sql: string): Promise<readonly Record<string, unknown>[]>;
  commit(): Promise<void>;
}

export async function scene(): Promise<Scene> {
  clock.time = START;
  const database = await makeDatabase();
  onTestFinished(() => database.drop());
  const open = async (): Promise<Store> => {
    const store = await openStore({ url: database.url, clock: clock.now, nonce, sha256, ignoreDatabaseClock: true });
    onTestFinished(() => store.close());
    return store;
  };
  return {
    database,
    open,
    owner: async () => {
      const store = await open();
      await store.admin.migrate();
      await store.admin.claimOwnership('test');
      return store;
    },
    twin: async (generation) => {
      const connections = await openPostgres({
        url: database.url,
        hook: null,
        poolSize: 4,
        waitMs: 0,
        onWait: () => {},
      });
      const engine = new Engine({ ...connections, dialect: postgresDialect(clock.now), nonce, sha256 });
      engine.setGeneration(generation);
      const store = assemble(engine, (what, error) => {
        throw new Error(what, { cause: error });
      });
      onTestFinished(() => store.close());
      return store;
    },
    session: async () => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      onTestFinished(() => client.end());
      await client.query('begin');
      return {
        run: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
        commit: async () => void (await client.query('commit')),
      };
    },
  };
}

/** Waits until this many sessions of the schema's stores wait for locks. */
export async function untilBlocked(database: PostgresDatabase, count: number): Promise<void> {
  const blocked = `select count(*)::int as n from pg_stat_activity
    where application_name like 'sluice %' and wait_event_type = 'Lock' and backend_start > now() - interval '1 hour'
      and pid in (select pid from pg_locks join pg_class on pg_class.oid = relation
        where relnamespace = current_schema()::regnamespace)`;
  await until(`${count} blocked sessions`, async () => Number((await database.query(blocked))[0]?.['n']) >= count);
}
