import { describe, expect, test } from 'vitest';
import type { TaskDefinition } from '../../../../src/core/workflow/definition.ts';
import { readOutput, upstreamOutputs } from '../../../../src/core/workflow/output.ts';
import { render, resolveParameters } from '../../../../src/core/workflow/parameters/parameters.ts';
import type { ParameterSources } from '../../../../src/core/workflow/parameters/parameters.ts';
import { readOptions } from '../../../../src/core/workflow/parameters/pin-values.ts';
import type { PinValues } from '../../../../src/core/workflow/parameters/pin-values.ts';
import { taskContextJson, taskEnvironment } from '../../../../src/core/workflow/parameters/task-context.ts';
import { attempt, run, task, workflow } from '../simulate.ts';

const orders: PinValues = {
  alias: 'orders',
  assetKey: 'paimon://ods/orders' as PinValues['assetKey'],
  format: 'paimon',
  snapshotId: '9007199254740993',
  previousSnapshotId: '41',
  incremental: true,
  incrementalReason: null,
  watermark: 1_700_000_000_000n,
  schemaId: '2',
  tag: null,
  commitTime: 1_700_000_001_000n,
  location: '/warehouse/ods.db/orders',
};

const given = (name: string, value: string, direct: 'IN' | 'OUT' = 'IN') => ({ prop: name, value, direct });

const sources = (more: Partial<ParameterSources> = {}): ParameterSources => ({
  run: run({ triggerKey: 'workflow_900_group_g_x', triggerGroup: 'g' }),
  workflow: workflow([], { timezone: 'Asia/Shanghai' }),
  task: task(1, 'a'),
  taskRun: attempt(7, task(1, 'a'), 'SUBMITTED_SUCCESS'),
  projectParams: [],
  upstream: [],
  pins: [orders],
  builtIns: {},
  now: BigInt(Date.parse('2024-02-29T20:00:00Z')),
  ...more,
});

function rendered(text: string, more: Partial<ParameterSources> = {}): string {
  const parameters = resolveParameters(sources(more));
  if (!parameters.ok) return `${parameters.problem.code}: ${parameters.problem.detail}`;
  const done = render(text, parameters.value);
  return done.ok ? done.value : `${done.problem.code}: ${done.problem.detail}`;
}

describe('what a script reads', () => {
  test('pins and trigger by name, big ids exact', () => {
    expect(
      rendered('${asset.orders.snapshot_id} ${asset.orders.previous_snapshot_id} ${asset.orders.incremental}'),
    ).toBe('9007199254740993 41 true');
    expect(rendered('[${asset.orders.tag}] ${asset.orders.commit_time} ${trigger.key}')).toBe(
      '[] 2023-11-14T22:13:21.000Z workflow_900_group_g_x',
    );
    expect(rendered('select * from t ${asset.orders.read_options.spark}')).toBe(
      'select * from t VERSION AS OF 9007199254740993',
    );
    expect(rendered('${asset.orders.read_options.flink}')).toBe(
      "/*+ OPTIONS('scan.snapshot-id'='9007199254740993') */",
    );
  });

  test('shell variables, unknown names and everything else stay', () => {
    const script = 'for f in ${FILES[@]}; do echo "${f%.csv} $HOME ${x:-{}} $(date) ${assets}"; done # }';
    expect(rendered(script)).toBe(script);
    expect(rendered('${OUT:-${asset.orders.snapshot_id}}')).toBe('${OUT:-9007199254740993}');
  });

  test('a fact of a table that the run does not have is refused in our words, not in those of the shell', () => {
    const refused = (script: string) => {
      const parameters = resolveParameters(sources());
      const result = parameters.ok ? render(script, parameters.value) : parameters;
      return result.ok ? 'rendered' : `${result.problem.code} ${result.problem.detail}`;
    };
    expect(refused('cat ${asset.payments.tag}')).toBe(
      'BAD_PARAMETER ${asset.payments.tag} has no value: this run has pinned no asset under the alias "payments" (pinned are orders); correct the alias, or start the run with --pin.',
    );
    expect(refused('cat ${asset.orders.snapshotid}')).toBe(
      'BAD_PARAMETER ${asset.orders.snapshotid} has no value: did you mean ${asset.orders.snapshot_id}?',
    );
    expect(refused('cat ${trigger.id}')).toBe(
      'BAD_PARAMETER ${trigger.id} has no value: use ${trigger.key} or ${trigger.group}.',
    );
  });

  test('the business day is the one of the workflow’s time zone, counted from the schedule time', () => {
    expect(rendered('${system.biz.date} ${system.biz.curdate} $[yyyy-MM-dd HH]')).toBe(
      '20240229 20240301 2024-03-01 04',
    );
    const scheduled = { run: run({ scheduleTime: BigInt(Date.parse('2024-01-01T00:00:00Z')) }) };
    expect(rendered('${system.biz.date} ${system.datetime}', scheduled)).toBe('20231231 20240101080000');
  });

  test('priority: upstream, start, local, global, project, built-in', () => {
    const levels: [string, Partial<ParameterSources>][] = [
      ['built-in', { builtIns: { p: 'built-in' } }],
      ['project', { projectParams: [given('p', 'project')] }],
      ['global', { workflow: workflow([], { globalParams: [given('p', 'global')] }) }],
      ['local', { task: task(1, 'a', { localParams: [given('p', 'local')] }) }],
      ['start', { run: run({ params: { p: 'start' } }) }],
      ['upstream', { upstream: [given('p', 'upstream', 'OUT')] }],
    ];
    levels.forEach(([name], index) => {
      expect(rendered('${p}', Object.assign({}, ...levels.slice(0, index + 1).map(([, one]) => one)))).toBe(name);
    });
  });

  test('upstream output is only for names that something declares, and not over an OUT parameter', () => {
    const upstream = [given('p', 'upstream', 'OUT')];
    expect(rendered('${p}', { upstream })).toBe('${p}');
    expect(rendered('${p}', { upstream, task: task(1, 'a', { localParams: [given('p', 'mine', 'OUT')] }) })).toBe(
      'mine',
    );
  });

  test('no parameter hides a fact', () => {
    expect(rendered('${asset.orders.snapshot_id}', { run: run({ params: { 'asset.orders.snapshot_id': '1' } }) })).toBe(
      '9007199254740993',
    );
  });

  test.each([
    [{ p: '${q}', q: '${p}' }, /circle: p -> q -> p/],
    [{ p: '$[nope]' }, /\$\[nope\]/],
    [Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`p${i}`, `\${p${i + 1}}\${p${i + 1}}`])), /deep/],
    [
      Object.fromEntries(
        Array.from({ length: 40 }, (_, i) => [`p${i}`, i === 39 ? 'x'.repeat(99) : `\${p${i + 1}}\${p${i + 1}}`]),
      ),
      /characters/,
    ],
  ])('%j is refused', (params, detail) => {
    const text = rendered('', { run: run({ params }) });
    expect(text).toMatch(/^BAD_PARAMETER/);
    expect(text).toMatch(detail);
  });

  test('an unknown time zone is refused', () => {
    expect(rendered('', { workflow: workflow([], { timezone: 'Mars/Olympus' }) })).toMatch(/BAD_PARAMETER.*Mars/);
  });
});

describe('values from outside', () => {
  const evil = '2024; rm -rf ~';
  const tagged = { pins: [{ ...orders, tag: evil }] };

  test.each([
    ['${asset.orders.tag}', 'asset.orders.tag', tagged],
    ['$[yyyy] ${${which}}', 'asset.orders.tag', { ...tagged, run: run({ params: { which: 'asset.orders.tag' } }) }],
    ['${mine}', 'asset.orders.tag', { ...tagged, run: run({ params: { mine: 'v_${asset.orders.tag}' } }) }],
    ['${trigger.key}', 'trigger.key', { run: run({ triggerKey: 'a`id`' }) }],
    ['${p}', 'p', { upstream: [given('p', '$(id)', 'OUT')], run: run({ params: { p: '' } }) }],
    ['${p}', 'p', { upstream: [given('p', '${asset.orders.tag}', 'OUT')], run: run({ params: { p: '' } }) }],
    [
      '${asset.orders.read_options.spark}',
      'asset.orders.read_options.spark',
      { pins: [{ ...orders, snapshotId: '5; drop table t' }] },
    ],
    ['${asset.orders.tag}', 'asset.orders.tag', { pins: [{ ...orders, tag: 'a\nid' }] }],
  ])('%s: UNSAFE_PARAMETER, naming %s', (text, name, more) => {
    expect(rendered(text, more)).toMatch(new RegExp(`^UNSAFE_PARAMETER: The value of ${name.replaceAll('.', '\\.')} `));
  });

  test('nothing in them is looked into, and a script that does not use them is not refused', () => {
    expect(rendered('echo ok', tagged)).toBe('echo ok');
    const parameters = resolveParameters(sources({ pins: [{ ...orders, tag: '${system.biz.date}' }] }));
    expect(parameters.ok && parameters.value.values.get('asset.orders.tag')).toEqual({
      text: '${system.biz.date}',
      unsafe: 'asset.orders.tag',
    });
  });

  test('what people write themselves may hold anything', () => {
    expect(rendered('${p}', { run: run({ params: { p: 'a; b | c' } }) })).toBe('a; b | c');
  });
});

describe('environment and context file', () => {
  const identity = {
    run: run({ triggerKey: 'key; $(id)', triggerGroup: null, scheduleTime: 0n }),
    workflow: workflow([], { name: 'gmv', timezone: 'UTC' }),
    task: task(1, 'dwd', { type: 'SHELL' }),
    taskRun: attempt(7, task(1, 'dwd'), 'DISPATCH', { attempt: 3, fence: 9 }),
    pins: [
      orders,
      {
        ...orders,
        alias: 'fx_Rates',
        format: 'hudi',
        snapshotId: '15',
        readAs: '20',
        previousSnapshotId: null,
        incremental: false,
        incrementalReason: 'no earlier run',
        watermark: null,
      },
    ],
  };

  test('everything as variables, any characters, empty where unknown', () => {
    expect(taskEnvironment(identity)).toMatchObject({
      SLUICE_WORKFLOW: 'gmv',
      SLUICE_RUN_ID: '5',
      SLUICE_TASK: 'dwd',
      SLUICE_TASK_INSTANCE_ID: '7',
      SLUICE_ATTEMPT: '3',
      SLUICE_FENCE: '9',
      SLUICE_TRIGGER_KEY: 'key; $(id)',
      SLUICE_TRIGGER_GROUP: '',
      SLUICE_ASSET_ORDERS_SNAPSHOT_ID: '9007199254740993',
      SLUICE_ASSET_ORDERS_PREVIOUS_SNAPSHOT_ID: '41',
      SLUICE_ASSET_ORDERS_INCREMENTAL: 'true',
      SLUICE_ASSET_ORDERS_WATERMARK: '2023-11-14T22:13:20.000Z',
      SLUICE_ASSET_ORDERS_SCHEMA_ID: '2',
      SLUICE_ASSET_ORDERS_TAG: '',
      SLUICE_ASSET_ORDERS_COMMIT_TIME: '2023-11-14T22:13:21.000Z',
      SLUICE_ASSET_ORDERS_LOCATION: '/warehouse/ods.db/orders',
      SLUICE_ASSET_ORDERS_READ_OPTIONS_TRINO: 'FOR VERSION AS OF 9007199254740993',
      SLUICE_ASSET_FX_RATES_PREVIOUS_SNAPSHOT_ID: '',
      SLUICE_ASSET_FX_RATES_INCREMENTAL: 'false',
      SLUICE_ASSET_FX_RATES_INCREMENTAL_REASON: 'no earlier run',
      SLUICE_ASSET_FX_RATES_READ_OPTIONS_SPARK: "TIMESTAMP AS OF '20'",
    });
  });

  test('the same in one JSON file, with all parameters', () => {
    const parameters = resolveParameters(sources({ run: run({ params: { p: '"quoted"\n' } }) }));
    if (!parameters.ok) throw new Error(parameters.problem.detail);
    expect(JSON.parse(taskContextJson(identity, parameters.value))).toMatchObject({
      workflow: { name: 'gmv', project: 'project', version: 1 },
      run: { id: 5, scheduleTime: '1970-01-01T00:00:00.000Z' },
      trigger: { key: 'key; $(id)', group: null },
      task: { name: 'dwd', instanceId: 7, attempt: 3, fence: 9 },
      assets: {
        orders: { snapshotId: '9007199254740993', incremental: true, watermark: '2023-11-14T22:13:20.000Z', tag: null },
        fx_Rates: { snapshotId: '15', readAs: '20', previousSnapshotId: null, incrementalReason: 'no earlier run' },
      },
      parameters: { p: '"quoted"\n', 'asset.orders.snapshot_id': '9007199254740993' },
    });
  });

  test.each([
    ['iceberg', { spark: 'VERSION AS OF 8', flink: "/*+ OPTIONS('snapshot-id'='8') */", trino: 'FOR VERSION AS OF 8' }],
    ['delta', { spark: 'VERSION AS OF 8', flink: "/*+ OPTIONS('versionAsOf'='8') */", trino: 'FOR VERSION AS OF 8' }],
    ['hudi', { spark: "TIMESTAMP AS OF '8'", flink: "/*+ OPTIONS('read.end-commit'='8') */", trino: '' }],
    ['custom', { spark: '', flink: '', trino: '' }],
  ])('%s is read at a version with %j', (format, clauses) => {
    expect(readOptions({ ...orders, format, snapshotId: '8' })).toEqual(clauses);
  });
});

describe('output of a task', () => {
  test('values in its log, also over lines, the last of a name', () => {
    const log = [
      '+ echo',
      'x ${setValue(a=1)} ${setValue(b=2)}',
      '#{setValue(c={"k":',
      '1})} ${setValue(a=3)}',
      '${setValue(open=1',
    ];
    expect([...readOutput(log)]).toEqual([
      ['a', '3'],
      ['b', '2'],
      ['c', '{"k":\n1}'],
    ]);
  });

  test('a value that stays open too long is none, and what is opened meanwhile still counts', () => {
    const lines = (count: number) => Array.from({ length: count }, () => '.');
    expect([...readOutput(['${setValue(a=1', ...lines(1023), ')}'])]).toEqual([
      ['a', `1\n${lines(1023).join('\n')}\n`],
    ]);
    const late = ['${setValue(a=1', ...lines(1022), '#{setValue(b=2', '.', ')}', '${setValue(c=3)}'];
    expect([...readOutput(late)]).toEqual([
      ['b', '2\n.\n'],
      ['c', '3'],
    ]);
    expect([...readOutput(['${setValue(a=1', 'x'.repeat(1_000_001), ')}', '${setValue(c=3)}'])]).toEqual([['c', '3']]);
  });

  test('of what the tasks before gave out, near and far, the later stands; others give nothing', () => {
    const named = (name: string, dependsOn: readonly string[] = []) =>
      ({ name, dependsOn }) as unknown as TaskDefinition;
    const tasks = [named('a'), named('b', ['a']), named('c', ['a']), named('d', ['b', 'c']), named('other')];
    const gave = (name: string, endTime: bigint, values: Readonly<Record<string, string>>) => ({
      id: 1,
      name,
      endTime,
      outputs: Object.entries(values).map(([prop, value]) => ({ prop, direct: 'OUT' as const, value })),
    });
    const attempts = [
      gave('c', 30n, { y: 'c' }),
      gave('b', 20n, { x: 'b', y: 'b' }),
      gave('a', 10n, { x: 'a', z: 'a' }),
      gave('other', 40n, { x: 'other' }),
      gave('d', 50n, { x: 'd' }),
    ];
    const values = upstreamOutputs({ tasks }, { name: 'd' }, attempts).map(({ prop, value }) => [prop, value]);
    expect(Object.fromEntries(values)).toEqual({ x: 'b', y: 'c', z: 'a' });
    expect(upstreamOutputs({ tasks }, { name: 'a' }, attempts)).toEqual([]);
  });
});
