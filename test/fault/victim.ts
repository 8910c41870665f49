/**
 * A server that kills itself, as `kill -9` would, just BEFORE or just AFTER one of its transactions is committed. Transactions are named by the
 * tables that they write and counted among those that write the same: `t_ds_task_instance#2`. (One that only read changes nothing: dying there
 * is dying after the one before.) Each is noted in a file before it is committed.
 *
 *   node victim.ts DATA TRANSACTION BEFORE|AFTER TRACE [SECONDS]
 *
 * SECONDS: how long a table may take to answer (10).
 */
import { appendFileSync } from 'node:fs';
import { startServer } from '../../src/compose/server.ts';

const [dataDir = '', target = '', moment = '', trace = '', patience = '10'] = process.argv.slice(2);

const counts = new Map<string, number>();
/** By connection: the tables that its open transaction wrote, and its name once its commit has begun. */
const open = new Map<number, { readonly tables: Set<string>; name: string }>();

const nameOf = (tables: ReadonlySet<string>): string => {
  const kind = [...tables].toSorted().join('+');
  const count = (counts.get(kind) ?? 0) + 1;
  counts.set(kind, count);
  return `${kind}#${count}`;
};

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
  if (sql.startsWith('BEGIN')) open.set(connection, { tables: new Set(), name: '' });
  else if (sql !== 'COMMIT') noteWrite(sql, transaction?.tables);
  else if (transaction !== undefined && transaction.tables.size > 0) {
    if (when === 'BEFORE') {
      transaction.name = nameOf(transaction.tables);
      appendFileSync(trace, `${transaction.name}\n`);
    }
    if (transaction.name === target && when === moment) die();
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
    assetScheduling: true,
    takesPushes: true,
    pollIntervalMs: () => 50,
    pollLimitMs: Number(patience) * 1000,
    scanWidth: 4,
    taskSlots: 4,
    killGraceMs: 10_000,
    logLimitBytes: 1_000_000,
    logPolicy: 'truncate',
    passEnvironment: [],
    version: '0.0.0',
  },
  { onStatement },
);
process.stdout.write(`ready ${server.url}\n`);
