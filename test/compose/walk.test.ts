import { describe, expect, test } from 'vitest';
import { findTables } from '../../src/compose/walk.ts';
import { FilesError, type FileEntry, type Files } from '../../src/files/files.ts';

const BOUNDS = { depth: 6, folders: 1_000, tables: 1_000 };
const silent = (): void => {};

/** A store as S3 will be: folders of `s3://lake`, by what stands in them; a text stands for what a listing fails with. */
const storeOf = (folders: Readonly<Record<string, readonly string[] | string>>): Files => ({
  read: () => Promise.resolve(null),
  stat: () => Promise.resolve(null),
  list: (folder) => {
    const names = folders[folder];
    if (typeof names === 'string') return Promise.reject(new FilesError(names, true));
    const entry = (name: string): FileEntry => ({ name, kind: `${folder}/${name}` in folders ? 'folder' : 'file' });
    return Promise.resolve(names?.map(entry) ?? null);
  },
});

describe('findTables', () => {
  test('a folder that cannot be listed is told, and holds up no other', async () => {
    const files = storeOf({
      's3://lake': ['shut', 'ods.db'],
      's3://lake/shut': 's3://lake/shut cannot be read: permission denied.',
      's3://lake/ods.db': ['t'],
      's3://lake/ods.db/t': ['_delta_log'],
      's3://lake/ods.db/t/_delta_log': [],
    });
    expect(await findTables('s3://lake/', files, BOUNDS, silent)).toEqual({
      tables: [{ format: 'delta', location: 's3://lake/ods.db/t', path: ['lake', 'ods.db', 't'] }],
      notes: ['s3://lake/shut cannot be read: permission denied. What is below it is unknown.'],
      folders: 4,
    });
  });

  test('the folder itself must be there and readable', async () => {
    const files = storeOf({ 's3://shut': 'permission denied' });
    await expect(findTables('s3://shut', files, BOUNDS, silent)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(findTables('s3://none', files, BOUNDS, silent)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('ends after so many folders, and says so', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `f${i}`);
    const files = storeOf({
      's3://lake': names,
      ...Object.fromEntries(names.map((name) => [`s3://lake/${name}`, []])),
    });
    const seen: number[] = [];
    const walk = await findTables('s3://lake', files, { ...BOUNDS, folders: 50 }, (folders) => void seen.push(folders));
    expect(walk).toMatchObject({
      folders: 50,
      notes: ['The search ended after 50 folders: name a folder further down.'],
    });
    expect(seen).toEqual([1, 17, 33, 49, 50]);
    expect((await findTables('s3://lake', files, { ...BOUNDS, folders: 101 }, silent)).notes).toEqual([]);
  });
});
