import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { openSqlite, sqliteDialect } from '../../src/store/dialects/sqlite.ts';
import { sqliteSchemaDump } from '../../src/store/dump.ts';
import { MIGRATIONS } from '../../src/store/migrations/list.ts';
import { openStore } from '../../src/store/open.ts';
import { PROJECT } from '../support/tree.ts';

const newFile = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sqlite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'sluice.db');
};

const open = (url: string) => openStore({ url, clock: () => 5n, nonce: () => 'n', sha256: (text) => text });

const migrated = async (file: string): Promise<void> => {
  const store = await open(file);
  await store.admin.migrate();
  await store.close();
};

test('the committed schema is what the migrations make', async () => {
  const file = newFile();
  await migrated(file);
  const committed = readFileSync(join(PROJECT, 'src/store/snapshots/sqlite.sql'), 'utf8');
  expect(committed).toBe(sqliteSchemaDump());
  const executed = new DatabaseSync(':memory:');
  executed.exec(committed);
  const made = new DatabaseSync(file, { readOnly: true });
  expect(schemaIn(executed)).toEqual(schemaIn(made));
  expect(schemaIn(made).length).toBeGreaterThan(30);
  made.close();
});

const schemaIn = (database: DatabaseSync): readonly unknown[] =>
  database
    .prepare("select sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by name")
    .all()
    .map((row) => row['sql']);

test('a database of the first schema is brought up to date with what it holds', async () => {
  const file = newFile();
  const old = new DatabaseSync(file);
  const dialect = sqliteDialect(() => 0n);
  old.exec('CREATE TABLE t_ds_version (version INTEGER PRIMARY KEY, name TEXT, apply_time INTEGER) STRICT');
  for (const { version, name, tables } of MIGRATIONS.slice(0, 2)) {
    for (const [table, columns] of Object.entries(tables)) old.exec(dialect.createTable(table, columns).join(';\n'));
    old.prepare('INSERT INTO t_ds_version VALUES (?, ?, 0)').run(version, name);
  }
  const insert = (table: string, row: object): void => {
    const names = Object.keys(row);
    const marks = names.map(() => '?').join(', ');
    old
      .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`)
      .run(...(Object.values(row) as string[]));
  };
  const defined = { workflow_definition_code: 1, workflow_definition_version: 1 };
  const run = { state: 1, state_history: '[]', command_type: 0, start_tasks_json: '[]', task_depend_type: 2 };
  const more = {
    project_code: 1,
    failure_strategy: 1,
    start_params: '{}',
    pins_json: '{}',
    start_time: 0,
    run_times: 1,
  };
  insert('t_ds_workflow_instance', { id: 1, ...defined, ...run, ...more, workflow_instance_priority: 2 });
  const attempt = {
    task_code: 1,
    name: 'a',
    task_type: 'NOOP',
    state: 0,
    attempt: 1,
    retry_times: 0,
    flag: 1,
    fence: 0,
  };
  insert('t_ds_task_instance', { workflow_instance_id: 1, ...attempt, submit_time: 0, workflow_instance_priority: 2 });
  old.close();
  const store = await open(file);
  const names = MIGRATIONS.slice(2).map(({ version, name }) => `${version} ${name}`);
  expect(await store.admin.migrate()).toEqual(names);
  await store.close();
  const now = new DatabaseSync(file, { readOnly: true });
  const row = now.prepare('SELECT waiting, pins_json, pins_void FROM t_ds_task_instance').get();
  expect({ ...row }).toEqual({ waiting: 0, pins_json: null, pins_void: 0 });
  now.close();
});

test('an older Sluice refuses the database of a newer one, and leaves it as it is', async () => {
  const file = newFile();
  await migrated(file);
  const database = new DatabaseSync(file);
  database.exec("insert into t_ds_version (version, name, apply_time) values (99, 'later', 0)");
  database.close();
  await expect(open(file)).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' });
});

test('another kind of database is refused in words', async () => {
  await expect(open('mysql://localhost/sluice')).rejects.toMatchObject({ code: 'BAD_CONFIG' });
});

test('a commit that returned survives power loss: WAL and synchronous FULL', async () => {
  const { writer, reader } = openSqlite(newFile(), null);
  const pragma = async (name: string) => {
    const { rows } = await writer.executeQuery<Record<string, unknown>>({
      sql: `PRAGMA ${name}`,
      parameters: [],
      query: { kind: 'RawNode', sqlFragments: [], parameters: [] },
      queryId: { queryId: 'q' },
    });
    return Object.values(rows[0] ?? {})[0];
  };
  expect(await pragma('journal_mode')).toBe('wal');
  expect(await pragma('synchronous')).toBe(2n);
  expect(await pragma('foreign_keys')).toBe(1n);
  await reader.destroy();
  await writer.destroy();
});

test('a reader is not held up by an open transaction and sees only what was committed', async () => {
  const file = newFile();
  await migrated(file);
  const { writer, reader } = openSqlite(file, null);
  const codes = () => reader.selectFrom('t_ds_code_sequence').select('name').execute();
  await writer.transaction().execute(async (tx) => {
    await tx.insertInto('t_ds_code_sequence').values({ name: 'x', next_code: 1 }).execute();
    expect(await codes()).toEqual([]);
  });
  expect(await codes()).toEqual([{ name: 'x' }]);
  await reader.destroy();
  await writer.destroy();
});

test('numbers that would be rounded are refused, 64-bit ones are exact', async () => {
  const file = newFile();
  await migrated(file);
  const { writer, reader } = openSqlite(file, null);
  const insert = (name: string, code: bigint | number) =>
    writer.insertInto('t_ds_code_sequence').values({ name, next_code: code }).execute();
  await expect(insert('a', 2 ** 53)).rejects.toThrow(TypeError);
  await expect(insert('a', 0.5)).rejects.toThrow(TypeError);
  await insert('a', 9_223_372_036_854_775_807n);
  expect(await reader.selectFrom('t_ds_code_sequence').select('next_code').execute()).toEqual([
    { next_code: 9_223_372_036_854_775_807n },
  ]);
  await reader.destroy();
  await writer.destroy();
});

test('transactions of one store wait in line, and one that fails leaves nothing behind', async () => {
  const file = newFile();
  await migrated(file);
  const { writer, reader } = openSqlite(file, null);
  const raise = (fail: boolean) =>
    writer.transaction().execute(async (tx) => {
      const rows = await tx.selectFrom('t_ds_code_sequence').selectAll().execute();
      const next = (rows[0]?.next_code ?? 0n) + 1n;
      await tx.deleteFrom('t_ds_code_sequence').execute();
      await tx.insertInto('t_ds_code_sequence').values({ name: 'n', next_code: next }).execute();
      if (fail) throw new Error('no');
    });
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => raise(i % 4 === 0)));
  expect(results.filter((result) => result.status === 'rejected')).toHaveLength(5);
  expect(await reader.selectFrom('t_ds_code_sequence').select('next_code').execute()).toEqual([{ next_code: 15n }]);
  await reader.destroy();
  await writer.destroy();
});

test('what changed becomes groups in bounded steps, and the next step is due at once', async () => {
  const file = newFile();
  await migrated(file);
  const database = new DatabaseSync(file);
  database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100001)
    INSERT INTO t_ds_asset_change (asset_hash, change_time) SELECT 'h' || i % 10, 3 FROM n`);
  const left = () => database.prepare('SELECT count(*) AS left FROM t_ds_asset_change').get()?.['left'];
  const store = await open(file);
  await store.admin.claimOwnership('test');
  await store.groups.evaluateDue(10);
  expect([left(), await store.groups.nextDueAt()]).toEqual([1, 3n]);
  await store.groups.evaluateDue(10);
  expect([left(), await store.groups.nextDueAt()]).toEqual([0, null]);
  await store.close();
  database.close();
});
