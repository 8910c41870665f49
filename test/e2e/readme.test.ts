import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makePlace, type Place, runProcess, sluice, startServer, until } from '../support/server.ts';
import { PROJECT } from '../support/tree.ts';
import { said } from './said.ts';

/** The steps that README.md tells a newcomer to take, with the file that stands there. */

const README = readFileSync(join(PROJECT, 'README.md'), 'utf8');

/** The YAML of the README, with the table's folder moved into the test's. */
const declared = (table: string): string => {
  const block = /```yaml\n([\s\S]*?)```/.exec(README)?.[1] ?? '';
  expect(block).toContain('/tmp/shop.db/orders');
  return block.replace(/^ {3}/gm, '').replace('/tmp/shop.db/orders', table);
};

const demoTable = (place: Place, action: string, table: string) =>
  runProcess([join(PROJECT, 'demo/table.ts'), action, table], place.folder);

test('a newcomer gets a table to trigger a script with the README alone', { timeout: 150_000 }, async () => {
  const place = makePlace();
  const table = join(place.folder, 'shop.db/orders');
  const server = await startServer(place);
  await said(demoTable(place, 'create', table));
  expect(await said(sluice(place, ['inspect', table]))).toMatch(/APPEND/);

  writeFileSync(join(place.folder, 'orders.yaml'), declared(table));
  expect(await said(sluice(place, ['apply', '-f', 'orders.yaml', '--dry-run']))).toMatch(
    /nothing was written[\s\S]*workflow\s+report[\s\S]*would change/,
  );
  expect((await sluice(place, ['why', 'report'])).code).toBe(1);
  expect(await said(sluice(place, ['apply', '-f', 'orders.yaml']))).toMatch(/workflow\s+report/);
  expect(await said(sluice(place, ['apply', '-f', 'orders.yaml']))).toContain('Nothing to change.');
  const before = await said(sluice(place, ['why', 'report']));
  expect(before).toMatch(/waits for 1 of 1/);
  expect(before).toContain('It has never started a run.');
  expect(await said(sluice(place, ['runs', 'list']))).toContain('There are no runs yet.');

  await said(demoTable(place, 'commit', table));
  await said(sluice(place, ['asset', 'scan', 'paimon://shop/orders']));
  await until('run 1 to succeed', async () => (await said(sluice(place, ['runs', 'list']))).includes('succeeded'));
  expect(await said(sluice(place, ['logs', '1', 'build_report']))).toBe('orders at snapshot 2, before \n');
  expect(await said(sluice(place, ['why', 'report']))).toMatch(/It last started run 1, .*because then:\n\s+✓\s+orders/);

  // The recording goes on with a compaction, which starts nothing, and a commit after it.
  await said(demoTable(place, 'commit', table));
  await said(demoTable(place, 'commit', table));
  await until('run 2 to succeed', async () => /^2 .*succeeded/m.test(await said(sluice(place, ['runs', 'list']))));
  expect(await said(sluice(place, ['logs', '2', 'build_report']))).toBe('orders at snapshot 4, before 2\n');
  await server.kill('SIGTERM');
  expect(server.end()).toEqual({ code: 0, signal: null });
});

const playDemo = (place: Place) =>
  runProcess([join(PROJECT, 'demo/main.ts'), '--fast', '--data', place.data, '--port', '0'], place.folder, {}, 80_000);

test('the demo plays its story and ends with the five figures', { timeout: 150_000 }, async () => {
  const place: Place = { ...makePlace(), databaseUrl: null }; // the demo has the embedded database, wherever other tests have theirs
  const demo = await playDemo(place);
  expect(demo.stderr).toBe('');
  expect(demo.code).toBe(0);
  const [, table = ''] = demo.stdout.split('What ran, and from which versions');
  expect([...table.matchAll(/^#\d+ /gm)]).toHaveLength(15);
  expect([...table.matchAll(/ ads .* ([\d.]+)$/gm)].map(([, gmv]) => gmv)).toEqual([
    '517.40',
    '883.40',
    '1328.00',
    '873.40',
    '1487.00',
  ]);
  expect(demo.stdout).toContain('All is as it must be.');

  // Who goes on with the README puts a project of their own beside the demo's: names say which is meant, and no demo deletes it.
  const server = await startServer(place);
  writeFileSync(join(place.folder, 'orders.yaml'), declared(join(place.folder, 'shop.db/orders')));
  await said(sluice(place, ['apply', '-f', 'orders.yaml']));
  expect(await said(sluice(place, ['why', 'report']))).toContain('It has never started a run.');
  expect(await said(sluice(place, ['runs', 'show', '1']))).toContain('run 1 of dwd');
  await server.kill('SIGTERM');
  const again = await playDemo(place);
  expect([again.code, again.stdout]).toEqual([1, '']);
  expect(again.stderr).toContain(`${place.data} also holds project shop, which a new demo would delete`);
});
