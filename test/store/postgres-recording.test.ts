import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { StatedEvent } from '../../src/core/asset/event.ts';
import { insertMany } from '../../src/store/bulk.ts';
import { postgresDialect } from '../../src/store/dialects/postgres.ts';
import { openPostgres } from '../../src/store/dialects/postgres-open.ts';
import { committed } from '../contract/store/pushes.ts';
import { apply, asset, commits, key, ORDERS, PAYMENTS, project, stated } from '../contract/store/support.ts';
import { describePostgres, type PostgresDatabase } from '../support/postgres.ts';
import { until } from '../support/server.ts';
import { scene, untilBlocked } from './postgres-sessions.ts';

/** What is recorded by several at once, and how it is written: many rows by COPY, in a notation of its own, a few as arrays, in another. */

const TEXTS = [
  ...['', ' ', 'a\tb', 'a\nb', 'a\rb', 'a\r\nb', '\\', '\\N', '\\.', '\n\\.\n', '\\t', '\\\\N', '\\x41', '\\101'],
  ...['NULL', 'null', '"', "'", '{a,b}', '","', '\u0001\b\f\v', '\u2028', '😀', 'e\u0301', 'x\\'],
];

const FEED = key('custom://feeds/f');
const feed = project({ assets: [asset(FEED, { location: null, pushMode: 'TRUST' })] });

const request = (from: number, count: number, more: (i: number) => Partial<StatedEvent> = () => ({})) =>
  Array.from({ length: count }, (_, i) =>
    committed(FEED, `c${from + i}`, { sequenceNumber: BigInt(from + i), commitTime: BigInt(from + i), ...more(i) }),
  );

/** The store's own sessions without the store. */
const writerOf = async ({ url }: PostgresDatabase, poolSize: number) => {
  const { writer, reader, ownerWriter } = await openPostgres({
    url,
    hook: null,
    poolSize,
    waitMs: 0,
    onWait: () => {},
  });
  onTestFinished(async () => {
    for (const db of [writer, reader, ownerWriter]) await db.destroy();
  });
  return writer;
};

describePostgres('PostgreSQL: recording', () => {
  test.each([1, 15, 16, TEXTS.length])('every text comes back as it went in, %i rows at a time', async (size) => {
    const store = await (await scene()).owner();
    const keys = TEXTS.map((_, i) => key(`custom://feeds/f${i}`));
    await apply(store, project({ assets: keys.map((one) => asset(one, { location: null, pushMode: 'TRUST' })) }));
    const events = keys.map((one, i) => {
      const text = TEXTS[i] ?? '';
      return committed(one, `s${text}`, { commitKind: text, payload: text, partitionKey: text, tableId: text });
    });
    for (let at = 0; at < events.length; at += size) await store.assets.recordStated(events.slice(at, at + size));
    const found = keys.map(async (one) => {
      const [event] = (await store.assets.events({ key: one }, {})).items;
      const [version] = (await store.assets.versions(one, {})).items;
      return [
        event?.payload,
        event?.commitKind,
        version?.operation,
        version?.snapshotId,
        version?.partitions,
        event?.tag,
      ];
    });
    expect(await Promise.all(found)).toEqual(TEXTS.map((text) => [text, text, text, `s${text}`, [text], null]));
  });

  test('a row that is there already is told apart, also long before the last one was sent; the session goes on', async () => {
    const { database, owner } = await scene();
    await owner();
    const writer = await writerOf(database, 1);
    const dialect = postgresDialect();
    const insert = (rows: readonly { name: string; next_code: bigint }[]) =>
      writer.transaction().execute((db) => insertMany({ db, dialect }, 't_ds_code_sequence', rows));
    const rows = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ name: `${name}${i}`, next_code: BigInt(i) }));
    const session = async () => (await writer.selectNoFrom((e) => e.fn('pg_backend_pid').as('pid')).execute())[0];
    const before = await session();
    await insert(rows('a', 16));
    for (const more of [rows('b', 15), rows('b', 16), rows('b'.repeat(100_000), 200)]) {
      const failed = await insert([...rows('a', 1), ...more]).catch((error: unknown) => error);
      expect(dialect.isDuplicate(failed)).toBe(true);
    }
    await insert(rows('c', 16));
    expect(await session()).toEqual(before);
    const count = "select count(*)::int as n from t_ds_code_sequence where name ~ '^[abc]'";
    expect(await database.query(count)).toEqual([{ n: 32 }]);
  });

  test('a session that is lost in the middle leaves nothing behind, and the next one takes its place', async () => {
    const { database, owner } = await scene();
    const store = await owner();
    await apply(store, feed);
    const blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    onTestFinished(() => blocker.end());
    for (const [round, payload] of ['', 'x'.repeat(50_000)].entries()) {
      const events = request(1 + round * 100, 100, () => ({ payload }));
      await blocker.query('begin');
      await blocker.query('lock table t_ds_asset_event in exclusive mode');
      const recording = store.assets.recordStated(events).catch((error: unknown) => error);
      const kill = `select pg_terminate_backend(pid) from pg_locks join pg_stat_activity using (pid)
        where relation = 't_ds_asset_event'::regclass and not granted and query like 'copy %'`;
      await until('the copy to wait', async () => (await database.query(kill)).length === 1);
      expect(await recording).toMatchObject({ code: 'DATABASE_UNREACHABLE' });
      await blocker.query('rollback');
      expect((await store.assets.get(FEED)).state.lastOrdinal).toBe(round * 100);
      const receipts = await store.assets.recordStated(events);
      expect(new Set(receipts.map(({ status }) => status))).toEqual(new Set(['ACCEPTED']));
    }
    const counts =
      'select (select count(*)::int from t_ds_asset_event) as e, (select count(*)::int from t_ds_asset_version) as v';
    expect(await database.query(counts)).toEqual([{ e: 200, v: 200 }]);
  });

  test('two requests that bear the same event ids about different assets: each id counts once, and its repetition', async () => {
    const { database, owner, open } = await scene();
    const stores = [await owner(), await open()];
    const assets = ['a', 'b'].map((name) => Array.from({ length: 20 }, (_, i) => key(`custom://feeds/${name}${i}`)));
    const trusted = assets.flat().map((one) => asset(one, { location: null, pushMode: 'TRUST' }));
    await apply(stores[0]!, project({ assets: trusted }));
    const blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    onTestFinished(() => blocker.end());
    await blocker.query('begin');
    await blocker.query('lock table t_ds_asset_event in exclusive mode');
    const both = stores.map((store, at) =>
      store.assets.recordStated(
        (assets[at] ?? []).map((one, i) => committed(one, 's', { eventType: 'CDC_LAG_DETECTED', eventId: `e${i}` })),
      ),
    );
    const waiting = `select 1 from pg_locks where relation = 't_ds_asset_event'::regclass and not granted`;
    await until('both to copy', async () => (await database.query(waiting)).length === 2);
    await blocker.query('rollback');
    const statuses = (await Promise.all(both)).flat().map(({ status }) => status);
    expect(statuses.filter((status) => status === 'ACCEPTED')).toHaveLength(20);
    const counts = 'select count(*)::int as n, sum(duplicate_count)::int as told_again from t_ds_asset_event';
    expect(await database.query(counts)).toEqual([{ n: 20, told_again: 20 }]);
  });

  test('an asset that is removed while others wait to record something of it is unknown to them, and leaves nothing', async () => {
    const { database, owner, open: another, session } = await scene();
    const [master, api] = [await owner(), await another()];
    await apply(master, project({ assets: [asset(ORDERS), asset(PAYMENTS)] }));
    for (const key of [ORDERS, PAYMENTS]) await commits(master, key, 1);
    const blocker = await session();
    await blocker.run('lock table t_ds_asset_version in exclusive mode');
    const removing = api.assets.remove(ORDERS);
    await untilBlocked(database, 1);
    const polling = commits(master, ORDERS, 2).catch((error: unknown) => error);
    await untilBlocked(database, 2);
    const pushing = api.assets.recordStated([stated(ORDERS, {}), stated(PAYMENTS, {})]);
    await untilBlocked(database, 3);
    await blocker.commit();
    await removing;
    expect(await polling).toMatchObject({ code: 'UNKNOWN_ASSET' });
    expect((await pushing).map(({ status, problem }) => problem?.code ?? status)).toEqual([
      'UNKNOWN_ASSET',
      'ACCEPTED',
    ]);
    for (const table of ['t_ds_asset_event', 't_ds_asset_version', 't_ds_asset_quality'])
      expect(
        await database.query(
          `select count(*)::int as n from ${table} where asset_id not in (select id from t_ds_asset)`,
        ),
      ).toEqual([{ n: 0 }]);
  });
});
