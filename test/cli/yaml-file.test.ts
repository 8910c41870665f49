import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readYaml } from '../../src/cli/yaml-file.ts';
import { temporaryTree } from '../support/tree.ts';

const read = (text: string) => {
  const folder = temporaryTree({ 'f.yaml': text });
  const [document] = readYaml(join(folder, 'f.yaml'));
  if (document === undefined) throw new Error('no document');
  return { folder, document, place: (...path: (string | number)[]) => document.locate(path).slice(folder.length + 1) };
};

describe('YAML files', () => {
  test("locations count from the file's folder, addresses and absolute paths stay", () => {
    const { folder, document } = read(
      'assets:\n  - {location: ./a/../b}\n  - {location: /c}\n  - {location: "s3://d/e"}\n  - {key: f}\n',
    );
    expect(document.content).toEqual({
      assets: [{ location: join(folder, 'b') }, { location: '/c' }, { location: 's3://d/e' }, { key: 'f' }],
    });
  });

  test('each part has its line and column; a missing one that of what should hold it', () => {
    const { place } = read('project: p\nworkflows:\n  - name: w\n    tasks:\n      - name: a\n        type: X\n');
    expect(place('workflows', 0, 'tasks', 0, 'type')).toBe('f.yaml:6:9');
    expect(place('workflows', 0, 'tasks', 0)).toBe('f.yaml:5:9');
    expect(place('workflows', 0, 'tasks', 0, 'params', 'x')).toBe('f.yaml:5:9');
    expect(place('workflows')).toBe('f.yaml:2:1');
    expect(place()).toBe('f.yaml:1:1');
  });

  test('several documents in one file', () => {
    const folder = temporaryTree({ 'f.yaml': 'project: a\n---\nproject: b\n' });
    expect(readYaml(join(folder, 'f.yaml')).map(({ content }) => content)).toEqual([
      { project: 'a' },
      { project: 'b' },
    ]);
  });

  test.each([
    ['a: [1\n', /f\.yaml:2:1: .+/],
    ['a: 1\na: 2\n', /f\.yaml:2:1: Map keys must be unique/],
    ['a:\n  minSnapshotId: 5412345678901234567\n', /f\.yaml:2:3: Put 5412345678901234567 in quotes/],
    ['', /is empty/],
  ])('%j is refused where it is wrong', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  test('a file that does not exist', () => {
    expect(() => readYaml('/nowhere/f.yaml')).toThrow('/nowhere/f.yaml is not there: name a file that can be read.');
  });

  test('a bomb of aliases is refused', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 9; i += 1)
      lines.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      );
    expect(() => read(lines.join('\n'))).toThrow(/f\.yaml: .*alias/i);
  });
});
