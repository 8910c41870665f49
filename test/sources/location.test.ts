import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { deltaWriter } from '../../bench/tables-delta.ts';
import { hudiWriter } from '../../bench/tables-hudi.ts';
import { icebergWriter } from '../../bench/tables-iceberg.ts';
import { tableWriter } from '../../bench/tables.ts';
import { detectFormat, loadFiles, loadSource } from '../../src/compose/sources.ts';
import { rootOf } from '../../src/sources/location.ts';
import { temporaryTree } from '../support/tree.ts';

const WRITERS = { paimon: () => tableWriter('paimon'), delta: deltaWriter, hudi: hudiWriter, iceberg: icebergWriter };

/** All ways in which a folder may be given. */
const waysTo = (folder: string): readonly string[] => [
  folder,
  `${folder}//`,
  pathToFileURL(folder).href,
  `${pathToFileURL(folder).href}/`,
  `file:${folder}`,
  `file://${folder}/`,
];

describe.each(Object.entries(WRITERS))('%s tables are found wherever they lie', (format, writer) => {
  test.each(['plain', 'with space', '50% done', 'häß 表', 'a#b?c', "it's +1", 'table.'])('%s', async (name) => {
    const folder = join(temporaryTree({}), name);
    mkdirSync(folder);
    writer().create(folder);
    const source = await loadSource(format);
    for (const location of waysTo(folder)) {
      const files = await loadFiles(location);
      if (source === undefined || files === undefined) throw new Error('no reader');
      const ref = { location, branch: null, files };
      expect(await detectFormat(ref), location).toBe(format);
      const poll = await source.poll(ref, null);
      expect(poll, location).toMatchObject({ outcome: { kind: 'NEW' }, problems: [] });
      for (const depth of ['QUICK', 'FULL'] as const)
        expect((await source.poll(ref, poll.cursor, { depth })).outcome, location).toEqual({ kind: 'NONE' });
      expect(await source.isReadable(ref, poll.head ?? ''), location).toBe(true);
    }
  });
});

test('names of tags are plain text, also below a URL', async () => {
  const folder = join(temporaryTree({}), 'with space');
  mkdirSync(folder);
  const writer = tableWriter('paimon');
  writer.create(folder);
  writer.commit(folder, 2);
  mkdirSync(join(folder, 'tag'), { recursive: true });
  const body = (await (await loadFiles(folder))?.read(join(folder, 'snapshot/snapshot-2'))) ?? new Uint8Array();
  const tags = ['2026-11-30 10', '50%', 'a%20b', 'a#b', 'a?b', '表'];
  for (const tag of tags) writeFileSync(join(folder, 'tag', `tag-${tag}`), body);
  for (const location of waysTo(folder)) {
    const [source, files] = [await loadSource('paimon'), await loadFiles(location)];
    if (source === undefined || files === undefined) throw new Error('no reader');
    const poll = await source.poll({ location, branch: null, files }, null);
    expect([poll.problems, poll.tags], location).toEqual([[], Object.fromEntries(tags.map((tag) => [tag, '2']))]);
  }
});

test('the root of a table has no slash at its end, the root of all keeps its own', () => {
  expect(['/w/t//', '/', 's3://b/t/', 'file:///w/t/', 'file://elsewhere/t/'].map(rootOf)).toEqual([
    '/w/t',
    '/',
    's3://b/t',
    '/w/t',
    'file://elsewhere/t',
  ]);
});
