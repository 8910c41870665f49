import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allSettings, loadConfig } from '../../src/config/load.ts';
import { configPage } from '../../src/config/reference.ts';
import { PROJECT } from '../support/tree.ts';

test('the reference page is the one that the schema gives and has a row for every key', () => {
  const page = readFileSync(join(PROJECT, 'docs/reference/config.md'), 'utf8');
  expect(page).toBe(configPage());
  for (const [path] of allSettings()) expect(page).toContain(`| \`${path}\` |`);
});

test('the example of the page is a configuration', () => {
  const example = /```yaml\n([^`]+)```/.exec(configPage())?.[1] ?? '';
  expect(loadConfig({ file: { name: 'example', text: example }, env: {}, flags: {} }).config.worker.concurrency).toBe(
    8,
  );
});
