import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { pathOfFileUrl } from '../../src/runtime/file-url.ts';

describe('the path of a file: URL', () => {
  test.each(['/w/plain', '/w/with space', '/w/50%', '/w/a%20b', '/w/häß 表', '/w/a#b', '/w/a?b', "/w/quote'"])(
    '%s, encoded',
    (path) => {
      const { href } = pathToFileURL(path);
      expect(pathOfFileUrl(href)).toBe(path);
      expect(pathOfFileUrl(href.replace('file:///', 'file:/'))).toBe(path);
      expect(pathOfFileUrl(href.replace('file:///', 'FILE://localhost/'))).toBe(path);
    },
  );

  test.each([
    '/w/plain',
    '/w/with space',
    '/w/50%',
    '/w/50%zz',
    '/w/%e4 latin',
    '/w/häß 表',
    '/w/a#b',
    '/w/a?b',
    '/w/a%2Fb',
  ])('%s, as engines write it', (path) => {
    for (const scheme of ['file:', 'file://', 'file://localhost']) expect(pathOfFileUrl(`${scheme}${path}`)).toBe(path);
  });

  test('what is no file: URL is a path already; a file elsewhere is refused', () => {
    for (const path of ['/w/50%#', 's3://b/k', 'files/x', '']) expect(pathOfFileUrl(path)).toBe(path);
    expect(() => pathOfFileUrl('file://elsewhere/w')).toThrow(TypeError);
  });
});
