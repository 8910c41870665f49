import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, matchesGlob, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ERRORS } from '../../src/core/errors.ts';
import { PROJECT } from '../support/tree.ts';

/** `dir/` and `*.ext` of .gitignore as globs: read from the file, so that the test also runs where there is no git. */
const IGNORED = ['.git/**', ...readFileSync(join(PROJECT, '.gitignore'), 'utf8').split('\n').filter(Boolean)].flatMap(
  (line) => (line.endsWith('/') ? [`${line}**`, `**/${line}**`] : [line, `**/${line}`]),
);
const FOLDERS = ['node_modules', 'dist', 'coverage', '.git', '.sluice'];

const FILES: readonly string[] = globSync(['**/*', '.*', '.ci/*'], {
  cwd: PROJECT,
  exclude: (path) => FOLDERS.includes(path.split('/').at(-1) ?? ''),
}).filter((path) => !IGNORED.some((glob) => matchesGlob(path, glob)) && statSync(join(PROJECT, path)).isFile());

const textOf = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');
/** Data that engines wrote is kept as they wrote it; the rules below are for what people write. */
const isText = (path: string): boolean => /\.(ts|js|cjs|mjs|json|md|ya?ml|sh|sql|txt)$|^\.[a-z.]+$|^\.ci\//.test(path);
const WRITTEN = FILES.filter((path) => isText(path) && !/^demo\/gmv\/|^test\/fixtures\//.test(path));
const TESTS = FILES.filter((path) => /^test\/.*\.ts$/.test(path));

/** `path:line: text` of every line that matches. */
const linesWith = (paths: readonly string[], pattern: RegExp): readonly string[] =>
  paths.flatMap((path) =>
    textOf(path)
      .split('\n')
      .flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );

test('the walk sees the project', () => {
  for (const path of ['package.json', 'src/core/errors.ts', 'test/law/tidy.test.ts', '.gitignore'])
    expect(WRITTEN).toContain(path);
  expect(FILES.some((path) => path.startsWith('node_modules'))).toBe(false);
});

test('the error page lists exactly the codes of src/core/errors.ts, with their status', () => {
  const page = textOf('docs/reference/errors.md').matchAll(/`([A-Z][A-Z_]+)` +\| +(\d+) +\| +(.+?) +\|/g);
  const listed = [...page].map(([, code, status, title]) => `${code} ${status} ${title}`);
  expect(listed).toEqual(Object.entries(ERRORS).map(([code, { status, title }]) => `${code} ${status} ${title}`));
});

test('every error code is used in src', () => {
  const texts = FILES.filter((path) => /^src\/.*\.ts$/.test(path) && path !== 'src/core/errors.ts')
    .map(textOf)
    .join();
  expect(Object.keys(ERRORS).filter((code) => !texts.includes(`'${code}'`))).toEqual([]);
});

test('links in Markdown files lead somewhere', () => {
  const slug = (heading: string): string =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
  const anchors = (text: string): readonly string[] => [
    ...[...text.matchAll(/^#+ (.+)$/gm)].map((match) => slug(match[1] ?? '')),
    ...[...text.matchAll(/<a id="([^"]+)">/g)].map((match) => match[1] ?? ''),
  ];
  const broken = WRITTEN.filter((path) => path.endsWith('.md')).flatMap((path) =>
    [...textOf(path).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? join(PROJECT, path) : resolve(PROJECT, dirname(path), file);
      if (!existsSync(target)) return [`${path}: ${link}`];
      const found = anchor === undefined || anchors(readFileSync(target, 'utf8')).includes(anchor);
      return found ? [] : [`${path}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
});

test('every path of the project that a document names exists', () => {
  // Names in capitals or with a star stand for many files.
  const named = WRITTEN.filter((path) => path.endsWith('.md')).flatMap((path) =>
    [...textOf(path).matchAll(/`((?:src|test|scripts|demo|bench|docs|\.ci)\/[^`\s]*)`/g)].map(
      (match) => match[1] ?? '',
    ),
  );
  const gone = named.filter((path) => !/[A-Z*{]/.test(path) && !existsSync(join(PROJECT, path)));
  expect([...new Set(gone)].sort()).toEqual([]);
});

test('no file names a machine, a package registry or a download address', () => {
  const machine = /(^|[^\w.~-])\/(work|root|farm|home|Users)\/[\w.]/;
  const registry =
    /\bregistry\.[\w-]+\.(com|org|net|io|cn|dev)\b|:\/\/[\w.-]*registry|npm[m]irror|npm[j]s\.(org|com)|[a-z]:\/\/\S+\.(tgz|whl|jar|deb|tar\.gz)\b/;
  expect(linesWith(WRITTEN, machine)).toEqual([]);
  expect(linesWith(WRITTEN, registry)).toEqual([]);
  expect(linesWith(['package-lock.json'], /"resolved": *"h/)).toEqual([]);
});

test('no test is focused, and a skipped one says why', () => {
  expect(linesWith(TESTS, /\b(describe|test|it|suite)(\.\w+)*\.(only|todo)\(/)).toEqual([]);
  const bare = TESTS.flatMap((path) =>
    textOf(path)
      .split('\n')
      .flatMap((line, i, all) => {
        const skips = /\b(describe|test|it|suite)(\.\w+)*\.(skip|skipIf|runIf)\(/.test(line);
        return skips && !/\/\/ skipped: /.test(`${all[i - 1] ?? ''}\n${line}`) ? [`${path}:${i + 1}`] : [];
      }),
  );
  expect(bare).toEqual([]);
});

test('nothing unfinished stands in the product', () => {
  expect(
    linesWith(
      FILES.filter((path) => /^(src|scripts|demo|bench)\/.*\.ts$/.test(path)),
      /\b(TODO|FIXME|XXX)\b/,
    ),
  ).toEqual([]);
});

test('files are named in kebab-case', () => {
  const named = FILES.filter((path) => /^(src|test|scripts|demo|bench)\/.*\.ts$|^docs\/.*\.md$/.test(path));
  const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)+$/;
  expect(named.filter((path) => !kebab.test(path.split('/').at(-1) ?? '') && !path.endsWith('README.md'))).toEqual([]);
});

test('direct dependencies are pinned exactly', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(textOf('package.json')) as Record<
    string,
    Record<string, string>
  >;
  const all = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});
