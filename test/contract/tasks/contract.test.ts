import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TASK_PLUGINS } from '../../../src/compose/tasks.ts';
import { ok, refuse } from '../../../src/core/result.ts';
import { PROJECT } from '../../support/tree.ts';

/** For each task type: parameters that are right. */
const RIGHT: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  SHELL: { rawScript: 'echo ${greeting}' },
  NOOP: {},
  ASSET_SENSOR: { groups: [{ group: 'fx', all: [{ assetKey: 'iceberg://ref/fx_rates' }] }], timeoutMinutes: 60 },
};

describe.each(TASK_PLUGINS.map((plugin) => [plugin.type, plugin] as const))('task type %s', (type, plugin) => {
  const right = RIGHT[type] ?? {};

  test('takes right parameters', () => {
    expect(plugin.check(right)).toEqual(ok(undefined));
  });

  test('has a body if it starts something', () => {
    const work = plugin.prepare({ params: right, render: ok });
    expect(work).toMatchObject({ ok: true, value: { kind: plugin.hasBody ? 'PROCESS' : 'NOTHING' } });
  });

  test('refuses a parameter that it does not have, by name', () => {
    const checked = plugin.check({ ...right, unheardOf: 1 });
    expect(checked).toMatchObject({
      ok: false,
      problem: { code: 'BAD_FILE', detail: expect.stringContaining('unheardOf') },
    });
  });

  test('has a name in capitals and a page that shows it', () => {
    expect(type).toMatch(/^[A-Z][A-Z_]*$/);
    const page = join(PROJECT, `docs/guide/tasks/${type.toLowerCase().replaceAll('_', '-')}.md`);
    expect(existsSync(page)).toBe(true);
    expect(readFileSync(page, 'utf8')).toContain(`type: ${type}`);
  });

  test('work is made of right parameters, and a value that may not be put in makes the refusal its own', () => {
    expect(plugin.prepare({ params: right, render: ok }).ok).toBe(true);
    const unsafe = refuse('UNSAFE_PARAMETER', 'No.');
    const work = plugin.prepare({ params: right, render: () => unsafe });
    if (work.ok) expect(work.value).toEqual({ kind: 'NOTHING' });
    else expect(work).toEqual(unsafe);
  });
});
