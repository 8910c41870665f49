import { describe, expect, test } from 'vitest';
import { parseDeclaration } from '../../../src/core/declaration/parse.ts';
import { pathText } from '../../../src/core/declaration/read.ts';
import type { TaskCheck } from '../../../src/core/declaration/workflow.ts';
import type { ProjectDeclaration } from '../../../src/core/declaration/declaration.ts';
import { ok, refuse } from '../../../src/core/result.ts';

const checkTask: TaskCheck = (type, params) => {
  if (type === 'NOOP') return ok(undefined);
  if (type !== 'SHELL') return refuse('BAD_FILE', `There is no task type ${type}.`);
  return typeof params['rawScript'] === 'string' ? ok(undefined) : refuse('BAD_FILE', 'Add "rawScript".');
};

const parse = (raw: unknown) => parseDeclaration(raw, { timezone: 'Asia/Shanghai', checkTask });

const parsed = (raw: unknown): ProjectDeclaration => {
  const result = parse(raw);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
};

/** `path: detail` of each problem. */
const problems = (raw: unknown): string[] => {
  const result = parse(raw);
  return result.ok ? [] : result.problems.map(({ path, detail }) => `${pathText(path)}: ${detail}`);
};

const file = (rest: object) => ({ apiVersion: 'sluice/v1', project: 'gmv', ...rest });
const workflow = (rest: object) =>
  file({ workflows: [{ name: 'trade', tasks: [{ name: 'a', type: 'NOOP' }], ...rest }] });
const tasks = (...list: object[]) => workflow({ tasks: list });

describe('a file that declares work', () => {
  test('the example of the contract, less what this version does not have', () => {
    const { assets, workflows } = parsed(
      file({
        assets: [{ key: 'paimon://default/ods_db/ods_order_latest@main', location: '/w/ods_db.db/ods_order_latest/' }],
        workflows: [
          {
            name: 'trade',
            triggers: [
              {
                group: 'orders_and_payments',
                advance: 'ALL',
                all: [
                  { assetKey: 'paimon://ods_db/ods_order_latest', qualityStatus: 'PASSED', schemaStatus: 'COMPATIBLE' },
                  { assetKey: 'paimon://ods_db/ods_payment_latest' },
                ],
              },
            ],
            globalParams: { level: 3, dry: false },
            tasks: [
              { name: 'dwd', type: 'SHELL', params: { rawScript: 'true' }, outputs: ['paimon://dw_db/dwd'] },
              { name: 'dws', params: { rawScript: './dws.sh' }, dependsOn: ['dwd'], failRetryTimes: 2 },
            ],
          },
        ],
      }),
    );
    expect(assets[0]).toEqual({
      key: 'paimon://ods_db/ods_order_latest',
      location: '/w/ods_db.db/ods_order_latest',
      description: '',
      pushMode: 'VERIFY',
      onGap: 'CONTINUE',
      onRollback: 'IGNORE',
      onRecreate: 'CONTINUE',
      schemaPolicy: 'AUTO',
      requiredChecks: [],
      pollIntervalMs: null,
    });
    const [trade] = workflows;
    expect(trade).toMatchObject({ releaseState: 'ONLINE', timezone: 'Asia/Shanghai', failureStrategy: 'CONTINUE' });
    expect(trade?.groups[0]?.conditions.map(({ alias }) => alias)).toEqual(['ods_order_latest', 'ods_payment_latest']);
    expect(trade?.globalParams).toEqual([
      { prop: 'level', direct: 'IN', value: '3' },
      { prop: 'dry', direct: 'IN', value: 'false' },
    ]);
    expect(trade?.tasks[1]).toMatchObject({
      type: 'SHELL',
      flag: 'YES',
      failRetryTimes: 2,
      failRetryIntervalSeconds: 60,
      timeoutSeconds: null,
    });
    expect(trade?.tasks[0]?.outputs).toEqual(['paimon://dw_db/dwd']);
  });

  test('all problems are found in one reading, each at its place', () => {
    const found = problems({
      apiVersion: 'sluice/v2',
      projekt: 'gmv',
      assets: [{ key: 'nonsense' }, { key: 'paimon://a/b', onGap: 'WAIT', pollIntervalSeconds: 0 }],
      workflows: [{ name: 'w', timezone: 'Mars/Olympus', tasks: [{ name: 'a', type: 'NOOP', flag: 'MAYBE' }] }],
    });
    expect(found.map((line) => line.split(': ')[0])).toEqual([
      'projekt',
      'apiVersion',
      'the file',
      'assets[0].key',
      'assets[1].pollIntervalSeconds',
      'assets[1].onGap',
      'workflows[0].timezone',
      'workflows[0].tasks[0].flag',
    ]);
    expect(found[0]).toContain('did you mean "project"?');
  });

  test.each([
    [null, 'the file: Write a mapping of keys to values here, not nothing.'],
    [[], 'the file: Write a mapping of keys to values here, not a list.'],
    ['text', 'the file: Write a mapping of keys to values here, not "text".'],
    [file({ assets: {} }), 'assets: Write a list here, not a mapping.'],
    [file({ workflows: [7] }), 'workflows[0]: Write a mapping of keys to values here, not 7.'],
  ])('what is no file: %j', (raw, problem) => {
    expect(problems(raw)).toContain(problem);
  });
});

describe('assets in a file', () => {
  const asset = (rest: object) => file({ assets: [{ key: 'paimon://a/b', ...rest }] });

  test('a location is absolute and on a local disk', () => {
    expect(problems(asset({ location: './t' }))).toEqual([
      'assets[0].location: Give the folder\'s absolute path: "./t" is relative.',
    ]);
    expect(problems(asset({ location: 's3://bucket/t' }))[0]).toContain('not s3://');
    expect(parsed(asset({ location: 'file:///w/t' })).assets[0]?.location).toBe('/w/t');
    expect(parsed(asset({ location: 'C:\\w\\t' })).assets[0]?.location).toBe('C:\\w\\t');
  });

  test('without a location what is pushed is trusted, and VERIFY is refused', () => {
    expect(parsed(asset({})).assets[0]).toMatchObject({ location: null, pushMode: 'TRUST' });
    expect(problems(asset({ pushMode: 'VERIFY' }))[0]).toContain('assets[0].pushMode: Add a location');
  });

  test('two spellings of one key are declared twice', () => {
    const twice = file({ assets: [{ key: 'paimon://a/b' }, { key: 'paimon://default/a/b@main' }] });
    expect(problems(twice)).toEqual(['assets: "paimon://a/b" is declared twice: leave one out or rename it.']);
  });

  test('the interval is kept in milliseconds', () => {
    expect(parsed(asset({ location: '/w/t', pollIntervalSeconds: 5 })).assets[0]?.pollIntervalMs).toBe(5000);
  });
});

describe('workflows in a file', () => {
  test.each(['schedule', 'edgeMode', 'executionType'])('%s is refused by name', (key) => {
    expect(problems(workflow({ [key]: 'SNAPSHOT' }))[0]).toMatch(
      new RegExp(`^workflows\\[0\\]\\.${key}: This version of Sluice does not have "${key}" yet: `),
    );
  });

  test.each(['DEPENDENT', 'SWITCH', 'SUB_WORKFLOW'])('a task of type %s is refused by name', (type) => {
    expect(problems(tasks({ name: 'a', type }))).toEqual([
      expect.stringMatching(
        `workflows\\[0\\]\\.tasks\\[0\\]\\.type: This version of Sluice does not have ${type} tasks yet: `,
      ),
    ]);
  });

  test.each(['taskGroup', 'workerGroup'])('%s of a task is refused by name', (key) => {
    expect(problems(tasks({ name: 'a', type: 'NOOP', [key]: [] }))[0]).toContain(`does not have "${key}" yet`);
  });

  test("a task type's own check speaks for its parameters", () => {
    expect(problems(tasks({ name: 'a', type: 'SHELL', params: {} }))).toEqual([
      'workflows[0].tasks[0].params: Add "rawScript".',
    ]);
    expect(problems(tasks({ name: 'a', type: 'SHEL' }))).toEqual([
      'workflows[0].tasks[0].params: There is no task type SHEL.',
    ]);
  });

  test('a circle is named with its path', () => {
    const circle = tasks(
      { name: 'a', type: 'NOOP', dependsOn: ['c'] },
      { name: 'b', type: 'NOOP', dependsOn: ['a'] },
      { name: 'c', type: 'NOOP', dependsOn: ['b'] },
    );
    const result = parse(circle);
    expect(result.ok).toBe(false);
    const [problem] = result.ok ? [] : result.problems;
    expect(problem).toMatchObject({ code: 'WORKFLOW_CYCLE', path: ['workflows', 0, 'tasks'] });
    expect(problem?.detail).toMatch(/a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c/);
  });

  test('a task that waits for itself', () => {
    const [problem] = problems(tasks({ name: 'a', type: 'NOOP', dependsOn: ['a'] }));
    expect(problem).toContain('workflows[0].tasks');
  });

  test('duplicate names and unknown predecessors, at their places', () => {
    const found = problems(
      tasks(
        { name: 'load', type: 'NOOP' },
        { name: 'load', type: 'NOOP' },
        { name: 'c', type: 'NOOP', dependsOn: ['laod'] },
      ),
    );
    expect(found).toEqual([
      'workflows[0].tasks[1].name: A task "load" stands here already: rename one.',
      'workflows[0].tasks[2].dependsOn[0]: No task of this workflow is called "laod": did you mean "load"?',
    ]);
  });

  test('a workflow without tasks, and a name that is a number', () => {
    expect(problems(workflow({ tasks: [] }))).toEqual(['workflows[0].tasks: Declare at least one task.']);
    expect(problems(workflow({ name: '42' }))[0]).toContain('workflows[0].name');
  });

  test('two workflows of one name', () => {
    const one = { name: 'w', tasks: [{ name: 'a', type: 'NOOP' }] };
    expect(problems(file({ workflows: [one, one] }))).toEqual([
      'workflows: "w" is declared twice: leave one out or rename it.',
    ]);
  });
});

describe('triggers in a file', () => {
  const group = (name: string, ...all: object[]) => ({ group: name, all });

  test('a group that never waits', () => {
    const result = parse(workflow({ triggers: [group('g', { assetKey: 'paimon://a/b', snapshotRequired: false })] }));
    expect(result.ok ? [] : result.problems).toEqual([
      expect.objectContaining({ code: 'GROUP_NEVER_WAITS', path: ['workflows', 0, 'triggers', 0] }),
    ]);
  });

  test('two groups of one name', () => {
    const g = group('g', { assetKey: 'paimon://a/b' });
    expect(problems(workflow({ triggers: [g, g] }))).toEqual([
      'workflows[0].triggers[1]: A group "g" stands here already: rename one.',
    ]);
  });

  test('an alias stands for one asset in all of a workflow', () => {
    const one = group('one', { assetKey: 'paimon://a/orders' });
    const same = group('two', { assetKey: 'paimon://a/orders' });
    const other = group('three', { assetKey: 'paimon://b/orders' });
    expect(problems(workflow({ triggers: [one, same] }))).toEqual([]);
    expect(problems(workflow({ triggers: [one, other] }))[0]).toContain('Give paimon://b/orders an alias of its own');
  });

  test('assetTriggerEnabled: false takes all groups out of force', () => {
    const declared = parsed(
      workflow({ assetTriggerEnabled: false, triggers: [group('g', { assetKey: 'paimon://a/b' })] }),
    );
    expect(declared.workflows[0]?.groups.map(({ enabled }) => enabled)).toEqual([false]);
  });
});

describe('parameters in a file', () => {
  test("DolphinScheduler's list is taken as it stands", () => {
    const declared = parsed(
      workflow({ globalParams: [{ prop: 'dt', direct: 'IN', type: 'VARCHAR', value: '$[yyyy-MM-dd]' }] }),
    );
    expect(declared.workflows[0]?.globalParams).toEqual([{ prop: 'dt', direct: 'IN', value: '$[yyyy-MM-dd]' }]);
  });

  test('a value that is no scalar, and a name that stands twice', () => {
    expect(problems(workflow({ globalParams: { a: [1] } }))[0]).toContain('workflows[0].globalParams.a');
    expect(problems(workflow({ globalParams: [{ prop: 'a' }, { prop: 'a' }] }))[0]).toContain('"a" stands here twice');
  });
});
