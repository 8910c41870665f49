import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { FilesError } from '../../src/files/files.ts';
import { createLocalFiles } from '../../src/files/local.ts';
import { temporaryTree } from '../support/tree.ts';

const files = createLocalFiles();

describe('local files', () => {
  test('what is there: bytes, size and time, names', async () => {
    const root = temporaryTree({ 'a/x': 'one', 'a/y': 'two', 'a/sub/z': '' });
    expect(Buffer.from((await files.read(join(root, 'a/x'))) ?? '').toString()).toBe('one');
    const stat = await files.stat(join(root, 'a/x'));
    expect(stat?.size).toBe(3);
    expect(stat?.modifiedAt).toBeTypeOf('bigint');
    const names = await files.list(join(root, 'a'));
    expect(names?.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: 'sub', kind: 'folder' },
      { name: 'x', kind: 'file' },
      { name: 'y', kind: 'file' },
    ]);
    expect((await files.list(join(root, 'a'), { after: 'x' }))?.map((entry) => entry.name)).toEqual(['y']);
  });

  test('what is not there is null, also below a file', async () => {
    const root = temporaryTree({ x: '' });
    for (const path of ['no', 'no/deeper', 'x/y']) {
      expect(await files.read(join(root, path))).toBeNull();
      expect(await files.stat(join(root, path))).toBeNull();
      expect(await files.list(join(root, path))).toBeNull();
    }
    expect(await files.list(join(root, 'x'))).toBeNull();
  });

  test('an empty file and an empty folder are there', async () => {
    const root = temporaryTree({ x: '' });
    mkdirSync(join(root, 'empty'));
    expect(await files.read(join(root, 'x'))).toHaveLength(0);
    expect(await files.list(join(root, 'empty'))).toEqual([]);
  });

  test('a file: URL is a path', async () => {
    const root = temporaryTree({ 'with space': 'x' });
    expect(await files.read(pathToFileURL(join(root, 'with space')).href)).toHaveLength(1);
  });

  test('anything but absence is a FilesError in plain words, which knows whether to retry', async () => {
    const root = temporaryTree({});
    symlinkSync('loop', join(root, 'loop'));
    const problems = await Promise.all(
      [root, join(root, 'loop'), 'a\0b', 'file://else/where'].map((path) =>
        files.read(path).catch((error: unknown) => error),
      ),
    );
    for (const problem of problems) expect(problem).toBeInstanceOf(FilesError);
    expect(problems).toMatchObject(Array(4).fill({ retryable: false }));
    expect(String(problems[0])).toContain('it is a folder, not a file');
    expect(String(problems[2])).toContain('a\\0b is not a path');
  });

  test('a listing tells links, and does not follow them', async () => {
    const root = temporaryTree({ 'a/x': '' });
    symlinkSync('a', join(root, 'b'));
    const entries = await files.list(root);
    expect(new Set(entries)).toEqual(
      new Set([
        { name: 'a', kind: 'folder' },
        { name: 'b', kind: 'file', link: true },
      ]),
    );
    expect(await files.list(join(root, 'b'))).toEqual([{ name: 'x', kind: 'file' }]);
  });
});
