import { describe, expect, test } from 'vitest';
import { checkTask } from '../../../src/compose/tasks.ts';
import { parseDeclaration } from '../../../src/core/declaration/parse.ts';
import { pathText } from '../../../src/core/declaration/read.ts';

/** Tasks that wait, as a file declares them. */

const FX = 'iceberg://ref/fx_rates';
const group = { group: 'fx', all: [{ assetKey: FX, maxAgeSeconds: 86_400 }] };
const sensor = (params: object, more: object = {}) => ({ name: 'wait_fx', type: 'ASSET_SENSOR', params, ...more });
const shell = (more: object) => ({ name: 'load', params: { rawScript: 'true' }, ...more });

const parse = (task: object, more: object = {}) =>
  parseDeclaration(
    { apiVersion: 'sluice/v1', project: 'gmv', workflows: [{ name: 'trade', tasks: [task], ...more }] },
    { timezone: 'UTC', checkTask },
  );

const parsed = (task: object) => {
  const result = parse(task);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  const [first] = result.value.workflows[0]?.tasks ?? [];
  return first;
};

const problems = (task: object, more: object = {}): readonly string[] => {
  const result = parse(task, more);
  return result.ok ? [] : result.problems.map(({ path, detail }) => `${pathText(path)}: ${detail}`);
};

describe('a task that waits', () => {
  test('the sensor of the contract: groups and timeout in its params, which then hold nothing', () => {
    expect(parsed(sensor({ groups: [group], timeoutMinutes: 60, localParams: [] }))).toMatchObject({
      type: 'ASSET_SENSOR',
      params: {},
      localParams: [],
      wait: {
        groups: [
          { name: 'fx', advance: 'ALL', conditions: [{ assetKey: FX, alias: 'fx_rates', maxAgeSeconds: 86_400 }] },
        ],
        baseline: 'LAST_SUCCESS',
        timeoutSeconds: 3_600,
        onTimeout: 'FAIL',
        checkIntervalSeconds: null,
      },
    });
    expect(parsed(sensor({ groups: [group] }))?.params).toEqual({});
  });

  test('any task beside its params', () => {
    const more = {
      groups: [group],
      baseline: 'NONE',
      timeoutMinutes: 0.5,
      onTimeout: 'WARN',
      checkIntervalSeconds: 30,
    };
    expect(parsed(shell(more))).toMatchObject({
      params: { rawScript: 'true' },
      wait: { baseline: 'NONE', timeoutSeconds: 30, onTimeout: 'WARN', checkIntervalSeconds: 30 },
    });
    expect(parsed(sensor({}, { groups: [group] }))?.wait?.groups).toHaveLength(1);
    expect(parsed(shell({}))?.wait).toBeNull();
  });

  test('may wait for reference data alone', () => {
    const reference = { group: 'fx', all: [{ assetKey: FX, snapshotRequired: false, maxAgeSeconds: 60 }] };
    expect(parsed(shell({ groups: [reference] }))?.wait?.groups).toHaveLength(1);
  });

  test.each<[string, object, RegExp]>([
    ['a sensor without groups', sensor({}), /tasks\[0\]\.params: Add "groups" to params/],
    ['an empty list of groups', shell({ groups: [] }), /groups: List at least one group/],
    ['how to wait, and nothing to wait for', shell({ timeoutMinutes: 5 }), /timeoutMinutes: Add "groups"/],
    ['what to do at a timeout that never comes', shell({ groups: [group], onTimeout: 'WARN' }), /Add "timeoutMinutes"/],
    ['a timeout of nothing', shell({ groups: [group], timeoutMinutes: 0 }), /a number above 0/],
    ['an unknown baseline', shell({ groups: [group], baseline: 'NOW' }), /baseline: Write one of LAST_SUCCESS/],
    [
      'a key of the sensor that is none',
      sensor({ groups: [group], timeoutMinute: 1 }),
      /did you mean timeoutMinutes\?/,
    ],
    ['half inside and half outside', sensor({ groups: [group] }, { timeoutMinutes: 5 }), /into params/],
    ['two groups of a name', shell({ groups: [group, group] }), /A group "fx" stands here already/],
    ['where to begin', shell({ groups: [{ ...group, startFrom: 'NEXT' }] }), /the field "startFrom" is not known/],
    ['a group without conditions', shell({ groups: [{ group: 'g', all: [] }] }), /at least one condition/],
  ])('%s is refused', (_, task, said) => {
    expect(problems(task).join('\n')).toMatch(said);
  });

  test('an alias means one asset in all of the workflow, whoever waits for it', () => {
    const triggers = [{ group: 'g', all: [{ assetKey: 'paimon://ods/orders', alias: 'fx_rates' }] }];
    expect(problems(shell({ groups: [group] }), { triggers })).toEqual([
      expect.stringMatching(/tasks: Give iceberg:\/\/ref\/fx_rates an alias of its own/),
    ]);
  });

  test('RUN_START on an asset that the run pins is refused', () => {
    const task = shell({ groups: [group], baseline: 'RUN_START' });
    expect(problems(task)).toEqual([]);
    expect(problems(task, { inputs: [FX] })).toEqual([
      expect.stringMatching(/tasks: Task "load", group "fx": The run is pinned .* leave baseline RUN_START out/),
    ]);
  });
});
