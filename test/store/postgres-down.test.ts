import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import { apply, nonce, project, sha256, startRequest, workflow } from '../contract/store/support.ts';
import { describePostgres } from '../support/postgres.ts';
import { type PostgresServer, postgresBin, startPostgres } from '../support/postgres-server.ts';
import { laySteps, makePlace, type Place, ServerDied, startServer, until } from '../support/server.ts';
import { clientOf } from '../support/server-client.ts';

/** A database server that dies and comes back, and one that others work on: each test has its own. */

const LIMIT = { timeout: 60_000 };

async function privateServer(): Promise<PostgresServer> {
  const server = await startPostgres(postgresBin() ?? '');
  onTestFinished(() => server.stop());
  return server;
}

/** Of another program; a crash of the server is no error of the test's. */
async function session({ url }: PostgresServer): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const onDatabase = ({ url }: PostgresServer, waitSeconds: number) => ({
  SLUICE_DATABASE_URL: `${url}/postgres`,
  SLUICE_DATABASE_WAIT_SECONDS: String(waitSeconds),
});

const waitFor = (place: Place, name: string): string =>
  `until [ -e "${join(place.folder, name)}" ]; do sleep 0.05; done`;

const ORDERS = 'paimon://ods_db/ods_order_latest';

const declarationOf = (place: Place) => ({
  apiVersion: 'sluice/v1',
  project: 'down',
  assets: [{ key: ORDERS, location: join(place.warehouse, 'ods_db.db/ods_order_latest') }],
  workflows: [
    {
      name: 'report',
      triggers: [{ group: 'orders', all: [{ assetKey: ORDERS, alias: 'orders' }] }],
      tasks: [{ name: 'read', params: { rawScript: 'echo ${asset.orders.snapshot_id}' } }],
    },
    {
      name: 'long',
      tasks: [{ name: 'wait', params: { rawScript: `touch "${place.folder}/begun"; ${waitFor(place, 'go')}` } }],
    },
  ],
});

describePostgres('PostgreSQL dies and comes back', () => {
  test('in the middle of a transaction: it is undone and reported, and the same store goes on', LIMIT, async () => {
    const server = await privateServer();
    const problems: unknown[] = [];
    const onProblem = (_: string, error: unknown) => problems.push(error);
    const store = await openStore({ url: `${server.url}/postgres`, clock: () => 0n, nonce, sha256, onProblem });
    onTestFinished(() => store.close());
    await store.admin.migrate();
    await store.admin.claimOwnership('test');
    await apply(store, project({ workflows: [workflow('w')] }));
    const { runId } = await store.runs.start(startRequest(1));
    const [blocker, watcher] = [await session(server), await session(server)];
    await blocker.query('begin');
    await blocker.query('lock table t_ds_task_instance in share mode');
    const launching = store.runs.launch(1); // has taken the command, and now waits
    const waits = "select 1 from pg_stat_activity where application_name like 'sluice %' and wait_event_type = 'Lock'";
    await until('the launch to wait', async () => (await watcher.query(waits)).rows.length > 0);
    await server.crash();
    expect(await launching).toEqual([]);
    expect(problems).toMatchObject([{ code: 'DATABASE_UNREACHABLE' }]);
    await expect(store.runs.list({}, {})).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' });
    await expect(store.runs.start(startRequest(1))).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' });
    await server.restart();
    expect((await store.runs.get(runId)).run.state).toBe('SUBMITTED_SUCCESS');
    expect((await store.runs.launch(1)).map((run) => run.id)).toEqual([runId]);
    expect((await store.runs.dispatch(1)).map((offer) => offer.task.name)).toEqual(['load']);
  });

  test('under a server: it says so, tasks go on, and what came meanwhile is made up for', LIMIT, async () => {
    const database = await privateServer();
    const place = makePlace();
    laySteps(place, 1, 2);
    const server = await startServer(place, onDatabase(database, 0));
    const client = clientOf(place, server, 'down');
    await client.apply(declarationOf(place));
    const { id } = await client.post<{ id: number }>('/workflow-definitions/long/start', {});
    await until('the script to begin', () => existsSync(join(place.folder, 'begun')));
    await client.untilRun(id, 'RUNNING_EXECUTION');
    const ready = () => fetch(`${server.url}/readyz`);
    expect((await ready()).status).toBe(200);

    await database.crash();
    await until('the server to say that it is not ready', async () => (await ready()).status === 503);
    expect(await (await ready()).text()).toContain('The database does not answer');
    await expect(client.runs()).rejects.toThrow(/: 503 .*DATABASE_UNREACHABLE/);
    laySteps(place, 3);
    writeFileSync(join(place.folder, 'go'), '');
    await database.restart();

    await client.untilRun(id, 'SUCCESS');
    await client.untilRuns(2, 'SUCCESS');
    expect((await client.attempts(id)).map(({ attempt, state }) => `${attempt} ${state}`)).toEqual(['1 SUCCESS']);
    expect((await ready()).status).toBe(200);
    expect(server.end()).toBeNull();
  });

  test('before a server starts: it waits as long as it is told to, and then says what to do', LIMIT, async () => {
    const database = await privateServer();
    await database.crash();
    const refused = await startServer(makePlace(), onDatabase(database, 0)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ServerDied);
    expect(String(refused)).toMatch(/sluice: The database does not answer \(.*ECONNREFUSED.*\): see that it runs/);

    const starting = startServer(makePlace(), onDatabase(database, 50));
    await database.restart();
    await (await starting).kill('SIGTERM');
  });
});

describePostgres('two servers on one PostgreSQL database', () => {
  test(
    'the second is refused and told where the first is; after the first’s end, however sudden, it starts',
    LIMIT,
    async () => {
      const database = await privateServer();
      const first = await startServer(makePlace(), onDatabase(database, 0));
      const second = () => startServer(makePlace(), onDatabase(database, 0));
      const refused = await second().catch((error: unknown) => error);
      expect(String(refused)).toMatch(
        new RegExp(`A Sluice server \\(\\S+:${first.pid}\\) is already working on this database`),
      );
      await first.kill('SIGKILL');
      await (await second()).kill('SIGTERM');
    },
  );

  test('one whose work was taken over stops itself and says why', LIMIT, async () => {
    expect(inject('postgres')).not.toBeNull();
    const database = await privateServer();
    const server = await startServer(makePlace(), onDatabase(database, 0));
    await (await session(database)).query("update t_ds_master set generation = generation + 1, owner = 'another'");
    await until('the server to end', () => server.end() !== null);
    expect(server.end()).toEqual({ code: 1, signal: null });
    expect(server.errors()).toMatch(/sluice: Another server took over \(generation 2, ours is 1\); stop this one\./);
  });
});
