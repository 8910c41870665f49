import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { PROJECT } from '../support/tree.ts';
import { jsonLines, type Served, serve, sluice } from './process.ts';

// Each command is a process of its own, and this machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

const ORDERS = 'paimon://ods_db/orders';
const PAYMENTS = 'paimon://ods_db/payments';

const FILE = `
apiVersion: sluice/v1
project: gmv
assets:
  - key: ${ORDERS}
  - key: ${PAYMENTS}
workflows:
  - name: trade
    triggers:
      - group: both
        all:
          - {assetKey: ${ORDERS}, qualityStatus: PASSED}
          - {assetKey: ${PAYMENTS}}
    tasks:
      - name: dwd
        params: {rawScript: 'echo "orders at $SLUICE_ASSET_ORDERS_SNAPSHOT_ID, mode \${mode}"'}
      - name: dws
        dependsOn: [dwd]
        params: {rawScript: 'echo Größe; exit \${code}'}
    globalParams: {mode: normal, code: 0}
`;

/** The server with the file applied. */
const applied = async (): Promise<Served> => {
  const server = await serve({ 'gmv.yaml': FILE });
  const done = await server.sluice('apply', '-f', 'gmv.yaml');
  expect(done, done.err).toMatchObject({ code: 0, err: '' });
  return server;
};

const commit = (server: Served, key: string, id: string) =>
  server.sluice(
    'asset',
    'emit',
    key,
    '--type',
    'SNAPSHOT_COMMITTED',
    '--snapshot',
    id,
    '--commit-kind',
    'APPEND',
    '--data-change',
    'yes',
  );

const passed = (server: Served, id: string) =>
  server.sluice('asset', 'emit', ORDERS, '--type', 'QUALITY_CHECK_PASSED', '--check', 'rows', '--snapshot', id);

/** The same without a process for each. */
const push = (server: Served, ...events: object[]) => server.ask('asset-events', events);
const version = (snapshotId: string) => ({
  assetKey: ORDERS,
  eventType: 'SNAPSHOT_COMMITTED',
  snapshotId,
  commitKind: 'APPEND',
  dataChange: true,
});

/** Asks again until the answer is right: nothing tells from outside when a table has started a run. */
const until = async (server: Served, path: string, right: (answer: string) => boolean): Promise<void> => {
  const deadline = Date.now() + 45_000;
  for (;;) {
    const answer = JSON.stringify(await server.ask(path));
    if (right(answer)) return;
    if (Date.now() > deadline) throw new Error(`not reached: ${answer}`);
  }
};

describe('sluice apply', () => {
  test('the plan, once with changes and once without', async () => {
    const server = await serve({ 'gmv.yaml': FILE });
    const dry = await server.sluice('apply', '-f', 'gmv.yaml', '--dry-run');
    expect(dry.out).toContain('project gmv (dry run: nothing was written)');
    expect(dry.out).toMatch(/\+ create {2}workflow {2}trade/);
    expect(dry.out).toContain('4 of 4 would change.');
    expect((await server.sluice('apply', '-f', 'gmv.yaml')).out).toContain('4 of 4 changed.');
    expect((await server.sluice('apply', 'gmv.yaml')).out).toContain('Nothing to change.');
    const [plan, ...more] = jsonLines((await server.sluice('apply', '-f', 'gmv.yaml', '--json')).out);
    expect(more).toEqual([]);
    expect(plan).toMatchObject({ project: 'gmv', dryRun: false, warnings: [] });
  });

  test('every mistake with its file, line and column; nothing is written', async () => {
    const server = await serve({
      'assets.yaml': `apiVersion: sluice/v1\nproject: gmv\nassets:\n  - key: nonsense\n`,
      'work.yaml': [
        'apiVersion: sluice/v1',
        'project: gmv',
        'workflows:',
        '  - name: trade',
        '    triggres: []',
        '    schedule: {crontab: "0 0 2 * * ?"}',
        '    tasks:',
        '      - name: a',
        '        dependsOn: [b]',
        '        params: {rawScript: "true"}',
        '      - name: b',
        '        dependsOn: [a]',
        '        params: {rawScritp: "true"}',
      ].join('\n'),
    });
    const { code, out, err } = await server.sluice('apply', '-f', 'assets.yaml', '-f', 'work.yaml');
    expect([code, out]).toEqual([1, '']);
    const said = err
      .trimEnd()
      .replace(/^sluice: /, '')
      .split('\n');
    expect(said.map((line) => line.split(': ')[0])).toEqual([
      'assets.yaml:4:5',
      'work.yaml:5:5',
      'work.yaml:6:5',
      'work.yaml:13:9',
      'work.yaml:7:5',
    ]);
    expect(said[4]).toMatch(/a -> b -> a|b -> a -> b/);
    expect(said[1]).toContain('did you mean "triggers"?');
    expect(said[2]).toContain('This version of Sluice does not have "schedule" yet');
    expect((await server.sluice('asset', 'list')).err).toContain('Apply a file first');
  });

  test('a circle between tasks', async () => {
    const task = (name: string, after: string) => `      - {name: ${name}, type: NOOP, dependsOn: [${after}]}\n`;
    const file = `apiVersion: sluice/v1\nproject: p\nworkflows:\n  - name: w\n    tasks:\n${task('a', 'b')}${task('b', 'a')}`;
    const server = await serve({ 'f.yaml': file });
    const { code, err } = await server.sluice('apply', '-f', 'f.yaml');
    expect(code).toBe(1);
    expect(err).toMatch(/^sluice: f\.yaml:5:5: workflows\[0\]\.tasks: .*(a -> b -> a|b -> a -> b)/);
  });

  test('no file named, and one that is not there', async () => {
    const server = await serve();
    expect((await server.sluice('apply')).code).toBe(2);
    expect(await server.sluice('apply', '-f', 'nope.yaml')).toMatchObject({
      code: 1,
      err: expect.stringContaining('nope.yaml'),
    });
  });

  test('from stdin', async () => {
    const server = await serve();
    const { code } = await sluice(['apply', '-f', '-'], { cwd: server.folder, input: FILE });
    expect(code).toBe(0);
  });
});

describe('from commits to a run, by the command line alone', () => {
  test('why it waits, what lifts it, what ran, and what it wrote', async () => {
    const server = await applied();
    await commit(server, ORDERS, '5412345678901234567');
    await commit(server, PAYMENTS, '7');
    await until(server, 'workflow-definitions/trade/why', (answer) => answer.includes('BLOCKED_BY_QUALITY'));
    const [why] = jsonLines((await server.sluice('why', 'trade', '--json')).out);
    expect(why).toMatchObject({ workflow: 'trade', groups: [{ group: 'both', ready: false, lastFire: null }] });
    const words = (await server.sluice('why', 'trade')).out;
    expect(words).toMatch(/group both: waits for 1 of 2/);
    expect(words).toMatch(/✗ {2}orders +needs .*now: .*BLOCKED_BY_QUALITY/);
    expect(words).toMatch(/✓ {2}payments/);
    expect((await passed(server, '5412345678901234567')).code).toBe(0);

    await until(server, 'workflow-instances', (answer) => answer.includes('"state":"SUCCESS"'));
    const [run] = jsonLines((await server.sluice('runs', 'list', '--json')).out);
    expect(run).toMatchObject({
      id: 1,
      triggerGroup: 'both',
      pins: { [ORDERS]: { snapshotId: '5412345678901234567', epoch: 1, ordinal: 1 } },
    });
    const [shown] = jsonLines((await server.sluice('runs', 'show', '1', '--json')).out);
    expect(shown?.['tasks']).toEqual([
      expect.objectContaining({ name: 'dwd', state: 'SUCCESS', attempt: 1, exitCode: 0 }),
      expect.objectContaining({ name: 'dws', state: 'SUCCESS', attempt: 1, exitCode: 0 }),
    ]);
    expect((await server.sluice('logs', '1', 'dwd')).out).toBe('orders at 5412345678901234567, mode normal\n');
    expect((await server.sluice('logs', '1', 'dws', '--follow')).out).toBe('Größe\n');
    expect((await server.sluice('why', 'trade')).out).toContain('It last started run 1');
  });
});

describe('sluice run and runs', () => {
  test('--wait says how it ended by its exit code', async () => {
    const server = await applied();
    const good = await server.sluice('run', 'trade', '--wait', '--param', 'mode=a=b');
    expect(good.code, good.err + good.out).toBe(0);
    expect(good.out).toMatch(/dws: succeeded/);
    expect((await server.sluice('logs', '1', 'dwd')).out).toContain('mode a=b');
    const bad = await server.sluice('run', 'trade', '--wait', '--param', 'code=3', '--json');
    expect(bad.code).toBe(1);
    const [failed, ...more] = jsonLines(bad.out);
    expect(more).toEqual([]);
    expect(failed).toMatchObject({
      state: 'FAILURE',
      tasks: [
        { name: 'dwd', exitCode: 0 },
        { name: 'dws', exitCode: 3, state: 'FAILURE' },
      ],
    });
    expect((await server.sluice('runs', 'pause', '2')).err).toBe(
      'sluice: Run 2 has failed and cannot be paused: recover it (failed tasks and all after them), rerun it (all tasks) or leave it as it is.\n',
    );
    const listed = async (state: string) =>
      jsonLines((await server.sluice('runs', 'list', '--state', state, '--json')).out).map(({ id }) => id);
    expect([await listed('failed'), await listed('FAILURE'), await listed('succeeded')]).toEqual([[2], [2], [1]]);
    expect((await server.sluice('runs', 'list', '--state', 'lost')).err).toContain('RUNNING_EXECUTION');
    expect((await server.sluice('runs', 'recover', '2')).out).toContain('run 2 of trade: submitted');
    const table = (await server.sluice('runs', 'list')).out.split('\n');
    expect(table[0]).toMatch(/^RUN {2}WORKFLOW {2}STATE/);
    expect(table).toHaveLength(4);
  });

  test('pins by id and by tag; one task alone; the same key again', async () => {
    const server = await applied();
    const tag = { assetKey: ORDERS, eventType: 'TAG_CREATED', tag: 'close', snapshotId: '1' };
    await push(server, version('1'), version('2'), tag);
    const run = await server.sluice(
      'run',
      'trade',
      '--pin',
      `${ORDERS}=tag:close`,
      '--only',
      'dwd',
      '--wait',
      '--json',
    );
    expect(run.code, run.err).toBe(0);
    expect(jsonLines(run.out)[0]).toMatchObject({
      pins: { [ORDERS]: { snapshotId: '1', tag: 'close' } },
      tasks: [{ name: 'dwd' }],
    });
    const unknown = await server.sluice('run', 'trade', '--pin', `${ORDERS}=9`);
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('9')]);
    const keyed = () => server.sluice('run', 'trade', '--idempotency-key', 'k', '--json');
    const [first, again] = [jsonLines((await keyed()).out)[0], jsonLines((await keyed()).out)[0]];
    expect([first?.['duplicate'], again?.['duplicate']]).toEqual([false, true]);
    expect(again?.['id']).toBe(first?.['id']);
  });
});

describe('sluice asset', () => {
  test('list, versions, events and show, as tables and as lines of JSON', async () => {
    const server = await applied();
    await push(server, version('1'), version('2'));
    await passed(server, '2');
    expect((await server.sluice('asset', 'list')).out.split('\n')[1]).toContain(ORDERS);
    expect(jsonLines((await server.sluice('asset', 'list', '--json')).out)).toHaveLength(2);
    const versions = jsonLines((await server.sluice('asset', 'versions', ORDERS, '--json')).out);
    expect(versions.map(({ snapshotId, quality }) => [snapshotId, quality])).toEqual([
      ['2', 'PASSED'],
      ['1', 'UNKNOWN'],
    ]);
    expect(jsonLines((await server.sluice('asset', 'versions', ORDERS, '--json', '--limit', '1')).out)).toHaveLength(1);
    const verdicts = await server.sluice('asset', 'events', ORDERS, '--type', 'QUALITY_CHECK_PASSED', '--json');
    expect(jsonLines(verdicts.out)).toEqual([
      expect.objectContaining({ checkName: 'rows', sourceType: 'USER', snapshotId: '2' }),
    ]);
    expect((await server.sluice('asset', 'show', ORDERS)).out).toMatch(/checks\n {4}rows {2}passed {2}2/);
    expect(jsonLines((await server.sluice('asset', 'show', ORDERS, '--json')).out)[0]).toMatchObject({
      key: ORDERS,
      project: 'gmv',
    });
    const code = /code +(\d+)/.exec((await server.sluice('asset', 'show', ORDERS)).out)?.[1] ?? '';
    expect(jsonLines((await server.sluice('asset', 'events', code, '--json', '--limit', '1')).out)[0]).toMatchObject({
      assetKey: ORDERS,
    });
    expect((await server.sluice('asset', 'emit', code, '--type', 'CDC_LAG_RECOVERED')).out).toContain(ORDERS);
    const approved = await server.sluice('asset', 'approve', ORDERS, '3');
    expect(approved.out).toBe(`schema 3 of ${ORDERS}: approved\n`);
  });

  test('an event that is wrong is an error', async () => {
    const server = await applied();
    const wrong = await server.sluice('asset', 'emit', ORDERS, '--type', 'NOPE');
    expect([wrong.code, wrong.out, wrong.err]).toEqual([1, '', expect.stringContaining('eventType')]);
    const unreadable = await server.sluice('asset', 'scan', ORDERS);
    expect([unreadable.code, unreadable.err]).toEqual([1, expect.stringContaining('location')]);
  });
});

describe('sluice workflow', () => {
  test('online and offline, paused and resumed', async () => {
    const server = await applied();
    const ask = async (...args: string[]) => (await server.sluice('workflow', ...args)).out;
    expect(await ask('list')).toMatch(/^trade +\d+ +1 +online +both +2$/m);
    expect(await ask('offline', 'trade')).toBe('trade is offline\n');
    expect(await ask('online', 'trade', '--skip')).toBe('trade is online\n');
    expect((await server.sluice('workflow', 'online', 'trade', '--skip')).err).toBe(
      'sluice: Leave out skip: workflow trade is online already, so nothing was kept for it that could be skipped.\n',
    );
    expect(await ask('pause', 'trade', 'both')).toBe('group both of trade is paused\n');
    expect((await server.sluice('why', 'trade')).out).toContain('a group that is not paused');
    expect(await ask('resume', 'trade', 'both', '--skip')).toBe('group both of trade is no longer paused\n');
    const again = await server.sluice('workflow', 'resume', 'trade', 'both');
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('it is not paused')]);
    const json = jsonLines((await server.sluice('workflow', 'pause', 'trade', 'both', '--json')).out);
    expect(json).toEqual([expect.objectContaining({ group: 'both', paused: true })]);
  });

  test('the only group need not be named, one of several must', async () => {
    const server = await applied();
    const ask = async (...args: string[]) => {
      const { out, err } = await server.sluice('workflow', ...args);
      return out + err;
    };
    expect(await ask('pause', 'trade')).toBe('group both of trade is paused\n');
    expect(await ask('resume', 'trade')).toBe('group both of trade is no longer paused\n');
    const second = `      - group: second\n        all: [{assetKey: ${PAYMENTS}}]\n    tasks:\n`;
    const bare = '  - {name: bare, tasks: [{name: t, type: NOOP}]}\n';
    await sluice(['apply', '-f', '-'], {
      cwd: server.folder,
      input: `${FILE.replace('    tasks:\n', second)}${bare}`,
    });
    expect(await ask('pause', 'trade')).toBe(
      'sluice: Name one group of trade: both, second. For all: sluice workflow offline trade.\n',
    );
    expect(await ask('pause', 'bare')).toBe(
      'sluice: No table starts bare, so it has no group; to let nobody start it: sluice workflow offline bare.\n',
    );
    await ask('offline', 'trade');
    expect((await server.sluice('run', 'trade')).err).toBe(
      'sluice: Workflow trade is offline: put it online first ("sluice workflow online trade").\n',
    );
  });
});

describe('finding the server', () => {
  test('by address and token, and when they are wrong', async () => {
    const server = await applied();
    const elsewhere = join(server.folder, 'elsewhere');
    const ask = (args: string[], env: Record<string, string> = {}) =>
      sluice(['asset', 'list', '--json', ...args], { cwd: '/', env });
    expect(jsonLines((await ask(['--data', join(server.folder, '.sluice')])).out)).toHaveLength(2);
    const denied = await ask(['--server', server.url, '--data', elsewhere]);
    expect([denied.code, denied.err]).toEqual([1, expect.stringContaining('token')]);
    expect((await ask([], { SLUICE_SERVER: server.url, SLUICE_TOKEN: 'wrong' })).code).toBe(1);
    const nobody = await ask(['--data', elsewhere]);
    expect([nobody.code, nobody.err]).toEqual([1, expect.stringContaining(`sluice server --data ${elsewhere}`)]);
  });

  test('with two projects it must be said which', async () => {
    const server = await applied();
    const other = 'apiVersion: sluice/v1\nproject: other\nassets: [{key: paimon://x/y}]\n';
    await sluice(['apply', '-f', '-'], { cwd: server.folder, input: other });
    const asked = await server.sluice('asset', 'list');
    expect([asked.code, asked.err]).toEqual([
      1,
      expect.stringMatching(/--project: there are (gmv, other|other, gmv)\./),
    ]);
    expect((await server.sluice('asset', 'list', '--project', 'other')).out).toContain('paimon://x/y');
  });

  test('with two projects, what is named says which', async () => {
    const server = await applied();
    const ask = async (...args: string[]) => {
      const { code, out, err } = await server.sluice(...args);
      return [code, code === 0 ? out : err];
    };
    const job = (name: string) => `  - {name: ${name}, tasks: [{name: t, type: NOOP}]}\n`;
    const other = `apiVersion: sluice/v1\nproject: other\nassets: [{key: paimon://x/y}]\nworkflows:\n${job('job')}${job('trade')}`;
    await sluice(['apply', '-f', '-'], { cwd: server.folder, input: other });
    expect(await ask('run', 'job')).toEqual([0, 'started run 1 of job\n']);
    expect(await ask('runs', 'show', '1')).toEqual([0, expect.stringContaining('run 1 of job')]);
    expect(await ask('asset', 'show', 'paimon://x/y')).toEqual([0, expect.stringMatching(/^ +project +other$/m)]);
    const stated = ['--type', 'SNAPSHOT_COMMITTED', '--snapshot', '7'];
    expect(await ask('asset', 'emit', 'paimon://x/y', ...stated)).toEqual([0, expect.stringContaining('paimon://x/y')]);
    expect(await ask('asset', 'events', 'paimon://x/y')).toEqual([0, expect.stringContaining('Version 7')]);
    expect(await ask('why', 'trade')).toEqual([
      1,
      'sluice: Say which project you mean with --project: there are gmv, other.\n',
    ]);
    expect(await ask('why', 'trad')).toEqual([
      1,
      'sluice: Correct the workflow trad: none of the projects gmv, other has it.\n',
    ]);
  });
});

describe('wrong usage', () => {
  test.each([
    [['run']],
    [['run', 'w', '--nope']],
    [['run', 'w', '--from', 'a', '--only', 'b']],
    [['run', 'w', '--pin', 'nothing']],
    [['run', 'w', '--param', '=x']],
    [['runs', 'show', 'abc']],
    [['runs', 'list', '--limit', '0']],
    [['runs', 'nope']],
    [['asset', 'emit', 'k']],
    [['asset', 'emit', 'k', '--type', 'T', '--data-change', 'maybe']],
    [['logs', '1']],
    [['why']],
  ])('%j exits with 2 and says so on stderr', async (args) => {
    const { code, out, err } = await sluice(args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^(sluice: |Usage: )/);
  });

  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string };
    expect(await sluice(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });

  test.each(['server', 'apply', 'asset', 'why', 'run', 'runs', 'logs', 'db'])('%s has help', async (name) => {
    const { code, out } = await sluice([name, '--help']);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: sluice ${name}`);
  });
});
