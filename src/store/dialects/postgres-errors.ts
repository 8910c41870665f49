import { SluiceError } from '../../core/errors.ts';

/** What PostgreSQL's errors mean for us; codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/**
 * Serialisation failure, deadlock; and unique or foreign key violations: we look before we write, so what collides was written, or taken
 * away, by somebody in between, and the second look sees it.
 */
const TRANSIENT: ReadonlySet<string> = new Set(['40001', '40P01', '23505', '23503']);

export const isTransient = (error: unknown): boolean => TRANSIENT.has(codeOf(error));

export const isDuplicate = (error: unknown): boolean => codeOf(error) === '23505';

const NETWORK =
  /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|ENOTFOUND|EAI_AGAIN|ENOENT|EADDRNOTAVAIL)$/;
/** Shut down, crashed or starting; connection errors; too many connections; idle in a transaction for too long. */
const SERVER_GONE = /^(57P0[1-5]|08\w{3}|53300|25P03)$/;
/** The driver's own errors carry no code. */
const DRIVER =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed)/;

/** The connection is lost or cannot be made; another one may do, now or later. */
export const isUnreachable = (error: unknown): boolean =>
  NETWORK.test(codeOf(error)) ||
  SERVER_GONE.test(codeOf(error)) ||
  (error instanceof Error && DRIVER.test(error.message));

const says = (error: unknown): string =>
  error instanceof Error && error.message !== '' ? error.message : codeOf(error);

/** Lost connections as DATABASE_UNREACHABLE; all else as it is. */
export const inWords = (error: unknown): unknown =>
  isUnreachable(error)
    ? new SluiceError(
        'DATABASE_UNREACHABLE',
        `The database does not answer (${says(error)}): see that it runs and can be reached; a server that is running goes on as soon as it does.`,
        { cause: error },
      )
    : error;

/** Why a server that answers does not let us in, in a sentence that says what to do; null: something else. */
export const refusal = (error: unknown, shown: string): SluiceError | null => {
  const advice: Readonly<Record<string, string>> = {
    '28P01': 'correct the user or the password in database.url',
    '28000': 'let this user in (pg_hba.conf), or name another in database.url',
    '3D000': 'create the database first, or name one that exists in database.url',
    '42501': 'make the user the owner of the database, or grant it CREATE on the schema',
  };
  const what = advice[codeOf(error)];
  return what === undefined
    ? null
    : new SluiceError('BAD_CONFIG', `${shown} says: ${says(error)}. Please ${what}.`, { cause: error });
};
