import type { Pool, PoolClient } from 'pg';
import { SluiceError } from '../../core/errors.ts';
import { inWords } from './postgres-errors.ts';
import { LOCKS } from './postgres.ts';

/** A server that was killed a moment ago may still have its session: PostgreSQL notices when it next reads from the connection. */
const PATIENCE_MS = 3_000;
const LOOK_MS = 50;

const LOCK = `${LOCKS.presence}, hashtext(current_schema())`;
/** Whose session holds the lock; another role's application_name is not shown to us. */
const HOLDER = `select activity.application_name as name from pg_locks as held
  join pg_stat_activity as activity on activity.pid = held.pid
  where held.locktype = 'advisory' and held.granted and held.classid = ${LOCKS.presence}
    and held.objid = hashtext(current_schema())::oid
    and held.database = (select oid from pg_database where datname = current_database())`;

/**
 * That one server works on a database, and while it lives no second: a lock of the master's session, which PostgreSQL drops with the session,
 * however the server ends. It only keeps people from starting two by mistake; what makes a second one harmless is the generation (engine.ts).
 */
export class Presence {
  readonly #pool: Pool;
  readonly #holding = new WeakSet<PoolClient>();
  #wanted = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Before the master's session is used: a new session, after a lost one, takes the lock again as soon as it is free. */
  async reserve(client: PoolClient): Promise<void> {
    if (!this.#wanted || this.#holding.has(client)) return;
    const { rows } = await client.query<{ held: boolean }>(`select pg_try_advisory_lock(${LOCK}) as held`);
    if (rows[0]?.held === true) this.#holding.add(client);
  }

  /** Throws DATA_IN_USE, naming the server that has the database. */
  async take(): Promise<void> {
    this.#wanted = true;
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const client = await this.#pool.connect().catch((error: unknown) => {
        throw inWords(error);
      });
      try {
        await this.reserve(client);
        if (this.#holding.has(client)) return;
        if (performance.now() > end) throw await inUse(client);
      } finally {
        client.release();
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

const inUse = async (client: PoolClient): Promise<SluiceError> => {
  const { rows } = await client.query<{ name: string | null }>(HOLDER);
  const who = rows[0]?.name?.replace(/^sluice /, '') ?? 'its name is hidden from this database user';
  return new SluiceError(
    'DATA_IN_USE',
    `A Sluice server (${who}) is already working on this database; stop it, or give this one another database.url.`,
  );
};
