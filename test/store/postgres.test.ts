import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { postgresSchemaDump } from '../../src/store/dump.ts';
import { openPostgres } from '../../src/store/dialects/postgres-open.ts';
import { openStore } from '../../src/store/open.ts';
import type { Hint, Store } from '../../src/store/store.ts';
import {
  apply,
  asset,
  commits,
  condition,
  group,
  nonce,
  ORDERS,
  PAYMENTS,
  project,
  sha256,
  startRequest,
  task,
  workflow,
} from '../contract/store/support.ts';
import { describePostgres, makeDatabase, postgresServer } from '../support/postgres.ts';
import { until } from '../support/server.ts';
import { PROJECT } from '../support/tree.ts';
import { scene, untilBlocked } from './postgres-sessions.ts';

/** What only PostgreSQL can do: transactions side by side, sessions that are lost, and a clock of its own. */

const open = (url: string, more: object = {}): Promise<Store> =>
  openStore({ url, clock: () => 5n, nonce, sha256, ...more });

const DECLARED = project({
  assets: [asset(ORDERS), asset(PAYMENTS)],
  workflows: [workflow('w', { groups: [group('g', [condition(ORDERS), condition(PAYMENTS)])] })],
});

const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  const open = Symbol('open');
  return (await Promise.race([promise, Promise.resolve(open)])) !== open;
};

describePostgres('PostgreSQL: schema and sessions', () => {
  test('the committed schema is what the migrations make', async () => {
    const { bin } = await postgresServer();
    const committed = readFileSync(join(PROJECT, 'src/store/snapshots/postgres.sql'), 'utf8');
    expect(committed).toBe(postgresSchemaDump());
    const [migrated, written] = [await makeDatabase(), await makeDatabase()];
    const store = await open(migrated.url);
    await store.admin.migrate();
    await store.close();
    await written.query(committed);
    const dump = ({ url }: { url: string }): string => {
      const schema = url.slice(url.lastIndexOf('%3D') + 3);
      const args = ['--schema-only', '--no-owner', '-n', schema, '-d', url];
      const text = execFileSync(join(bin, 'pg_dump'), args, { encoding: 'utf8' });
      return text.replaceAll(schema, 'schema').replace(/^\\(un)?restrict .*$/gm, '');
    };
    expect(dump(migrated)).toBe(dump(written));
    expect(dump(migrated).match(/^CREATE TABLE /gm)?.length).toBe(committed.match(/^CREATE TABLE /gm)?.length);
    await migrated.drop();
    await written.drop();
  });

  test('an older Sluice refuses the database of a newer one, and leaves it as it is', async () => {
    const { database, owner } = await scene();
    await (await owner()).close();
    await database.query("insert into t_ds_version (version, name, apply_time) values (99, 'later', 0)");
    await expect(open(database.url)).rejects.toMatchObject({ code: 'SCHEMA_TOO_NEW' });
  });

  test('time is the database’s, to the millisecond', async () => {
    const { database } = await scene();
    const store = await open(database.url);
    const [before] = await database.query('select (extract(epoch from clock_timestamp()) * 1000)::float8 as now');
    const now = Number(await store.admin.now());
    const [after] = await database.query('select (extract(epoch from clock_timestamp()) * 1000)::float8 as now');
    expect(now).toBeGreaterThanOrEqual(Math.floor(Number(before?.['now'])));
    expect(now).toBeLessThanOrEqual(Number(after?.['now']));
    await store.close();
  });

  test('a database that cannot be used says what to do', async () => {
    const { url } = await postgresServer();
    await expect(open(`${url}/nowhere`)).rejects.toMatchObject({
      code: 'BAD_CONFIG',
      message: expect.stringMatching(
        /127\.0\.0\.1:\d+\/nowhere says: .*does not exist. Please create the database first/,
      ),
    });
    await expect(open(`${url}/postgres?options=-c%20search_path%3Dnowhere`)).rejects.toMatchObject({
      code: 'BAD_CONFIG',
      message: expect.stringMatching(/no schema that its search_path names/),
    });
    const waited: unknown[] = [];
    const nobody = open('postgres://sluice:geheim@127.0.0.1:9/x', {
      waitMs: 300,
      onProblem: (what: string) => waited.push(what),
    });
    const refused = await nobody.catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'DATABASE_UNREACHABLE',
      message: expect.stringContaining('see that it runs'),
    });
    expect(String(refused)).not.toContain('geheim');
    expect(waited).toEqual(['waiting for the database']);
  });

  test('a database in another encoding than UTF-8 is refused', async () => {
    const { url, bin } = await postgresServer();
    const psql = (sql: string) => execFileSync(join(bin, 'psql'), ['-q', '-d', `${url}/postgres`, '-c', sql]);
    psql("create database latin encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0");
    await expect(open(`${url}/latin`)).rejects.toMatchObject({
      code: 'BAD_CONFIG',
      message: expect.stringContaining('LATIN1'),
    });
    psql('drop database latin');
  });

  test('numbers that would be rounded and texts that cannot be kept are refused, 64-bit ones are exact', async () => {
    const { database, owner } = await scene();
    await owner();
    const { writer, reader, ownerWriter } = await openPostgres({
      url: database.url,
      hook: null,
      poolSize: 2,
      waitMs: 0,
      onWait: () => {},
    });
    onTestFinished(async () => {
      for (const db of [writer, reader, ownerWriter]) await db.destroy();
    });
    const insert = (name: string, code: bigint | number) =>
      writer.insertInto('t_ds_code_sequence').values({ name, next_code: code }).execute();
    await expect(insert('a', 2 ** 53)).rejects.toThrow(TypeError);
    await expect(insert('a', 0.5)).rejects.toThrow(TypeError);
    await expect(insert('a\0b', 1)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await insert('ä', 9_223_372_036_854_775_807n);
    expect(await reader.selectFrom('t_ds_code_sequence').selectAll().execute()).toEqual([
      { name: 'ä', next_code: 9_223_372_036_854_775_807n },
    ]);
  });

  test('reads of one view see one state, whatever is committed meanwhile', async () => {
    const { database, owner } = await scene();
    await owner();
    const { writer, reader, ownerWriter } = await openPostgres({
      url: database.url,
      hook: null,
      poolSize: 2,
      waitMs: 0,
      onWait: () => {},
    });
    const names = (db: typeof reader) => db.selectFrom('t_ds_code_sequence').select('name').execute();
    await reader.transaction().execute(async (tx) => {
      expect(await names(tx)).toEqual([]);
      await writer.insertInto('t_ds_code_sequence').values({ name: 'x', next_code: 1 }).execute();
      expect(await names(tx)).toEqual([]);
    });
    expect(await names(reader)).toEqual([{ name: 'x' }]);
    await expect(reader.transaction().execute((tx) => tx.deleteFrom('t_ds_code_sequence').execute())).rejects.toThrow(
      /read-only/,
    );
    for (const db of [writer, reader, ownerWriter]) await db.destroy();
  });

  test('hints reach other processes, and nobody hears its own twice', async () => {
    const { open: another, owner } = await scene();
    const [master, api] = [await owner(), await another()];
    const heard: Record<string, Hint[]> = { master: [], api: [] };
    master.onHint((hint) => heard['master']?.push(hint));
    api.onHint((hint) => heard['api']?.push(hint));
    await apply(api, project({ workflows: [workflow('w')] }));
    // Listening begins by itself some time after onHint: what is said before is lost, as any hint may be.
    // A hint that the master's claim did not tell: that one may still be on its way.
    await until('the master to hear of a run', async () => {
      await api.runs.start(startRequest(1));
      return heard['master']?.includes('CHANGED_RUNS');
    });
    const started = (await master.runs.list({}, {})).items.length;
    expect(heard['api']?.filter((hint) => hint === 'CHANGED_RUNS').length).toBe(started);
  });
});

describePostgres('PostgreSQL: one server at a time', () => {
  test('a second server is refused and told whose the database is, until the first has ended', async () => {
    const { database, owner } = await scene();
    const first = await owner();
    await first.admin.takePresence();
    await first.admin.takePresence();
    const second = await open(database.url);
    await expect(second.admin.takePresence()).rejects.toMatchObject({
      code: 'DATA_IN_USE',
      message: expect.stringContaining(`:${process.pid}) is already working on this database`),
    });
    const elsewhere = await scene();
    await (await elsewhere.open()).admin.takePresence();
    await first.close();
    await second.admin.takePresence();
    await second.close();
  });

  test('a master whose session was cut takes its place again', async () => {
    const { database, owner } = await scene();
    const first = await owner();
    await first.admin.takePresence();
    const cut = `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
      and objid = hashtext(current_schema())::oid`;
    await database.query(cut);
    await until('the session to be replaced', () =>
      first.runs.launch(1).then(
        () => true,
        () => false,
      ),
    );
    const second = await open(database.url);
    await expect(second.admin.takePresence()).rejects.toMatchObject({ code: 'DATA_IN_USE' });
    await second.close();
  });

  test('a claim waits for the transaction that the old master has open; from then on the old one changes nothing', async () => {
    const { database, owner, open: another, session } = await scene();
    const old = await owner();
    await apply(old, project({ workflows: [workflow('w')] }));
    const [first, second] = [await old.runs.start(startRequest(1)), await old.runs.start(startRequest(1))];
    const blocker = await session();
    await blocker.run(`select 1 from t_ds_workflow_instance where id = ${first.runId} for update`);
    const launching = old.runs.launch(1);
    await untilBlocked(database, 1);
    const heir = await another();
    const claiming = heir.admin.claimOwnership('heir');
    await untilBlocked(database, 2);
    expect(await isSettled(claiming)).toBe(false);
    await blocker.commit();
    expect((await launching).map((run) => run.id)).toEqual([first.runId]);
    await claiming;
    await expect(old.runs.launch(1)).rejects.toMatchObject({ code: 'OWNERSHIP_LOST' });
    expect((await heir.runs.launch(9)).map((run) => run.id)).toEqual([second.runId]);
  });

  test('a master that begins while a claim is being made sees the claim, not what was before it', async () => {
    const { database, owner, session } = await scene();
    const old = await owner();
    await apply(old, project({ workflows: [workflow('w')] }));
    await old.runs.start(startRequest(1));
    const claimant = await session();
    await claimant.run("update t_ds_master set generation = generation + 1, owner = 'heir'");
    const launching = old.runs.launch(1).catch((error: unknown) => error);
    await untilBlocked(database, 1);
    await claimant.commit();
    expect(await launching).toMatchObject({ code: 'OWNERSHIP_LOST' });
    expect(await database.query('select count(*)::int as n from t_ds_command')).toEqual([{ n: 1 }]);
  });
});

describePostgres('PostgreSQL: decisions side by side', () => {
  test('an evaluation does not wait for a commit that is being recorded; the commit is decided after it', async () => {
    const { database, owner, twin, session } = await scene();
    const master = await owner();
    await apply(master, DECLARED);
    for (const key of [ORDERS, PAYMENTS]) await commits(master, key);
    await commits(master, ORDERS, 1); // and with it the group is queued
    const blocker = await session();
    const offset = `select 1 from t_ds_asset_event_consumer_offset where asset_key = '${PAYMENTS}' for update`;
    await blocker.run(offset); // which is written after the change is noted
    const recording = commits(await twin(1n), PAYMENTS, 1);
    await untilBlocked(database, 1);
    const waits = (await master.groups.evaluateDue(10)).map(({ ready }) => ready);
    expect(waits).toEqual([false]);
    expect(await master.groups.evaluateDue(10)).toEqual([]);
    await blocker.commit();
    await recording;
    const [fired] = (await master.groups.evaluateDue(10)).flatMap((report) => report.fired ?? []);
    expect([...(fired?.pins.keys() ?? [])].toSorted()).toEqual([ORDERS, PAYMENTS]);
  });

  test('two evaluations of one group at once fire once', async () => {
    const { database, owner, twin, session } = await scene();
    const master = await owner();
    await apply(master, DECLARED);
    for (const key of [ORDERS, PAYMENTS]) await commits(master, key);
    for (const key of [ORDERS, PAYMENTS]) await commits(master, key, 1);
    const other = await twin(1n);
    const blocker = await session();
    await blocker.run('lock table t_ds_asset_trigger_history in access exclusive mode');
    const both = [master.groups.evaluateDue(10), other.groups.evaluateDue(10)];
    await untilBlocked(database, 2);
    await blocker.commit();
    const reports = (await Promise.all(both)).flat();
    expect(reports.filter((report) => report.fired !== null)).toHaveLength(1);
    expect((await master.runs.list({}, {})).items).toHaveLength(1);
    expect(await database.query('select count(*)::int as n from t_ds_asset_trigger_history')).toEqual([{ n: 1 }]);
  });

  test('a project is paused after what is being evaluated has fired, and before what is evaluated next', async () => {
    const { database, owner, twin, session } = await scene();
    const master = await owner();
    const other = await twin(1n);
    const groups = [group('g', [condition(ORDERS)]), group('h', [condition(PAYMENTS)])];
    await apply(master, { ...DECLARED, workflows: [workflow('w', { groups })] });
    for (const key of [ORDERS, PAYMENTS]) await commits(master, key);
    await commits(master, ORDERS, 1);
    const firing = await session();
    await firing.run('lock table t_ds_asset_trigger_history in access exclusive mode');
    const first = master.groups.evaluateDue(10);
    await untilBlocked(database, 1);
    const pausing = other.definitions.pauseProject('shop');
    await untilBlocked(database, 2);
    await firing.commit();
    expect((await first).filter(({ fired }) => fired !== null).map((report) => report.group)).toEqual(['g']);
    await pausing;
    await commits(master, PAYMENTS, 1);
    expect((await master.groups.evaluateDue(10)).filter(({ fired }) => fired !== null)).toEqual([]);

    await other.definitions.resumeProject('shop', 'CATCH_UP');
    const queued = await session();
    await queued.run('select 1 from t_ds_asset_evaluation_queue where group_id = 1 for update');
    const again = other.definitions.pauseProject('shop');
    await untilBlocked(database, 1);
    const next = master.groups.evaluateDue(10);
    await untilBlocked(database, 2);
    await queued.commit();
    await again;
    expect((await next).filter(({ fired }) => fired !== null)).toEqual([]);
    await other.definitions.resumeProject('shop', 'CATCH_UP');
    expect(
      (await master.groups.evaluateDue(10)).flatMap(({ fired, ...report }) => (fired ? report.group : [])),
    ).toEqual(['h']);
  });

  test('of two tasks that end at once the later sees the other, so that what joins them starts', async () => {
    const { database, owner, twin, session } = await scene();
    const master = await owner();
    const tasks = [task('a'), task('b'), task('join', ['a', 'b'])];
    await apply(master, project({ workflows: [workflow('w', { tasks })] }));
    const { runId } = await master.runs.start(startRequest(1));
    await master.runs.launch(1);
    const [a, b] = await master.runs.dispatch(10);
    const other = await twin(1n);
    const blocker = await session();
    await blocker.run(`select 1 from t_ds_workflow_instance where id = ${runId} for update`);
    const end = (store: Store, offer: typeof a) =>
      store.runs.taskEnded(offer!.taskRun.id, offer!.taskRun.fence, {
        state: 'SUCCESS',
        exitCode: 0,
        reason: null,
        endedAt: 1n,
      });
    const ending = [end(master, a), end(other, b)];
    await untilBlocked(database, 2);
    await blocker.commit();
    expect(await Promise.all(ending)).toEqual([true, true]);
    expect((await master.runs.dispatch(10)).map((offer) => offer.task.name)).toEqual(['join']);
  });

  test('a pause that meets a dispatch pauses nothing that was handed out', async () => {
    const { database, owner, session } = await scene();
    const master = await owner();
    await apply(master, project({ workflows: [workflow('w')] }));
    const { runId } = await master.runs.start(startRequest(1));
    await master.runs.launch(1);
    const blocker = await session();
    await blocker.run('select 1 from t_ds_task_instance for update');
    const dispatching = master.runs.dispatch(1);
    await untilBlocked(database, 1);
    const pausing = master.runs.operate(runId, 'PAUSE', { repin: false });
    await untilBlocked(database, 2);
    await blocker.commit();
    expect((await dispatching).map((offer) => offer.task.name)).toEqual(['load']);
    expect((await pausing).state).toBe('READY_PAUSE');
    expect((await master.runs.get(runId)).tasks.map(({ state }) => state)).toEqual(['DISPATCH']);
  });

  test('a group that is made while a commit is recorded misses it neither as new nor as old', async () => {
    const { database, owner, open: another, session } = await scene();
    const master = await owner();
    await apply(master, project({ assets: [asset(ORDERS)] }));
    await commits(master, ORDERS, 1);
    const blocker = await session();
    await blocker.run('lock table t_ds_asset_event_consumer_offset in share mode');
    const recording = commits(master, ORDERS, 2);
    await untilBlocked(database, 1);
    const declared = project({ workflows: [workflow('w', { groups: [group('g', [condition(ORDERS)])] })] });
    const applying = (await another()).definitions.apply(declared, { dryRun: false, strict: false });
    await untilBlocked(database, 2);
    await blocker.commit();
    await recording;
    const lines = (await applying).lines.flatMap((line) => line.details);
    expect(lines).toContain(`${ORDERS}: begins after snapshot 2`);
  });

  test('two that apply the same for the first time make it once', async () => {
    const { owner, open: another } = await scene();
    const stores = [await owner(), await another()];
    await Promise.all(stores.map((store) => apply(store, DECLARED)));
    expect(await stores[0]?.definitions.workflows(null)).toMatchObject([{ name: 'w', version: 1 }]);
    expect(await stores[1]?.definitions.projects()).toHaveLength(1);
  });

  test('where two wait for each other, one is done again', async () => {
    const { database, owner, session } = await scene();
    const master = await owner();
    await apply(master, project({ workflows: [workflow('w'), workflow('v')] }));
    const other = await session();
    await other.run("set local deadlock_timeout = '30s'"); // so that it is the store's transaction that PostgreSQL undoes
    await other.run("select 1 from t_ds_workflow_definition where name = 'v' for update");
    const declared = project({
      workflows: [workflow('w', { releaseState: 'OFFLINE' }), workflow('v', { releaseState: 'OFFLINE' })],
    });
    const applying = master.definitions.apply(declared, { dryRun: false, strict: false });
    await untilBlocked(database, 1);
    await other.run("select 1 from t_ds_workflow_definition where name = 'w' for update");
    await other.commit();
    expect((await applying).lines.map((line) => line.action)).toEqual(['UPDATE', 'UPDATE']);
  });
});
