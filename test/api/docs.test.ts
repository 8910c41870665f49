import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkTask } from '../../src/compose-tasks.ts';
import { parseDeclaration } from '../../src/core/declaration-parse.ts';
import { PROJECT } from '../support/tree.ts';
import { openApi } from './harness.ts';

const page = (name: string): string => readFileSync(join(PROJECT, 'docs', name), 'utf8');

describe('the pages about the API', () => {
  test('list every route with its permission, and none that is not there', async () => {
    const { app } = await openApi();
    const { paths } = app.swagger() as unknown as { paths: Record<string, Record<string, { 'x-permission': string }>> };
    const routes = Object.entries(paths).flatMap(([url, methods]) =>
      Object.entries(methods).map(([method, route]) => `${method.toUpperCase()} ${url} ${route['x-permission']}`),
    );
    const listed = [...page('reference/api.md').matchAll(/^\| `([A-Z]+ \S+)` \| (\w+) \|/gm)];
    expect(
      listed.map(([, route, permission]) => `${route} ${permission === 'none' ? 'public' : permission}`).sort(),
    ).toEqual(routes.sort());
  });

  test('the example of the guide can be applied as it stands', () => {
    const yaml = /```yaml\n([\s\S]*?)```/.exec(page('guide/apply-files.md'))?.[1] ?? '';
    const file = parse(yaml) as { assets: { location: string }[] };
    for (const asset of file.assets) asset.location = join('/', asset.location);
    const result = parseDeclaration(file, { timezone: 'UTC', checkTask });
    expect(result.ok ? [] : result.problems).toEqual([]);
  });
});
