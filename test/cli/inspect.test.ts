import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROJECT, temporaryTree } from '../support/tree.ts';

const MAIN = join(PROJECT, 'src/cli/main.ts');

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `sluice` as a person would, from its source; resolves when the process has ended. */
function sluice(args: readonly string[], input = ''): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [MAIN, ...args]);
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('close', (code) =>
      resolve({ code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }),
    );
    child.stdin.end(input);
  });
}

const lines = (text: string): Record<string, never>[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, never>);

const snapshot = (id: number, kind = 'APPEND'): string =>
  JSON.stringify({
    version: 3,
    id,
    schemaId: 0,
    baseManifestList: `base-${id}`,
    deltaManifestList: `delta-${id}`,
    commitUser: 'w',
    commitIdentifier: id,
    commitKind: kind,
    timeMillis: 1_796_000_000_000 + id,
    totalRecordCount: id,
    deltaRecordCount: 1,
    watermark: 1_796_000_000_000,
  });
const schema = (id: number, type: string): string =>
  JSON.stringify({
    id,
    fields: [{ id: 0, name: 'n', type }],
    partitionKeys: [],
    primaryKeys: [],
    options: {},
    timeMillis: 1,
  });

const table = (): string =>
  temporaryTree({
    't/schema/schema-0': schema(0, 'INT'),
    't/snapshot/snapshot-1': snapshot(1),
    't/snapshot/snapshot-2': snapshot(2, 'COMPACT'),
    't/tag/tag-daily 01': snapshot(1),
  });

describe('sluice inspect', () => {
  test('--json: one object a version, the summary last', async () => {
    const { code, out, err } = await sluice(['inspect', join(table(), 't'), '--json']);
    expect([code, err]).toEqual([0, '']);
    expect(lines(out)).toEqual([
      {
        snapshotId: '1',
        operation: 'APPEND',
        dataChange: true,
        commitTime: '2026-11-30T00:53:20.001Z',
        watermark: '2026-11-30T00:53:20.000Z',
        schemaId: '0',
        addedRecords: '1',
        totalRecords: '1',
        tags: ['daily 01'],
      },
      expect.objectContaining({ snapshotId: '2', dataChange: false, tags: [] }),
      {
        summary: {
          format: 'paimon',
          tableId: null,
          head: '2',
          dataHead: '1',
          branch: 'main',
          versions: 2,
          outcome: 'NEW',
          tags: { 'daily 01': '1' },
          schemaId: '0',
          schemaChange: null,
          problems: [],
        },
      },
    ]);
  });

  test('for people: a table, the state, the schema', async () => {
    const { code, out } = await sluice(['inspect', join(table(), 't')]);
    expect(code).toBe(0);
    expect(out).toContain('2 versions, 1 of them with new data.');
    expect(out).toMatch(/VERSION {2}COMMITTED \(UTC\) +OPERATION {2}NEW DATA/);
    expect(out).toMatch(/1 {2}2026-11-30 00:53:20 {2}APPEND +yes .* daily 01\n/);
    expect(out).toContain('Newest: 2; new data last came with 1.');
    expect(out).toContain('Schema 0: n INT');
  });

  test('--since lists what came after, and names the range when the version is unknown', async () => {
    const root = table();
    const since = await sluice(['inspect', join(root, 't'), '--since', '1', '--json']);
    expect(lines(since.out).map((line) => line['snapshotId'] ?? line['summary'])).toEqual([
      '2',
      expect.objectContaining({ versions: 1 }),
    ]);
    const unknown = await sluice(['inspect', join(root, 't'), '--since', '7']);
    expect(unknown).toEqual({
      code: 1,
      out: '',
      err: 'sluice: The table has no readable version 7 (it has 1 to 2): name one of those with --since.\n',
    });
  });

  test('--cursor tells only what happened since, and leaves no temporary file', async () => {
    const root = table();
    const [at, cursor] = [join(root, 't'), join(root, 'c.json')];
    const ask = async (): Promise<Record<string, never>[]> =>
      lines((await sluice(['inspect', at, '--cursor', cursor, '--json'])).out);
    expect((await ask()).at(-1)).toMatchObject({ summary: { outcome: 'NEW', versions: 2, schemaChange: null } });
    expect(await ask()).toMatchObject([{ summary: { outcome: 'NONE', versions: 0 } }]);
    writeFileSync(join(at, 'snapshot/snapshot-3'), snapshot(3));
    writeFileSync(join(at, 'schema/schema-1'), schema(1, 'BIGINT'));
    expect(await ask()).toMatchObject([
      { snapshotId: '3' },
      { summary: { outcome: 'NEW', schemaId: '1', schemaChange: 'COMPATIBLE' } },
    ]);
    rmSync(join(at, 'snapshot/snapshot-3'));
    writeFileSync(join(at, 'schema/schema-2'), schema(2, 'STRING'));
    const people = await sluice(['inspect', at, '--cursor', cursor]);
    expect(people.out).toContain('The table was rolled back to 2. No version was written since the cursor.');
    expect(people.out).toContain('1 to 2, incompatible: Column n was changed from BIGINT to STRING.');
    expect(readdirSync(root).sort()).toEqual(['c.json', 't']);
  });

  test('unreadable: exit 1, the reason on stderr, a summary, and the cursor stays', async () => {
    const root = table();
    const [at, cursor] = [join(root, 't'), join(root, 'c.json')];
    await sluice(['inspect', at, '--cursor', cursor]);
    const before = readFileSync(cursor, 'utf8');
    writeFileSync(join(at, 'snapshot/snapshot-3'), '{"version": 3, "id"');
    const { code, out, err } = await sluice(['inspect', at, '--cursor', cursor, '--json']);
    expect(code).toBe(1);
    expect(err).toBe('sluice: snapshot-3 cannot be used: it is not whole JSON; a writer may be at it.\n');
    expect(lines(out)).toMatchObject([{ summary: { outcome: 'UNREADABLE', head: '2', retryable: true } }]);
    expect(readFileSync(cursor, 'utf8')).toBe(before);
  });

  test('a cursor that cannot be written is said after the answer', async () => {
    const root = table();
    const { code, out, err } = await sluice([
      'inspect',
      join(root, 't'),
      '--cursor',
      join(root, 'no/c.json'),
      '--json',
    ]);
    expect(lines(out).at(-1)).toMatchObject({ summary: { outcome: 'NEW' } });
    expect([code, err]).toEqual([1, expect.stringContaining('cannot be written (ENOENT)')]);
  });

  test.each([
    [['inspect', '/no/such/folder'], 1, 'There is no folder /no/such/folder: check the path.'],
    [['inspect', PROJECT], 1, 'holds no table that Sluice can read'],
    [['inspect', PROJECT, '--format', 'paimon'], 1, 'is not a Paimon table'],
    [['inspect', PROJECT, '--format', 'paimon', '--branch', 'b'], 1, 'check the location and the name of the branch'],
    [['inspect', 's3://bucket/t'], 1, 'does not read s3: locations yet'],
    [['inspect', PROJECT, '--cursor', join(PROJECT, 'package.json')], 1, 'is not a cursor file'],
    [['inspect'], 2, 'name the LOCATION of a table'],
    [['inspect', PROJECT, '--format', 'orc'], 2, "argument 'orc' is invalid"],
    [['inspect', PROJECT, '--cursor', 'c', '--since', '1'], 2, 'cannot be used with'],
    [['inspect', '--stdin'], 2, 'add --json'],
    [['inspect', PROJECT, '--bogus'], 2, "unknown option '--bogus'"],
    [['inspct'], 2, 'Did you mean inspect?'],
  ])('%j exits %i in words', async (args, code, words) => {
    const ended = await sluice(args);
    expect([ended.code, ended.out]).toEqual([code, '']);
    expect(ended.err).toMatch(/^sluice: /);
    expect(ended.err).toContain(words);
    expect(ended.err).not.toMatch(/^\s+at /m);
  });

  test('help is a success, for the program and for a command', async () => {
    expect(await sluice(['--help'])).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('inspect') as string,
    });
    expect(await sluice(['help', 'inspect'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('--cursor') as string,
    });
  });
});

describe('sluice inspect --stdin --json', () => {
  test('answers every line, the bad ones too, and moves each cursor', async () => {
    const root = table();
    const request = (more: object): string =>
      JSON.stringify({ location: join(root, 't'), cursor: join(root, 'c.json'), ...more });
    const bad = [
      '',
      'x',
      '[]',
      '{}',
      '{"location": "/t", "format": 7}',
      request({ location: join(root, 'no') }),
      request({ format: 'orc', cursor: null }),
    ];
    const { code, out, err } = await sluice(
      ['inspect', '--stdin', '--json'],
      [request({}), ...bad, request({ format: 'paimon' })].join('\n'),
    );
    expect([code, err]).toEqual([0, '']);
    const summaries = lines(out).flatMap((line) =>
      'summary' in line ? [line['summary'] as { outcome: string; problems: string[] }] : [],
    );
    expect(summaries.map((summary) => summary.outcome)).toEqual([
      'NEW',
      ...Array<string>(6).fill('UNREADABLE'),
      'NONE',
    ]);
    expect(summaries.slice(1, -1).every((summary) => summary.problems.length === 1)).toBe(true);
    expect(existsSync(join(root, 'c.json'))).toBe(true);
  });
});
