/**
 * A server that kills itself, as `kill -9` would, just BEFORE or just AFTER its N-th transaction that wrote something is committed. (One that only
 * read changes nothing: dying there is dying after the one before.) Each commit is noted in a file first, with the tables that it wrote.
 *
 *   node victim.ts DATA N BEFORE|AFTER TRACE [SECONDS]
 *
 * SECONDS: how long a table may take to answer (10).
 */
import { appendFileSync } from 'node:fs';
import { startServer } from '../../src/compose.ts';

const [dataDir = '', number = '', moment = '', trace = '', patience = '10'] = process.argv.slice(2);

let commits = 0;
/** By connection: the tables that its open transaction wrote, and which commit it is once that has begun. */
const open = new Map<number, { readonly tables: Set<string>; number: number }>();

const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('A process does not survive SIGKILL.');
};

const noteWrite = (sql: string, tables: Set<string> | undefined): void => {
  const table = /^\s*(?:insert into|update|delete from) "?(\w+)/i.exec(sql)?.[1];
  if (table !== undefined) tables?.add(table);
  else if (/^\s*create /i.test(sql)) tables?.add('schema');
};

const onStatement = (sql: string, when: 'BEFORE' | 'AFTER', connection: number): void => {
  const transaction = open.get(connection);
  if (sql.startsWith('BEGIN')) open.set(connection, { tables: new Set(), number: 0 });
  else if (sql !== 'COMMIT') noteWrite(sql, transaction?.tables);
  else if (transaction !== undefined && transaction.tables.size > 0) {
    if (when === 'BEFORE') {
      transaction.number = commits += 1;
      appendFileSync(trace, `${commits} ${[...transaction.tables].join(' ')}\n`);
    }
    if (transaction.number === Number(number) && when === moment) die();
  }
};

const server = await startServer(
  {
    dataDir,
    databaseUrl: process.env['SLUICE_DATABASE_URL'] ?? null,
    databasePoolSize: 4,
    databaseWaitMs: 0,
    host: '127.0.0.1',
    port: 0,
    allowedHosts: ['127.0.0.1'],
    timezone: 'UTC',
    log: { level: 'warn', destination: 'stderr' },
    pollIntervalMs: () => 50,
    pollLimitMs: Number(patience) * 1000,
    scanWidth: 4,
    taskSlots: 4,
    logLimitBytes: 1_000_000,
    logPolicy: 'truncate',
    passEnvironment: [],
    version: '0.0.0',
  },
  { onStatement },
);
process.stdout.write(`ready ${server.url}\n`);
