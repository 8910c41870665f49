import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { createProgress } from '../../src/cli/discover/progress.ts';
import { describeShared } from '../support/shared.ts';
import { temporaryTree } from '../support/tree.ts';
import { jsonLines, serve, sluice } from './process.ts';

// Each command is a process of its own, and this machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

const AT = 1_796_000_000_000;
const ISO = '2026-11-30T00:53:20.000Z';

const paimon = (folder: string) => ({
  [`${folder}/schema/schema-0`]: JSON.stringify({
    id: 0,
    fields: [{ id: 0, name: 'n', type: 'INT' }],
    partitionKeys: [],
    primaryKeys: [],
    options: {},
    timeMillis: 1,
  }),
  [`${folder}/snapshot/snapshot-1`]: JSON.stringify({
    version: 3,
    id: 1,
    schemaId: 0,
    baseManifestList: 'b',
    deltaManifestList: 'd',
    commitUser: 'w',
    commitIdentifier: 1,
    commitKind: 'APPEND',
    timeMillis: AT,
    totalRecordCount: 1,
    deltaRecordCount: 1,
  }),
});

const schemaString = JSON.stringify({
  type: 'struct',
  fields: [{ name: 'n', type: 'long', nullable: true, metadata: {} }],
});

const delta = (folder: string) => ({
  [`${folder}/_delta_log/${'0'.repeat(20)}.json`]: [
    { commitInfo: { timestamp: AT, operation: 'WRITE' } },
    { protocol: { minReaderVersion: 1, minWriterVersion: 2 } },
    {
      metaData: { id: folder, schemaString, partitionColumns: [], configuration: {}, format: { provider: 'parquet' } },
    },
    { add: { path: 'a.parquet', size: 1, modificationTime: AT, dataChange: true, partitionValues: {} } },
  ]
    .map((action) => JSON.stringify(action))
    .join('\n'),
});

const iceberg = (folder: string) => ({
  [`${folder}/metadata/v1.metadata.json`]: JSON.stringify({
    'format-version': 2,
    'table-uuid': '261b7196-3c5f-469f-9b5b-94fc579d346d',
    location: folder,
    'last-sequence-number': 1,
    'last-updated-ms': AT,
    'last-column-id': 1,
    'current-schema-id': 0,
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    schemas: [{ type: 'struct', 'schema-id': 0, fields: [{ id: 1, name: 'n', required: false, type: 'long' }] }],
    'current-snapshot-id': 7,
    snapshots: [
      {
        'snapshot-id': 7,
        'sequence-number': 1,
        'timestamp-ms': AT,
        'schema-id': 0,
        summary: { operation: 'append', 'added-data-files': '1', 'added-records': '1' },
      },
    ],
    refs: { main: { 'snapshot-id': 7, type: 'branch' } },
  }),
});

const hudi = (folder: string) => ({
  [`${folder}/.hoodie/hoodie.properties`]:
    '#Properties saved on 2026-11-30T00:00:00Z\n#Mon Nov 30 00:00:00 UTC 2026\nhoodie.table.name=t\nhoodie.table.version=6\n' +
    'hoodie.timeline.layout.version=1\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.timeline.timezone=UTC\n',
  [`${folder}/.hoodie/20261130005320000.commit`]: JSON.stringify({
    operationType: 'INSERT',
    compacted: false,
    extraMetadata: {},
    partitionToWriteStats: {
      '': [{ fileId: 'f', path: 'f.parquet', numWrites: 1, numInserts: 1, prevCommit: 'null' }],
    },
  }),
});

const discover = (...args: string[]) => sluice(['asset', 'discover', ...args]);

/** [key, head] of each line. */
const heads = (out: string) => jsonLines(out).map(({ key, head }) => [key, head]);

describe('sluice asset discover', () => {
  const warehouse = () =>
    temporaryTree({
      ...paimon('wh/ods.db/orders'),
      ...paimon('wh/ods.db/orders/branch/branch-dev'),
      ...iceberg('wh/ods.db/orders'),
      ...delta('wh/lake/users'),
      ...delta('wh/lake/users/day=1'),
      ...iceberg('wh/cat/ref/fx'),
      ...hudi('wh/trips'),
      ...hudi('wh/trips/.hoodie/metadata'),
      ...delta('wh/.hidden/t'),
      ...delta('wh/_temporary/t'),
      ...delta('wh/day=1/t'),
      'wh/lake/notes/readme.md': 'no table',
      'wh/lake/broken/_delta_log/notes.txt': '',
    });

  test('--json: one object a table, in all formats; what is inside a table, hidden or a partition is none', async () => {
    const root = warehouse();
    const { code, out, err } = await discover(join(root, 'wh'), '--json');
    expect([code, err]).toEqual([0, '']);
    const at = (path: string) => join(root, 'wh', path);
    const well = { readable: true, commitTime: ISO, problems: [] };
    expect(jsonLines(out)).toEqual([
      { key: 'iceberg://ref/fx', format: 'iceberg', location: at('cat/ref/fx'), head: '7', ...well },
      {
        key: 'delta://lake/broken',
        format: 'delta',
        location: at('lake/broken'),
        readable: false,
        head: null,
        commitTime: null,
        problems: [expect.stringMatching(/commit/)],
      },
      { key: 'delta://lake/users', format: 'delta', location: at('lake/users'), head: '0', ...well },
      { key: 'paimon://ods/orders', format: 'paimon', location: at('ods.db/orders'), head: '1', ...well },
      { key: 'hudi://wh/trips', format: 'hudi', location: at('trips'), head: '20261130005320000', ...well },
    ]);
  });

  test('for people: a table, what is odd, and what to do next', async () => {
    const { code, out, err } = await discover(join(warehouse(), 'wh'));
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^KEY +FORMAT +NEWEST +COMMITTED +FOLDER\n/);
    expect(out).toMatch(/^paimon:\/\/ods\/orders +paimon +1 +.* ods\.db\/orders$/m);
    expect(out).toMatch(/^delta:\/\/lake\/broken +delta +unreadable +- +lake\/broken$/m);
    expect(out).toMatch(/Worth knowing:\n {2}delta:\/\/lake\/broken: .+\n\n5 tables\. Register with --register/);
  });

  test('a table itself, a folder without tables, no folder', async () => {
    const root = temporaryTree({ ...paimon('ods.db/orders'), 'empty/x.txt': '' });
    expect(heads((await discover(join(root, 'ods.db/orders/'), '--json')).out)).toEqual([['paimon://ods/orders', '1']]);
    expect(await discover(join(root, 'empty'), '--json')).toEqual({ code: 0, out: '', err: '' });
    expect((await discover(join(root, 'empty'))).out).toMatch(/^There are no tables in /);
    const none = await discover(join(root, 'nowhere'));
    expect(none).toMatchObject({ code: 1, out: '' });
    expect(none.err).toMatch(/^sluice: There is no folder .*nowhere: check the path\.\n$/);
  });

  test('symbolic links: followed, each table once and under its own name, circles end', async () => {
    const root = temporaryTree({ ...delta('wh/z/t'), ...delta('elsewhere/far.db/u'), 'wh/file': '' });
    symlinkSync('z', join(root, 'wh/a'));
    symlinkSync('..', join(root, 'wh/z/up'));
    symlinkSync('self', join(root, 'wh/self'));
    symlinkSync('file', join(root, 'wh/l'));
    symlinkSync('nothing', join(root, 'wh/n'));
    symlinkSync('../elsewhere/far.db', join(root, 'wh/near.db'));
    const { code, out, err } = await discover(join(root, 'wh'), '--json');
    expect([code, err]).toEqual([0, '']);
    expect(jsonLines(out).map(({ key, location }) => [key, location])).toEqual([
      ['delta://near/u', join(root, 'wh/near.db/u')],
      ['delta://z/t', join(root, 'wh/z/t')],
    ]);
  });

  test('--depth and --limit end the search, and stderr says what was left', async () => {
    const root = temporaryTree({ ...delta('a/t'), ...delta('b/t'), ...delta('c/d/t') });
    const shallow = await discover(root, '--json', '--depth', '2');
    expect(heads(shallow.out).map(([key]) => key)).toEqual([
      expect.stringMatching('a/t$'),
      expect.stringMatching('b/t$'),
    ]);
    expect(shallow).toMatchObject({
      code: 0,
      err: 'sluice: 1 folder was too deep to be looked into: raise --depth, or name one of them.\n',
    });
    const few = await discover(root, '--json', '--limit', '2');
    expect(heads(few.out)).toHaveLength(2);
    expect(few.err).toBe('sluice: There are more than 2 tables: raise --limit, or name a folder further down.\n');
  });

  test('keys choose; an unknown one is refused with the nearest', async () => {
    const root = join(warehouse(), 'wh');
    const some = await discover(root, 'hudi://wh/trips', 'delta://default/lake/users', '--json');
    expect(heads(some.out)).toEqual([
      ['hudi://wh/trips', '20261130005320000'],
      ['delta://lake/users', '0'],
    ]);
    const wrong = await discover(root, 'delta://lake/user');
    expect(wrong).toMatchObject({ code: 1, out: '' });
    expect(wrong.err).toMatch(/has the key delta:\/\/lake\/user: did you mean delta:\/\/lake\/users\?\n$/);
  });

  test('wrong usage exits 2', async () => {
    for (const args of [
      ['--register'],
      ['--all'],
      ['--register', '--all', 'delta://a/b'],
      ['--yaml', '--json'],
      ['--depth', '-1'],
    ])
      expect((await discover('.', ...args)).code, args.join(' ')).toBe(2);
  });
});

describe('sluice asset discover --yaml', () => {
  test('calls the project as the database that the folder is', async () => {
    const { code, out } = await discover(join(temporaryTree(paimon('shop.db/orders')), 'shop.db'), '--yaml');
    expect(code).toBe(0);
    expect(parse(out)).toMatchObject({ project: 'shop', assets: [{ key: 'paimon://shop/orders' }] });
  });

  test('prints a file that apply takes; what is odd stands above its table', async () => {
    const server = await serve({
      ...paimon('wh/ods.db/orders'),
      'wh/ods.db/gone/_delta_log/x': '',
      ...delta('wh/a\u0007b/t'),
    });
    const { code, out } = await discover(join(server.folder, 'wh'), '--yaml', '--project', 'shop');
    expect(code).toBe(0);
    expect(parse(out)).toEqual({
      apiVersion: 'sluice/v1',
      project: 'shop',
      assets: [
        { key: 'delta://ods/gone', location: join(server.folder, 'wh/ods.db/gone') },
        { key: 'paimon://ods/orders', location: join(server.folder, 'wh/ods.db/orders') },
      ],
    });
    expect(out).toMatch(/ {2}# .*commit.*\n {2}- key: delta:\/\/ods\/gone\n/);
    expect(out).toMatch(/\n# .*a\?b\/t: .*cannot stand in an asset key/);
    writeFileSync(join(server.folder, 'shop.yaml'), out);
    expect(await server.sluice('apply', '-f', 'shop.yaml')).toMatchObject({ code: 0, err: '' });
    expect(jsonLines((await server.sluice('asset', 'list', '--json')).out).map(({ key }) => key)).toEqual([
      'delta://ods/gone',
      'paimon://ods/orders',
    ]);
  });
});

describe('sluice asset discover --register', () => {
  test('registers the chosen ones, then all; what is registered stays as it is', async () => {
    const server = await serve({
      ...paimon('wh/ods.db/orders'),
      ...delta('wh/ods.db/users'),
      ...iceberg('wh/ods.db/fx'),
    });
    const run = (...args: string[]) => server.sluice('asset', 'discover', 'wh', '--register', '--json', ...args);
    const results = (out: string) => jsonLines(out).map(({ key, registered, reason }) => [key, registered, reason]);

    const unnamed = await run('--all');
    expect(unnamed).toMatchObject({ code: 1, out: '' });
    expect(unnamed.err).toMatch(/A new name after --project makes a project\.\n$/);

    const one = await run('paimon://ods/orders', '--project', 'gmv');
    expect(one, one.err).toMatchObject({ code: 0, err: '' });
    expect(results(one.out)).toEqual([['paimon://ods/orders', 'CREATED', null]]);

    const policies = { key: 'delta://mine/u', location: join(server.folder, 'wh/ods.db/users'), onGap: 'HOLD' };
    await server.ask('assets', policies);
    await server.ask('assets', { key: 'iceberg://ods/fx', onRollback: 'HOLD' });
    const all = await run('--all');
    expect(all.code).toBe(1);
    expect(results(all.out)).toEqual([
      ['iceberg://ods/fx', 'REFUSED', expect.stringMatching(/registered without a location/)],
      ['paimon://ods/orders', 'UNCHANGED', 'It was registered before.'],
      ['delta://ods/users', 'UNCHANGED', 'It is registered as delta://mine/u.'],
    ]);
    const { items } = (await server.ask('assets')) as { items: Record<string, unknown>[] };
    expect(items).toMatchObject([
      { key: 'delta://mine/u', onGap: 'HOLD' },
      { key: 'iceberg://ods/fx', location: null, onRollback: 'HOLD' },
      { key: 'paimon://ods/orders', location: join(server.folder, 'wh/ods.db/orders') },
    ]);

    const scanned = await server.sluice('asset', 'scan', 'paimon://ods/orders', '--json');
    expect(JSON.parse(scanned.out)).toMatchObject({ state: { latest: { snapshotId: '1' } } });
    const people = await server.sluice('asset', 'discover', 'wh', '--register', 'paimon://ods/orders');
    expect(people).toEqual({ code: 0, err: '', out: 'kept        paimon://ods/orders  It was registered before.\n' });
  });

  test('without a server it says so', async () => {
    const root = temporaryTree(paimon('wh/ods.db/orders'));
    const { code, err } = await sluice(['asset', 'discover', 'wh', '--register', '--all'], { cwd: root });
    expect([code, err]).toEqual([1, expect.stringMatching(/^sluice: No server is running on /)]);
  });
});

test('progress: silent for two seconds, then a line every two', () => {
  const lines: string[] = [];
  let now = 5;
  const progress = createProgress(
    (line) => lines.push(line),
    () => now,
  );
  for (now of [6, 2_004, 2_005, 3_000, 4_004]) progress({ folders: now, tables: 3, read: 0 });
  now = 4_005;
  progress({ folders: 9, tables: 3, read: 2 });
  expect(lines).toEqual([
    'sluice: looked into 2005 folders; tables: 3 found\n',
    'sluice: looked into 9 folders; tables: 2 of 3 read\n',
  ]);
});

describeShared('sluice asset discover on tables that engines wrote', (folder) => {
  interface Step {
    readonly step: number;
    readonly removed?: readonly string[];
    readonly expect?: Readonly<Record<string, { readonly head: string | null }>>;
  }

  /** Lays a recording down to its end; what the last step says of each table. */
  const lay = (recording: string, warehouse: string): ReadonlyMap<string, string | null> => {
    mkdirSync(warehouse, { recursive: true });
    const heads = new Map<string, string | null>();
    for (const line of readFileSync(join(recording, 'steps.jsonl'), 'utf8').split('\n').filter(Boolean)) {
      const { step, removed = [], expect: expected = {} } = JSON.parse(line) as Step;
      const files = join(recording, 'steps', String(step).padStart(2, '0'));
      if (existsSync(files)) cpSync(files, warehouse, { recursive: true });
      for (const path of removed) rmSync(join(warehouse, path), { force: true });
      for (const [table, { head }] of Object.entries(expected)) heads.set(table, head);
    }
    return heads;
  };

  test('all four formats in one warehouse: every table with the version that its engine calls newest', async () => {
    const root = temporaryTree({});
    const expected = new Map<string, string | null>();
    for (const [recording, format] of [
      ['paimon/gmv', 'paimon'],
      ['paimon/iceberg_compat', 'paimon'],
      ['iceberg/maintenance', 'iceberg'],
      ['hudi/meta-1.2.0', 'hudi'],
      ['delta/operations', 'delta'],
    ] as const) {
      const heads = lay(join(folder, 'recorded', recording), join(root, recording));
      for (const [table, head] of heads) expected.set(`${format} ${recording}/${table}`, head);
    }
    const { code, out, err } = await discover(root, '--json');
    expect([code, err]).toEqual([0, '']);
    const found = jsonLines(out).map(({ format, location, head }) => [
      `${format} ${String(location).slice(root.length + 1)}`,
      head,
    ]);
    expect(new Map(found as [string, string][])).toEqual(expected);
  });
});
