import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { RUN_STATE_WORDS } from '../../src/core/workflow/run-words.ts';
import { PROJECT } from '../support/tree.ts';
import { openApi, TOKEN } from './harness.ts';

const FOLDER = join(PROJECT, 'src/api/page');
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');
const FILES = readdirSync(FOLDER).filter((name) => /\.(html|css|js|svg)$/.test(name));
const MODULES = FILES.filter((name) => name.endsWith('.js'));
const urlOf = (name: string): string => (name === 'page.html' ? '/' : `/page/${name}`);

describe('the page', () => {
  test.each([
    ['page.html', 'text/html; charset=utf-8'],
    ['page.css', 'text/css; charset=utf-8'],
    ['page.js', 'text/javascript; charset=utf-8'],
    ['icon.svg', 'image/svg+xml'],
  ])('%s is served to anybody as %s, under a policy that lets nothing else in', async (name, type) => {
    const api = await openApi();
    const { status, headers, text } = await api.inject({ url: urlOf(name) });
    expect([status, headers['content-type']]).toEqual([200, type]);
    expect(text).toBe(textOf(name));
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:|data:/);
  });

  test('a browser that has a file is told so, and one that has an older one is not', async () => {
    const api = await openApi();
    const { headers } = await api.inject({ url: '/' });
    const again = (etag: string) => api.inject({ url: '/', headers: { 'if-none-match': etag } });
    const same = await again(String(headers['etag']));
    expect([same.status, same.text]).toEqual([304, '']);
    expect((await again('"older"')).status).toBe(200);
  });

  test('what the files name is served, and comes from here', async () => {
    const api = await openApi();
    const named = FILES.flatMap((name) => [
      ...[...textOf(name).matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path = '']) => path),
      ...[...textOf(name).matchAll(/^import .* from '\.\/([^']+)';$/gm)].map(([, file]) => `/page/${file}`),
    ]);
    expect(named).toContain('/page/first.js');
    expect(named).toContain('/page/words.js');
    for (const url of new Set(named)) expect((await api.inject({ url })).status, url).toBe(200);
    for (const name of FILES)
      expect(textOf(name).replaceAll('http://www.w3.org/', ''), name).not.toMatch(/https?:\/\//);
  });

  test('nothing in the HTML needs a weaker policy', () => {
    const html = textOf('page.html');
    expect(html).not.toMatch(/<script(?![^>]* src=)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
  });

  test('no file holds anything of the server', async () => {
    const api = await openApi();
    for (const name of FILES) expect((await api.inject({ url: urlOf(name) })).text).not.toContain(TOKEN);
    expect((await api.inject({ url: '/page/tsconfig.json' })).status).toBe(404);
    expect((await api.inject({ url: '/page/..%2fserver.ts' })).status).toBe(404);
  });

  test('text reaches the page as text: nothing makes HTML of it', () => {
    for (const name of MODULES)
      expect(textOf(name), name).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|\beval\b/);
  });
});

interface Words {
  readonly CATALOGUES: Readonly<Record<'en' | 'zh-CN', Readonly<Record<string, string>>>>;
  readonly speak: (language: string) => void;
  readonly say: (word: string, slots?: object) => string;
  readonly sentence: (parts: readonly string[]) => string;
}
const load = async <T>(name: string): Promise<T> => (await import(join(FOLDER, name))) as T;

describe('its words', () => {
  test('both languages have the same, with the same slots', async () => {
    const { CATALOGUES } = await load<Words>('words.js');
    const slots = (text = ''): readonly string[] =>
      [...new Set([...text.matchAll(/\{(\w+)/g)].map(([, name = '']) => name))].sort();
    expect(Object.keys(CATALOGUES['zh-CN']).sort()).toEqual(Object.keys(CATALOGUES.en).sort());
    for (const [word, text] of Object.entries(CATALOGUES.en))
      expect(slots(CATALOGUES['zh-CN'][word]), word).toEqual(slots(text));
  });

  test('each is used somewhere, by its name or as a state', async () => {
    const { CATALOGUES } = await load<Words>('words.js');
    const texts = MODULES.filter((name) => name !== 'words.js').map(textOf);
    const unused = Object.keys(CATALOGUES.en).filter(
      (word) => !/^[A-Z_]+$/.test(word) && !texts.some((text) => text.includes(`'${word}'`)),
    );
    expect(unused).toEqual([]);
  });

  test('numbers choose the form, and parts become a sentence', async () => {
    const { say, sentence, speak } = await load<Words>('words.js');
    expect(sentence([say('unreadable', { n: 1 }), say('toApprove', { n: 2 })])).toBe(
      '1 table cannot be read, 2 schema changes wait for you.',
    );
    speak('zh-CN');
    expect(sentence([say('unreadable', { n: 1 }), say('toApprove', { n: 2 })])).toBe(
      '1 张表读不到，2 个结构变更待审批。',
    );
    speak('en');
  });

  test('states of runs have the words that errors and the command line have', async () => {
    const { CATALOGUES } = await load<{ CATALOGUES: { en: Record<string, string> } }>('words.js');
    expect(CATALOGUES.en).toMatchObject(RUN_STATE_WORDS);
  });

  test.each([
    ['a version newer than 4', '比 4 更新的版本'],
    ['quality PASSED (rows, nulls) for a version newer than 4', '比 4 更新的版本，且质量 PASSED（rows, nulls）'],
    ['a version with schema COMPATIBLE, quality PASSED (a, b)', '一个版本，且结构 COMPATIBLE、质量 PASSED（a, b）'],
    ['any version with an age of at most 2 hours', '任意版本，且不早于 2 小时前'],
    [
      'newest is 8 (COMPACT, 2026-11-30T09:44:49.001Z): no new data',
      '最新是 8（COMPACT，2026-11-30T09:44:49.001Z）：没有新数据',
    ],
    [
      '5 (APPEND, 2026-11-30T09:44:49.001Z), tag day; rows added unknown',
      '5（APPEND，2026-11-30T09:44:49.001Z），标签 day；新增行数未知',
    ],
    [
      'newest is 5 (APPEND, 2026-11-30T09:44:49.001Z): quality UNKNOWN',
      '最新是 5（APPEND，2026-11-30T09:44:49.001Z）：质量 UNKNOWN',
    ],
    ['paused; versions go on being recorded', '已暂停，版本照常记录'],
    ['90 seconds since the last fire', '距上次触发 90 秒'],
    ['the workflow is offline', '工作流已下线'],
    ['the project is paused', '项目已暂停'],
    ['the workflow is offline, its project is paused', '工作流已下线，其项目已暂停'],
  ])('what the server says in Chinese: %s', async (english, chinese) => {
    const { inChinese } = await load<{ inChinese: (text: string) => string | null }>('phrases.js');
    expect(inChinese(english)).toBe(chinese);
  });

  test('what is no known phrase is left to be shown as it is', async () => {
    const { inChinese } = await load<{ inChinese: (text: string) => string | null }>('phrases.js');
    expect(inChinese('the moon is full')).toBe(null);
    expect(inChinese('newest is 5 (APPEND, 2026-11-30T09:44:49.001Z): the moon is full')).toBe(null);
  });
});

test.each<[string, string, string | null, string[], string]>([
  ['the first of the browser that the page has', '', null, ['fr-FR', 'zh-TW', 'en'], 'zh-CN'],
  ['English where it has none', '', null, ['fr', 'de'], 'en'],
  ['what was chosen here before', '', 'zh-CN', ['en-US'], 'zh-CN'],
  ['what was chosen here before, however it is spelt', '', 'zh_CN', ['en-US'], 'zh-CN'],
  ['what the address asks for', '?lang=zh-Hans', 'en', ['en-US'], 'zh-CN'],
  ['what the address asks for, in English', '?lang=EN-us', 'zh-CN', ['zh'], 'en'],
  ['English, where the address asks for another', '?lang=tlh', 'zh-CN', ['zh'], 'en'],
  ['as without it, where the address asks for nothing', '?lang=', null, ['zh'], 'zh-CN'],
])('the page speaks %s', (_, search, kept, languages, spoken) => {
  const root = { dataset: {}, lang: '' };
  runInNewContext(textOf('first.js'), {
    document: { documentElement: root },
    location: { search },
    localStorage: { getItem: (name: string) => (name === 'sluice.language' ? kept : null) },
    navigator: { languages },
    matchMedia: () => ({ matches: false }),
    URLSearchParams,
  });
  expect(root).toEqual({ dataset: { theme: 'light' }, lang: spoken });
});
