import { hostname } from 'node:os';
import { Kysely } from 'kysely';
import { type ClientConfig, type CustomTypesConfig, Pool, type PoolClient, types } from 'pg';
import { SluiceError } from '../../core/errors.ts';
import type { Database, Db } from '../database.ts';
import type { StatementHook } from '../dialect.ts';
import type { HintRelay } from '../engine.ts';
import { type Begin, postgresKysely } from './postgres-driver.ts';
import { inWords, isUnreachable, refusal } from './postgres-errors.ts';
import { PostgresHints } from './postgres-hints.ts';
import { Presence } from './postgres-presence.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly hook: StatementHook | null;
  /** Sessions for everything but the master's own transactions. */
  readonly poolSize: number;
  /** How long to wait for a server that cannot be reached, in ms; `onWait` is told once. */
  readonly waitMs: number;
  readonly onWait: (error: unknown) => void;
}

export interface PostgresConnections {
  /** Statements and what people ask for. */
  readonly writer: Db;
  /** One session, for the master's transactions: they wait in line behind each other, and behind nobody else. */
  readonly ownerWriter: Db;
  readonly reader: Db;
  readonly relay: HintRelay;
  readonly presence: Presence;
  /** Ends all sessions but the relay's. */
  readonly end: () => Promise<void>;
}

const CONNECT_LIMIT_MS = 30_000;
/** A process that stands still in the middle of a transaction holds its locks no longer than this. */
const IDLE_IN_TRANSACTION_MS = 15_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/** PostgreSQL's numbers for int8, int2 and int4. */
const WHOLE: ReadonlySet<number> = new Set([20, 21, 23]);

/** Whole numbers are bigint, as SQLite's are. */
const exact: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    const usual = types.getTypeParser(oid, format ?? 'text') as (text: string) => unknown;
    return WHOLE.has(oid) ? BigInt : usual;
  },
};

/** Opens a database, and waits for it where it cannot be reached. Throws DATABASE_UNREACHABLE after that, BAD_CONFIG where it cannot be used. */
export const openPostgres = async (options: PostgresOptions): Promise<PostgresConnections> => {
  const config = clientConfig(options.url);
  const ownerPool = poolOf({ ...config, types: exact }, 1);
  const pool = poolOf({ ...config, types: exact }, options.poolSize);
  let ended: Promise<unknown> | undefined;
  const end = async (): Promise<void> => void (await (ended ??= Promise.all([pool.end(), ownerPool.end()])));
  try {
    await untilUsable(pool, options);
  } catch (error) {
    await end();
    throw error;
  }
  const presence = new Presence(ownerPool);
  const kysely = (
    over: Pool,
    begin: Begin,
    hook: StatementHook | null,
    onReserve?: (client: PoolClient) => Promise<void>,
  ): Db =>
    new Kysely<Database>({
      dialect: postgresKysely({ pool: over, begin, hook, ...(onReserve === undefined ? {} : { onReserve }) }),
    });
  const { hook } = options;
  return {
    writer: kysely(pool, 'BEGIN ISOLATION LEVEL READ COMMITTED', hook),
    ownerWriter: kysely(ownerPool, 'BEGIN ISOLATION LEVEL READ COMMITTED', hook, (client) => presence.reserve(client)),
    reader: kysely(pool, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', null),
    relay: new PostgresHints(config),
    presence,
    end,
  };
};

const clientConfig = (url: string): ClientConfig => ({
  connectionString: url,
  application_name: `sluice ${hostname()}:${process.pid}`.slice(0, 63),
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  connectionTimeoutMillis: CONNECT_LIMIT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
});

/**
 * The server finds out within half a minute that our machine is gone, and drops our locks (where it cannot, it says nothing). A commit that
 * returned is on its disk, even if it is set up to be careless. And whatever we ask has an index: a statement that was prepared while its table
 * was small must not go through all of it once it has grown, which is until statistics are next gathered.
 */
const SESSION = `set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;
  set enable_seqscan = off;
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`;

const poolOf = (config: ClientConfig, max: number): Pool => {
  // The master's session stays: its lock says that the server lives.
  const idleTimeoutMillis = max === 1 ? 0 : 60_000;
  const pool = new Pool({
    ...config,
    max,
    idleTimeoutMillis,
    onConnect: async (client) => void (await client.query(SESSION)),
  });
  pool.on('error', () => {}); // an idle session was lost: the pool has dropped it
  pool.on('connect', (client) => client.on('error', () => {})); // one in use was lost: its statement has failed
  return pool;
};

const untilUsable = async (pool: Pool, { url, waitMs, onWait }: PostgresOptions): Promise<void> => {
  const end = performance.now() + waitMs;
  for (let pause = FIRST_PAUSE_MS, told = false; ; pause = Math.min(LONGEST_PAUSE_MS, 2 * pause)) {
    try {
      return await refuseUnusable(pool, shownOf(url));
    } catch (error) {
      if (!isUnreachable(error)) throw refusal(error, shownOf(url)) ?? error;
      if (performance.now() + pause > end) throw inWords(error);
      if (!told) onWait(inWords(error));
      told = true;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
};

const OLDEST = 100_000n;

const refuseUnusable = async (pool: Pool, shown: string): Promise<void> => {
  const { rows } = await pool.query<{ version: bigint; encoding: string; schema: string | null }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      current_schema() as schema`,
  );
  const [found] = rows;
  if (found === undefined) return;
  if (found.version < OLDEST)
    throw new SluiceError('BAD_CONFIG', `${shown} is older than PostgreSQL 10: use a newer server.`);
  if (found.encoding !== 'UTF8')
    throw new SluiceError(
      'BAD_CONFIG',
      `${shown} stores text as ${found.encoding}: make a database with ENCODING 'UTF8' and name that in database.url.`,
    );
  if (found.schema === null)
    throw new SluiceError('BAD_CONFIG', `${shown} has no schema that its search_path names: create it first.`);
};

/** The address without user, password and options. */
const shownOf = (url: string): string => {
  const [, rest = ''] = url.split('://');
  return `PostgreSQL at ${rest.replace(/^[^@/]*@/, '').replace(/\?.*$/s, '')}`;
};
