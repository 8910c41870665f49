/**
 * Imported into a server by waiting.ts (`node --import`): counts the statements that its database connections execute, transaction control aside,
 * and on SIGUSR2 writes what it counted and the processor time it took so far to the file of BENCH_COUNTS.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { StatementSync } from 'node:sqlite';
import pg from 'pg';

export interface Counted {
  readonly statements: number;
  readonly processorMs: number;
}

let statements = 0;
const { all, run } = StatementSync.prototype;
StatementSync.prototype.all = function counted(this: StatementSync, ...values: unknown[]) {
  statements += 1;
  return Reflect.apply(all, this, values) as ReturnType<typeof all>;
} as typeof all;
StatementSync.prototype.run = function counted(this: StatementSync, ...values: unknown[]) {
  statements += 1;
  return Reflect.apply(run, this, values) as ReturnType<typeof run>;
} as typeof run;

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function counted(this: pg.Client, ...given: unknown[]) {
  const [first] = given;
  const sql = typeof first === 'string' ? first : ((first as { text?: string } | undefined)?.text ?? '');
  if (!/^(begin|commit|rollback)/i.test(sql)) statements += 1;
  return Reflect.apply(query, this, given) as unknown;
} as typeof query;

process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage();
  const file = process.env['BENCH_COUNTS'] ?? '';
  const counted: Counted = { statements, processorMs: (user + system) / 1000 };
  writeFileSync(`${file}.part`, JSON.stringify(counted));
  renameSync(`${file}.part`, file);
});
