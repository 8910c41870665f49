import { describe, expect, test } from 'vitest';
import { checkTask } from '../../../src/compose/tasks.ts';
import { parseDeclaration } from '../../../src/core/declaration/parse.ts';
import { pathText } from '../../../src/core/declaration/read.ts';

/** What could be declared and would do nothing is refused where it stands, with what to do; what says what is so anyway is not. */

const ORDERS = 'paimon://ods/orders';
const FX = 'iceberg://ref/fx';

const parse = (rest: object) =>
  parseDeclaration({ apiVersion: 'sluice/v1', project: 'gmv', ...rest }, { timezone: 'UTC', checkTask });

const problems = (rest: object): readonly string[] => {
  const result = parse(rest);
  return result.ok ? [] : result.problems.map(({ path, detail }) => `${pathText(path)}: ${detail}`);
};

const workflow = (rest: object) => ({ workflows: [{ name: 'w', tasks: [{ name: 'a', type: 'NOOP' }], ...rest }] });
const task = (rest: object) => workflow({ tasks: [{ name: 'a', params: { rawScript: 'true' }, ...rest }] });
const triggers = (group: object) => workflow({ triggers: [{ group: 'g', ...group }] });
const asset = (rest: object) => ({ assets: [{ key: ORDERS, ...rest }] });

const parsedTask = (rest: object) => {
  const result = parse(task(rest));
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value.workflows[0]?.tasks[0];
};

describe('local parameters where DolphinScheduler has them', () => {
  const rows = { prop: 'rows', direct: 'OUT', type: 'INTEGER', value: '0' };
  const read = [{ prop: 'rows', direct: 'OUT', value: '0' }];

  test('are the same as beside params, and leave the type its own', () => {
    const params = { localParams: [rows], rawScript: 'true', resourceList: [] };
    expect(parsedTask({ params })).toMatchObject({ params: { rawScript: 'true' }, localParams: read });
    expect(parsedTask({ params })).toEqual(parsedTask({ params: { rawScript: 'true' }, localParams: [rows] }));
    expect(parsedTask({ params, localParams: [] })).toMatchObject({ localParams: read });
    expect(parsedTask({ params, localParams: [{ ...rows, type: 'VARCHAR' }] })).toMatchObject({ localParams: read });
    expect(parsedTask({ params: { localParams: { day: '$[yyyyMMdd]' }, rawScript: 'true' } })).toMatchObject({
      localParams: [{ prop: 'day', direct: 'IN', value: '$[yyyyMMdd]' }],
    });
  });

  test('in both places at once and not the same are refused', () => {
    const params = { localParams: [rows], rawScript: 'true' };
    for (const beside of [
      { ...rows, value: '1' },
      { ...rows, direct: 'IN' },
      { ...rows, prop: 'lines' },
    ])
      expect(problems(task({ params, localParams: [beside] }))).toEqual([
        expect.stringMatching(
          /^workflows\[0\]\.tasks\[0\]\.params\.localParams: Put all parameters of the task into "localParams" beside "params"/,
        ),
      ]);
  });

  test('are read as strictly as beside params, each at its place', () => {
    expect(problems(task({ params: { rawScript: 'true', localParams: [{ prop: 'a', value: [1] }] } }))).toEqual([
      'workflows[0].tasks[0].params.localParams[0]: Write a text, a number or true/false as the value of "a", not a list.',
    ]);
    expect(problems(task({ params: { rawScript: 'true', localParams: 'x' } }))).toEqual([
      'workflows[0].tasks[0].params.localParams: Write a list here, not "x".',
    ]);
  });
});

describe('what would do nothing is refused', () => {
  const wait = { group: 'fx', all: [{ assetKey: FX }] };
  const reference = { group: 'fx', all: [{ assetKey: FX, snapshotRequired: false }] };
  const sensor = (rest: object) => workflow({ tasks: [{ name: 'a', type: 'ASSET_SENSOR', ...rest }] });
  const noop = (rest: object) => workflow({ tasks: [{ name: 'a', type: 'NOOP', ...rest }] });

  test.each<[string, object, string | RegExp]>([
    [
      'files of a resource centre',
      task({ params: { rawScript: 'true', resourceList: [{ id: 1 }] } }),
      /^workflows\[0\]\.tasks\[0\]\.params\.resourceList: Leave "resourceList" out: .* by their paths\.$/,
    ],
    [
      'a file as a parameter',
      task({ localParams: [{ prop: 'f', type: 'FILE', value: 'x' }] }),
      /^workflows\[0\]\.tasks\[0\]\.localParams\[0\]\.type: Give "f" another type/,
    ],
    [
      'a type of parameter that there is not',
      task({ localParams: [{ prop: 'f', type: 'STRING' }] }),
      /\.localParams\[0\]\.type: Write one of VARCHAR, INTEGER, .* for "type", not "STRING"\.$/,
    ],
    [
      'a global parameter that goes out',
      workflow({ globalParams: [{ prop: 'dt', direct: 'OUT', value: '1' }] }),
      /^workflows\[0\]\.globalParams: Leave "direct: OUT" out of "dt"/,
    ],
    [
      'local parameters of what runs nothing',
      noop({ localParams: { day: '1' } }),
      'workflows[0].tasks[0].params: Leave "localParams" out: a task of type NOOP runs nothing that could read or give out a parameter.',
    ],
    [
      'the same inside params',
      sensor({ params: { groups: [wait], localParams: [{ prop: 'day', value: '1' }] } }),
      /Leave "localParams" out: a task of type ASSET_SENSOR/,
    ],
    [
      'a time limit of a sensor',
      sensor({ params: { groups: [wait] }, timeoutSeconds: 60 }),
      /Leave "timeoutSeconds" out: a task of type ASSET_SENSOR .* may wait is its "timeoutMinutes"\.$/,
    ],
    ['a time limit of a NOOP', noop({ timeoutSeconds: 60 }), /Leave "timeoutSeconds" out: a task of type NOOP/],
    [
      'an interval between retries that there are not',
      task({ failRetryIntervalSeconds: 5 }),
      /^workflows\[0\]\.tasks\[0\]\.failRetryIntervalSeconds: Add "failRetryTimes"/,
    ],
    [
      'a baseline of reference data',
      task({ groups: [reference], baseline: 'RUN_START' }),
      /^workflows\[0\]\.tasks\[0\]\.baseline: Leave "baseline" out/,
    ],
    [
      'a quiet period of reference data',
      task({ groups: [{ ...reference, quietSeconds: 60 }] }),
      /Group "fx": leave "quietSeconds" out/,
    ],
    [
      'one of several that never move',
      task({ groups: [{ ...reference, advance: 'ANY' }] }),
      /Group "fx": leave "advance: ANY" out/,
    ],
    [
      'where reference data begins',
      triggers({
        all: [{ assetKey: ORDERS }, { assetKey: FX, snapshotRequired: false }],
        startFrom: { [FX]: '5' },
      }),
      /Group "g": take iceberg:\/\/ref\/fx out of "startFrom"/,
    ],
    [
      'how often a table without a location is looked at',
      asset({ pollIntervalSeconds: 5 }),
      /^assets\[0\]\.pollIntervalSeconds: Add a location, or leave this out/,
    ],
    ['a gap that nobody can see', asset({ onGap: 'HOLD' }), /^assets\[0\]\.onGap: Add a location, or leave this out/],
  ])('%s', (_, rest, said) => {
    expect(problems(rest)).toEqual([typeof said === 'string' ? said : expect.stringMatching(said)]);
  });

  test.each<[string, object]>([
    ['no retries and their interval', task({ failRetryTimes: 0, failRetryIntervalSeconds: 5 })],
    ['an empty list of files', noop({ params: { localParams: [], resourceList: [] } })],
    ['defaults, said', noop({ localParams: [], timeoutSeconds: null, flag: 'YES' })],
    ['a baseline of what is new', task({ groups: [wait], baseline: 'NONE' })],
    ['a quiet period of what is new', task({ groups: [{ ...wait, quietSeconds: 60 }] })],
    ['where a member begins', triggers({ all: [{ assetKey: ORDERS }], startFrom: { [ORDERS]: '5' } })],
    ['a table that is read', asset({ location: '/w/orders', pollIntervalSeconds: 5, onGap: 'HOLD' })],
    ['what a gap would do, said', asset({ onGap: 'CONTINUE', pollIntervalSeconds: null })],
    ['types of parameters', task({ localParams: [{ prop: 'n', direct: 'IN', type: 'LONG', value: '1' }] })],
  ])('%s may stand', (_, rest) => {
    expect(problems(rest)).toEqual([]);
  });
});
