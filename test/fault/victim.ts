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
const written = new Set<string>();

const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('A process does not survive SIGKILL.');
};

const noteWrite = (sql: string): void => {
  const table = /^\s*(?:insert into|update|delete from) "?(\w+)/i.exec(sql)?.[1];
  if (table !== undefined) written.add(table);
  else if (/^\s*create /i.test(sql)) written.add('schema');
};

const onStatement = (sql: string, when: 'BEFORE' | 'AFTER'): void => {
  if (sql.startsWith('BEGIN')) written.clear();
  else if (sql !== 'COMMIT') noteWrite(sql);
  else if (written.size > 0) onCommit(when);
};

const onCommit = (when: 'BEFORE' | 'AFTER'): void => {
  if (when === 'BEFORE') {
    commits += 1;
    appendFileSync(trace, `${commits} ${[...written].join(' ')}\n`);
  }
  if (commits === Number(number) && when === moment) die();
  if (when === 'AFTER') written.clear();
};

const server = await startServer(
  {
    dataDir,
    databaseUrl: process.env['DATABASE_URL'] ?? null,
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
