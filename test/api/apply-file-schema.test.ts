import type { TObject } from 'typebox';
import Value from 'typebox/value';
import { describe, expect, test } from 'vitest';
import {
  ApplyFile,
  applyFileSchema,
  ConditionInFile,
  GroupInFile,
  TaskGroupInFile,
  TaskInFile,
  WorkflowInFile,
} from '../../src/api/contract/apply-file.ts';
import { AssetInput } from '../../src/api/contract/assets.ts';
import { parseDeclaration } from '../../src/core/declaration/parse.ts';
import { ok } from '../../src/core/result.ts';

/** A key like no other: the parser answers it with the list of those it knows. */
const STRANGE = 'zzzzzzzzzzzzzzzzzzzzzzzz';

const condition = { assetKey: 'paimon://a/b' };
const group = { group: 'g', all: [condition] };
const task = { name: 't', type: 'NOOP' };
const workflow = { name: 'w', triggers: [group], tasks: [task] };
const asset = { key: 'paimon://a/b', location: '/w/b' };
const file = { apiVersion: 'sluice/v1', project: 'p', assets: [asset], workflows: [workflow] };

const parse = (raw: unknown) => parseDeclaration(raw, { timezone: 'UTC', checkTask: () => ok(undefined) });

const knownKeys = (raw: object): string[] => {
  const result = parse(raw);
  const text = result.ok ? '' : result.problems.map(({ detail }) => detail).join('\n');
  const list = /the (?:keys|fields) here are ([\w, ]+)/.exec(text)?.[1] ?? '';
  return list.split(', ').sort();
};

const strange = { [STRANGE]: 1 };

describe('the JSON Schema of the apply file', () => {
  test.each<[string, TObject, object]>([
    ['the file', ApplyFile, { ...file, ...strange }],
    ['an asset', AssetInput, { ...file, assets: [{ ...asset, ...strange }] }],
    ['a workflow', WorkflowInFile, { ...file, workflows: [{ ...workflow, ...strange }] }],
    ['a task', TaskInFile, { ...file, workflows: [{ ...workflow, tasks: [{ ...task, ...strange }] }] }],
    ['a group', GroupInFile, { ...file, workflows: [{ ...workflow, triggers: [{ ...group, ...strange }] }] }],
    [
      'a group of a task',
      TaskGroupInFile,
      { ...file, workflows: [{ ...workflow, tasks: [{ ...task, groups: [{ ...group, ...strange }] }] }] },
    ],
    [
      'a condition',
      ConditionInFile,
      { ...file, workflows: [{ ...workflow, triggers: [{ ...group, all: [{ ...condition, ...strange }] }] }] },
    ],
  ])('%s has the keys that the parser knows', (_, schema, raw) => {
    expect(knownKeys(raw)).toEqual(Object.keys(schema.properties).sort());
  });

  test('both take the same file', () => {
    expect(parse(file).ok).toBe(true);
    expect(Value.Check(ApplyFile, file)).toBe(true);
    expect(Value.Check(ApplyFile, { ...file, apiVersion: 'sluice/v2' })).toBe(false);
  });

  test('its text is a JSON Schema', () => {
    expect(JSON.parse(applyFileSchema())).toMatchObject({ type: 'object', required: ['apiVersion', 'project'] });
  });
});
